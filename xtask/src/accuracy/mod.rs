//! `cargo xtask accuracy`: replays records of real engines against the product's own code.

mod budget;
mod corpus;
mod layouts;
mod llama_cpp;
mod params;
mod recipes;
mod recorded_model;
mod report;
mod score;
mod sizes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use corpus::Corpus;
use score::{Figures, Score};

use crate::write_whole;

/// The project's own records.
const OBSERVATIONS: &str = "observations";
/// The table that is published.
const PUBLISHED: &str = "docs/ACCURACY.md";

/// What to replay, and where to write the figures.
#[derive(Args, Debug)]
pub(crate) struct Accuracy {
    /// Folder of records (default: the project's own observations, held against their budgets)
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Only this suite
    #[arg(long, value_name = "NAME", value_parser = suite_names())]
    suite: Option<String>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print this many of the worst records of each group
    #[arg(long, value_name = "N", default_value_t = 0)]
    worst: usize,
    /// Write docs/ACCURACY.md from the project's own observations
    #[arg(long, conflicts_with_all = ["corpus", "suite"])]
    write: bool,
}

/// A suite by name.
type Suite = (&'static str, fn(&Corpus) -> Result<Score>);

/// The suites in the order they are printed.
const SUITES: &[Suite] = &[
    ("layouts", layouts::run),
    ("llama_cpp", llama_cpp::run),
    ("params", params::run),
    ("recipes", recipes::run),
    ("sizes", sizes::run),
];

/// Figures by suite and group.
type Table = BTreeMap<String, BTreeMap<String, Figures>>;

fn suite_names() -> clap::builder::PossibleValuesParser {
    SUITES.iter().map(|(name, _)| *name).collect::<Vec<_>>().into()
}

pub(crate) fn run(args: &Accuracy) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let own = root.join(OBSERVATIONS);
    let corpus = Corpus::open(args.corpus.as_ref().unwrap_or(&own))?;
    let mut table = Table::new();
    for (name, suite) in SUITES.iter().filter(|(n, _)| args.suite.as_ref().is_none_or(|s| s == n)) {
        let score = suite(&corpus)?;
        report::print(name, &score, args.worst);
        table.insert((*name).to_owned(), score.figures());
    }
    if let Some(path) = &args.json {
        write_whole(path, &(serde_json::to_string_pretty(&table)? + "\n"))?;
    }
    if args.corpus.is_none() {
        budget::check(&own, &table)?;
        if args.suite.is_none() {
            publish(&root.join(PUBLISHED), &report::markdown(&table), args.write)?;
        }
    }
    Ok(())
}

/// Writes the published table, or holds it against what it should say.
fn publish(path: &Path, text: &str, write: bool) -> Result<()> {
    if write {
        return write_whole(path, text);
    }
    if fs::read_to_string(path).unwrap_or_default() != text {
        bail!("{PUBLISHED} does not say what the replay says: run cargo xtask accuracy --write");
    }
    Ok(())
}
