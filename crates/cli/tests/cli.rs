//! The examples of the README and of `cases/` against the real program, byte for byte.
//!
//! Every block that starts with `$ vram …` is run and written anew, and the file must not change. To
//! take over what has: `SNAPSHOTS=overwrite cargo test -p vramplan --test cli`, and read the change.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

use snapbox::{Assert, Data, IntoData};

/// Widest line that a plan may print.
const WIDTH: usize = 80;

/// Every file of examples.
const FILES: [&str; 5] = [
    "../../README.md",
    "tests/cases/plans.md",
    "tests/cases/models.md",
    "tests/cases/errors.md",
    "tests/cases/help.md",
];

/// Runs `vram` with the words of a line, as a shell without quotes or variables would.
fn run(line: &str) -> Output {
    let words = line.split_whitespace();
    let mut command = Command::new(env!("CARGO_BIN_EXE_vram"));
    // No network, and none of the models of whoever runs the test.
    command.env("HF_HUB_OFFLINE", "1").env("HOME", "/nowhere").env("OLLAMA_MODELS", "/nowhere");
    for name in
        ["COLUMNS", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME", "LLAMA_CACHE"]
    {
        command.env_remove(name);
    }
    command.args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap()
}

/// A file of examples with every output as it is now.
fn with_outputs(text: &str) -> String {
    let mut now = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        now.push_str(line);
        now.push('\n');
        let Some(command) = line.strip_prefix("$ vram") else { continue };
        lines.by_ref().take_while(|l| *l != "```").for_each(drop);
        now.push_str(&shown(&run(command)));
        now.push_str("```\n");
    }
    now
}

/// Exit code where it is not 0, standard output, standard error.
fn shown(output: &Output) -> String {
    let mut text = String::new();
    let code = output.status.code().unwrap();
    if code != 0 {
        writeln!(text, "? {code}").unwrap();
    }
    text.push_str(std::str::from_utf8(&output.stdout).unwrap());
    text.push_str(std::str::from_utf8(&output.stderr).unwrap());
    text
}

fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\n$ vram"), "no examples in {file}");
    let now = with_outputs(&text).into_data().raw();
    Assert::new().action_env("SNAPSHOTS").eq(now, Data::read_from(&path, None).raw());
}

#[test]
fn readme() {
    check("../../README.md");
}

#[test]
fn plans() {
    check("tests/cases/plans.md");
}

#[test]
fn models() {
    check("tests/cases/models.md");
}

#[test]
fn bad_input() {
    check("tests/cases/errors.md");
}

#[test]
fn help() {
    check("tests/cases/help.md");
}

/// Lines wider than the page. An error's first line holds the person's own words, however long.
fn wide(output: &Output) -> Vec<String> {
    let text = [&output.stdout[..], &output.stderr].concat();
    let lines = std::str::from_utf8(&text).unwrap().lines().filter(|line| !line.starts_with("error: "));
    lines.filter(|line| line.chars().count() > WIDTH).map(str::to_owned).collect()
}

#[test]
fn examples_keep_to_the_page() {
    for file in FILES {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        for command in text.lines().filter_map(|line| line.strip_prefix("$ vram")) {
            let output = run(command);
            assert_eq!(wide(&output), Vec::<String>::new(), "{file}: {command}");
        }
    }
}

#[test]
fn every_model_keeps_to_the_page() {
    let mut types = std::collections::BTreeSet::new();
    for row in vramplan_core::catalogue::models() {
        for hardware in ["rx-7900-xtx", "rtx-3090 --on rtx-5060-ti-16gb", "8x:h200-sxm-141gb", "cpu:32gb"] {
            let output = run(&format!("plan {} --on {hardware} --explain", row.id));
            // Which models are not planned, and not understood, is a list in the core's tests.
            assert!(matches!(output.status.code(), Some(0..=2)), "{} on {hardware}", row.id);
            assert_eq!(wide(&output), Vec::<String>::new(), "{} on {hardware}", row.id);
        }
        // Weighing takes time, and models of one type print the same lines.
        if !types.insert(row.model_type.clone()) {
            continue;
        }
        let shown = run(&format!("models show {}", row.id));
        let expected = if row.describe().is_ok() { 0 } else { 2 };
        assert_eq!((shown.status.code(), wide(&shown)), (Some(expected), Vec::new()), "{}", row.id);
    }
}

#[test]
fn every_device_keeps_to_the_page() {
    assert_eq!(wide(&run("hardware list")), Vec::<String>::new());
}

fn project(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap()
}

#[test]
fn commands_in_the_tables_of_the_readme_have_answers() {
    let readme = project("README.md");
    let rows = readme.lines().filter(|line| line.starts_with('|'));
    let commands = rows.flat_map(|row| row.split('`')).filter_map(|text| text.strip_prefix("vram "));
    // There are no such files here: model files and folders have tests of their own.
    let commands: Vec<_> = commands.filter(|command| !command.contains(" ./")).collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let output = run(command);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {output:?}");
    }
}

#[test]
fn figures_of_the_readme_are_the_published_ones() {
    let (readme, published) = (project("README.md"), project("docs/ACCURACY.md"));
    let rows: Vec<_> = readme.lines().filter(|line| line.starts_with('|') && line.contains('%')).collect();
    assert!(rows.len() >= 8, "{rows:?}");
    for row in rows {
        assert!(published.lines().any(|line| line == row), "not in docs/ACCURACY.md: {row}");
    }
    let runs = project("observations/llama.cpp/llama_cpp.jsonl").lines().count();
    let runs = format!("{},{:03} recorded runs", runs / 1000, runs % 1000);
    assert!(readme.contains(&runs), "{runs}");
    let records = project("observations/transformers/params.jsonl");
    let types: std::collections::BTreeSet<String> = records
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["model_type"].to_string())
        .collect();
    for figure in [format!("{} configs", records.lines().count()), format!("{} types of models", types.len())]
    {
        assert!(readme.contains(&figure), "{figure}");
    }
}

#[test]
fn the_readme_counts_models_and_devices_as_they_are() {
    let readme = project("README.md");
    let models = format!("{} by name", vramplan_core::catalogue::models().count());
    let devices = project("data/devices.toml").lines().filter(|line| *line == "[[device]]").count();
    let devices = format!("{devices} accelerators and chips");
    assert!(readme.contains(&models), "{models}");
    assert!(readme.contains(&devices), "{devices}");
}

#[test]
fn bad_input_is_one_error_and_nothing_on_standard_output() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/errors.md")).unwrap();
    for command in text.lines().filter_map(|line| line.strip_prefix("$ vram")) {
        let output = run(command);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(output.stdout.is_empty(), "{command}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            errors.lines().filter(|line| line.starts_with("error: ")).count(),
            1,
            "{command}: {errors}"
        );
    }
}

#[test]
fn alone_it_shows_this_machine() {
    let output = run("");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("System RAM"));
}

#[test]
fn without_hardware_the_plan_is_for_this_machine() {
    let output = run("plan qwen3-0.6b --json");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["devices"].as_array().unwrap().len(), 1);
    assert_eq!(answer["devices"][0]["backend"], "cpu");
}

#[test]
fn json_carries_whole_numbers() {
    let output = run("plan llama-3.1-8b --on rtx-4090 --context 32k --json");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["model"]["parameters"].as_u64(), Some(8_030_261_248));
    assert_eq!(answer["totals"]["kv_cache"].as_u64(), Some(4_294_967_296));
    assert_eq!(answer["verdict"], "fits");
}
