//! One line on a terminal while something is fetched; nothing in a pipe.

use std::cell::Cell;
use std::io::{IsTerminal, Write, stderr};

use crate::locale::{Locale, Message};

/// Widest line: what is longer would leave its rest behind.
const WIDTH: usize = 78;

/// A line that is written over.
pub(crate) struct Line<'a> {
    locale: &'a Locale,
    shown: Cell<bool>,
}

impl<'a> Line<'a> {
    /// A line that shows nothing yet.
    pub(crate) fn start(locale: &'a Locale) -> Self {
        Self { locale, shown: Cell::new(false) }
    }

    /// Shows what is being read.
    pub(crate) fn show(&self, file: &str, number: usize, of: usize) {
        if !stderr().is_terminal() {
            return;
        }
        let file = super::text::shortened(file, WIDTH - 30);
        let message =
            Message::new("progress-reading").with("file", file).with("number", number).with("of", of);
        let text = self.locale.text(&message);
        // A terminal that is gone is no error.
        drop(write!(stderr(), "\r{text:<WIDTH$}"));
        self.shown.set(true);
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if self.shown.get() {
            drop(write!(stderr(), "\r{:<WIDTH$}\r", ""));
        }
    }
}
