//! Models in files on this disk. Only the header is read, in growing pieces.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use vramplan_core::archs::{ArchError, model_of_gguf};
use vramplan_core::formats::Progress;
use vramplan_core::formats::gguf::{self, GgufError, Header};
use vramplan_core::model::Model;
use vramplan_core::quants;
use vramplan_core::units::Bytes;

use super::split;

/// Bytes of the first read: enough for a header without a vocabulary.
const FIRST_READ: u64 = 256 << 10;

/// A model file, read.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// What its quantisation is called.
    pub quant: String,
}

/// Why is a file no model that can be planned?
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// There is no such file.
    #[error("no such file")]
    Missing,
    /// It is a folder.
    #[error("a folder")]
    Folder,
    /// It is a pipe, a device or the like.
    #[error("no regular file")]
    NotRegular,
    /// The system would not let it be read.
    #[error("{0}")]
    Unreadable(String),
    /// It is of a kind that is not read.
    #[error("no GGUF file")]
    NotGguf,
    /// It has no bytes.
    #[error("empty")]
    Empty,
    /// Its header is broken, or stops too early.
    #[error(transparent)]
    Gguf(GgufError),
    /// Its header is whole, but data that it promises are missing.
    #[error("the header promises {promised} bytes, the file has {found}")]
    DataMissing {
        /// Bytes promised.
        promised: u64,
        /// Bytes there are.
        found: u64,
    },
    /// A part of a split model is missing.
    #[error("{part} is missing")]
    PartMissing {
        /// File name of the part.
        part: String,
    },
    /// It is a later part of a split model, or one whose name does not say which.
    #[error("part {number} of {count}")]
    NotFirstPart {
        /// Which part it is, counted from 1.
        number: u64,
        /// How many there are.
        count: u64,
    },
    /// Its architecture is not known; its weights are.
    #[error("unknown architecture {arch:?}")]
    UnknownArch {
        /// The architecture.
        arch: String,
        /// Bytes of all tensors.
        weights: Bytes,
        /// Tensors.
        tensors: usize,
    },
    /// What it says about its architecture makes no sense.
    #[error(transparent)]
    Arch(#[from] ArchError),
}

/// Reads the model of a GGUF file; of a split model, its first part and then the others beside it.
///
/// # Errors
/// The file is missing, unreadable, broken, cut short, or of an architecture nobody here knows; or a
/// part of a split model is missing.
pub fn read_gguf(path: &Path) -> Result<ModelFile, FileError> {
    let mut header = read_whole(path)?;
    for part in split::other_parts(path, &header)? {
        let other = match read_whole(&part) {
            Err(FileError::Missing) => {
                return Err(FileError::PartMissing { part: split::name_of(&part) });
            }
            other => other?,
        };
        split::append(&mut header, other);
    }
    let fallback = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("model");
    let model = model_of_gguf(&header, fallback).map_err(|error| understood(error, &header))?;
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
    let size = regular_size(path)?;
    let mut file = File::open(path).map_err(|e| unreadable(&e))?;
    let header = read_header(&mut file, size)?;
    let promised = header.file_bytes();
    if promised > size {
        return Err(FileError::DataMissing { promised, found: size });
    }
    Ok(header)
}

/// The size of a regular file; nothing else is opened, so that a pipe cannot hold us up.
fn regular_size(path: &Path) -> Result<u64, FileError> {
    let metadata = fs::metadata(path).map_err(|e| unreadable(&e))?;
    if metadata.is_dir() {
        return Err(FileError::Folder);
    }
    if !metadata.is_file() {
        return Err(FileError::NotRegular);
    }
    if metadata.len() == 0 {
        return Err(FileError::Empty);
    }
    Ok(metadata.len())
}

fn unreadable(error: &io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing,
        _ => FileError::Unreadable(error.to_string()),
    }
}

/// Reads until the parser has what it needs, at least twice as much each time.
fn read_header(file: &mut File, size: u64) -> Result<Header, FileError> {
    let mut bytes = Vec::new();
    let mut want = FIRST_READ;
    loop {
        let more = want.saturating_sub(bytes.len() as u64);
        file.take(more).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
        match gguf::parse(&bytes).map_err(broken)? {
            Progress::Done(header) => return Ok(header),
            Progress::Need(_) if (bytes.len() as u64) < want || bytes.len() as u64 >= size => {
                return gguf::parse_whole(&bytes).map_err(broken);
            }
            Progress::Need(need) => want = need.max(want.saturating_mul(2)),
        }
    }
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
    use super::*;

    fn error_of(bytes: &[u8]) -> FileError {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.gguf");
        fs::write(&path, bytes).unwrap();
        read_gguf(&path).unwrap_err()
    }

    #[test]
    fn what_is_no_model_file_is_said_so() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_gguf(&dir.path().join("none.gguf")).unwrap_err(), FileError::Missing);
        assert_eq!(read_gguf(dir.path()).unwrap_err(), FileError::Folder);
        assert_eq!(error_of(b""), FileError::Empty);
        assert_eq!(error_of(b"PK\x03\x04 and so on"), FileError::NotGguf);
        assert!(matches!(error_of(b"GGUF\x03\0\0\0"), FileError::Gguf(GgufError::Truncated { .. })));
    }
}
