//! Headers of files far away: a body is read until the parser has what it needs, and no further.

use std::io::Read;

use vramplan_core::formats::Progress;

use super::client::Answer;
use super::error::HubError;
use crate::sources::error::FileError;

/// Bytes read at a time: as much as may come past the end of a header.
const STEP: usize = 32 << 10;

/// A parser of headers, and the longest that it is given.
pub(super) struct Parser<H, E> {
    pub(super) parse: fn(&[u8]) -> Result<Progress<H>, E>,
    pub(super) most: u64,
    pub(super) broken: fn(&str, E) -> FileError,
}

/// A header, and how many bytes were read for it.
#[derive(Debug)]
pub(super) struct Fetched<H> {
    pub(super) header: H,
    pub(super) bytes: u64,
}

/// Reads the header at the start of a body.
pub(super) fn read<H, E>(answer: Answer, file: &str, parser: &Parser<H, E>) -> Result<Fetched<H>, HubError> {
    let mut body = answer.reader();
    let mut bytes = Vec::new();
    loop {
        let need = match (parser.parse)(&bytes).map_err(|e| (parser.broken)(file, e))? {
            Progress::Done(header) => return Ok(Fetched { header, bytes: bytes.len() as u64 }),
            Progress::Need(need) => need.max(bytes.len() as u64 + 1),
        };
        if need > parser.most {
            return Err(HubError::HeaderTooLong { file: file.into(), most: parser.most });
        }
        if !fill(&mut body, &mut bytes, need) {
            // What came may be wrong already: a page instead of a file.
            (parser.parse)(&bytes).map_err(|e| (parser.broken)(file, e))?;
            return Err(HubError::Interrupted { file: file.into(), received: bytes.len() as u64 });
        }
    }
}

/// Reads until there are `need` bytes; false when the body ends before.
fn fill(body: &mut impl Read, bytes: &mut Vec<u8>, need: u64) -> bool {
    let mut step = vec![0; STEP];
    while (bytes.len() as u64) < need {
        let read = body.read(&mut step).unwrap_or(0);
        if read == 0 {
            return false;
        }
        bytes.extend(step.iter().take(read));
    }
    true
}
