//! safetensors headers: which tensors does a file hold, and in which number formats?
//!
//! The format is a length of eight bytes, least significant first, a JSON object of so many bytes, and
//! the data (huggingface/safetensors, README "Format"). The file is not trusted: the length is held
//! against a limit before anything is read, and no offset is believed.

mod index;
mod table;

pub use index::{Index, parse_index};

use alloc::string::String;
use alloc::vec::Vec;

use crate::dtype::Format;
use crate::formats::Progress;
use crate::units::Bytes;

/// Longest header read, the format's own limit.
pub const MAX_HEADER_BYTES: u64 = 100_000_000;
/// Most tensors read from one file. One tensor for each of 256 experts in each of 100 layers would fit.
pub const MAX_TENSORS: usize = 1 << 18;
/// Most dimensions of a tensor.
pub const MAX_DIMENSIONS: usize = 8;

/// Bytes of the length before the header.
const LENGTH_BYTES: u64 = 8;

/// Why is a file no safetensors file that can be read?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SafetensorsError {
    /// It has no bytes.
    #[error("empty")]
    Empty,
    /// It stops before its header does.
    #[error("the header takes {promised} bytes, the file has {found}")]
    Truncated {
        /// Bytes the header takes.
        promised: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The length of its header is none that the format allows.
    #[error("a header of {length} bytes")]
    HeaderLength {
        /// The length stated.
        length: u64,
    },
    /// Its header is not what the format says.
    #[error("the header is broken: {0}")]
    Broken(String),
    /// A tensor has a number format that nobody here knows.
    #[error("{tensor}: number format {dtype:?}")]
    UnknownFormat {
        /// The tensor.
        tensor: String,
        /// Its format as stated.
        dtype: String,
    },
    /// A tensor's place does not hold as many bytes as its shape takes.
    #[error("{tensor}: its shape takes {wanted} bytes, its place has {place}")]
    WrongSize {
        /// The tensor.
        tensor: String,
        /// Bytes by shape and format.
        wanted: u64,
        /// Bytes between its offsets.
        place: u64,
    },
}

/// One stored tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its name.
    pub name: String,
    /// Its number format.
    pub format: Format,
    /// Its extents, slowest first.
    pub shape: Vec<u64>,
    /// Where its data end in the data section, in bytes.
    pub end: u64,
}

impl TensorInfo {
    /// Number of stored values.
    pub fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |n, d| n.saturating_mul(*d))
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> Bytes {
        let blocks = self.elements().div_ceil(self.format.block_elements());
        Bytes(blocks.saturating_mul(self.format.block_bytes()))
    }
}

/// What does a file say about itself before its data begin?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The tensors, in the order of the header.
    pub tensors: Vec<TensorInfo>,
    /// Bytes before the data.
    pub data_offset: u64,
}

impl Header {
    /// How long must the file be at least? A shorter one is a truncated download.
    pub fn file_bytes(&self) -> u64 {
        let ends = self.tensors.iter().map(|t| t.end);
        ends.fold(self.data_offset, |longest, end| longest.max(self.data_offset.saturating_add(end)))
    }
}

/// What does the header say, or how many bytes are needed to tell? `bytes` starts at the file's start
/// and may go on past the header.
///
/// # Errors
/// The bytes are no header of this format.
pub fn parse(bytes: &[u8]) -> Result<Progress<Header>, SafetensorsError> {
    let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(Progress::Need(LENGTH_BYTES)) };
    let length = u64::from_le_bytes(*length);
    if !(2..=MAX_HEADER_BYTES).contains(&length) {
        return Err(SafetensorsError::HeaderLength { length });
    }
    match usize::try_from(length).ok().and_then(|n| rest.get(..n)) {
        Some(header) => {
            Ok(Progress::Done(Header { tensors: table::read(header)?, data_offset: LENGTH_BYTES + length }))
        }
        // Another kind of file is told by its first byte, before all of a wrong length is fetched.
        None if rest.first().is_some_and(|first| *first != b'{') => {
            Err(SafetensorsError::HeaderLength { length })
        }
        None => Ok(Progress::Need(LENGTH_BYTES + length)),
    }
}

