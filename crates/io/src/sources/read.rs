//! Reading the start of a file in growing pieces, and nothing that is no regular file.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use vramplan_core::formats::Progress;

use super::error::{FileError, unreadable};

/// The size of a regular file; nothing else is opened, so that a pipe cannot hold us up.
pub(super) fn regular_size(path: &Path) -> Result<u64, FileError> {
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

/// A parser of headers.
pub(super) struct Parser<H, E> {
    /// Bytes of the first read.
    pub(super) first_read: u64,
    /// Parses what is there, and may ask for more.
    pub(super) parse: fn(&[u8]) -> Result<Progress<H>, E>,
    /// Parses what is there when no more will come.
    pub(super) parse_whole: fn(&[u8]) -> Result<H, E>,
}

/// Reads a file until the parser has what it needs, at least twice as much each time.
pub(super) fn header<H, E>(
    path: &Path,
    size: u64,
    parser: &Parser<H, E>,
    broken: impl Fn(E) -> FileError,
) -> Result<H, FileError> {
    let mut file = File::open(path).map_err(|e| unreadable(&e))?;
    let mut bytes = Vec::new();
    let mut want = parser.first_read;
    loop {
        let more = want.saturating_sub(bytes.len() as u64);
        (&mut file).take(more).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
        match (parser.parse)(&bytes).map_err(&broken)? {
            Progress::Done(header) => return Ok(header),
            Progress::Need(_) if (bytes.len() as u64) < want || bytes.len() as u64 >= size => {
                return (parser.parse_whole)(&bytes).map_err(&broken);
            }
            Progress::Need(need) => want = need.max(want.saturating_mul(2)),
        }
    }
}

/// Reads a text of at most so many bytes.
pub(super) fn text(path: &Path, most: u64) -> Result<String, FileError> {
    let bytes = regular_size(path)?;
    if bytes > most {
        return Err(FileError::TooLarge { bytes });
    }
    let mut text = Vec::new();
    let file = File::open(path).map_err(|e| unreadable(&e))?;
    file.take(most).read_to_end(&mut text).map_err(|e| unreadable(&e))?;
    String::from_utf8(text).map_err(|_| FileError::NotJson("not UTF-8".into()))
}
