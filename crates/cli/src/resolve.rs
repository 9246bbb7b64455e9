//! Names to things: a model from wherever it is found, a machine from `--on` or this one.

mod source;

use vramplan_core::answer::{Assumption, Form, ModelAnswer, Uncounted, Weighed};
use vramplan_core::archs::{ArchError, Described};
use vramplan_core::catalogue::hardware::{Around, HardwareSpec, NamedMachine, named_machine};
use vramplan_core::catalogue::{ModelRow, converted, usual_recipe};
use vramplan_core::dtype::Format;
use vramplan_core::engines::WeightsSource;
use vramplan_core::model::{Model, Part};
use vramplan_core::quants::{Making, Recipe};
use vramplan_core::units::{Bytes, Tokens};
use vramplan_io::hardware::this_machine;
use vramplan_io::sources::{ConfigModel, Opened};

use crate::explain_problem;
use crate::locale::Locale;
use crate::problem::Problem;
pub(crate) use source::From;
use source::Sourced;

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
    /// The context that its program starts it with.
    pub(crate) context: Option<Tokens>,
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

impl<'a> HardwareArgs<'a> {
    /// Hardware by name alone.
    pub(crate) const fn on(on: &'a [String]) -> Self {
        Self { on, ram: None, used: None, free: None, reserve: None }
    }
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
pub(crate) fn model(
    locale: &Locale,
    from: &From,
    name: &str,
    quant: Option<Recipe>,
) -> Result<Found, Problem> {
    let found = match source::find(locale, from, name, quant)? {
        Sourced::Row { row, quant } => {
            of_row(&row, quant).map_err(|e| explain_problem::config(locale, &row.name, &e))?
        }
        Sourced::Opened { opened, source, context, beside } => {
            let mut found = Found { context, ..of_opened(locale, name, opened, source, quant)? };
            let uncounted = beside.into_iter().map(|(what, bytes)| Assumption::NotCounted { what, bytes });
            found.assumed.extend(uncounted);
            found
        }
    };
    if !found.model.is_planned() {
        return Err(explain_problem::layers_not_planned(locale, name));
    }
    Ok(found)
}

fn of_opened(
    locale: &Locale,
    name: &str,
    opened: Opened,
    source: Option<Source>,
    quant: Option<Recipe>,
) -> Result<Found, Problem> {
    match (opened, quant) {
        // A repository's file was chosen by this quantisation; a file on this disk has its own.
        (Opened::Gguf(_), Some(quant)) if !matches!(source, Some(Source::Hub(..))) => {
            Err(explain_problem::quant_of_file(locale, name, quant))
        }
        (Opened::Gguf(file), _) => {
            let source = source.unwrap_or_else(|| Source::File(name.into()));
            let (model, quant) = (file.model, file.quant);
            Ok(Found { model, quant, source, assumed: Vec::new(), context: None })
        }
        (Opened::Config(read), quant) => {
            of_config(*read, quant).map_err(|e| explain_problem::config(locale, name, &e))
        }
    }
}

/// What is known of the model that a name or a path stands for.
pub(crate) fn explained(
    locale: &Locale,
    from: &From,
    name: &str,
    quant: Option<Recipe>,
) -> Result<ModelAnswer, Problem> {
    Ok(match source::find(locale, from, name, quant)? {
        Sourced::Row { row, quant } => {
            let described = row.describe().map_err(|e| explain_problem::config(locale, &row.name, &e))?;
            let sizes = Weighed::of_row(&row, &described).sizes(quant);
            ModelAnswer { sizes, ..ModelAnswer::of_config(row.name, Form::Catalogue, &described, None) }
        }
        Sourced::Opened { opened: Opened::Gguf(file), .. } => ModelAnswer::of_gguf(&file.model),
        Sourced::Opened { opened: Opened::Config(read), .. } => {
            let form = if read.stored.is_some() { Form::Safetensors } else { Form::Config };
            let sizes = Weighed::of_config(&read.name, &read.config, &read.described).sizes(quant);
            ModelAnswer { sizes, ..ModelAnswer::of_config(read.name, form, &read.described, read.stored) }
        }
    })
}

/// Builds the model of a config as a file that llama.cpp can run would hold it.
fn of_config(read: ConfigModel, quant: Option<Recipe>) -> Result<Found, ArchError> {
    let (recipe, mut assumed) = settled(quant, || usual_recipe(&read.config));
    let read_as = read.described.read_as.map(|rules| rules.model_type.to_owned());
    assumed.extend(read_as.map(|model_type| Assumption::ReadAs { model_type }));
    let source = Source::File(format!("{}-{}.gguf", read.name, recipe.name()));
    assumed.extend(towers(&read.described));
    let model = converted(read.name, &read.described, Making::published(recipe, None))?;
    Ok(Found { model, quant: recipe.name().into(), source, assumed, context: None })
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

/// Towers for images and sound come in a file of their own, in 16 bits, which is not planned yet.
fn towers(described: &Described) -> Option<Assumption> {
    let counts = described.counts();
    let values: u64 =
        [Part::Vision, Part::Audio, Part::Projector].iter().map(|part| counts.part(*part)).sum();
    let bytes = Bytes(values.saturating_mul(Format::F16.block_bytes()));
    (values > 0).then_some(Assumption::NotCounted { what: Uncounted::Projector, bytes })
}

/// Builds a catalogue model in the quantisation asked for, else in its usual one.
pub(crate) fn of_row(row: &ModelRow, quant: Option<Recipe>) -> Result<Found, ArchError> {
    let (recipe, mut assumed) = settled(quant, || row.usual_recipe());
    let described = row.describe()?;
    assumed.extend(towers(&described));
    let source = match &row.gguf_repository {
        Some(repository) => Source::Hub(repository.clone(), recipe.name().into()),
        None => Source::File(format!("{}-{}.gguf", row.name, recipe.name())),
    };
    let quant = recipe.name().into();
    Ok(Found { model: row.build_described(&described, recipe)?, quant, source, assumed, context: None })
}
