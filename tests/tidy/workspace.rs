//! The workspace holds together: licences are there, every crate takes the shared lints, none undoes them.

use toml::{Table, Value};

use crate::source::Source;
use crate::tree::{File, repository};
use crate::{assert_none, assert_one};

/// Lints that the workspace denies.
const DENIED: &[(&str, &str)] = &[
    ("rust", "unsafe_code"),
    ("clippy", "dbg_macro"),
    ("clippy", "expect_used"),
    ("clippy", "print_stderr"),
    ("clippy", "print_stdout"),
    ("clippy", "todo"),
    ("clippy", "unwrap_used"),
];

/// Files that every copy of the product carries.
const LICENCES: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE"];

fn check(files: &[File]) -> Vec<String> {
    let text = |path: &str| files.iter().find(|f| f.path == path).map(|f| f.text.as_str());
    let mut problems: Vec<String> = LICENCES
        .iter()
        .filter(|path| text(path).is_none_or(|t| t.trim().is_empty()))
        .map(|path| format!("{path} is missing"))
        .collect();
    let root: Table = text("Cargo.toml").unwrap_or("").parse().unwrap_or_default();
    problems.extend(lints_not_denied(&root));
    let members = at(&root, &["workspace", "members"]).and_then(Value::as_array);
    for member in members.into_iter().flatten().filter_map(Value::as_str) {
        let path = format!("{member}/Cargo.toml");
        let manifest: Table = text(&path).unwrap_or("").parse().unwrap_or_default();
        problems.extend(not_inherited(&path, &manifest));
    }
    problems
}

fn lints_not_denied(root: &Table) -> Vec<String> {
    let denied = |(tool, lint): &&(&str, &str)| {
        let level = at(root, &["workspace", "lints", tool, lint]).and_then(Value::as_str);
        !matches!(level, Some("deny" | "forbid"))
    };
    DENIED
        .iter()
        .filter(denied)
        .map(|(tool, lint)| format!("Cargo.toml: {tool} {lint} is not denied"))
        .collect()
}

fn not_inherited(path: &str, manifest: &Table) -> Vec<String> {
    let wanted: [&[&str]; 2] = [&["lints", "workspace"], &["package", "license", "workspace"]];
    let missing = wanted.iter().filter(|keys| at(manifest, keys) != Some(&Value::Boolean(true)));
    missing.map(|keys| format!("{path}: no `{} = true`", keys.join("."))).collect()
}

/// The value behind a list of keys.
fn at<'a>(table: &'a Table, keys: &[&str]) -> Option<&'a Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(*key))
}

/// Denied lints that code switches off again. Chores may print.
fn check_silenced(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    for source in files.iter().filter_map(Source::read) {
        for lint in source.silenced_lints() {
            let denied = DENIED.iter().any(|(_, name)| *name == lint.what);
            let printing = lint.what.starts_with("print_");
            let may_print = source.path.starts_with("xtask/")
                || source.path.starts_with("crates/cli/src/render/")
                || source.path == "crates/cli/src/main.rs";
            // A panic is how a build script reports what is wrong.
            let may_panic = source.path.ends_with("/build.rs") && lint.what == "expect_used";
            if denied && !(printing && may_print) && !may_panic {
                problems.push(format!("{}: switches off `{}`", source.at(lint.line), lint.what));
            }
        }
    }
    problems
}

#[test]
fn crates_share_licences_and_lints() {
    assert_none(&check(&repository()));
}

#[test]
fn denied_lints_stay_denied() {
    assert_none(&check_silenced(&repository()));
}

fn small(member: &str) -> Vec<File> {
    let denied = "[lints.rust]\nunsafe_code = \"deny\"\n[lints.clippy]\ndbg_macro = \"deny\"\nexpect_used = \"deny\"\n\
        print_stderr = \"deny\"\nprint_stdout = \"deny\"\ntodo = \"deny\"\nunwrap_used = \"deny\"\n";
    let root = "[workspace]\nmembers = [\"a\"]\n".to_owned() + &denied.replace("[lints", "[workspace.lints");
    let licences = LICENCES.iter().map(|path| File::new(path, "text"));
    licences.chain([File::new("Cargo.toml", &root), File::new("a/Cargo.toml", member)]).collect()
}

const GOOD: &str = "[package]\nlicense.workspace = true\n[lints]\nworkspace = true\n";

#[test]
fn what_is_missing_is_reported() {
    assert_none(&check(&small(GOOD)));
    assert_one(&check(&small(&GOOD.replace("[lints]", "[other]"))), "a/Cargo.toml: no `lints.workspace");
    assert_one(&check(&small(&GOOD.replace("license", "licence"))), "package.license.workspace");
    assert_one(&check(&small(GOOD)[1..]), "LICENSE-MIT is missing");
    let mut weaker = small(GOOD);
    weaker[2].text = weaker[2].text.replace("todo = \"deny\"", "todo = \"warn\"");
    assert_one(&check(&weaker), "clippy todo is not denied");
}

#[test]
fn switching_off_a_denied_lint_is_reported() {
    let at = |path: &str, text: &str| check_silenced(&[File::new(path, text)]);
    assert_one(&at("crates/io/src/a.rs", "#[allow(clippy::unwrap_used)]\nfn f() {}"), "a.rs:1: switches off");
    assert_one(&at("xtask/src/main.rs", "#![expect(clippy::unwrap_used)]"), "`unwrap_used`");
    assert_none(&at("xtask/src/main.rs", "#![allow(clippy::print_stdout)]"));
    assert_none(&at("crates/io/src/a.rs", "#[cfg(test)]\n#[allow(clippy::unwrap_used)]\nmod tests {}"));
}
