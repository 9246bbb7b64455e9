//! A model by its config.json, with or without the safetensors files beside it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use vramplan_core::archs::{self, Described, Stored};
use vramplan_core::formats::hf_config;

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
    let value = hf_config::parse(&text).map_err(|e| FileError::NotJson(e.to_string()))?;
    let described = archs::describe(&value)?;
    let stored = match weights {
        Some(files) => Some(archs::stored(&described, &safetensors::tensors(files)?)?),
        None => None,
    };
    Ok(ConfigModel { name: name_of(config), config: value, described, stored })
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
