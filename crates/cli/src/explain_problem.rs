//! From typed errors to problems people can act on.

use vramplan_core::answer::NoAnswer;
use vramplan_core::archs::ArchError;
use vramplan_core::catalogue::hardware::HardwareError;
use vramplan_core::catalogue::{
    DeviceRow, ModelRow, device_names, find_device, find_model, find_pipeline, model_names, normalise,
    pipeline_names,
};
use vramplan_core::engines::Refusal;
use vramplan_core::formats::gguf::{GgufError, Place};
use vramplan_core::formats::safetensors::SafetensorsError;
use vramplan_core::quants::Recipe;
use vramplan_io::hardware::DetectError;
use vramplan_io::sources::FileError;
use vramplan_io::sources::hub::HubError;
use vramplan_io::sources::local::{LocalModel, OllamaError};

use crate::locale::{Locale, Message};
use crate::problem::Problem;
use crate::render::text::{gib, thousands};

/// Widest line below an error's first, its margin aside.
const HINT_WIDTH: usize = 78;
/// Nearest names shown.
const NEAREST: usize = 3;
/// Candidates of an ambiguous name shown.
const CANDIDATES: usize = 12;
/// Names less alike than this are no help.
const ALIKE: f64 = 0.75;

/// No model has this name.
pub(crate) fn unknown_model(locale: &Locale, name: &str) -> Problem {
    if find_pipeline(name).one().is_some() {
        let problem = Problem::new(locale, &Message::new("error-pipeline").with("name", name));
        return problem.hint(locale, &Message::new("hint-pipeline").with("name", name));
    }
    let problem = Problem::new(locale, &Message::new("error-unknown-model").with("name", name));
    let names = model_names().chain(pipeline_names());
    let named = |key: &str| {
        let model = find_model(key).one().map(|row| row.name);
        model.or_else(|| find_pipeline(key).one().map(|row| row.name))
    };
    let problem = with_nearest(locale, problem, nearest(name, names, named));
    problem.hint(locale, &Message::new("hint-model-file"))
}

/// Several models have this name.
pub(crate) fn several_models(locale: &Locale, name: &str, rows: &[ModelRow]) -> Problem {
    let mut problem = Problem::new(locale, &Message::new("error-several-models").with("name", name));
    problem.why.extend(rows.iter().take(CANDIDATES).map(|row| row.id.clone()));
    problem.hint(locale, &Message::new("hint-name-one"))
}

/// A hardware name stands for nothing, or too much.
pub(crate) fn hardware(locale: &Locale, error: &HardwareError) -> Problem {
    let new = |key: &'static str, name: &str| Problem::new(locale, &Message::new(key).with("name", name));
    match error {
        HardwareError::Unknown { name } => {
            let near = nearest(name, device_names(), |key| find_device(key).one().map(|row| described(&row)));
            with_nearest(locale, new("error-unknown-hardware", name), near)
                .hint(locale, &Message::new("hint-list-hardware"))
        }
        HardwareError::Ambiguous { name, rows } => {
            with_rows(locale, new("error-ambiguous-hardware", name), rows)
                .hint(locale, &Message::new("hint-name-one"))
        }
        HardwareError::NeedsSize { name, row } => {
            let sizes = row.sizes().iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let example = row.sizes().first().copied().unwrap_or(16);
            let problem = new("error-needs-size", name);
            let problem = match sizes.as_str() {
                "" => problem,
                _ => problem.why(locale, &Message::new("why-sizes").with("sizes", sizes)),
            };
            problem.hint(locale, &Message::new("hint-size").with("name", name).with("gb", example))
        }
        HardwareError::NotSoldWith { name, size_gb, rows } => {
            let message = Message::new("error-not-sold-with").with("name", name).with("gb", size_gb);
            with_rows(locale, Problem::new(locale, &message), rows)
        }
        HardwareError::Count { count } => {
            Problem::new(locale, &Message::new("error-count").with("count", count))
        }
        HardwareError::NoMemory { name } => new("error-no-memory", name),
        HardwareError::UnifiedBesideOthers { name } => new("error-unified", name),
    }
}

