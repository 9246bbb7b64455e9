//! `vram models`: what is known of a model, by its name or its files; which models are on this disk.

use clap::{Args, Subcommand};
use serde::Serialize;
use vramplan_core::answer::{Request, answer};
use vramplan_core::catalogue::find_pipeline;
use vramplan_core::machine::Machine;
use vramplan_core::plan::Verdict;
use vramplan_core::quants::Recipe;
use vramplan_core::units::{Bytes, Tokens};
use vramplan_io::sources::Opened;
use vramplan_io::sources::local::{self, Keeper, LocalModel};

use crate::args;
use crate::locale::{Locale, Message};
use crate::problem::{Exit, Problem};
use crate::render;
use crate::resolve::{self, From, HardwareArgs, Source};

/// Shows what is known of models, and which are on this disk
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Models {
    #[command(subcommand)]
    what: Option<What>,
    /// List the models on this disk: in the hub's cache, of Ollama, LM Studio and llama.cpp
    #[arg(long)]
    local: bool,
    /// Hardware to fit them on (default: this machine)
    #[arg(long, value_name = "HW", requires = "local")]
    on: Vec<String>,
    /// Print the list as JSON
    #[arg(long, requires = "local")]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show a model's parameters, layers, cache and sizes, by its name or its files
    Show {
        /// A name such as llama-3.1-8b, maker/name on the hub, name:tag of Ollama, a file or a folder
        #[arg(value_name = "MODEL")]
        model: String,
        /// The one quantisation to weigh, or to choose in a repository: Q4_K_M, IQ2_XS …
        #[arg(long, value_name = "MIX", value_parser = args::recipe)]
        quant: Option<Recipe>,
        /// List its tensors with their shapes too
        #[arg(long)]
        tensors: bool,
        /// Print all of it as JSON, tensors included
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub(crate) fn run(locale: &Locale, models: &Models, offline: bool) -> Result<Exit, Problem> {
    let from = From::user(offline);
    let printed = match &models.what {
        Some(What::Show { model, quant, tensors, json }) => {
            if let Some(pipeline) = find_pipeline(model).one() {
                let printed = match json {
                    true => render::json::print(&pipeline),
                    false => render::text::print_pipeline(locale, &pipeline),
                };
                drop(printed);
                return Ok(Exit::Fits);
            }
            let answer = resolve::explained(locale, &from.with_weights(), model, *quant)?;
            match json {
                true => render::json::print(&answer),
                false => render::text::print_model(locale, &answer, *tensors),
            }
        }
        None if models.local => {
            let machine = resolve::machine(locale, &HardwareArgs::on(&models.on))?;
            let rows: Vec<LocalRow> =
                local::list(&from.places).into_iter().map(|model| row(&machine.machine, model)).collect();
            match models.json {
                true => render::json::print(&rows),
                false => render::text::print_local(locale, &rows),
            }
        }
        None => {
            let problem = Problem::new(locale, &Message::new("error-models-what"));
            return Err(problem
                .hint(locale, &Message::new("hint-models-show"))
                .hint(locale, &Message::new("hint-models-local")));
        }
    };
    // A reader that has seen enough is no error.
    drop(printed);
    Ok(Exit::Fits)
}

/// A model on this disk, and whether it fits a machine.
#[derive(Debug, Serialize)]
pub(crate) struct LocalRow {
    /// The name that opens it.
    pub(crate) name: String,
    /// Whose it is: `hub`, `ollama`, `lm_studio`, `llama_cpp`.
    pub(crate) keeper: &'static str,
    /// Its file or folder.
    pub(crate) path: String,
    /// Bytes of its files.
    pub(crate) bytes: Bytes,
    /// Its quantisation; `None` where its files cannot be read.
    pub(crate) quant: Option<String>,
    /// Context of the plan.
    pub(crate) context: Option<Tokens>,
    /// Whether it fits; `None` for what llama.cpp does not run or nobody here plans.
    pub(crate) verdict: Option<Verdict>,
    /// What it takes on the device that it is planned for first.
    pub(crate) need: Option<Bytes>,
}

fn row(machine: &Machine, model: LocalModel) -> LocalRow {
    let mut row = LocalRow {
        keeper: keeper(model.keeper),
        path: model.path.display().to_string(),
        bytes: Bytes(model.bytes),
        quant: None,
        context: model.context.map(Tokens),
        verdict: None,
        need: None,
        name: model.name.clone(),
    };
    match model.open() {
        Ok(Opened::Gguf(file)) => {
            row.quant = Some(file.quant.clone());
            if file.model.is_planned() {
                fit(machine, &file.model, &mut row);
            }
        }
        Ok(Opened::Config(read)) => row.quant = Some(read.quantisation()),
        Err(_) => {}
    }
    row
}

fn fit(machine: &Machine, model: &vramplan_core::model::Model, row: &mut LocalRow) {
    let source = Source::File(row.path.clone());
    let quant = row.quant.clone().unwrap_or_default();
    let open = Request::open(model, &quant, machine, source.as_ref());
    let Ok(answer) = answer(&Request { context: row.context, ..open }) else { return };
    row.context = Some(answer.context_per_sequence);
    row.verdict = Some(answer.verdict);
    row.need = answer.memories.first().map(|memory| memory.need.likely);
}

const fn keeper(keeper: Keeper) -> &'static str {
    match keeper {
        Keeper::Hub => "hub",
        Keeper::LlamaCpp => "llama_cpp",
        Keeper::Ollama => "ollama",
        Keeper::LmStudio => "lm_studio",
    }
}
