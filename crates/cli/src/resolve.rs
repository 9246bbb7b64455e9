//! Names to things: a model from a file or the catalogue, a machine from `--on` or this one.

use std::path::Path;

use vramplan_core::answer::{Assumption, Form, ModelAnswer};
use vramplan_core::archs::ArchError;
use vramplan_core::catalogue::hardware::{Around, HardwareSpec, NamedMachine, named_machine};
use vramplan_core::catalogue::{Lookup, ModelRow, converted, find_model, usual_recipe};
use vramplan_core::engines::WeightsSource;
use vramplan_core::model::{Layer, Model};
use vramplan_core::quants::{Making, Recipe};
use vramplan_core::units::Bytes;
use vramplan_io::hardware::this_machine;
use vramplan_io::sources::{ConfigModel, Opened, open};

use crate::explain_problem;
use crate::locale::Locale;
use crate::problem::Problem;

/// Endings that make a name a path.
const FILE_ENDINGS: &[&str] = &[".gguf", ".json", ".safetensors"];

/// A model, found.
pub(crate) struct Found {
    /// The model.
    pub(crate) model: Model,
    /// What its weights' formats are called.
    pub(crate) quant: String,
    /// Where its weights are.
    pub(crate) source: Source,
    /// What was chosen for it.
    pub(crate) assumed: Vec<Assumption>,
}

/// Where a launch command finds the weights.
pub(crate) enum Source {
    /// On this disk.
    File(String),
    /// On the hub.
    Hub(String, String),
}

impl Source {
    /// The same, borrowed.
    pub(crate) fn as_ref(&self) -> WeightsSource<'_> {
        match self {
            Self::File(path) => WeightsSource::File(path),
            Self::Hub(repository, quant) => WeightsSource::Hub { repository, quant },
        }
    }
}

/// What was said of the hardware.
pub(crate) struct HardwareArgs<'a> {
    /// Every `--on`.
    pub(crate) on: &'a [String],
    /// `--ram`.
    pub(crate) ram: Option<Bytes>,
    /// `--used`.
    pub(crate) used: Option<Bytes>,
    /// `--free`.
    pub(crate) free: Option<Bytes>,
    /// `--reserve`.
    pub(crate) reserve: Option<Bytes>,
}

/// The machine that the options name; this one when they name none.
pub(crate) fn machine(locale: &Locale, args: &HardwareArgs<'_>) -> Result<NamedMachine, Problem> {
    let around = Around { ram: args.ram, used: args.used, free: args.free, reserve: args.reserve };
    if args.on.is_empty() {
        return this_machine(&around).map_err(|e| explain_problem::detection(locale, &e));
    }
    let specs: Vec<_> = args.on.iter().map(|text| HardwareSpec::parse(text)).collect();
    named_machine(&specs, &around).map_err(|error| explain_problem::hardware(locale, &error))
}

/// The model that a name or a path stands for.
pub(crate) fn model(locale: &Locale, name: &str, quant: Option<Recipe>) -> Result<Found, Problem> {
    if is_path(name) { of_file(locale, name, quant) } else { of_catalogue(locale, name, quant) }
}

/// A path starts with a separator, `.` or `~`, or ends like a model file.
fn is_path(name: &str) -> bool {
    let separated = name.starts_with(['/', '.', '~', std::path::MAIN_SEPARATOR]);
    let lower = name.to_ascii_lowercase();
    separated || FILE_ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

fn of_file(locale: &Locale, name: &str, quant: Option<Recipe>) -> Result<Found, Problem> {
    if let Some(quant) = quant.filter(|_| name.to_ascii_lowercase().ends_with(".gguf")) {
        return Err(explain_problem::quant_of_file(locale, name, quant));
    }
    match (opened(locale, name)?, quant) {
        (Opened::Gguf(_), Some(quant)) => Err(explain_problem::quant_of_file(locale, name, quant)),
        (Opened::Gguf(file), None) if !file.model.trunk().all(Layer::is_planned) => {
            Err(explain_problem::layers_not_planned(locale, name))
        }
        (Opened::Gguf(file), None) => {
            let file = *file;
            let source = Source::File(name.into());
            Ok(Found { model: file.model, quant: file.quant, source, assumed: Vec::new() })
        }
        (Opened::Config(read), quant) => {
            of_config(*read, quant).map_err(|e| explain_problem::config(locale, name, &e))
        }
    }
}

fn opened(locale: &Locale, name: &str) -> Result<Opened, Problem> {
    open(Path::new(name)).map_err(|e| explain_problem::file(locale, name, &e))
}

fn of_catalogue(locale: &Locale, name: &str, quant: Option<Recipe>) -> Result<Found, Problem> {
    let row = row(locale, name)?;
    of_row(&row, quant).map_err(|e| explain_problem::config(locale, &row.name, &e))
}

fn row(locale: &Locale, name: &str) -> Result<ModelRow, Problem> {
    match find_model(name) {
        Lookup::One(row) => Ok(row),
        Lookup::Several(rows) => Err(explain_problem::several_models(locale, name, &rows)),
        Lookup::None => Err(explain_problem::unknown_model(locale, name)),
    }
}

/// What is known of the model that a name or a path stands for.
pub(crate) fn explained(locale: &Locale, name: &str) -> Result<ModelAnswer, Problem> {
    if is_path(name) {
        return Ok(match opened(locale, name)? {
            Opened::Gguf(file) => ModelAnswer::of_gguf(&file.model),
            Opened::Config(read) => {
                let form = if read.stored.is_some() { Form::Safetensors } else { Form::Config };
                ModelAnswer::of_config(read.name, form, &read.described, read.stored)
            }
        });
    }
    let row = row(locale, name)?;
    let described = row.describe().map_err(|e| explain_problem::config(locale, &row.name, &e))?;
    Ok(ModelAnswer::of_config(row.name, Form::Catalogue, &described, None))
}

/// Builds the model of a config as a file that llama.cpp can run would hold it.
fn of_config(read: ConfigModel, quant: Option<Recipe>) -> Result<Found, ArchError> {
    let (recipe, mut assumed) = settled(quant, || usual_recipe(&read.config));
    let read_as = read.described.read_as.map(|rules| rules.model_type.to_owned());
    assumed.extend(read_as.map(|model_type| Assumption::ReadAs { model_type }));
    let source = Source::File(format!("{}-{}.gguf", read.name, recipe.name()));
    let model = converted(read.name, &read.described, Making::published(recipe, None))?;
    Ok(Found { model, quant: recipe.name().into(), source, assumed })
}

/// The quantisation asked for, else the usual one, and that it was assumed.
fn settled(quant: Option<Recipe>, usual: impl FnOnce() -> Recipe) -> (Recipe, Vec<Assumption>) {
    match quant {
        Some(quant) => (quant, Vec::new()),
        None => {
            let recipe = usual();
            (recipe, vec![Assumption::Quant { quant: recipe.name().into() }])
        }
    }
}

/// Builds a catalogue model in the quantisation asked for, else in its usual one.
pub(crate) fn of_row(row: &ModelRow, quant: Option<Recipe>) -> Result<Found, ArchError> {
    let (recipe, assumed) = settled(quant, || row.usual_recipe());
    let source = match &row.gguf_repository {
        Some(repository) => Source::Hub(repository.clone(), recipe.name().into()),
        None => Source::File(format!("{}-{}.gguf", row.name, recipe.name())),
    };
    Ok(Found { model: row.build(recipe)?, quant: recipe.name().into(), source, assumed })
}
