//! `cargo xtask accuracy`: replays records of real engines against the product's own code.

mod corpus;
mod llama_cpp;
mod recorded_model;
mod score;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use corpus::Corpus;
use score::{Figures, Score};

/// What to replay, and where to write the figures.
#[derive(Args, Debug)]
pub(crate) struct Accuracy {
    /// Folder of records (default: the project's own observations)
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Only this suite
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print this many of the worst records of each group
    #[arg(long, value_name = "N", default_value_t = 0)]
    worst: usize,
}

/// A suite by name.
type Suite = (&'static str, fn(&Corpus) -> Result<Score>);

/// The suites in the order they are printed.
const SUITES: &[Suite] = &[("llama_cpp", llama_cpp::run)];

type Table = BTreeMap<String, BTreeMap<String, Figures>>;

pub(crate) fn run(args: &Accuracy) -> Result<()> {
    let default = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../observations"));
    let corpus = Corpus::open(args.corpus.as_ref().unwrap_or(&default))?;
    let mut table = Table::new();
    for (name, suite) in SUITES.iter().filter(|(n, _)| args.suite.as_ref().is_none_or(|s| s == n)) {
        let score = suite(&corpus)?;
        print(name, &score, args.worst);
        table.insert((*name).to_owned(), score.figures());
    }
    if let Some(path) = &args.json {
        fs::write(path, serde_json::to_string_pretty(&table)? + "\n")?;
    }
    Ok(())
}

fn print(suite: &str, score: &Score, worst: usize) {
    println!(
        "{suite:<36} {:>5} {:>5} {:>6}  {:>8} {:>8} {:>8} {:>8}",
        "n", "exact", "missed", "median", "p90", "p99", "worst"
    );
    for (group, f) in score.figures() {
        println!(
            "  {group:<34} {:>5} {:>5} {:>6}  {:>7.2}% {:>7.2}% {:>7.2}% {:>7.2}%",
            f.n,
            f.exact,
            f.missed,
            f.median * 100.0,
            f.p90 * 100.0,
            f.p99 * 100.0,
            f.worst * 100.0
        );
        let mut misses = score.misses.get(&group).cloned().unwrap_or_default();
        misses.sort_by(|a, b| b.error.total_cmp(&a.error));
        for miss in misses.iter().take(worst) {
            println!("      {}  {:.3}%  {}", miss.id, miss.error * 100.0, miss.detail);
        }
    }
    for (name, n) in &score.unmapped {
        println!("  unmapped: {name} ({n})");
    }
}
