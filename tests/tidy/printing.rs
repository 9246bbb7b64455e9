//! Only renderers and `main` print: everything else returns what it has to say.

use crate::source::Source;
use crate::tree::{File, repository};
use crate::{assert_none, assert_one};

/// Macros that write to the terminal.
const PRINTERS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// Who may print: renderers, the binary's entry, chores, and programs that cargo talks to.
fn may_print(path: &str) -> bool {
    path.starts_with("crates/cli/src/render/")
        || path == "crates/cli/src/main.rs"
        || path.starts_with("xtask/")
        || path.ends_with("/build.rs")
        || path.split('/').any(|part| part == "benches")
}

fn check(files: &[File]) -> Vec<String> {
    let sources = files.iter().filter(|f| !may_print(&f.path)).filter_map(Source::read);
    sources.flat_map(|source| check_file(&source)).collect()
}

fn check_file(source: &Source) -> Vec<String> {
    let calls = source.macros().into_iter().filter(|m| PRINTERS.contains(&m.what.as_str()));
    calls.map(|m| format!("{}: `{}!` outside a renderer", source.at(m.line), m.what)).collect()
}

#[test]
fn only_renderers_print() {
    assert_none(&check(&repository()));
}

#[test]
fn printing_elsewhere_is_reported() {
    let at = |path: &str| check(&[File::new(path, "fn f() { if x { println!(\"{}\", 1) } }")]);
    assert_one(&at("crates/io/src/hardware.rs"), "`println!` outside a renderer");
    assert_one(&at("crates/cli/src/commands/plan.rs"), "plan.rs:1");
    assert_none(&at("crates/cli/src/render/text.rs"));
    assert_none(&at("crates/cli/src/main.rs"));
    assert_none(&at("crates/cli/tests/help.rs"));
}

#[test]
fn printing_inside_another_macro_is_reported() {
    assert_one(&check(&[File::new("crates/core/src/plan.rs", "fn f() { go!(dbg!(1)) }")]), "`dbg!`");
}