fn with_rows(locale: &Locale, mut problem: Problem, rows: &[DeviceRow]) -> Problem {
    let width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0);
    for row in rows.iter().take(CANDIDATES) {
        let memory = row.sizes().iter().map(u64::to_string).collect::<Vec<_>>().join("/");
        let bandwidth =
            row.bandwidth_gbs.map_or_else(String::new, |b| format!("{} GB/s", thousands(b as u64)));
        problem.why.push(format!("{:<width$}  {memory:>4} GB  {bandwidth:>10}", row.id));
    }
    if rows.len() > CANDIDATES {
        let message = Message::new("why-and-more").with("count", rows.len() - CANDIDATES);
        problem = problem.why(locale, &message);
    }
    problem
}

fn described(row: &DeviceRow) -> String {
    match row.sizes() {
        [size] => format!("{} ({size} GB)", row.id),
        _ => row.id.clone(),
    }
}

fn with_nearest(locale: &Locale, problem: Problem, near: Vec<String>) -> Problem {
    if near.is_empty() {
        return problem;
    }
    let mut problem = problem;
    let mut line = String::new();
    for name in near {
        if line.is_empty() {
            line = locale.text(&Message::new("hint-nearest").with("names", name));
        } else if line.len() + 2 + name.len() < HINT_WIDTH {
            line.push_str(&format!(", {name}"));
        } else {
            problem.hints.push(format!("{line},"));
            line = format!("  {name}");
        }
    }
    problem.hints.push(line);
    problem
}

/// How alike two names are. One that holds the other whole comes before any that only resembles it, the
/// shortest first.
fn alike(key: &str, other: &str) -> f64 {
    if !key.is_empty() && other.contains(key) {
        return 2.0 - other.len().saturating_sub(key.len()) as f64 / 100.0;
    }
    strsim::jaro_winkler(key, other)
}

