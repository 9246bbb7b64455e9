//! Modules of the core stand on floors: each imports what lies below it, never a neighbour, never above.

use std::collections::BTreeSet;

use crate::source::Source;
use crate::tree::{File, repository};
use crate::{assert_none, assert_one};

/// The floors, ground floor first. Floors 0, 1 and 5 hold plain types that use each other in one
/// direction: there a module may also use those listed before it. On all other floors neighbours do
/// not know each other.
const FLOORS: &[&[&str]] = &[
    &["units", "quantity", "dtype"],
    &["machine", "model", "workload"],
    &["formats"],
    &["quants", "archs", "packing"],
    &["catalogue"],
    &["ledger", "setup", "command", "work", "case"],
    &["rules"],
    &["engines"],
    &["speed"],
    &["plan"],
    &["search"],
    &["advise"],
    &["answer"],
];

/// The floors on which the order of the list counts.
const ORDERED: &[usize] = &[0, 1, 5];

/// Modules whose children are alternatives of one another: they meet in their parent, not in each other.
const SIBLINGS: &[&str] = &["formats", "quants", "archs", "archs::families", "engines"];

/// Children that are no alternatives but helpers: the others may import them.
const SHARED: &[&str] = &[
    "archs::ahead",
    "archs::blocks",
    "archs::built",
    "archs::counts",
    "archs::described",
    "archs::facts",
    "archs::families",
    "archs::parts",
    "archs::renamed",
    "archs::roles",
    "archs::unbuilt",
    "quants::facts",
    "quants::part",
    "quants::recipe",
];

/// Who may import which sibling, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Ollama runs llama.cpp: it builds on the public facts of that engine.
    ("engines::ollama", "engines::llama_cpp"),
];

/// Every import of the core that goes sideways or up.
fn check(files: &[File]) -> Vec<String> {
    let sources = Source::under(files, "crates/core/src/");
    let modules: BTreeSet<String> = sources.iter().map(|s| s.module.join("::")).collect();
    sources.iter().filter(|s| !s.module.is_empty()).flat_map(|s| check_file(s, &modules)).collect()
}

fn check_file(source: &Source, modules: &BTreeSet<String>) -> Vec<String> {
    if rank(&source.module[0]).is_none() {
        return vec![format!("{}: module `{}` stands on no floor", source.path, source.module[0])];
    }
    let paths = source.crate_paths();
    let wrong = paths.iter().filter_map(|p| Some((p.line, judge(&source.module, &p.what, modules)?)));
    wrong.map(|(line, why)| format!("{}: {why}", source.at(line))).collect()
}

/// What is wrong with `from` using `to`, if anything.
fn judge(from: &[String], to: &[String], modules: &BTreeSet<String>) -> Option<String> {
    let (here, there) = (from.first()?, to.first()?);
    if here == there {
        return judge_siblings(from, to, modules);
    }
    match (rank(here)?, rank(there)) {
        (_, None) => Some(format!("`crate::{there}` is no module on a floor")),
        (a, Some(b)) if b.0 > a.0 => Some(format!("`{here}` uses `{there}`, which is above it")),
        (a, Some(b)) if b.0 == a.0 && (b.1 > a.1 || !ORDERED.contains(&a.0)) => {
            Some(format!("`{here}` uses its neighbour `{there}`"))
        }
        _ => None,
    }
}

fn judge_siblings(from: &[String], to: &[String], modules: &BTreeSet<String>) -> Option<String> {
    SIBLINGS.iter().find_map(|parent| {
        let (a, b) = (child_of(parent, from)?, child_of(parent, to)?);
        let allowed = a == b
            || !modules.contains(&b) && !modules.iter().any(|m| m.starts_with(&format!("{b}::")))
            || SHARED.contains(&b.as_str())
            || EXCEPTIONS.contains(&(a.as_str(), b.as_str()));
        (!allowed).then(|| format!("`{a}` uses its sibling `{b}`"))
    })
}

/// The child of `parent` that `path` lies in, as a whole path.
fn child_of(parent: &str, path: &[String]) -> Option<String> {
    let depth = parent.split("::").count();
    let inside = path.len() > depth && path[..depth].join("::") == parent;
    inside.then(|| path[..=depth].join("::"))
}

/// Floor, and place on it.
fn rank(module: &str) -> Option<(usize, usize)> {
    FLOORS
        .iter()
        .enumerate()
        .find_map(|(floor, names)| names.iter().position(|name| *name == module).map(|place| (floor, place)))
}

#[test]
fn core_modules_import_only_what_lies_below() {
    assert_none(&check(&repository()));
}

fn one_file(path: &str, text: &str) -> Vec<String> {
    check(&[
        File::new(&format!("crates/core/src/{path}.rs"), text),
        File::new("crates/core/src/engines/vllm/mod.rs", ""),
        File::new("crates/core/src/engines/llama_cpp/mod.rs", ""),
        File::new("crates/core/src/archs/families/deepseek.rs", ""),
    ])
}

#[test]
fn imports_upward_are_reported() {
    assert_one(&one_file("units", "use crate::dtype::Format;"), "neighbour `dtype`");
    assert_one(&one_file("model", "\nuse crate::{units, plan::Plan};"), "model.rs:2: `model` uses `plan`");
    assert_one(&one_file("rules/cache", "fn f() { super::super::engines::id() }"), "above it");
    assert_one(&one_file("setup", "use crate::case::Case;"), "neighbour `case`");
}

#[test]
fn neighbours_and_siblings_are_reported() {
    assert_one(&one_file("quants/mod", "use crate::archs::model;"), "neighbour `archs`");
    assert_one(&one_file("engines/sglang/mod", "use crate::engines::vllm::x;"), "sibling `engines::vllm`");
    assert_one(&one_file("engines/sglang/log", "use super::super::vllm;"), "sibling `engines::vllm`");
    assert_one(&one_file("archs/families/qwen", "use super::{Family, deepseek};"), "families::deepseek");
}

#[test]
fn modules_without_a_floor_are_reported() {
    assert_one(&one_file("helpers", ""), "`helpers` stands on no floor");
    assert_one(&one_file("plan", "use crate::helpers::x;"), "no module on a floor");
}

#[test]
fn imports_downward_and_written_exceptions_pass() {
    assert_none(&one_file("ledger", "use crate::{dtype::Format, machine::DeviceId, units::Bytes};"));
    assert_none(&one_file("case", "use crate::setup::Setup;"));
    assert_none(&one_file("engines/ollama/mod", "use crate::engines::{Engine, llama_cpp};"));
    assert_none(&one_file("units", "#[cfg(test)] mod tests { use crate::plan::evaluate; }"));
}
