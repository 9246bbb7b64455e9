//! What is generated from the program itself: JSON schema, shell completions, man pages.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use vramplan_core::answer::Answer;

use crate::locale::{Locale, Message};
use crate::problem::{Exit, Problem};
use crate::render;

/// Prints the completions of a shell
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the man page of vram, or writes the pages of all commands into a folder
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Folder for one page a command
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the JSON schema of answers.
pub(crate) fn schema() -> Exit {
    // A reader that has seen enough is no error.
    drop(render::json::print(&schemars::schema_for!(Answer)));
    Exit::Fits
}

/// Prints completions.
pub(crate) fn completions(args: &Completions, mut command: Command) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "vram", &mut script);
    drop(io::stdout().write_all(&script));
    Exit::Fits
}

/// Prints or writes man pages.
pub(crate) fn man(locale: &Locale, args: &Man, command: Command) -> Result<Exit, Problem> {
    let done = match &args.out {
        Some(folder) => clap_mangen::generate_to(command, folder),
        None => clap_mangen::Man::new(command).render(&mut io::stdout()),
    };
    match (done, &args.out) {
        (Err(error), Some(folder)) => {
            let message = Message::new("error-folder").with("name", folder.display());
            let why = Message::new("why-cause").with("cause", error);
            Err(Problem::new(locale, &message).why(locale, &why))
        }
        _ => Ok(Exit::Fits),
    }
}
