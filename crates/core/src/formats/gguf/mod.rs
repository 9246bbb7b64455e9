//! GGUF headers: which tensors and which facts does a model file hold?
//!
//! Versions 2 and 3 in either byte order, as ggml 0.25 reads them. The file is not trusted: sizes are
//! held against the limits below before they are used, memory is never reserved by a count from the
//! file, and tokeniser strings are stepped over without a copy.

mod error;
mod metadata;
mod reader;
mod tensors;
#[cfg(test)]
mod tests;
mod value;

pub use error::{GgufError, Place};
pub use metadata::{Metadata, ValueError, Wanted};
pub use tensors::TensorInfo;
pub use value::{Array, Found, Items, Kind, Value};

use crate::formats::Progress;
use crate::units::Bytes;
use reader::{Read, Reader, Stop};

/// Longest header read: it must be held while it is parsed. Vocabularies of 262k tokens with half a
/// million merges take 10 to 20 MiB.
pub const MAX_HEADER_BYTES: u64 = 36 << 20;
/// Most tensors read. Models with merged experts have up to 3,000; one tensor for each of 256 experts
/// in each of 100 layers would still fit.
pub const MAX_TENSORS: u64 = 1 << 17;
/// Most metadata keys read. Real files have 20 to 60.
pub const MAX_KEYS: u64 = 1 << 16;
/// Longest key or tensor name: the specification's limit for keys. (ggml takes names of 63 bytes.)
pub const MAX_NAME_BYTES: u64 = 65_535;
/// Longest text kept as a value. Chat templates, the longest, take some 20 KiB.
pub const MAX_TEXT_BYTES: u64 = 1 << 20;
/// Longest array whose items are kept: room for any array by layer, none for one by token.
pub const MAX_KEPT_ITEMS: u64 = 16_384;
/// Most array items kept from one header in all, so that many arrays hold no more than 8 MiB.
pub const MAX_KEPT_IN_ALL: u64 = 1 << 20;
/// Largest alignment of the data section taken for meant; writers use 32.
pub const MAX_ALIGNMENT: u64 = 16 << 20;
/// Alignment of the data section when the file states none.
pub const DEFAULT_ALIGNMENT: u64 = 32;

const MAGIC: &[u8; 4] = b"GGUF";
/// Magic, version and the two counts: no header is shorter.
const PREAMBLE_BYTES: u64 = 24;

/// What does a GGUF file say about itself before its data begin?
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Version of the format, 2 or 3.
    pub version: u32,
    /// Whether the numbers, the tensors' included, are stored most significant byte first.
    pub big_endian: bool,
    /// The key/value pairs.
    pub metadata: Metadata,
    /// The tensor table, in file order.
    pub tensors: alloc::vec::Vec<TensorInfo>,
    /// Every tensor starts at a multiple of so many bytes in the data section.
    pub alignment: u64,
    /// Bytes up to the end of the tensor table.
    pub header_bytes: u64,
    /// Where the data section starts in the file: `header_bytes` up to the next multiple of `alignment`.
    pub data_offset: u64,
}

impl Header {
    /// How long must the file be at least? A shorter one is a truncated download.
    pub fn file_bytes(&self) -> u64 {
        self.tensors
            .iter()
            .map(|t| self.data_offset.saturating_add(t.offset).saturating_add(t.bytes().0))
            .fold(self.header_bytes, u64::max)
    }

    /// Does a file of `actual` bytes hold all the data that its header promises?
    pub fn check_file_bytes(&self, actual: u64) -> Result<(), GgufError> {
        let promised = self.file_bytes();
        if actual < promised { Err(GgufError::DataMissing { promised, actual }) } else { Ok(()) }
    }
}

/// What does the header say, or how many bytes are needed to tell? `bytes` starts at the file's start
/// and may go on past the header.
pub fn parse(bytes: &[u8]) -> Result<Progress<Header>, GgufError> {
    match header(&mut Reader::new(bytes)) {
        Ok(header) => Ok(Progress::Done(header)),
        Err(Stop::Short(need)) => Ok(Progress::Need(need.max(PREAMBLE_BYTES))),
        Err(Stop::Bad(error)) => Err(error),
    }
}

/// What does the header say when no more bytes will come? Where [`parse`] would ask for more, this
/// says what the header promised and where the file stops.
pub fn parse_whole(bytes: &[u8]) -> Result<Header, GgufError> {
    let mut reader = Reader::new(bytes);
    header(&mut reader).map_err(|stop| match stop {
        Stop::Bad(error) => error,
        Stop::Short(_) if bytes.is_empty() => GgufError::Empty,
        Stop::Short(_) => GgufError::Truncated { place: reader.place, size: bytes.len() as u64 },
    })
}

fn header(reader: &mut Reader<'_>) -> Read<Header> {
    magic(reader)?;
    let version = version(reader)?;
    let tensor_count = reader.u64()?;
    let key_count = reader.u64()?;
    limit(tensor_count, MAX_TENSORS, GgufError::TooManyTensors { count: tensor_count })?;
    limit(key_count, MAX_KEYS, GgufError::TooManyKeys { count: key_count })?;
    let metadata = metadata::read(reader, key_count)?;
    let alignment = alignment(&metadata)?;
    let tensors = tensors::read(reader, tensor_count, alignment)?;
    let header_bytes = reader.position();
    let data_offset = Bytes(header_bytes).padded(alignment).0;
    tensors::check_ends(&tensors, data_offset)?;
    let big_endian = reader.big_endian;
    Ok(Header { version, big_endian, metadata, tensors, alignment, header_bytes, data_offset })
}

/// Refuses another format at its first wrong byte, however few bytes there are.
fn magic(reader: &mut Reader<'_>) -> Read<()> {
    if reader.bytes.iter().zip(MAGIC).any(|(found, wanted)| found != wanted) {
        return Err(GgufError::NotGguf.into());
    }
    reader.take(MAGIC.len() as u64).map(|_| ())
}

/// Reads the version and, by it, the byte order: a small number has its low half zero when swapped.
fn version(reader: &mut Reader<'_>) -> Read<u32> {
    let mut version = reader.u32()?;
    if version != 0 && version & 0xffff == 0 {
        reader.big_endian = true;
        version = version.swap_bytes();
    }
    match version {
        2 | 3 => Ok(version),
        1 => Err(GgufError::Version1.into()),
        _ => Err(GgufError::UnknownVersion { version }.into()),
    }
}

fn alignment(metadata: &Metadata) -> Result<u64, GgufError> {
    let stated = metadata.uint("general.alignment")?.unwrap_or(DEFAULT_ALIGNMENT);
    if stated.is_power_of_two() && stated <= MAX_ALIGNMENT {
        return Ok(stated);
    }
    Err(GgufError::BadAlignment { alignment: stated })
}

fn limit(count: u64, most: u64, error: GgufError) -> Result<(), GgufError> {
    if count > most { Err(error) } else { Ok(()) }
}
