//! Turns `data/` into sorted name tables and deflated bundles of rows, one JSON text each, so that a program
//! parses nothing when it starts and one row when it looks one up.
//!
//! A panic here is the build's error message: it names the file and the row that is wrong.
#![allow(clippy::expect_used)]

extern crate alloc;

#[allow(dead_code, unreachable_pub)]
#[path = "src/catalogue/names.rs"]
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use names::{ALIAS, DRIVER, ID, NAME, TRIMMED, normalise, trimmed};

fn main() {
    let data = variable("CARGO_MANIFEST_DIR").join("../../data");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/catalogue/names.rs");
    let tables = [
        devices(&read(&data.join("devices.toml"), "device")),
        models(&read_models(&data.join("models"))),
        pipelines(&read(&data.join("pipelines.toml"), "pipeline")),
        by_id("MEMORY_SYSTEMS", &read(&data.join("memory_systems.toml"), "memory"), "source"),
        by_id("CLASSES", &read(&data.join("classes.toml"), "class"), "why"),
        list("WORKING_SET_LIMITS", &read(&data.join("working_set.toml"), "limit"), "source"),
        list("WORKING_SET_SHARES", &read(&data.join("working_set.toml"), "share"), "source"),
        list("DRIVER_RULES", &read(&data.join("driver_memory.toml"), "rule"), "seen"),
    ];
    fs::write(variable("OUT_DIR").join("catalogue.rs"), tables.concat()).expect("OUT_DIR is writable");
    let defaults = class_defaults(&data.join("class_defaults.toml"));
    fs::write(variable("OUT_DIR").join("class_defaults.rs"), defaults).expect("OUT_DIR is writable");
}

/// What the library's classes assume, as a table sorted by model type.
fn class_defaults(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let classes: BTreeMap<String, toml::Value> =
        toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut source = String::from("static CLASS_DEFAULTS: &[(&str, Defaults)] = &[\n");
    for (model_type, fields) in classes.iter().filter_map(|(name, value)| Some((name, value.as_table()?))) {
        let fields = fields.iter().map(|(field, value)| {
            let value = default(value).unwrap_or_else(|| panic!("{model_type}.{field}: no such default"));
            format!("({field:?}, {value})")
        });
        let fields = fields.collect::<Vec<_>>().join(", ");
        source.push_str(&format!("    ({model_type:?}, &[{fields}]),\n"));
    }
    source + "];\n"
}

/// A default as the source of its Rust value.
fn default(value: &toml::Value) -> Option<String> {
    let number = |v: &toml::Value| v.as_integer().and_then(|n| u64::try_from(n).ok());
    Some(match value {
        toml::Value::Integer(_) => format!("ClassDefault::Number({})", number(value)?),
        toml::Value::Boolean(flag) => format!("ClassDefault::Flag({flag})"),
        toml::Value::String(word) => format!("ClassDefault::Word({word:?})"),
        toml::Value::Array(list) => {
            let numbers = list.iter().map(number).collect::<Option<Vec<_>>>()?;
            format!("ClassDefault::Numbers(&{numbers:?})")
        }
        _ => return None,
    })
}

fn variable(name: &str) -> PathBuf {
    env::var_os(name).expect("cargo sets it").into()
}

/// One table of a data file, with what an error message needs.
struct Row {
    file: String,
    number: usize,
    fields: toml::Table,
}

impl Row {
    fn fail(&self, what: &str) -> ! {
        let id = self.fields.get("id").and_then(toml::Value::as_str).unwrap_or("without id");
        panic!("{}, row {} ({id}): {what}", self.file, self.number)
    }

    fn text(&self, key: &str) -> &str {
        match self.fields.get(key).and_then(toml::Value::as_str) {
            Some(text) if !text.trim().is_empty() => text,
            _ => self.fail(&format!("`{key}` is missing, empty or not a text")),
        }
    }

    fn texts(&self, key: &str) -> Vec<&str> {
        let Some(value) = self.fields.get(key) else { return Vec::new() };
        let texts = value.as_array().map(|a| a.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>());
        texts.unwrap_or_else(|| self.fail(&format!("`{key}` is not a list of texts")))
    }

    /// The row as JSON, with the nulls that TOML cannot say put back into the config.
    fn json(&self) -> String {
        let mut value = serde_json::to_value(&self.fields).expect("TOML without dates is JSON");
        if let Some(row) = value.as_object_mut() {
            row.remove("config_nulls");
        }
        for path in self.texts("config_nulls") {
            self.put_null(&mut value["config"], path);
        }
        value.to_string()
    }

    fn put_null(&self, config: &mut serde_json::Value, path: &str) {
        let (parents, key) = path.rsplit_once('.').map_or((None, path), |(p, k)| (Some(p), k));
        let parent = parents
            .into_iter()
            .flat_map(|p| p.split('.'))
            .try_fold(config, |at, k| at.get_mut(k))
            .and_then(serde_json::Value::as_object_mut)
            .unwrap_or_else(|| self.fail(&format!("config_nulls: {path} lies in no table of the config")));
        if parent.insert(key.into(), serde_json::Value::Null).is_some() {
            self.fail(&format!("config_nulls: {path} has a value in the config"));
        }
    }
}

fn read(path: &Path, key: &str) -> Vec<Row> {
    println!("cargo::rerun-if-changed={}", path.display());
    let file = path.file_name().expect("a file").to_string_lossy().into_owned();
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut whole: toml::Table = text.parse().unwrap_or_else(|e| panic!("{file}: {e}"));
    let Some(toml::Value::Array(rows)) = whole.remove(key) else { panic!("{file}: no [[{key}]]") };
    let row = |(n, value)| match value {
        toml::Value::Table(fields) => Row { file: file.clone(), number: n + 1, fields },
        _ => panic!("{file}: [[{key}]] {} is not a table", n + 1),
    };
    rows.into_iter().enumerate().map(row).collect()
}

