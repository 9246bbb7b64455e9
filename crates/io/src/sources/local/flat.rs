//! llama.cpp's cache before March 2026: one folder of files named for where they came from.

use std::path::Path;

use super::{Keeper, LocalModel, ggufs_in};

/// Every GGUF model in the folder; the name is that of the file.
pub(super) fn list(root: &Path) -> Vec<LocalModel> {
    ggufs_in(root, Keeper::LlamaCpp, |path| Some(path.file_stem()?.to_str()?.to_owned()))
}
