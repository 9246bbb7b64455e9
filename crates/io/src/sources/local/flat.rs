//! llama.cpp's cache before March 2026: one folder of files named for where they came from.

use std::path::Path;

use super::{Keeper, LocalModel, gguf_bytes, is_gguf_model};
use crate::sources::places::files_in;

/// Every GGUF model in the folder; the name is that of the file.
pub(super) fn list(root: &Path) -> Vec<LocalModel> {
    let models = files_in(root).into_iter().filter(|path| is_gguf_model(path));
    models
        .filter_map(|path| {
            let name = path.file_stem()?.to_str()?.to_owned();
            let bytes = gguf_bytes(&path);
            Some(LocalModel { name, keeper: Keeper::LlamaCpp, path, bytes, context: None })
        })
        .collect()
}
