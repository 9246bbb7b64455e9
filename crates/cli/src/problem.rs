//! What a person is told when there is no answer: what, why, what to do.

use crate::locale::{Locale, Message};

/// One clear error. The first line alone is enough to act on.
#[derive(Debug)]
pub(crate) struct Problem {
    /// What is wrong, in the person's own words.
    pub(crate) what: String,
    /// Why, when that is not plain.
    pub(crate) why: Vec<String>,
    /// What to do.
    pub(crate) hints: Vec<String>,
    /// Exit code.
    pub(crate) exit: Exit,
}

/// Exit codes of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// An answer, and it fits or is tight.
    Fits = 0,
    /// An answer, and it does not fit.
    DoesNotFit = 1,
    /// Bad usage or bad input.
    BadInput = 2,
    /// A source could not be reached or read.
    Unreachable = 3,
}

impl Problem {
    /// Bad input, described by a message.
    pub(crate) fn new(locale: &Locale, message: &Message<'_>) -> Self {
        Self { what: locale.text(message), why: Vec::new(), hints: Vec::new(), exit: Exit::BadInput }
    }

    /// Adds why.
    pub(crate) fn why(mut self, locale: &Locale, message: &Message<'_>) -> Self {
        self.why.push(locale.text(message));
        self
    }

    /// Adds what to do.
    pub(crate) fn hint(mut self, locale: &Locale, message: &Message<'_>) -> Self {
        self.hints.push(locale.text(message));
        self
    }

    /// The same, where that is so.
    pub(crate) fn unreachable_if(self, is_so: bool) -> Self {
        if is_so { self.unreachable() } else { self }
    }

    /// Makes it a source that could not be read.
    pub(crate) fn unreachable(mut self) -> Self {
        self.exit = Exit::Unreachable;
        self
    }
}
