//! Where does a name lead? A path; a repository of the hub, from this disk, the catalogue or the hub itself;
//! a model of Ollama, LM Studio or llama.cpp; a name of the catalogue.

use std::path::{Path, PathBuf};

use vramplan_core::answer::Uncounted;
use vramplan_core::catalogue::{Lookup, ModelRow, find_model, find_pipeline};
use vramplan_core::quants::{Recipe, tag_of_file};
use vramplan_core::units::{Bytes, Tokens};
use vramplan_io::sources::hub::{Hub, HubError, Remote, Settings, split_id};
use vramplan_io::sources::local::{self, LocalModel, OllamaError};
use vramplan_io::sources::places::Places;
use vramplan_io::sources::{Opened, open};

use super::Source;
use crate::explain_problem;
use crate::locale::Locale;
use crate::problem::Problem;
use crate::render::progress;

/// Endings that make a name a path.
const FILE_ENDINGS: &[&str] = &[".gguf", ".json", ".safetensors"];

/// Where models may be looked for.
#[derive(Debug)]
pub(crate) struct From {
    /// Folders of other programs.
    pub(crate) places: Places,
    /// How to ask the hub; `None` when nothing may be fetched.
    pub(crate) hub: Option<Settings>,
    /// Whether what files hold is wanted, and not the model alone.
    pub(crate) weights: bool,
}

impl From {
    /// As this user has set it up; `offline` forbids fetching.
    pub(crate) fn user(offline: bool) -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let is_on =
            |name: &str| set(name).is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "no"));
        let places = Places::of_user();
        let read = |path: &PathBuf| std::fs::read_to_string(path).ok();
        let kept = || places.token_file.as_ref().and_then(read).filter(|text| !text.trim().is_empty());
        let token = set("HF_TOKEN").or_else(|| set("HUGGING_FACE_HUB_TOKEN")).or_else(kept);
        let mut settings = Settings { token: token.map(|t| t.trim().to_owned()), ..Settings::default() };
        if let Some(endpoint) = set("HF_ENDPOINT") {
            settings.endpoint = endpoint;
        }
        let may_fetch = !offline && !is_on("HF_HUB_OFFLINE");
        Self { hub: may_fetch.then_some(settings), places, weights: false }
    }

    /// The same, with what files hold.
    pub(crate) fn with_weights(self) -> Self {
        Self { weights: true, ..self }
    }
}

/// A model, where it was found.
pub(super) enum Sourced {
    /// In the catalogue.
    Row {
        /// What it says.
        row: Box<ModelRow>,
        /// The quantisation behind its name, else the one asked for.
        quant: Option<Recipe>,
    },
    /// In files, here or far away.
    Opened {
        /// What they are.
        opened: Opened,
        /// Where a launch command finds them, if that is not where the name says.
        source: Option<Source>,
        /// The context that its program starts it with.
        context: Option<Tokens>,
        /// What its program loads beside it, and how many bytes that has.
        beside: Vec<(Uncounted, Bytes)>,
    },
}

impl Sourced {
    fn here(opened: Opened, path: &Path) -> Self {
        Self::Opened {
            opened,
            source: Some(Source::File(path.display().to_string())),
            context: None,
            beside: Vec::new(),
        }
    }
}

/// Finds the model of this name; of a repository with several GGUF files the one in this quantisation.
pub(super) fn find(
    locale: &Locale,
    from: &From,
    name: &str,
    quant: Option<Recipe>,
) -> Result<Sourced, Problem> {
    if is_path(name) {
        return of_path(locale, name, quant);
    }
    // Ollama writes some of its names with a slash as well; what it has goes by its own name first.
    if name.contains(':') {
        match local::find_ollama(&from.places, name) {
            Ok(model) => return of_ollama(locale, name, &model),
            Err(OllamaError::Missing) => {}
            Err(error) => return Err(explain_problem::ollama(locale, name, &error)),
        }
    }
    match split_id(name) {
        Ok((id, tag)) => of_hub(locale, from, name, (id, tag), quant),
        Err(_) => of_name(locale, from, name, quant),
    }
}