fn read_models(folder: &Path) -> Vec<Row> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.map(|e| e.expect("a readable folder").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    paths.iter().flat_map(|p| read(p, "model")).collect()
}

/// Names with the rows that bear them, each with the tier it answers in.
#[derive(Default)]
struct Names(BTreeMap<String, BTreeSet<(u8, usize)>>);

impl Names {
    fn add(&mut self, tier: u8, row: usize, name: &str) {
        self.0.entry(normalise(name)).or_default().insert((tier, row));
    }

    /// Adds the name and the same without the words that only say whose product it is.
    fn add_product(&mut self, tier: u8, row: usize, name: &str) {
        self.add(tier, row, name);
        self.add(TRIMMED, row, trimmed(&normalise(name)).0);
    }

    fn add_unique_ids(&mut self, rows: &[Row]) {
        for (n, row) in rows.iter().enumerate() {
            if self.0.contains_key(&normalise(row.text("id"))) {
                row.fail("another row has this id");
            }
            self.add(ID, n, row.text("id"));
        }
    }
}

fn devices(rows: &[Row]) -> String {
    let mut names = Names::default();
    names.add_unique_ids(rows);
    for (n, row) in rows.iter().enumerate() {
        check_device(row);
        names.add_product(ID, n, row.text("id"));
        names.add_product(NAME, n, row.text("name"));
        row.texts("aliases").iter().for_each(|a| names.add_product(ALIAS, n, a));
        row.texts("driver_names").iter().for_each(|a| names.add(DRIVER, n, a));
    }
    table("DEVICES", &names, rows)
}

fn check_device(row: &Row) {
    if normalise(row.text("id")) != row.text("id") {
        row.fail("`id` is not in kebab case");
    }
    if row.texts("sources").is_empty() {
        row.fail("`sources` is empty: say where the facts are from");
    }
}

fn models(rows: &[Row]) -> String {
    let mut names = Names::default();
    names.add_unique_ids(rows);
    for (n, row) in rows.iter().enumerate() {
        check_model(row);
        names.add(NAME, n, last_part(row.text("id")));
        names.add(ALIAS, n, row.text("name"));
        row.texts("aliases").iter().for_each(|a| names.add(ALIAS, n, a));
        for id in row.texts("same_shape") {
            names.add(ALIAS, n, id);
            names.add(ALIAS, n, last_part(id));
        }
    }
    check_one_model_a_name(&names, rows);
    table("MODELS", &names, rows)
}

fn pipelines(rows: &[Row]) -> String {
    let mut names = Names::default();
    names.add_unique_ids(rows);
    for (n, row) in rows.iter().enumerate() {
        row.text("source");
        names.add(NAME, n, last_part(row.text("id")));
        row.texts("aliases").iter().for_each(|a| names.add(ALIAS, n, a));
    }
    check_one_model_a_name(&names, rows);
    table("PIPELINES", &names, rows)
}

fn check_model(row: &Row) {
    row.text("source");
    if !row.fields.get("config").is_some_and(toml::Value::is_table) {
        row.fail("no [model.config]");
    }
}

fn check_one_model_a_name(names: &Names, rows: &[Row]) {
    for (name, bearers) in &names.0 {
        let mut bearing = bearers.iter().map(|(_, row)| *row);
        let first = bearing.next();
        if let Some(other) = bearing.find(|row| Some(*row) != first) {
            rows[other].fail(&format!("`{name}` also names another model"));
        }
    }
}

fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

fn by_id(table_name: &str, rows: &[Row], source: &str) -> String {
    let mut names = Names::default();
    names.add_unique_ids(rows);
    rows.iter().for_each(|row| {
        row.text(source);
    });
    table(table_name, &names, rows)
}

fn list(table_name: &str, rows: &[Row], source: &str) -> String {
    rows.iter().for_each(|row| {
        row.text(source);
    });
    table(table_name, &Names::default(), rows)
}

/// Rows that are deflated together: more cost a look-up more time, fewer save less room.
const ROWS_A_BUNDLE: usize = 16;

/// A table as Rust source; the names and the bundles lie in files beside it.
fn table(name: &str, names: &Names, rows: &[Row]) -> String {
    let out = variable("OUT_DIR");
    let names = names.0.iter().map(|(key, bearers)| {
        assert!(!key.contains(['\t', '\n']), "{name}: a name with a tab or a line break in it: {key:?}");
        let bearers: String = bearers.iter().map(|(tier, row)| format!("\t{tier}:{row}")).collect();
        format!("{key}{bearers}\n")
    });
    let names_file = format!("{name}.names");
    fs::write(out.join(&names_file), names.collect::<String>()).expect("OUT_DIR is writable");
    let bundles = rows.chunks(ROWS_A_BUNDLE).enumerate().map(|(number, rows)| {
        let lines: Vec<String> = rows.iter().map(Row::json).collect();
        let file = format!("{name}.{number}");
        let packed = miniz_oxide::deflate::compress_to_vec(lines.join("\n").as_bytes(), 10);
        fs::write(out.join(&file), packed).expect("OUT_DIR is writable");
        format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")),\n")
    });
    format!(
        "pub(super) static {name}: Table = Table {{\n\
         names: include_str!(concat!(env!(\"OUT_DIR\"), \"/{names_file}\")),\n\
         bundles: &[\n{}],\nrows_a_bundle: {ROWS_A_BUNDLE},\n}};\n",
        bundles.collect::<String>(),
    )
}
