//! `vram plan MODEL`: what does it take, does it fit, how is it started?

use clap::{Args, ValueEnum};
use vramplan_core::answer::{Answer, Assumption, Request, answer};
use vramplan_core::dtype::Format;
use vramplan_core::engines::llama_cpp::CACHE_FORMATS;
use vramplan_core::plan::Verdict;
use vramplan_core::quants::Recipe;
use vramplan_core::setup::Toggle;
use vramplan_core::units::{Bytes, Tokens};

use crate::args::{self, PlacementArgs};
use crate::explain_problem;
use crate::locale::Locale;
use crate::problem::{Exit, Problem};
use crate::render::{self, Style};
use crate::resolve::{self, HardwareArgs};

/// Brackets in a doc comment would be links.
const ON: &str = "Hardware: [Nx:]NAME[:SIZE], such as rtx-4090, 2x:rtx-3090, m4:16gb, cpu:32gb; repeatable";

/// Plans inference of a model on hardware
///
/// MODEL is a file or folder on this disk, a name of the catalogue, maker/name on the hub (:Q8_0 behind it
/// chooses a file), or name:tag of Ollama. Without --on, the plan is for this machine's processor and memory.
#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// A file, or a name such as llama-3.1-8b, maker/name or name:tag
    #[arg(value_name = "MODEL")]
    model: String,
    #[arg(long, value_name = "HW", help = ON)]
    on: Vec<String>,
    /// Tokens of context for every sequence: 8192, 32k, 1M
    #[arg(long, short = 'c', value_name = "TOKENS", value_parser = args::tokens, allow_hyphen_values = true)]
    context: Option<Tokens>,
    /// Plan past the context the model was made for
    #[arg(long)]
    allow_long_context: bool,
    /// Sequences served at the same time
    #[arg(long, value_name = "N", value_parser = args::count, allow_hyphen_values = true)]
    sequences: Option<u64>,
    /// Format of the KV cache: f16, q8_0, q4_0 …
    #[arg(long, value_name = "FORMAT", value_parser = cache_format)]
    kv: Option<Format>,
    /// Format of the K cache alone
    #[arg(long, value_name = "FORMAT", value_parser = cache_format, conflicts_with = "kv")]
    kv_k: Option<Format>,
    /// Format of the V cache alone
    #[arg(long, value_name = "FORMAT", value_parser = cache_format, conflicts_with = "kv")]
    kv_v: Option<Format>,
    /// Quantisation of a model that is not a file: Q4_K_M, Q8_0, IQ4_XS …
    #[arg(long, value_name = "MIX", value_parser = args::recipe)]
    quant: Option<Recipe>,
    /// Tokens in a physical batch
    #[arg(long, value_name = "TOKENS", value_parser = args::count, allow_hyphen_values = true)]
    ubatch: Option<u64>,
    /// Flash attention
    #[arg(long, value_name = "WHEN")]
    flash_attention: Option<FlashAttention>,
    /// System memory of the planned machine
    #[arg(long, value_name = "SIZE", value_parser = args::bytes)]
    ram: Option<Bytes>,
    /// What other programs hold on every card
    #[arg(long, value_name = "SIZE", value_parser = args::bytes, conflicts_with = "free")]
    used: Option<Bytes>,
    /// What is free on every card
    #[arg(long, value_name = "SIZE", value_parser = args::bytes)]
    free: Option<Bytes>,
    /// What must stay free on every card
    #[arg(long, value_name = "SIZE", value_parser = args::bytes)]
    reserve: Option<Bytes>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    /// Say why each line is there and how it is known
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    #[command(flatten)]
    placement: PlacementArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FlashAttention {
    Auto,
    On,
    Off,
}

impl From<FlashAttention> for Toggle {
    fn from(value: FlashAttention) -> Self {
        match value {
            FlashAttention::Auto => Self::Auto,
            FlashAttention::On => Self::On,
            FlashAttention::Off => Self::Off,
        }
    }
}

fn cache_format(text: &str) -> Result<Format, String> {
    let known = text.parse().ok().filter(|f| CACHE_FORMATS.contains(f));
    known.ok_or_else(|| {
        let names: Vec<_> = CACHE_FORMATS.iter().map(|f| f.name().to_ascii_lowercase()).collect();
        format!("caches are kept as {}", names.join(", "))
    })
}

/// Runs the command.
pub(crate) fn run(locale: &Locale, plan: &Plan, offline: bool) -> Result<Exit, Problem> {
    let answer = plan.answer(locale, &resolve::From::user(offline))?;
    let printed = if plan.json {
        render::json::print(&answer)
    } else {
        render::text::print_plan(locale, &answer, Style::of_stdout(), plan.explain)
    };
    // A reader that has seen enough is no error.
    drop(printed);
    Ok(if answer.verdict == Verdict::DoesNotFit { Exit::DoesNotFit } else { Exit::Fits })
}

impl Plan {
    fn answer(&self, locale: &Locale, from: &resolve::From) -> Result<Answer, Problem> {
        let machine = resolve::machine(locale, &self.hardware())?;
        let model = resolve::model(locale, from, &self.model, self.quant)?;
        let mut assumed: Vec<Assumption> = model.assumed.clone();
        let of_program = model.context.filter(|_| self.context.is_none());
        assumed.extend(of_program.map(|context| Assumption::Context { context }));
        assumed.extend(machine.filled.iter().map(|filled| Assumption::Machine { filled: *filled }));
        let request = Request {
            context: self.context.or(of_program),
            allow_long_context: self.allow_long_context,
            sequences: self.sequences,
            cache: self.cache(),
            ubatch: self.ubatch,
            flash_attention: self.flash_attention.map(Toggle::from),
            placement: self.placement.placement(),
            assumed,
            ..Request::open(&model.model, &model.quant, &machine.machine, model.source.as_ref())
        };
        answer(&request).map_err(|error| explain_problem::no_answer(locale, &model.model.name, &error))
    }

    /// Formats of K and V; one given alone leaves the other at f16.
    fn cache(&self) -> Option<(Format, Format)> {
        let both = self.kv.map(|format| (format, format));
        let apart = || (self.kv_k.unwrap_or(Format::F16), self.kv_v.unwrap_or(Format::F16));
        both.or_else(|| (self.kv_k.is_some() || self.kv_v.is_some()).then(apart))
    }

    fn hardware(&self) -> HardwareArgs<'_> {
        HardwareArgs { on: &self.on, ram: self.ram, used: self.used, free: self.free, reserve: self.reserve }
    }
}
