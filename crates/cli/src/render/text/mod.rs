//! Answers for people: verdict, bars, ledger, limits, command, assumptions.

mod bar;
mod hardware;
mod home;
mod ledger;
mod local;
mod model;
mod names;
mod number;
mod pipeline;
mod plan;
mod wrap;

pub(crate) use hardware::{print_device, print_devices};
pub(crate) use home::{Home, HomeRow, print as print_home};
pub(crate) use local::print as print_local;
pub(crate) use model::print_model;
pub(crate) use number::{gib, thousands};
pub(crate) use pipeline::print as print_pipeline;
pub(crate) use plan::print as print_plan;
pub(crate) use wrap::middle as shortened;

/// Lines of output, two spaces from the margin.
#[derive(Debug, Default)]
pub(crate) struct Page {
    lines: Vec<String>,
}

/// Columns of the page.
pub(crate) const WIDTH: usize = 80;
/// Width of the column of block titles.
pub(crate) const TITLE: usize = 12;

impl Page {
    /// Adds a line.
    pub(crate) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// Starts a new block: one blank line, never two.
    pub(crate) fn gap(&mut self) {
        if self.lines.last().is_some_and(|l| !l.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// Prints everything.
    pub(crate) fn print(&self) -> std::io::Result<()> {
        use std::io::Write;
        let mut out = anstream::stdout().lock();
        for line in &self.lines {
            let line = line.trim_end();
            if line.is_empty() {
                writeln!(out)?;
            } else {
                writeln!(out, "  {line}")?;
            }
        }
        Ok(())
    }
}
