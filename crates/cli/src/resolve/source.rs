//! Where does a name lead? A path; a repository of the hub, from this disk, the catalogue or the hub itself;
//! a model of Ollama, LM Studio or llama.cpp; a name of the catalogue.

use std::path::{Path, PathBuf};

use vramplan_core::catalogue::{Lookup, ModelRow, find_model, find_pipeline};
use vramplan_core::quants::Recipe;
use vramplan_core::units::Tokens;
use vramplan_io::sources::hub::{Hub, HubError, Settings, split_id};
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
        Self { hub: may_fetch.then_some(settings), places }
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
    },
}

impl Sourced {
    fn here(opened: Opened, path: &Path) -> Self {
        Self::Opened { opened, source: Some(Source::File(path.display().to_string())), context: None }
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
    match local::find_ollama(&from.places, name) {
        Ok(model) if name.contains(':') => return of_ollama(locale, name, &model),
        Err(error) if error != OllamaError::Missing && name.contains(':') => {
            return Err(explain_problem::ollama(locale, name, &error));
        }
        _ => {}
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
    Ok(Sourced::Opened { opened, source: None, context: None })
}

fn of_ollama(locale: &Locale, name: &str, model: &local::OllamaModel) -> Result<Sourced, Problem> {
    let opened = open(&model.model).map_err(|e| explain_problem::file(locale, name, &e))?;
    let source = Some(Source::File(model.model.display().to_string()));
    Ok(Sourced::Opened { opened, source, context: model.context.map(Tokens) })
}

/// A repository: from this disk, else the catalogue, which needs no network, else the hub.
fn of_hub(
    locale: &Locale,
    from: &From,
    name: &str,
    (id, tag): (&str, Option<&str>),
    quant: Option<Recipe>,
) -> Result<Sourced, Problem> {
    let stated = tag.and_then(|tag| tag.parse().ok()).or(quant);
    let tag = tag.or(quant.map(Recipe::name));
    if let Some((opened, path)) = on_disk(&from.places, id, tag) {
        let opened = opened.map_err(|e| explain_problem::file(locale, &path.display().to_string(), &e))?;
        return Ok(Sourced::here(opened, &path));
    }
    if let Some(row) = find_model(id).one() {
        return Ok(Sourced::Row { row: Box::new(row), quant: stated });
    }
    if find_pipeline(id).one().is_some() {
        return Err(explain_problem::unknown_model(locale, id));
    }
    let explain = |error: HubError| explain_problem::hub(locale, name, &error);
    let settings = from.hub.clone().ok_or_else(|| explain(HubError::Offline))?;
    let progress = progress::Line::start(locale);
    let listener = |file: &str, number: usize, of: usize| progress.show(file, number, of);
    let remote = Hub::new(settings, from.places.hub.clone(), &listener).open(id, tag);
    progress.end();
    let remote = remote.map_err(explain)?;
    let file_tag = remote.file.as_deref().and_then(vramplan_core::quants::tag_of_file);
    let source = file_tag.map(|tag| Source::Hub(id.into(), tag.into()));
    Ok(Sourced::Opened { opened: remote.opened, source, context: None })
}

/// The repository's model on this disk: one of several GGUF files by its quantisation, or the only one.
fn on_disk(
    places: &Places,
    id: &str,
    tag: Option<&str>,
) -> Option<(Result<Opened, vramplan_io::sources::FileError>, PathBuf)> {
    let of_id = |model: &LocalModel| {
        let (own, own_tag) =
            model.name.split_once(':').map_or((model.name.as_str(), None), |(n, t)| (n, Some(t)));
        let fits = tag.is_none()
            || own_tag.is_none()
            || own_tag.zip(tag).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
        model.keeper == local::Keeper::Hub && own.eq_ignore_ascii_case(id) && fits
    };
    let mut here: Vec<LocalModel> = local::list(places).into_iter().filter(of_id).collect();
    if here.len() == 1 {
        let model = here.pop()?;
        return Some((model.open(), model.path));
    }
    // A config alone, from an earlier look at the hub.
    let snapshot = vramplan_io::sources::hub::cached(places.hub.as_ref()?, id)?;
    let config = snapshot.join("config.json");
    let alone = here.is_empty() && config.is_file();
    alone.then(|| (open(&config), config))
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
        Lookup::One(row) => Ok(Sourced::Row { row: Box::new(row), quant }),
        Lookup::Several(rows) => Err(explain_problem::several_models(locale, name, &rows)),
        Lookup::None => Err(explain_problem::unknown_model(locale, name)),
    }
}
