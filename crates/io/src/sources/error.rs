//! Why a path leads to no model.

use std::io;
use std::path::Path;

use vramplan_core::archs::{ArchError, StoredError};
use vramplan_core::formats::gguf::GgufError;
use vramplan_core::formats::safetensors::SafetensorsError;
use vramplan_core::units::Bytes;

/// Why is a file or a folder no model that can be planned?
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// There is no such file.
    #[error("no such file")]
    Missing,
    /// It is a folder where a file is needed.
    #[error("a folder")]
    Folder,
    /// It is a folder without any model.
    #[error("no model in it")]
    NoModel,
    /// It is a folder with several models.
    #[error("several models: {}", .candidates.join(", "))]
    Several {
        /// Paths of them.
        candidates: Vec<String>,
    },
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
    /// It is a config of more bytes than any model's.
    #[error("{bytes} bytes are more than a config has")]
    TooLarge {
        /// Bytes it has.
        bytes: u64,
    },
    /// It is a config that is no JSON object.
    #[error("no JSON: {0}")]
    NotJson(String),
    /// It is a safetensors file without the config of its model beside it.
    #[error("no config.json beside it")]
    NoConfig,
    /// Its GGUF header is broken, or stops too early.
    #[error(transparent)]
    Gguf(GgufError),
    /// The header of a safetensors file, or an index, is broken or stops too early.
    #[error("{file}: {error}")]
    Safetensors {
        /// The file.
        file: String,
        /// What is wrong with it.
        error: SafetensorsError,
    },
    /// Its header is whole, but data that it promises are missing.
    #[error("the header of {file} promises {promised} bytes, the file has {found}")]
    DataMissing {
        /// Name of the file.
        file: String,
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
    /// The files and the config cannot be of one model.
    #[error(transparent)]
    Stored(#[from] StoredError),
}

/// The name of a file, for people.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The error of a system call.
pub(super) fn unreadable(error: &io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing,
        _ => FileError::Unreadable(error.to_string()),
    }
}
