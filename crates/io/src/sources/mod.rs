//! Where models come from: a file or a folder on this disk, what other programs keep there, the hub.

mod config;
mod error;
mod folder;
mod gguf;
pub mod hub;
pub mod local;
pub mod places;
mod read;
mod safetensors;
mod split;

use std::path::Path;

pub use config::ConfigModel;
pub use error::FileError;
pub use gguf::ModelFile;

/// A model on this disk.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A GGUF file, split or not.
    Gguf(Box<ModelFile>),
    /// A config.json, and the safetensors files beside it, if any.
    Config(Box<ConfigModel>),
}

/// Reads the model that a path leads to: a GGUF file, a safetensors file with its config.json beside it,
/// a config.json alone, or a folder with one of them.
///
/// # Errors
/// Nothing is there; it is no model, or several; a file is unreadable, broken or cut short; or a config
/// makes no sense, or contradicts the files beside it.
pub fn open(path: &Path) -> Result<Opened, FileError> {
    let found = folder::find(path)?;
    match found {
        folder::Found::Gguf(file) => gguf::read_model(&file).map(|model| Opened::Gguf(Box::new(model))),
        folder::Found::Config { config, weights } => {
            config::read_model(&config, weights.as_deref()).map(|model| Opened::Config(Box::new(model)))
        }
    }
}
