//! Models in a cache with the hub's layout.

use std::path::{Path, PathBuf};

use super::{Keeper, LocalModel, gguf_bytes, is_gguf_model, safetensors_bytes};
use crate::sources::hub::cached;
use crate::sources::places::{files_in, folders_in};

/// Every model whose weights are here: a repository of safetensors is one, one of GGUF files has several.
pub(super) fn list(root: &Path) -> Vec<LocalModel> {
    let name =
        |folder: &Path| Some(folder.file_name()?.to_str()?.strip_prefix("models--")?.replacen("--", "/", 1));
    let ids = folders_in(root).into_iter().filter_map(|folder| name(&folder));
    ids.filter_map(|id| cached(root, &id).map(|snapshot| (id, snapshot)))
        .flat_map(|(id, s)| of_snapshot(&id, &s))
        .collect()
}

fn of_snapshot(id: &str, snapshot: &Path) -> Vec<LocalModel> {
    let of_path = |name: String, path: PathBuf, bytes| LocalModel {
        name,
        keeper: Keeper::Hub,
        path,
        bytes,
        context: None,
    };
    let mut folders = folders_in(snapshot);
    folders.push(snapshot.to_owned());
    let ggufs: Vec<PathBuf> =
        folders.iter().flat_map(|folder| files_in(folder)).filter(|path| is_gguf_model(path)).collect();
    let mut models: Vec<LocalModel> = ggufs
        .into_iter()
        .map(|path| {
            let tag = path.file_name().and_then(|n| n.to_str()).and_then(vramplan_core::quants::tag_of_file);
            let name = tag.map_or_else(|| id.to_owned(), |tag| format!("{id}:{tag}"));
            let bytes = gguf_bytes(&path);
            of_path(name, path, bytes)
        })
        .collect();
    let weights = safetensors_bytes(snapshot);
    if weights > 0 && snapshot.join("config.json").is_file() {
        models.push(of_path(id.to_owned(), snapshot.to_owned(), weights));
    }
    models
}