/// What does the header say when no more bytes will come?
///
/// # Errors
/// The bytes are no header of this format, or stop before it does.
pub fn parse_whole(bytes: &[u8]) -> Result<Header, SafetensorsError> {
    match parse(bytes)? {
        Progress::Done(header) => Ok(header),
        Progress::Need(_) if bytes.is_empty() => Err(SafetensorsError::Empty),
        Progress::Need(promised) => Err(SafetensorsError::Truncated { promised, found: bytes.len() as u64 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes
    }

    const GOOD: &str = r#"{"__metadata__":{"format":"pt"},
        "a.weight":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},
        "scale":{"dtype":"F32","shape":[],"data_offsets":[12,16]},
        "packed":{"dtype":"F4","shape":[3],"data_offsets":[16,18]}}   "#;

    #[test]
    fn tensors_are_read_and_every_prefix_asks_for_more() {
        let bytes = file(GOOD);
        let Ok(Progress::Done(header)) = parse(&bytes) else { panic!() };
        assert_eq!(header.tensors.len(), 3);
        assert_eq!(header.tensors[0].shape, [2, 3]);
        assert_eq!(header.tensors[1].elements(), 1);
        assert_eq!(header.file_bytes(), bytes.len() as u64 + 18);
        for n in 0..bytes.len() {
            let Ok(Progress::Need(need)) = parse(&bytes[..n]) else { panic!("{n}") };
            assert!(need > n as u64 && need <= bytes.len() as u64);
            assert!(parse_whole(&bytes[..n]).is_err());
        }
    }

    #[test]
    fn broken_headers_are_told_apart() {
        let error = |header: &str| parse(&file(header)).unwrap_err();
        let one = |tensor: &str| error(&alloc::format!("{{\"w\":{tensor}}}"));
        assert!(matches!(error("{]"), SafetensorsError::Broken(_)));
        assert!(matches!(error("[]"), SafetensorsError::Broken(_)));
        assert!(matches!(one("{}"), SafetensorsError::Broken(_)));
        assert!(matches!(
            one(r#"{"dtype":"BF16","shape":[-1],"data_offsets":[0,2]}"#),
            SafetensorsError::Broken(_)
        ));
        for dtype in ["Q4_K", "F12"] {
            let tensor = alloc::format!(r#"{{"dtype":"{dtype}","shape":[1],"data_offsets":[0,2]}}"#);
            assert!(matches!(one(&tensor), SafetensorsError::UnknownFormat { .. }), "{dtype}");
        }
        for offsets in ["[0,3]", "[2,0]", "[18446744073709551615,1]"] {
            let tensor = alloc::format!(r#"{{"dtype":"BF16","shape":[1],"data_offsets":{offsets}}}"#);
            assert!(matches!(one(&tensor), SafetensorsError::WrongSize { .. }), "{offsets}");
        }
        let huge = r#"{"dtype":"BF16","shape":[4294967296,4294967296,2],"data_offsets":[0,2]}"#;
        assert!(matches!(one(huge), SafetensorsError::WrongSize { .. }));
    }

    #[test]
    fn other_files_are_no_headers() {
        assert_eq!(parse_whole(b"").unwrap_err(), SafetensorsError::Empty);
        let gguf = parse_whole(b"GGUF\x03\0\0\0 and so on").unwrap_err();
        assert!(matches!(gguf, SafetensorsError::HeaderLength { .. }));
        let text = parse_whole(b"\x10\0\0\0\0\0\0\0no object here, but long").unwrap_err();
        assert!(matches!(text, SafetensorsError::Broken(_)));
        let early = parse_whole(b"\x40\0\0\0\0\0\0\0no object").unwrap_err();
        assert!(matches!(early, SafetensorsError::HeaderLength { .. }));
    }
}
