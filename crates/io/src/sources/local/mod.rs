//! Models that other programs keep on this disk: listed by what their files say, opened by the names their
//! programs give them.

mod flat;
mod hub;
mod lm_studio;
mod ollama;

use std::path::{Path, PathBuf};

use super::folder::{is_gguf_model, lower_name};
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

/// Every GGUF model in a folder, matrices of importances aside; `name` gives a file's.
fn ggufs_in(folder: &Path, keeper: Keeper, name: impl Fn(&Path) -> Option<String>) -> Vec<LocalModel> {
    let is_model = |path: &PathBuf| is_gguf_model(path) && !lower_name(path).contains("imatrix");
    let models = files_in(folder).into_iter().filter(is_model).filter_map(|path| {
        Some(LocalModel { name: name(&path)?, keeper, bytes: gguf_bytes(&path), path, context: None })
    });
    models.collect()
}

/// The model of a folder with a config and safetensors.
fn safetensors_in(folder: &Path, keeper: Keeper, name: String) -> Option<LocalModel> {
    let bytes = safetensors_bytes(folder);
    let is_model = bytes > 0 && folder.join("config.json").is_file();
    is_model.then(|| LocalModel { name, keeper, path: folder.to_owned(), bytes, context: None })
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
