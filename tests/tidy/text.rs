//! Plain text rules: no stray whitespace, nothing that only exists on one machine.

use crate::tree::{File, repository};
use crate::{assert_none, assert_one};

/// Recorded output, kept byte for byte as some program wrote it.
fn is_recorded(file: &File) -> bool {
    file.path.starts_with("observations/")
        || file.path.starts_with("fuzz/corpus/")
        || file.path.contains("/tests/cases/")
        || file.path.contains("/snapshots/")
        || ["snap", "log", "stdout", "stderr"].iter().any(|e| file.is(e))
}

/// Whitespace that no editor should leave behind.
fn check_whitespace(file: &File) -> Vec<String> {
    if is_recorded(file) || file.text.is_empty() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (i, line) in file.text.split_inclusive('\n').enumerate() {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let at = |what: &str| format!("{}:{}: {what}", file.path, i + 1);
        if line.ends_with('\r') {
            problems.push(at("carriage return"));
        } else if line.ends_with([' ', '\t']) {
            problems.push(at("space at the end of the line"));
        }
        if file.is("rs") && line.contains('\t') {
            problems.push(at("tab"));
        }
    }
    if !file.text.ends_with('\n') {
        problems.push(format!("{}: no newline at the end", file.path));
    } else if file.text.ends_with("\n\n") {
        problems.push(format!("{}: empty line at the end", file.path));
    }
    problems
}

/// Places outside the repository that no committed file may lean on. They are put together here so
/// that this file does not name them.
fn forbidden_places() -> Vec<String> {
    let folders = ["shared", "main", "wt"].map(|name| format!("/{}/{name}", "work"));
    let neighbour = format!("..{}shared", '/');
    let hosts = [("crates", "io"), ("pypi", "org"), ("registry.npmjs", "org"), ("deb.debian", "org")];
    let hosts = hosts.map(|(name, domain)| format!("{name}.{domain}"));
    folders.into_iter().chain([neighbour]).chain(hosts).collect()
}

/// Mentions of such places. The lock file is cargo's own: it names the registry of each package.
fn check_places(file: &File, places: &[String]) -> Vec<String> {
    if file.name() == "Cargo.lock" {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate();
    let hits = lines
        .flat_map(|(i, line)| places.iter().filter(|p| line.contains(p.as_str())).map(move |p| (i + 1, p)));
    hits.map(|(line, place)| format!("{}:{line}: names `{place}`", file.path)).collect()
}

#[test]
fn no_stray_whitespace() {
    assert_none(&repository().iter().flat_map(check_whitespace).collect::<Vec<_>>());
}

#[test]
fn nothing_leans_on_places_outside_the_repository() {
    let places = forbidden_places();
    assert_none(&repository().iter().flat_map(|f| check_places(f, &places)).collect::<Vec<_>>());
}

#[test]
fn stray_whitespace_is_reported() {
    let at = |path: &str, text: &str| check_whitespace(&File::new(path, text));
    assert_one(&at("a.md", "one \ntwo\n"), "a.md:1: space at the end");
    assert_one(&at("a.rs", "fn a() {\n\tb()\n}\n"), "a.rs:2: tab");
    assert_one(&at("a.toml", "a = 1\r\n"), "carriage return");
    assert_one(&at("run", "echo"), "no newline at the end");
    assert_one(&at("a.md", "one\n\n"), "empty line at the end");
    assert_none(&at("observations/x/y.txt", "one \ttwo \r\nthree"));
    assert_none(&at("fuzz/corpus/x/y", "32k"));
    assert_none(&at("a.mk", "a:\n\tb\n"));
}

#[test]
fn places_outside_are_reported() {
    let places = forbidden_places();
    for place in &places {
        let text = format!("see\n{place}x\n");
        let problems = check_places(&File::new("docs/a.md", &text), &places);
        assert!(problems.iter().any(|p| p.starts_with("docs/a.md:2: names")), "{place}: {problems:?}");
        assert_none(&check_places(&File::new("Cargo.lock", &text), &places));
    }
}
