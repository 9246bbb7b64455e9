//! Models that other programs keep on this disk: listed by what their files say, opened by the names their
//! programs give them.

mod flat;
mod hub;
mod lm_studio;
mod ollama;

use std::path::{Path, PathBuf};

use super::places::{Places, files_in};
use super::{FileError, Opened, open};
pub use ollama::{OllamaError, OllamaModel, find as find_ollama};

/// Whose model is it?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keeper {
    /// The hub's cache: transformers, vLLM, MLX and llama.cpp since March 2026 share it.
    Hub,
    /// llama.cpp's cache of flat files.
    LlamaCpp,
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
}

/// A model on this disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalModel {
    /// What its program calls it: that name opens it.
    pub name: String,
    /// Whose it is.
    pub keeper: Keeper,
    /// The file, or the folder of its files.
    pub path: PathBuf,
    /// Bytes of its files on the disk.
    pub bytes: u64,
    /// Context that its program starts it with, where that is stated.
    pub context: Option<u64>,
}

/// Every model of these places, by keeper and name.
pub fn list(places: &Places) -> Vec<LocalModel> {
    let mut models = list_hub(places);
    models.extend(list_named(places));
    models.extend(places.ollama.iter().flat_map(|root| ollama::list(root)));
    models.sort_by(|a, b| (a.keeper, &a.name).cmp(&(b.keeper, &b.name)));
    models.dedup_by(|a, b| a.path == b.path);
    models
}

/// Models of the hub, in its cache and in the folder of llama.cpp, which has had its layout since March 2026.
pub fn list_hub(places: &Places) -> Vec<LocalModel> {
    places.hub.iter().chain(&places.llama_cpp).flat_map(|root| hub::list(root)).collect()
}

/// Models of LM Studio, and of llama.cpp in flat files.
fn list_named(places: &Places) -> Vec<LocalModel> {
    let flat = places.llama_cpp.iter().flat_map(|root| flat::list(root));
    flat.chain(places.lm_studio.iter().flat_map(|root| lm_studio::list(root))).collect()
}

impl LocalModel {
    /// Reads it.
    ///
    /// # Errors
    /// Its files are broken, or nobody here knows what they are.
    pub fn open(&self) -> Result<Opened, FileError> {
        open(&self.path)
    }
}

/// The model of LM Studio or llama.cpp that goes by this name; several bear one name where they differ in
/// quantisation alone.
pub fn find(places: &Places, name: &str) -> Vec<LocalModel> {
    let wanted = vramplan_core::catalogue::normalise(name);
    let bears = |model: &LocalModel| {
        let whole = vramplan_core::catalogue::normalise(&model.name);
        whole == wanted || whole.rsplit('/').next() == Some(wanted.as_str())
    };
    list_named(places).into_iter().filter(bears).collect()
}

/// Whether a file is a GGUF model by its name: no projector, no matrix of importances, no later part.
fn is_gguf_model(path: &Path) -> bool {
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().to_ascii_lowercase());
    let Some(stem) = name.strip_suffix(".gguf") else { return false };
    let part = stem.rsplit_once("-of-").and_then(|(rest, _)| rest.rsplit_once('-')?.1.parse::<u64>().ok());
    !stem.contains("mmproj") && !stem.contains("imatrix") && part.is_none_or(|part| part == 1)
}

/// Bytes of a GGUF file and of its other parts.
fn gguf_bytes(path: &Path) -> u64 {
    let name = |p: &Path| p.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let first = name(path);
    let prefix = first.rsplit_once("-00001-of-").map(|(prefix, _)| format!("{prefix}-0"));
    let folder = path.parent().unwrap_or(Path::new("."));
    let is_part = |p: &PathBuf| match &prefix {
        Some(prefix) => name(p).starts_with(prefix.as_str()) && name(p).ends_with(".gguf"),
        None => name(p) == first,
    };
    files_in(folder).iter().filter(|p| is_part(p)).map(|p| bytes_of(p)).sum()
}

fn bytes_of(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Bytes of the weights in a folder of safetensors; 0 without any.
fn safetensors_bytes(folder: &Path) -> u64 {
    let weights = files_in(folder).into_iter().filter(|p| p.extension().is_some_and(|e| e == "safetensors"));
    weights.map(|path| bytes_of(&path)).sum()
}