/// The names most alike, each thing once.
fn nearest(
    name: &str,
    names: impl Iterator<Item = &'static str>,
    show: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let key = normalise(name);
    let mut scored: Vec<_> = names.map(|other| (alike(&key, &normalise(other)), other)).collect();
    scored.retain(|(score, _)| *score > ALIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut shown: Vec<String> = Vec::new();
    for text in scored.iter().take(40).filter_map(|(_, other)| show(other)) {
        if !shown.contains(&text) {
            shown.push(text);
        }
    }
    shown.truncate(NEAREST);
    shown
}

/// A file is no model that can be planned.
pub(crate) fn file(locale: &Locale, name: &str, error: &FileError) -> Problem {
    let with_name = |key: &'static str| Problem::new(locale, &Message::new(key).with("name", name));
    match error {
        FileError::Missing => with_name("error-file-missing"),
        FileError::Folder | FileError::NoModel => {
            with_name("error-folder-empty").hint(locale, &Message::new("hint-folder"))
        }
        FileError::Several { candidates } => several_files(with_name("error-several-files"), candidates)
            .hint(locale, &Message::new("hint-name-one")),
        FileError::NotRegular => with_name("error-file-special"),
        FileError::Unreadable(cause) => {
            with_name("error-file-unreadable").why(locale, &Message::new("why-cause").with("cause", cause))
        }
        FileError::NotGguf => with_name("error-file-kind").hint(locale, &Message::new("hint-file-kinds")),
        FileError::Empty => with_name("error-file-empty").hint(locale, &Message::new("hint-fetch-again")),
        FileError::TooLarge { .. } | FileError::NotJson(_) => {
            with_name("error-no-config").why(locale, &Message::new("why-cause").with("cause", error))
        }
        FileError::NoConfig => {
            with_name("error-config-missing").hint(locale, &Message::new("hint-config-missing"))
        }
        FileError::Gguf(GgufError::Truncated { place, .. }) => {
            truncated(locale, with_name("error-file-short"), *place)
        }
        FileError::Gguf(error) => {
            with_name("error-file-broken").why(locale, &Message::new("why-cause").with("cause", error))
        }
        FileError::Safetensors { error: SafetensorsError::Truncated { .. }, .. } => {
            with_name("error-file-short")
                .why(locale, &Message::new("why-cause").with("cause", error))
                .hint(locale, &Message::new("hint-fetch-again"))
        }
        FileError::Safetensors { .. } => {
            with_name("error-file-broken").why(locale, &Message::new("why-cause").with("cause", error))
        }
        FileError::Stored(_) => with_name("error-contradiction")
            .why(locale, &Message::new("why-cause").with("cause", error))
            .hint(locale, &Message::new("hint-contradiction")),
        FileError::DataMissing { file, promised, found } => with_name("error-file-short")
            .why(
                locale,
                &Message::new("why-data-missing")
                    .with("file", file)
                    .with("promised", thousands(*promised))
                    .with("found", thousands(*found)),
            )
            .hint(locale, &Message::new("hint-fetch-again")),
        FileError::PartMissing { part } => {
            Problem::new(locale, &Message::new("error-part-missing").with("name", name).with("part", part))
                .hint(locale, &Message::new("hint-part-missing"))
        }
        FileError::NotFirstPart { number, count } => with_name("error-not-first-part")
            .why(
                locale,
                &Message::new("why-part").with("number", ordinal(*number)).with("count", thousands(*count)),
            )
            .hint(locale, &Message::new("hint-first-part")),
        FileError::UnknownArch { arch, weights, tensors } => {
            let weights = Message::new("why-weights-known")
                .with("gib", gib(*weights))
                .with("tensors", thousands(*tensors as u64))
                .count("n", *tensors as u64);
            config(locale, name, &ArchError::Unknown(arch.clone())).why(locale, &weights)
        }
        FileError::Arch(error) => config(locale, name, error),
    }
}

/// The models of a folder, one a line.
fn several_files(mut problem: Problem, candidates: &[String]) -> Problem {
    problem.why.extend(candidates.iter().take(CANDIDATES).cloned());
    problem
}

fn truncated(locale: &Locale, problem: Problem, place: Place) -> Problem {
    let why = match place {
        Place::Preamble => Message::new("why-stops-at-once"),
        Place::Key { number, of } => {
            Message::new("why-stops-in-key").with("number", ordinal(number)).with("of", thousands(of))
        }
        Place::Tensor { number, of } => {
            Message::new("why-stops-in-tensor").with("number", ordinal(number)).with("of", thousands(of))
        }
    };
    problem.why(locale, &why).hint(locale, &Message::new("hint-fetch-again"))
}

/// 1st, 2nd, 3rd, 11th, 117th.
fn ordinal(n: u64) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{}{ending}", thousands(n))
}

/// The architecture of a model cannot be read.
pub(crate) fn config(locale: &Locale, name: &str, error: &ArchError) -> Problem {
    let with_name = |key: &'static str| Message::new(key).with("name", name);
    match error {
        ArchError::Unknown(arch) => Problem::new(locale, &with_name("error-unknown-arch").with("arch", arch))
            .hint(locale, &Message::new("hint-unknown-arch")),
        ArchError::NotConverted(_) => Problem::new(locale, &with_name("error-not-converted"))
            .hint(locale, &with_name("hint-not-converted")),
        ArchError::NoArchitecture => Problem::new(locale, &with_name("error-no-arch")),
        ArchError::Key(_) | ArchError::Config(_) | ArchError::Value(_) | ArchError::NoTensors { .. } => {
            Problem::new(locale, &with_name("error-bad-key"))
                .why(locale, &Message::new("why-cause").with("cause", error))
        }
    }
}

/// What an engine keeps for some layers of a model is not known.
pub(crate) fn layers_not_planned(locale: &Locale, name: &str) -> Problem {
    Problem::new(locale, &Message::new("error-not-planned").with("name", name))
        .hint(locale, &Message::new("hint-not-converted").with("name", name))
}

