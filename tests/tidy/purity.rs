//! The core touches no world: `no_std`, no unsafe code, and no way around either.

use crate::source::Source;
use crate::tree::{File, repository};
use crate::{assert_none, assert_one};

/// Attributes that the crate root of the core must carry.
const REQUIRED: &[&str] = &["#![no_std]", "#![forbid(unsafe_code)]"];

fn check(files: &[File]) -> Vec<String> {
    let root = files.iter().find(|f| f.path == "crates/core/src/lib.rs");
    let lines: Vec<&str> = root.map_or("", |f| f.text.as_str()).lines().map(str::trim).collect();
    let missing = REQUIRED.iter().filter(|attribute| !lines.contains(attribute));
    let mut problems: Vec<String> =
        missing.map(|attribute| format!("crates/core/src/lib.rs: no {attribute}")).collect();
    for source in Source::under(files, "crates/core/src/") {
        for path in source.paths_from("std") {
            problems.push(format!("{}: `{}` in the core", source.at(path.line), path.what.join("::")));
        }
        let words = source.words();
        for pair in words.windows(2).filter(|w| w[0].what == "crate" && w[1].what == "std") {
            problems.push(format!("{}: `extern crate std` outside tests", source.at(pair[0].line)));
        }
    }
    problems
}

#[test]
fn the_core_is_pure() {
    assert_none(&check(&repository()));
}

#[test]
fn std_in_the_core_is_reported() {
    let root = "#![no_std]\n#![forbid(unsafe_code)]\n";
    let with = |text: &str| check(&[File::new("crates/core/src/lib.rs", &format!("{root}{text}"))]);
    assert_one(&with("use std::fs::File;"), "`std::fs::File` in the core");
    assert_one(&with("fn f() { g(std::env::args()) }"), "lib.rs:3");
    assert_one(&with("extern crate std;"), "extern crate std");
    assert_none(&with("#[cfg(test)]\nextern crate std;\n#[cfg(test)] mod tests { use std::vec; }"));
}

#[test]
fn missing_attributes_are_reported() {
    assert_one(&check(&[File::new("crates/core/src/lib.rs", "#![no_std]\n")]), "unsafe_code");
}
