//! A cursor over the bytes there are: what comes next, and when do they not suffice?

use alloc::string::String;
use alloc::vec::Vec;

use super::error::{GgufError, Place};
use super::value::{Items, Kind};
use super::{MAX_HEADER_BYTES, MAX_KEPT_IN_ALL, MAX_KEPT_ITEMS, MAX_NAME_BYTES, MAX_TEXT_BYTES};

/// Why does reading stop here?
pub(super) enum Stop {
    /// The bytes end; the header has at least so many.
    Short(u64),
    /// The header is wrong.
    Bad(GgufError),
}

impl From<GgufError> for Stop {
    fn from(error: GgufError) -> Self {
        Self::Bad(error)
    }
}

pub(super) type Read<T> = Result<T, Stop>;

/// Bytes of a length before a string.
const LENGTH_BYTES: u64 = 8;

pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    at: usize,
    pub(super) big_endian: bool,
    /// What is being read, for messages.
    pub(super) place: Place,
    /// Array items kept so far.
    kept: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, big_endian: false, place: Place::Preamble, kept: 0 }
    }

    pub(super) fn position(&self) -> u64 {
        self.at as u64
    }

    /// Where a run of `length` bytes that starts here ends, when the header may be that long.
    fn end_of(&self, length: u64) -> Result<u64, GgufError> {
        match self.position().checked_add(length) {
            Some(end) if end <= MAX_HEADER_BYTES => Ok(end),
            _ => Err(GgufError::HeaderTooLong { place: self.place }),
        }
    }

    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: u64) -> Read<&'a [u8]> {
        let end = self.end_of(length)?;
        let taken = self.bytes.get(self.at..end as usize).ok_or(Stop::Short(end))?;
        self.at = end as usize;
        Ok(taken)
    }

    /// An unsigned number of up to 8 bytes in the file's byte order.
    pub(super) fn unsigned(&mut self, width: u64) -> Read<u64> {
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let big_endian = self.big_endian;
        let bytes = self.take(width)?;
        Ok(if big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    }

    pub(super) fn u32(&mut self) -> Read<u32> {
        self.unsigned(4).map(|n| n as u32)
    }

    pub(super) fn u64(&mut self) -> Read<u64> {
        self.unsigned(8)
    }

    /// A two's complement number of 1 to 8 bytes.
    pub(super) fn signed(&mut self, width: u64) -> Read<i64> {
        let unused_bits = 64 - 8 * width;
        Ok((self.unsigned(width)? << unused_bits) as i64 >> unused_bits)
    }

    /// A float of 4 or 8 bytes.
    pub(super) fn float(&mut self, width: u64) -> Read<f64> {
        let bits = self.unsigned(width)?;
        Ok(if width == 4 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) })
    }

    pub(super) fn bool(&mut self) -> Read<bool> {
        Ok(self.unsigned(1)? != 0)
    }

    /// A metadata key or a tensor name.
    pub(super) fn name(&mut self) -> Read<&'a str> {
        let place = self.place;
        let length = self.u64()?;
        if length > MAX_NAME_BYTES {
            return Err(GgufError::NameTooLong { place, length }.into());
        }
        let bytes = self.take(length)?;
        core::str::from_utf8(bytes).map_err(|_| GgufError::BadName { place }.into())
    }

    /// A text value. Stray bytes in a description are no reason to refuse a model: they are replaced.
    pub(super) fn text(&mut self, key: &str) -> Read<String> {
        let length = self.u64()?;
        if length > MAX_TEXT_BYTES {
            return Err(GgufError::TextTooLong { key: key.into(), length }.into());
        }
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// Steps over `count` strings.
    pub(super) fn skip_texts(&mut self, count: u64) -> Read<()> {
        self.end_of(count.saturating_mul(LENGTH_BYTES))?;
        for left in (0..count).rev() {
            self.skip_text().map_err(|stop| self.before(left * LENGTH_BYTES, stop))?;
        }
        Ok(())
    }

    /// The same stop when at least `bytes` more must follow whatever was short.
    fn before(&self, bytes: u64, stop: Stop) -> Stop {
        match stop {
            Stop::Short(need) if need + bytes > MAX_HEADER_BYTES => {
                GgufError::HeaderTooLong { place: self.place }.into()
            }
            Stop::Short(need) => Stop::Short(need + bytes),
            Stop::Bad(_) => stop,
        }
    }

    fn skip_text(&mut self) -> Read<()> {
        let length = self.u64()?;
        self.take(length).map(|_| ())
    }

    /// The items of an array of numbers, or `None` when it is too long to keep.
    pub(super) fn items(&mut self, kind: Kind, count: u64) -> Read<Option<Items>> {
        let width = kind.width();
        let end = self.end_of(count.saturating_mul(width))?;
        if end > self.bytes.len() as u64 {
            return Err(Stop::Short(end));
        }
        if count > MAX_KEPT_ITEMS || self.kept + count > MAX_KEPT_IN_ALL {
            return self.take(end - self.position()).map(|_| None);
        }
        self.kept += count;
        self.kept_items(kind, count)
    }

    fn kept_items(&mut self, kind: Kind, count: u64) -> Read<Option<Items>> {
        let width = kind.width();
        Ok(Some(match kind {
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => {
                Items::Uints(self.list(count, |r| r.unsigned(width))?)
            }
            Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => {
                Items::Ints(self.list(count, |r| r.signed(width))?)
            }
            Kind::F32 | Kind::F64 => Items::Floats(self.list(count, |r| r.float(width))?),
            Kind::Bool => Items::Bools(self.list(count, Self::bool)?),
            Kind::Text | Kind::Array => return Ok(None),
        }))
    }

    /// `count` is at most [`MAX_KEPT_ITEMS`] and its bytes are there, so it may size the list.
    fn list<T>(&mut self, count: u64, read: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut list = Vec::with_capacity(count as usize);
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }
}
