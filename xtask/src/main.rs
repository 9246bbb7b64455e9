//! Chores of the project: `cargo xtask --help` lists them, one file each.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to whoever runs them")]

mod accuracy;
mod fmt;
mod schema;
mod step;
mod test;

use std::fs;
use std::path::Path;
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
    /// Hold the JSON schema of answers against the one that is kept
    Schema(schema::Schema),
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
        Chore::Schema(args) => schema::run(args),
        Chore::Accuracy(args) => accuracy::run(args),
    }
}

/// Writes a file so that a reader sees the old or the new one, never half of it.
fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let part = path.with_extension("tmp");
    fs::write(&part, text)?;
    fs::rename(&part, path)?;
    Ok(())
}
