//! GGUF files on this disk. Only the header is read.

use std::path::Path;

use vramplan_core::archs::{ArchError, model_of_gguf};
use vramplan_core::formats::gguf::{self, GgufError, Header};
use vramplan_core::model::Model;
use vramplan_core::quants;

use super::error::{FileError, name_of};
use super::{read, split};

/// Enough for a header without a vocabulary.
const PARSER: read::Parser<Header, GgufError> =
    read::Parser { first_read: 256 << 10, parse: gguf::parse, parse_whole: gguf::parse_whole };

/// A model file, read.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// What its quantisation is called.
    pub quant: String,
}

/// Reads the model of a GGUF file; of a split model, its first part and then the others beside it.
///
/// # Errors
/// The file is missing, unreadable, broken, cut short, or of an architecture nobody here knows; or a
/// part of a split model is missing.
pub(super) fn read_model(path: &Path) -> Result<ModelFile, FileError> {
    let mut header = read_whole(path)?;
    for part in split::other_parts(path, &header)? {
        let other = match read_whole(&part) {
            Err(FileError::Missing) => {
                return Err(FileError::PartMissing { part: name_of(&part) });
            }
            other => other?,
        };
        split::append(&mut header, other);
    }
    of_header(&header, path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("model"))
}

/// The model of a header, all parts in it; `fallback` names it where it does not name itself.
pub(super) fn of_header(header: &Header, fallback: &str) -> Result<ModelFile, FileError> {
    let model = model_of_gguf(header, fallback).map_err(|error| understood(error, header))?;
    let file_type = header.metadata.uint("general.file_type").ok().flatten();
    let quant = quants::name_of(file_type, &model).to_owned();
    Ok(ModelFile { model, quant })
}

/// What can still be told of a file whose architecture nobody knows: its weights.
fn understood(error: ArchError, header: &Header) -> FileError {
    match error {
        ArchError::Unknown(arch) => {
            let weights = header.tensors.iter().map(|t| t.bytes()).sum();
            FileError::UnknownArch { arch, weights, tensors: header.tensors.len() }
        }
        other => FileError::Arch(other),
    }
}

/// Reads one file's header, and holds the file's size against it.
fn read_whole(path: &Path) -> Result<Header, FileError> {
    let size = read::regular_size(path)?;
    let header = read::header(path, size, &PARSER, broken)?;
    let promised = header.file_bytes();
    if promised > size {
        return Err(FileError::DataMissing { file: name_of(path), promised, found: size });
    }
    Ok(header)
}

fn broken(error: GgufError) -> FileError {
    match error {
        GgufError::NotGguf => FileError::NotGguf,
        GgufError::Empty => FileError::Empty,
        other => FileError::Gguf(other),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn error_of(bytes: &[u8]) -> FileError {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.gguf");
        fs::write(&path, bytes).unwrap();
        read_model(&path).unwrap_err()
    }

    #[test]
    fn what_is_no_model_file_is_said_so() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_model(&dir.path().join("none.gguf")).unwrap_err(), FileError::Missing);
        assert_eq!(read_model(dir.path()).unwrap_err(), FileError::Folder);
        assert_eq!(error_of(b""), FileError::Empty);
        assert_eq!(error_of(b"PK\x03\x04 and so on"), FileError::NotGguf);
        assert!(matches!(error_of(b"GGUF\x03\0\0\0"), FileError::Gguf(GgufError::Truncated { .. })));
    }
}
