//! Chores.
#![allow(clippy::print_stdout)]
mod accuracy;
use clap::Parser;
#[derive(Parser)]
enum Cli {
    Accuracy(accuracy::Accuracy),
}
fn main() -> anyhow::Result<()> {
    match Cli::parse() {
        Cli::Accuracy(a) => accuracy::run(&a),
    }
}
