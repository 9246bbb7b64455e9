//! `cargo xtask test`: every check of the project, the quickest first, up to the first failure.

use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;

use crate::fmt;
use crate::step::Step;

/// The checks in the order they run. A new check is a new line here.
const STEPS: &[Step] = &[
    fmt::CHECK,
    Step::cargo("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    Step::cargo("test", &["test", "--workspace"]),
    Step::cargo("doc", &["doc", "--no-deps", "--workspace"]).with(&[("RUSTDOCFLAGS", "-Dwarnings")]),
    Step::cargo("schema", &["run", "--quiet", "--package", "xtask", "--", "schema"]),
    Step::cargo("accuracy", &["run", "--quiet", "--package", "xtask", "--", "accuracy"]),
    Step::optional("cargo-deny", &["cargo", "deny", "--offline", "check", "bans", "licenses", "sources"]),
    Step::optional("cargo-machete", &["cargo", "machete"]),
    Step::optional("typos", &["typos"]),
];

/// Which checks to run.
#[derive(Args, Debug)]
pub(crate) struct Test {
    /// Only the checks of these names, such as `fmt clippy`
    #[arg(value_name = "CHECK", value_parser = names())]
    only: Vec<String>,
}

fn names() -> clap::builder::PossibleValuesParser {
    STEPS.iter().map(|step| step.name).collect::<Vec<_>>().into()
}

pub(crate) fn run(args: &Test) -> Result<()> {
    let started = Instant::now();
    let mut passed = Vec::new();
    let mut skipped = Vec::new();
    for step in STEPS.iter().filter(|s| args.only.is_empty() || args.only.iter().any(|n| n == s.name)) {
        if !step.is_present() {
            println!("==> {}: skipped, not installed", step.name);
            skipped.push(step.name);
            continue;
        }
        println!("==> {}: {}", step.name, step.line());
        step.run()
            .with_context(|| format!("check `{}` failed; passed before it: {}", step.name, list(&passed)))?;
        passed.push(step.name);
    }
    let seconds = started.elapsed().as_secs();
    println!("==> all checks passed in {seconds} s: {}; skipped: {}", list(&passed), list(&skipped));
    Ok(())
}

/// Names in a row, or a word for no names.
fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_have_names_of_their_own_and_come_in_order() {
        let names: Vec<&str> = STEPS.iter().map(|s| s.name).collect();
        assert_eq!(&names[..4], ["fmt", "clippy", "test", "doc"]);
        assert!((1..names.len()).all(|i| !names[..i].contains(&names[i])));
    }

    #[test]
    fn an_empty_list_has_a_word() {
        assert_eq!(list(&[]), "none");
        assert_eq!(list(&["fmt", "doc"]), "fmt, doc");
    }
}