/// A repository of the hub cannot be read.
pub(crate) fn hub(locale: &Locale, name: &str, error: &HubError) -> Problem {
    let with_name = |key: &'static str| Problem::new(locale, &Message::new(key).with("name", name));
    let hinted = |key: &'static str, hint: &'static str| with_name(key).hint(locale, &Message::new(hint));
    match error {
        HubError::BadName => unknown_model(locale, name),
        HubError::Offline => of_catalogue(locale, with_name("error-hub-offline"), name).unreachable(),
        HubError::NotFound => hub_not_found(locale, name),
        HubError::Gated { with_token: false } => hinted("error-hub-gated", "hint-hub-token")
            .hint(locale, &Message::new("hint-hub-licence"))
            .unreachable(),
        HubError::Gated { with_token: true } => hinted("error-hub-gated", "hint-hub-licence").unreachable(),
        HubError::RateLimited { retry_after } => {
            let hint = match retry_after {
                Some(wait) => Message::new("hint-hub-wait").with("seconds", wait.as_secs()),
                None => Message::new("hint-hub-later"),
            };
            with_name("error-hub-limited").hint(locale, &hint).unreachable()
        }
        HubError::Several { candidates } => several_files(with_name("error-several-files"), candidates)
            .hint(locale, &Message::new("hint-hub-quant")),
        HubError::NoSuchQuant { quants } => {
            let why = Message::new("why-hub-quants").with("quants", quants.join(", "));
            with_name("error-hub-quant").why(locale, &why)
        }
        HubError::NoModel => hinted("error-hub-no-model", "hint-folder"),
        HubError::Pipeline => with_name("error-hub-pipeline"),
        HubError::File(error) => file(locale, name, error).unreachable_if(is_of_transfer(error)),
        HubError::Unreachable(_)
        | HubError::Timeout
        | HubError::Status(_)
        | HubError::Interrupted { .. }
        | HubError::BadAnswer(_)
        | HubError::HeaderTooLong { .. } => {
            let problem = with_name("error-hub-unreachable");
            let problem = problem.why(locale, &Message::new("why-cause").with("cause", error));
            of_catalogue(locale, problem, name).unreachable()
        }
    }
}

/// What needs no network: the model that a variant of this name is made from, if the catalogue has it.
fn of_catalogue(locale: &Locale, problem: Problem, name: &str) -> Problem {
    let last = name.rsplit('/').next().unwrap_or(name);
    let shorter = last.match_indices('-').map(|(at, _)| last.get(..at).unwrap_or(last));
    match shorter.rev().find_map(|base| find_model(base).one()) {
        Some(row) => problem.hint(locale, &Message::new("hint-hub-base").with("name", row.name)),
        None => problem.hint(locale, &Message::new("hint-hub-offline")),
    }
}

/// Whether a file is wrong because it did not come as it is.
const fn is_of_transfer(error: &FileError) -> bool {
    matches!(error, FileError::DataMissing { .. } | FileError::NotGguf | FileError::NotJson(_))
}

/// No such repository: the names of the catalogue that come near it.
fn hub_not_found(locale: &Locale, name: &str) -> Problem {
    let problem = Problem::new(locale, &Message::new("error-hub-not-found").with("name", name));
    let near = nearest(name, model_names(), |key| find_model(key).one().map(|row| row.id));
    with_nearest(locale, problem, near).hint(locale, &Message::new("hint-hub-token"))
}

/// A model of Ollama cannot be read.
pub(crate) fn ollama(locale: &Locale, name: &str, error: &OllamaError) -> Problem {
    match error {
        OllamaError::File(error) => file(locale, name, error),
        other => Problem::new(locale, &Message::new("error-ollama").with("name", name))
            .why(locale, &Message::new("why-cause").with("cause", other))
            .hint(locale, &Message::new("hint-ollama")),
    }
}

/// Several models of other programs have this name.
pub(crate) fn several_local(locale: &Locale, name: &str, models: &[LocalModel]) -> Problem {
    let candidates: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
    let problem = Problem::new(locale, &Message::new("error-several-models").with("name", name));
    several_files(problem, &candidates).hint(locale, &Message::new("hint-name-one"))
}