/// A path starts with a separator, `.` or `~`, or ends like a model file.
fn is_path(name: &str) -> bool {
    let separated = name.starts_with(['/', '.', '~', std::path::MAIN_SEPARATOR]);
    let lower = name.to_ascii_lowercase();
    separated || FILE_ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

fn of_path(locale: &Locale, name: &str, quant: Option<Recipe>) -> Result<Sourced, Problem> {
    if let Some(quant) = quant.filter(|_| name.to_ascii_lowercase().ends_with(".gguf")) {
        return Err(explain_problem::quant_of_file(locale, name, quant));
    }
    let opened = open(Path::new(name)).map_err(|e| explain_problem::file(locale, name, &e))?;
    Ok(Sourced::Opened { opened, source: None, context: None, beside: Vec::new() })
}

fn of_ollama(locale: &Locale, name: &str, model: &local::OllamaModel) -> Result<Sourced, Problem> {
    let opened = open(&model.model).map_err(|e| explain_problem::file(locale, name, &e))?;
    let source = Some(Source::File(model.model.display().to_string()));
    let bytes = |path: &PathBuf| Bytes(std::fs::metadata(path).map_or(0, |file| file.len()));
    let projector = model.projector.iter().map(|path| (Uncounted::Projector, bytes(path)));
    let adapters = model.adapters.iter().map(|path| (Uncounted::Adapter, bytes(path)));
    let draft = model.draft.iter().map(|path| (Uncounted::Draft, bytes(path)));
    let beside = projector.chain(adapters).chain(draft).collect();
    Ok(Sourced::Opened { opened, source, context: model.context.map(Tokens), beside })
}

/// A repository: from this disk, else the catalogue, which needs no network, else the hub.
fn of_hub(
    locale: &Locale,
    from: &From,
    name: &str,
    (id, tag): (&str, Option<&str>),
    quant: Option<Recipe>,
) -> Result<Sourced, Problem> {
    agree(locale, name, tag, quant)?;
    let wanted = tag.or(quant.map(Recipe::name));
    let here = on_disk(&from.places, id, wanted);
    // A config alone does not say what files hold: the hub does, where it can be asked.
    let is_enough = |here: &OnDisk| here.is_whole || !from.weights || from.hub.is_none();
    if let Some(here) = here.as_ref().filter(|here| is_enough(here)) {
        return here.open(locale);
    }
    if let Some(row) = find_model(id).one() {
        return of_row(locale, row, tag, quant);
    }
    if find_pipeline(id).one().is_some() {
        return Err(explain_problem::unknown_model(locale, id));
    }
    match (fetch(locale, from, id, wanted), here) {
        (Ok(remote), _) => {
            let file_tag = remote.file.as_deref().and_then(tag_of_file);
            let source = file_tag.map(|tag| Source::Hub(id.into(), tag.into()));
            Ok(Sourced::Opened { opened: remote.opened, source, context: None, beside: Vec::new() })
        }
        (Err(HubError::Unreachable(_) | HubError::Timeout), Some(here)) => here.open(locale),
        (Err(error), _) => Err(explain_problem::hub(locale, name, &error)),
    }
}

/// Asks the hub, and shows what is read.
fn fetch(locale: &Locale, from: &From, id: &str, tag: Option<&str>) -> Result<Remote, HubError> {
    let settings = from.hub.clone().ok_or(HubError::Offline)?;
    let progress = progress::Line::start(locale);
    let listener = |file: &str, number: usize, of: usize| progress.show(file, number, of);
    let remote = Hub::new(settings, from.places.hub.clone(), &listener).open(id, tag, from.weights);
    progress.end();
    remote
}

/// A repository on this disk.
struct OnDisk {
    path: PathBuf,
    /// Its weights are here, not the config alone.
    is_whole: bool,
}

impl OnDisk {
    fn open(&self, locale: &Locale) -> Result<Sourced, Problem> {
        let name = self.path.display().to_string();
        let opened = open(&self.path).map_err(|e| explain_problem::file(locale, &name, &e))?;
        Ok(Sourced::here(opened, &self.path))
    }
}

/// The repository's model on this disk: one of several GGUF files by its quantisation, or the only one.
fn on_disk(places: &Places, id: &str, tag: Option<&str>) -> Option<OnDisk> {
    let of_id = |model: &LocalModel| {
        let (own, own_tag) = match model.name.split_once(':') {
            Some((own, tag)) => (own, Some(tag)),
            None => (model.name.as_str(), None),
        };
        let fits = tag.zip(own_tag).is_none_or(|(a, b)| a.eq_ignore_ascii_case(b));
        own.eq_ignore_ascii_case(id) && fits
    };
    let mut here: Vec<LocalModel> = local::list_hub(places).into_iter().filter(of_id).collect();
    if here.len() == 1 {
        return here.pop().map(|model| OnDisk { path: model.path, is_whole: true });
    }
    // A config alone, from an earlier look at the hub.
    let snapshot = vramplan_io::sources::hub::cached(places.hub.as_ref()?, id)?;
    let config = snapshot.join("config.json");
    let alone = here.is_empty() && config.is_file();
    alone.then_some(OnDisk { path: config, is_whole: false })
}

/// A model of another program, else of the catalogue.
fn of_name(locale: &Locale, from: &From, name: &str, quant: Option<Recipe>) -> Result<Sourced, Problem> {
    match local::find(&from.places, name).as_slice() {
        [] => {}
        [model] => {
            let opened = model.open().map_err(|e| explain_problem::file(locale, name, &e))?;
            return Ok(Sourced::here(opened, &model.path));
        }
        several => return Err(explain_problem::several_local(locale, name, several)),
    }
    match find_model(name) {
        Lookup::One(row) => of_row(locale, row, None, quant),
        Lookup::Several(rows) => Err(explain_problem::several_models(locale, name, &rows)),
        Lookup::None => match tagged(name) {
            Some((row, tag)) => {
                agree(locale, name, Some(tag), quant)?;
                of_row(locale, row, Some(tag), quant)
            }
            None => Err(explain_problem::unknown_model(locale, name)),
        },
    }
}

/// A model of the catalogue with a quantisation behind its name: `qwen3-8b:Q8_0`, `qwen3:8b-q8_0`.
fn tagged(name: &str) -> Option<(ModelRow, &str)> {
    let spelled = name.replace(':', "-");
    let tag = tag_of_file(&spelled).filter(|tag| spelled.ends_with(tag))?;
    let (model, tag) = name.split_at_checked(name.len().checked_sub(tag.len())?)?;
    find_model(model.trim_end_matches(['-', ':', '.'])).one().map(|row| (row, tag))
}

/// A name and `--quant` may not ask for different quantisations.
fn agree(locale: &Locale, name: &str, tag: Option<&str>, quant: Option<Recipe>) -> Result<(), Problem> {
    match tag.zip(quant) {
        Some((tag, quant)) if tag.parse() != Ok(quant) => {
            Err(explain_problem::quant_twice(locale, name, quant))
        }
        _ => Ok(()),
    }
}

/// A row of the catalogue in the quantisation behind its name, else in the one asked for.
fn of_row(
    locale: &Locale,
    row: ModelRow,
    tag: Option<&str>,
    quant: Option<Recipe>,
) -> Result<Sourced, Problem> {
    let stated = tag.map(|tag| tag.parse().map_err(|_| explain_problem::no_recipe(locale, tag)));
    Ok(Sourced::Row { row: Box::new(row), quant: stated.transpose()?.or(quant) })
}
