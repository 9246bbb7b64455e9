//! safetensors files on this disk. Only headers are read.

use std::path::{Path, PathBuf};

use vramplan_core::formats::safetensors::{
    self, Header, Index, MAX_TENSORS, SafetensorsError, TensorInfo, parse_index,
};

use super::error::{FileError, name_of};
use super::read;

/// Enough for the header of most files.
const PARSER: read::Parser<Header, SafetensorsError> =
    read::Parser { first_read: 64 << 10, parse: safetensors::parse, parse_whole: safetensors::parse_whole };

/// Longest index read: a line for each of half a million tensors.
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// The tensors of all files.
pub(super) fn tensors(files: &[PathBuf]) -> Result<Vec<TensorInfo>, FileError> {
    let mut tensors = Vec::new();
    for file in files {
        tensors.extend(header(file)?.tensors);
        if tensors.len() > MAX_TENSORS {
            return Err(too_many(name_of(file)));
        }
    }
    Ok(tensors)
}

/// With this file, a model has more tensors than any.
pub(super) fn too_many(file: String) -> FileError {
    FileError::Safetensors { file, error: SafetensorsError::Broken("too many tensors".into()) }
}

/// Reads one file's header, and holds the file's size against it.
fn header(path: &Path) -> Result<Header, FileError> {
    let named = |error| match error {
        FileError::Missing => FileError::PartMissing { part: name_of(path) },
        FileError::Empty => FileError::Safetensors { file: name_of(path), error: SafetensorsError::Empty },
        other => other,
    };
    let size = read::regular_size(path).map_err(named)?;
    let broken = |error| FileError::Safetensors { file: name_of(path), error };
    let header = read::header(path, size, &PARSER, broken)?;
    let promised = header.file_bytes();
    if promised > size {
        return Err(FileError::DataMissing { file: name_of(path), promised, found: size });
    }
    Ok(header)
}

/// Reads an index.
pub(super) fn index(path: &Path) -> Result<Index, FileError> {
    let text = read::text(path, MAX_INDEX_BYTES)?;
    parse_index(&text).map_err(|error| FileError::Safetensors { file: name_of(path), error })
}
