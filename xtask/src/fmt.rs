//! `cargo xtask fmt`: formats the whole workspace.

use anyhow::Result;
use clap::Args;

use crate::step::Step;

/// How to format.
#[derive(Args, Debug)]
pub(crate) struct Fmt {
    /// Change nothing, fail when something would change
    #[arg(long)]
    check: bool,
}

const WRITE: Step = Step::cargo("fmt", &["fmt", "--all"]);
/// Reports files that are not formatted.
pub(crate) const CHECK: Step = Step::cargo("fmt", &["fmt", "--all", "--check"]);

pub(crate) fn run(args: &Fmt) -> Result<()> {
    if args.check { &CHECK } else { &WRITE }.run()
}
