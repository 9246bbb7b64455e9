//! LM Studio's models: `publisher/repository/` with GGUF files or the files of an MLX model.

use std::path::Path;

use super::{Keeper, LocalModel, ggufs_in, safetensors_in};
use crate::sources::places::folders_in;

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
    let of_file = |path: &Path| Some(format!("{publisher}/{}", path.file_stem()?.to_str()?));
    let mut models = ggufs_in(folder, Keeper::LmStudio, of_file);
    models.extend(safetensors_in(folder, Keeper::LmStudio, format!("{publisher}/{repository}")));
    models
}
