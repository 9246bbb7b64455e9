//! LM Studio's models: `publisher/repository/` with GGUF files or the files of an MLX model.

use std::path::Path;

use super::{Keeper, LocalModel, gguf_bytes, is_gguf_model, safetensors_bytes};
use crate::sources::places::{files_in, folders_in};

/// Every model; files that lie in no publisher's folder are not seen by the program either.
pub(super) fn list(root: &Path) -> Vec<LocalModel> {
    folders_in(root)
        .iter()
        .flat_map(|publisher| folders_in(publisher))
        .flat_map(|folder| of_folder(&folder))
        .collect()
}

fn of_folder(folder: &Path) -> Vec<LocalModel> {
    let mut words = folder.iter().rev().filter_map(|word| word.to_str());
    let (Some(repository), Some(publisher)) = (words.next(), words.next()) else { return Vec::new() };
    let of_path = |name: String, path: &Path, bytes| LocalModel {
        name,
        keeper: Keeper::LmStudio,
        path: path.to_owned(),
        bytes,
        context: None,
    };
    let ggufs = files_in(folder).into_iter().filter(|path| is_gguf_model(path));
    let mut models: Vec<LocalModel> = ggufs
        .filter_map(|path| {
            let stem = path.file_stem()?.to_str()?;
            Some(of_path(format!("{publisher}/{stem}"), &path, gguf_bytes(&path)))
        })
        .collect();
    let weights = safetensors_bytes(folder);
    if weights > 0 && folder.join("config.json").is_file() {
        models.push(of_path(format!("{publisher}/{repository}"), folder, weights));
    }
    models
}