/// A file has its formats already.
pub(crate) fn quant_of_file(locale: &Locale, name: &str, quant: Recipe) -> Problem {
    let message = Message::new("error-quant-of-file").with("name", name).with("quant", quant.name());
    Problem::new(locale, &message)
}

/// A name states one quantisation, and `--quant` another.
pub(crate) fn quant_twice(locale: &Locale, name: &str, quant: Recipe) -> Problem {
    Problem::new(locale, &Message::new("error-quant-twice").with("name", name).with("quant", quant.name()))
}

/// No rule gives this quantisation.
pub(crate) fn no_recipe(locale: &Locale, tag: &str) -> Problem {
    let problem = Problem::new(locale, &Message::new("error-no-recipe").with("tag", tag));
    let problem = with_nearest(locale, problem, nearest_recipes(tag));
    problem.hint(locale, &Message::new("hint-no-recipe").with("tag", tag))
}

/// Quantisations whose names are most alike.
pub(crate) fn nearest_recipes(tag: &str) -> Vec<String> {
    nearest(tag, Recipe::ALL.iter().map(|recipe| recipe.name()), |name| Some(name.into()))
}

/// This machine cannot be looked at.
pub(crate) fn detection(locale: &Locale, error: &DetectError) -> Problem {
    Problem::new(locale, &Message::new("error-detection"))
        .why(locale, &Message::new("why-cause").with("cause", error))
        .hint(locale, &Message::new("hint-on"))
        .unreachable()
}

/// A request has no answer.
pub(crate) fn no_answer(locale: &Locale, model: &str, error: &NoAnswer) -> Problem {
    match error {
        NoAnswer::NoContext => Problem::new(locale, &Message::new("error-no-context")),
        NoAnswer::NoSequences => Problem::new(locale, &Message::new("error-no-sequences")),
        NoAnswer::NoBatch => Problem::new(locale, &Message::new("error-no-batch")),
        NoAnswer::ContextTooLong { asked, trained } => {
            let message = Message::new("error-context-too-long")
                .with("asked", thousands(asked.0))
                .with("trained", thousands(trained.0))
                .with("model", model);
            Problem::new(locale, &message).hint(locale, &Message::new("hint-long-context"))
        }
        NoAnswer::Refused(refusal) => refused(locale, model, refusal),
    }
}

fn refused(locale: &Locale, model: &str, refusal: &Refusal) -> Problem {
    let new = |message: Message<'_>| Problem::new(locale, &message);
    match refusal {
        Refusal::QuantisedValuesWithoutFlashAttention { v } => {
            new(Message::new("error-values-need-flash").with("format", v))
                .hint(locale, &Message::new("hint-values-need-flash"))
        }
        Refusal::UnequalCacheFormats { k, v } => {
            new(Message::new("error-unequal-cache").with("k", k).with("v", v).with("model", model))
        }
        Refusal::CacheRowNotWholeBlocks { format, values } => {
            new(Message::new("error-cache-blocks").with("format", format).with("values", values))
                .hint(locale, &Message::new("hint-cache-blocks"))
        }
        Refusal::CacheFormat { format } => new(Message::new("error-cache-format").with("format", format)),
        Refusal::ContextTooLarge { context, most } => new(Message::new("error-context-too-large")
            .with("context", thousands(context.0))
            .with("most", thousands(most.0))),
        Refusal::FewerOutputsThanSequences { outputs, sequences } => {
            new(Message::new("error-outputs").with("outputs", outputs).with("sequences", sequences))
        }
        Refusal::UnreadablePattern { pattern } => new(Message::new("error-pattern").with("pattern", pattern))
            .hint(locale, &Message::new("hint-pattern")),
        Refusal::NoSuchCard { card, cards } => {
            new(Message::new("error-no-such-card").with("card", card).with("cards", cards))
        }
        Refusal::NoBackend { device } => new(Message::new("error-no-backend").with("device", device)),
    }
}
