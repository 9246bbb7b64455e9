//! Renderers: views of an answer. Only these and the entry point print.

pub(crate) mod json;
pub(crate) mod problem;
pub(crate) mod progress;
pub(crate) mod text;

/// How output may look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Standard output is a terminal: bars are drawn.
    pub(crate) terminal: bool,
    /// Colours may be used.
    pub(crate) colour: bool,
}

impl Style {
    /// The style of standard output: no bars in a pipe, no colour where none is wanted.
    pub(crate) fn of_stdout() -> Self {
        use std::io::IsTerminal;
        let terminal = std::io::stdout().is_terminal();
        let choice = anstream::AutoStream::choice(&std::io::stdout());
        Self { terminal, colour: terminal && choice != anstream::ColorChoice::Never }
    }
}
