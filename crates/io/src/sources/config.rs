//! A model by its config.json, with or without the safetensors files beside it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use vramplan_core::archs::{self, Described, Stored};
use vramplan_core::formats::hf_config;
use vramplan_core::formats::safetensors::TensorInfo;
use vramplan_core::packing::Packing;

use super::error::FileError;
use super::{read, safetensors};

/// Longest config read; real ones have a few thousand bytes, per-layer lists included.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// A model by its config.json.
#[derive(Clone, Debug)]
pub struct ConfigModel {
    /// Name for people: that of its folder, or of its repository in a hub cache.
    pub name: String,
    /// The config.
    pub config: Value,
    /// What the config describes.
    pub described: Described,
    /// What the files hold, where there are any.
    pub stored: Option<Stored>,
}

/// Reads a config, and the headers of the files beside it.
pub(super) fn read_model(config: &Path, weights: Option<&[PathBuf]>) -> Result<ConfigModel, FileError> {
    let text = read::text(config, MAX_CONFIG_BYTES)?;
    // The config first: what it says is wrong tells more than what is wrong with its files.
    let model = of_text(name_of(config), &text, None)?;
    match weights {
        Some(files) => model.with(&safetensors::tensors(files)?),
        None => Ok(model),
    }
}

/// The model of a config that came from elsewhere, and of the tensors that came with it.
pub(super) fn of_bytes(
    name: &str,
    bytes: &[u8],
    tensors: Option<Vec<TensorInfo>>,
) -> Result<ConfigModel, FileError> {
    if bytes.len() as u64 > MAX_CONFIG_BYTES {
        return Err(FileError::TooLarge { bytes: bytes.len() as u64 });
    }
    let text = std::str::from_utf8(bytes).map_err(|_| FileError::NotJson("not UTF-8".into()))?;
    of_text(name.into(), text, tensors.as_deref())
}

fn of_text(name: String, text: &str, tensors: Option<&[TensorInfo]>) -> Result<ConfigModel, FileError> {
    let config = hf_config::parse(text).map_err(|e| FileError::NotJson(e.to_string()))?;
    let described = archs::describe(&config)?;
    let model = ConfigModel { name, config, described, stored: None };
    match tensors {
        Some(tensors) => model.with(tensors),
        None => Ok(model),
    }
}

impl ConfigModel {
    /// What its quantisation is called: the method that the config states, else the format of most bytes.
    pub fn quantisation(&self) -> String {
        let stated = Packing::of_config(&self.config).ok().flatten().map(|packing| packing.method);
        let largest = || {
            let formats = &self.stored.as_ref()?.formats;
            formats.iter().max_by_key(|(_, bytes)| **bytes).map(|(format, _)| format.name().to_owned())
        };
        stated.or_else(largest).unwrap_or_default()
    }

    /// The model with what its files hold.
    fn with(self, tensors: &[TensorInfo]) -> Result<Self, FileError> {
        let stored = archs::stored(&self.described, tensors)?;
        Ok(Self { stored: Some(stored), ..self })
    }
}

/// The folder's name; in a hub cache (`models--maker--name/snapshots/commit`) that of the repository.
fn name_of(config: &Path) -> String {
    let absolute = config.canonicalize().unwrap_or_else(|_| config.to_owned());
    // A cache's files are links into a folder of blobs: the path as it was given tells more.
    let given = std::path::absolute(config).unwrap_or(absolute);
    let words: Vec<&str> = given.iter().filter_map(|word| word.to_str()).collect();
    let repository = words.iter().rev().find_map(|word| word.strip_prefix("models--"));
    let folder = words.iter().rev().nth(1).copied();
    match repository.and_then(|id| id.rsplit("--").next()) {
        Some(name) => name.into(),
        None => folder.unwrap_or("model").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_called_what_its_folder_is() {
        assert_eq!(name_of(Path::new("/models/Qwen3-8B/config.json")), "Qwen3-8B");
        let cached = "/hub/models--Qwen--Qwen3-8B/snapshots/b968826d/config.json";
        assert_eq!(name_of(Path::new(cached)), "Qwen3-8B");
    }
}
