//! Tidy: the invariants of ARCHITECTURE.md, read from the source itself.
//!
//! Each module holds one rule: a function from files to a list of problems, a test that runs it on the
//! repository, and tests that feed it broken examples, so that a rule which never fires is noticed.
//! Exceptions to a rule are constants beside it and nowhere else.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

mod data;
mod floors;
mod names;
mod printing;
mod purity;
mod size;
mod source;
mod text;
mod tree;
mod workspace;

/// Fails with the whole list, one problem a line.
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problem(s):\n  {}", problems.len(), problems.join("\n  "));
}

/// Fails unless exactly one problem is reported and it says `words`.
fn assert_one(problems: &[String], words: &str) {
    assert!(problems.len() == 1 && problems[0].contains(words), "wanted one with `{words}`: {problems:#?}");
}
