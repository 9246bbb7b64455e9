//! What can be wrong with a GGUF header?

use alloc::string::String;
use core::fmt;

use super::metadata::ValueError;
use crate::dtype::Format;

/// Why can this file not be read as GGUF?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GgufError {
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The first bytes are not `GGUF`.
    #[error("not a GGUF file: it does not start with GGUF")]
    NotGguf,
    /// Version 1, which engines refuse too.
    #[error("GGUF version 1 is no longer read by any engine; convert the model again")]
    Version1,
    /// A version that this reader does not know.
    #[error("unknown GGUF version {version}")]
    UnknownVersion {
        /// As stored.
        version: u32,
    },
    /// The file ends before its header does.
    #[error("the file stops after {size} bytes, inside {place}")]
    Truncated {
        /// Where it stops, and how much was promised.
        place: Place,
        /// Bytes there are.
        size: u64,
    },
    /// The file ends before its tensors do.
    #[error("the header promises a file of {promised} bytes, there are {actual}")]
    DataMissing {
        /// Bytes up to the end of the last tensor.
        promised: u64,
        /// Bytes there are.
        actual: u64,
    },
    /// The header goes on past [`MAX_HEADER_BYTES`](super::MAX_HEADER_BYTES).
    #[error("the header is too long: {place} ends past the limit of {} bytes", super::MAX_HEADER_BYTES)]
    HeaderTooLong {
        /// What ends past the limit.
        place: Place,
    },
    /// More tensors than [`MAX_TENSORS`](super::MAX_TENSORS).
    #[error("{count} tensors, more than the limit of {}", super::MAX_TENSORS)]
    TooManyTensors {
        /// As stored.
        count: u64,
    },
    /// More metadata keys than [`MAX_KEYS`](super::MAX_KEYS).
    #[error("{count} metadata keys, more than the limit of {}", super::MAX_KEYS)]
    TooManyKeys {
        /// As stored.
        count: u64,
    },
    /// A key or tensor name longer than [`MAX_NAME_BYTES`](super::MAX_NAME_BYTES).
    #[error("{place} has a name of {length} bytes, more than the limit of {}", super::MAX_NAME_BYTES)]
    NameTooLong {
        /// Whose name.
        place: Place,
        /// As stored.
        length: u64,
    },
    /// A key or tensor name that is not UTF-8.
    #[error("{place} has a name that is not UTF-8")]
    BadName {
        /// Whose name.
        place: Place,
    },
    /// A text value longer than [`MAX_TEXT_BYTES`](super::MAX_TEXT_BYTES).
    #[error("the text of {key} has {length} bytes, more than the limit of {}", super::MAX_TEXT_BYTES)]
    TextTooLong {
        /// Its key.
        key: String,
        /// As stored.
        length: u64,
    },
    /// A value type that no GGUF version defines.
    #[error("{key} has the unknown value type {id}")]
    UnknownKind {
        /// Its key.
        key: String,
        /// As stored.
        id: u32,
    },
    /// An array of arrays: no writer makes them and ggml refuses them.
    #[error("{key} is an array of arrays")]
    NestedArray {
        /// Its key.
        key: String,
    },
    /// The same key twice.
    #[error("the key {key} appears twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A key that the header itself depends on has another type than it must have.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The alignment is no power of two or above [`MAX_ALIGNMENT`](super::MAX_ALIGNMENT).
    #[error("general.alignment is {alignment}, not a power of two up to {}", super::MAX_ALIGNMENT)]
    BadAlignment {
        /// As stored.
        alignment: u64,
    },
    /// The same tensor twice.
    #[error("the tensor {tensor} appears twice")]
    DuplicateTensor {
        /// Its name.
        tensor: String,
    },
    /// A tensor without dimensions or with more than four.
    #[error("{tensor} has {count} dimensions, not 1 to 4")]
    BadDimensions {
        /// Its name.
        tensor: String,
        /// As stored.
        count: u32,
    },
    /// An extent that is zero or, as ggml reads it, negative.
    #[error("{tensor} has {extent} values along dimension {axis}")]
    BadExtent {
        /// Its name.
        tensor: String,
        /// Along which dimension, counted from 0, fastest first.
        axis: usize,
        /// As stored, signed.
        extent: i64,
    },
    /// A number format that this reader does not know.
    #[error("{tensor} has the unknown ggml type {id}")]
    UnknownFormat {
        /// Its name.
        tensor: String,
        /// As stored.
        id: u32,
    },
    /// A row that does not divide into the format's blocks.
    #[error("{tensor} has rows of {row} values, not whole blocks of {format}")]
    PartialBlock {
        /// Its name.
        tensor: String,
        /// Values in a row.
        row: u64,
        /// Its format.
        format: Format,
    },
    /// A size, or an end in the file, past 2^64.
    #[error("{tensor} is larger than any file")]
    TooLarge {
        /// Its name.
        tensor: String,
    },
    /// A tensor that does not start at a multiple of the alignment.
    #[error("{tensor} starts at {offset}, not a multiple of {alignment}")]
    Misaligned {
        /// Its name.
        tensor: String,
        /// As stored.
        offset: u64,
        /// Of this file.
        alignment: u64,
    },
}

/// Where in the header is this, and how much did the header promise there?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Magic, version and counts.
    Preamble,
    /// A metadata key with its value.
    Key {
        /// Which, counted from 1.
        number: u64,
        /// How many the header promises.
        of: u64,
    },
    /// An entry of the tensor table.
    Tensor {
        /// Which, counted from 1.
        number: u64,
        /// How many the header promises.
        of: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preamble => f.write_str("the preamble"),
            Self::Key { number, of } => write!(f, "metadata key {number} of {of}"),
            Self::Tensor { number, of } => write!(f, "tensor {number} of {of}"),
        }
    }
}
