//! Answers for programs: JSON on standard output.

use std::io::Write;

use serde::Serialize;

/// Prints a value as JSON.
pub(crate) fn print(value: &impl Serialize) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")
}
