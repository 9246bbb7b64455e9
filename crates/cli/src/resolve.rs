//! Names to things: a model from a file or the catalogue, a machine from `--on` or this one.

use std::path::Path;

use vramplan_core::answer::Assumption;
use vramplan_core::archs::ArchError;
use vramplan_core::catalogue::hardware::{Around, HardwareSpec, NamedMachine, named_machine};
use vramplan_core::catalogue::{Lookup, ModelRow, find_model};
use vramplan_core::engines::WeightsSource;
use vramplan_core::model::Model;
use vramplan_core::quants::Recipe;
use vramplan_core::units::Bytes;
use vramplan_io::hardware::this_machine;
use vramplan_io::sources::file;

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
    if let Some(quant) = quant {
        return Err(explain_problem::quant_of_file(locale, name, quant));
    }
    let file = file::read_gguf(Path::new(name)).map_err(|e| explain_problem::file(locale, name, &e))?;
    Ok(Found { model: file.model, quant: file.quant, source: Source::File(name.into()), assumed: Vec::new() })
}

fn of_catalogue(locale: &Locale, name: &str, quant: Option<Recipe>) -> Result<Found, Problem> {
    match find_model(name) {
        Lookup::One(row) => of_row(&row, quant).map_err(|e| explain_problem::config(locale, &row.name, &e)),
        Lookup::Several(rows) => Err(explain_problem::several_models(locale, name, &rows)),
        Lookup::None => Err(explain_problem::unknown_model(locale, name)),
    }
}

/// Builds a catalogue model in the quantisation asked for, else in its usual one.
pub(crate) fn of_row(row: &ModelRow, quant: Option<Recipe>) -> Result<Found, ArchError> {
    let recipe = quant.unwrap_or_else(|| row.usual_recipe());
    let assumed = match quant {
        Some(_) => Vec::new(),
        None => vec![Assumption::Quant { quant: recipe.name().into() }],
    };
    let source = match &row.gguf_repository {
        Some(repository) => Source::Hub(repository.clone(), recipe.name().into()),
        None => Source::File(format!("{}-{}.gguf", row.name, recipe.name())),
    };
    Ok(Found { model: row.build(recipe)?, quant: recipe.name().into(), source, assumed })
}
