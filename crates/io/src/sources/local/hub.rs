//! Models in a cache with the hub's layout.

use std::path::Path;

use vramplan_core::quants::tag_of_file;

use super::{Keeper, LocalModel, ggufs_in, safetensors_in};
use crate::sources::hub::cached;
use crate::sources::places::folders_in;

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
    let name = |path: &Path| {
        let tag = path.file_name().and_then(|name| name.to_str()).and_then(tag_of_file);
        Some(tag.map_or_else(|| id.to_owned(), |tag| format!("{id}:{tag}")))
    };
    let mut folders = folders_in(snapshot);
    folders.push(snapshot.to_owned());
    let mut models: Vec<LocalModel> =
        folders.iter().flat_map(|folder| ggufs_in(folder, Keeper::Hub, name)).collect();
    models.extend(safetensors_in(snapshot, Keeper::Hub, id.to_owned()));
    models
}
