//! Answers for programs.

use std::io::Write;

use vramplan_core::answer::Answer;

/// Prints an answer as JSON.
pub(crate) fn print(answer: &Answer) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, answer)?;
    out.write_all(b"\n")
}
