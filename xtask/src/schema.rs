//! `cargo xtask schema`: the JSON schema of answers, kept in the repository so that a change shows.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use vramplan_core::answer::Answer;

use crate::write_whole;

/// Where the schema is kept.
const PUBLISHED: &str = "docs/answer.schema.json";

/// Whether to write it.
#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// Write the schema instead of comparing it
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &Schema) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PUBLISHED);
    let text = serde_json::to_string_pretty(&schemars::schema_for!(Answer))? + "\n";
    if args.write {
        return write_whole(&path, &text);
    }
    if fs::read_to_string(&path).unwrap_or_default() != text {
        bail!(
            "{PUBLISHED} is not the schema of answers. If the change keeps every promise, run \
             cargo xtask schema --write; if not, raise SCHEMA_VERSION in core::answer too"
        );
    }
    Ok(())
}
