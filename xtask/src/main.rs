//! Chores of the project: `cargo xtask --help` lists them, one file each.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to whoever runs them")]

mod accuracy;
mod fmt;
mod step;
mod test;

use std::process::ExitCode;

use clap::Parser;

/// Chores of the vramplan project
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Chore {
    /// Run every check in order, up to the first that fails
    Test(test::Test),
    /// Format the whole workspace
    Fmt(fmt::Fmt),
    /// Replay what real engines allocated, and print how far off the product is
    Accuracy(accuracy::Accuracy),
}

fn main() -> ExitCode {
    match run(&Chore::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> anyhow::Result<()> {
    match chore {
        Chore::Test(args) => test::run(args),
        Chore::Fmt(args) => fmt::run(args),
        Chore::Accuracy(args) => accuracy::run(args),
    }
}
