//! Every row of data says where it comes from.

use toml::{Table, Value};

use crate::tree::{File, repository};
use crate::{assert_none, assert_one};

/// Keys that say where a row comes from.
const SOURCE_KEYS: &[&str] = &["source", "sources"];

/// Files whose rows answer "how do you know?" with another key: a class is our own choice and gives
/// its reason; a rule for driver totals lists the sightings it was drawn from.
const OTHER_KEYS: &[(&str, &str)] = &[("data/classes.toml", "why"), ("data/driver_memory.toml", "seen")];

fn check(files: &[File]) -> Vec<String> {
    files.iter().filter(|f| f.path.starts_with("data/") && f.is("toml")).flat_map(check_file).collect()
}

/// Rows are the elements of top-level arrays of tables; a file without any is one row as a whole.
fn check_file(file: &File) -> Vec<String> {
    let table: Table = match file.text.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("{}: {error}", file.path)],
    };
    let rows: Vec<(&str, usize, &Table)> = table
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.as_array()?)))
        .flat_map(|(name, array)| {
            let rows = array.iter().enumerate().filter_map(|(i, v)| Some((i, v.as_table()?)));
            rows.map(move |(i, row)| (name, i, row))
        })
        .collect();
    if rows.is_empty() && !has_source(file, &table) {
        return vec![format!("{}: neither rows nor a source of its own", file.path)];
    }
    let bare = rows.into_iter().filter(|(_, _, row)| !has_source(file, row));
    bare.map(|(name, i, row)| format!("{}: [[{name}]] {} has no source", file.path, label(i, row))).collect()
}

fn has_source(file: &File, row: &Table) -> bool {
    let other = OTHER_KEYS.iter().filter(|(path, _)| *path == file.path).map(|(_, key)| key);
    SOURCE_KEYS.iter().chain(other).filter_map(|key| row.get(*key)).any(says_something)
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty() && list.iter().all(says_something),
        _ => false,
    }
}

/// A row by its id, or by its place.
fn label(index: usize, row: &Table) -> String {
    row.get("id").and_then(Value::as_str).map_or_else(|| format!("number {}", index + 1), str::to_owned)
}

#[test]
fn every_row_has_a_source() {
    assert_none(&check(&repository()));
}

#[test]
fn rows_without_a_source_are_reported() {
    let at = |path: &str, text: &str| check(&[File::new(path, text)]);
    assert_one(
        &at("data/devices.toml", "[[device]]\nid = \"a\"\nsource = \"x\"\n[[device]]\nid = \"b\""),
        "b has",
    );
    assert_one(&at("data/devices.toml", "[[device]]\nsources = []"), "number 1 has no source");
    assert_one(&at("data/devices.toml", "[[device]]\nsource = \" \""), "number 1 has no source");
    assert_one(&at("data/devices.toml", "[[device]]\nwhy = \"cheap\""), "number 1 has no source");
    assert_one(&at("data/engines/x.toml", "name = \"x\""), "neither rows nor a source");
    assert_one(&at("data/devices.toml", "[[device"), "data/devices.toml:");
}

#[test]
fn each_way_to_name_a_source_passes() {
    let at = |path: &str, text: &str| assert_none(&check(&[File::new(path, text)]));
    at("data/models/a.toml", "[[model]]\nsource = \"x\"\n[model.config]\nlayers = [{ a = 1 }]");
    at("data/devices.toml", "[[device]]\nsources = [\"a\", \"b\"]");
    at("data/classes.toml", "[[class]]\nwhy = \"most common\"");
    at("data/engines/x.toml", "source = \"x\"\nlimit = 3");
}
