//! Engines and rules know no model by name; architectures know no engine.
//!
//! A layer's facts come from the model and policy from the engine, so a name of the other side in the
//! code is a special case that belongs in data or in `engines/<engine>/archs.rs`, the one table that may
//! be keyed by architecture. Comments are free: sources are cited there.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::source::Source;
use crate::tree::{File, repository};
use crate::{assert_none, assert_one};

/// Names of engines, letters and digits only.
const ENGINES: &[&str] = &[
    "axolotl",
    "deepspeed",
    "exllama",
    "koboldcpp",
    "llamabench",
    "llamacpp",
    "llamafile",
    "llamaserver",
    "lmdeploy",
    "lmstudio",
    "megatron",
    "mlx",
    "ollama",
    "sglang",
    "tensorrt",
    "tgi",
    "torchtitan",
    "transformers",
    "trl",
    "unsloth",
    "vllm",
];

/// Families that stay names even where the data lacks them.
const FAMILIES: &[&str] = &[
    "deepseek",
    "falcon",
    "gemma",
    "glm",
    "gptoss",
    "granite",
    "jamba",
    "kimi",
    "lfm",
    "ministral",
    "mistral",
    "mixtral",
    "nemotron",
    "phi",
    "qwen",
];

/// Names in the data that are also words of ours: kinds of layer, plain English, or the first half of
/// an engine's name (for `llama` see [`names_llama`]).
const OUR_WORDS: &[&str] = &["command", "llama", "mamba", "mamba2", "opt", "rwkv"];

/// Kinds of layer whose name holds a family's.
const LAYER_KINDS: &[&str] = &["kimidelta"];

fn check(files: &[File]) -> Vec<String> {
    let models = model_names(files);
    let engines = ENGINES.iter().map(|e| (*e).to_owned()).collect();
    let mut problems = Vec::new();
    for source in Source::under(files, "crates/core/src/") {
        let engine_side = matches!(source.module.first().map(String::as_str), Some("engines" | "rules"));
        let table_of_archs = source.module.len() == 3 && source.module[2] == "archs";
        if engine_side && !table_of_archs {
            report(&source, "model", &mut problems, |words| {
                names_llama(words).or_else(|| name_in(words, &models))
            });
        } else if source.module.first().is_some_and(|m| m == "archs") {
            report(&source, "engine", &mut problems, |words| name_in(words, &engines));
        }
    }
    problems
}

fn report(
    source: &Source,
    kind: &str,
    problems: &mut Vec<String>,
    named: impl Fn(&[String]) -> Option<String>,
) {
    for word in source.words() {
        if let Some(name) = named(&split(&word.what)) {
            problems.push(format!("{}: {kind} name `{name}` in {}", source.at(word.line), word.what));
        }
    }
}

/// Names, families and architecture keys of the models in the data, with the fixed families.
fn model_names(files: &[File]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = FAMILIES.iter().map(|f| (*f).to_owned()).collect();
    for file in files.iter().filter(|f| f.path.starts_with("data/models/") && f.is("toml")) {
        let table: Table = file.text.parse().unwrap_or_default();
        let rows = table.values().filter_map(Value::as_array).flatten();
        for row in rows.filter_map(Value::as_table) {
            let keys = ["name", "family", "gguf_arch", "model_type"];
            names.extend(keys.iter().filter_map(|key| row.get(*key)?.as_str()).map(|n| split(n).concat()));
        }
    }
    names.retain(|n| !n.is_empty() && !OUR_WORDS.contains(&n.as_str()));
    names
}

/// The first name that a run of words spells: `["is", "qwen", "3"]` spells `qwen` and `qwen3`.
fn name_in(words: &[String], names: &BTreeSet<String>) -> Option<String> {
    let runs = (0..words.len()).flat_map(|a| (a + 1..=words.len()).map(move |b| (a, b)));
    let layer_kind = |a: usize| LAYER_KINDS.iter().any(|kind| words[a..].concat().starts_with(kind));
    runs.filter(|(a, _)| !layer_kind(*a)).map(|(a, b)| words[a..b].concat()).find(|run| names.contains(run))
}

/// `llama` alone is an architecture and `llama` with a number a model; otherwise it belongs to an engine:
/// `llama_cpp`, `llama-server`, `llama_context`.
fn names_llama(words: &[String]) -> Option<String> {
    let alone = words.len() == 1 && words[0] == "llama";
    let numbered =
        words.windows(2).any(|w| w[0] == "llama" && w[1].starts_with(|c: char| c.is_ascii_digit()));
    (alone || numbered).then(|| "llama".to_owned())
}

/// Lower-case words of an identifier or literal, split at signs, humps and digits: `KimiDelta2` is
/// `kimi`, `delta`, `2`.
fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.chars() {
        let starts = !last.is_ascii_alphanumeric()
            || last.is_ascii_lowercase() && c.is_ascii_uppercase()
            || last.is_ascii_digit() != c.is_ascii_digit();
        if c.is_ascii_alphanumeric() {
            match words.last_mut().filter(|_| !starts) {
                Some(word) => word.push(c.to_ascii_lowercase()),
                None => words.push(c.to_ascii_lowercase().to_string()),
            }
        }
        last = c;
    }
    words
}

#[test]
fn engines_and_architectures_do_not_name_each_other() {
    assert_none(&check(&repository()));
}

fn at(path: &str, text: &str) -> Vec<String> {
    let data = "[[model]]\nname = \"Zebra-7B\"\nfamily = \"Zebra\"\ngguf_arch = \"mamba\"";
    check(&[File::new(&format!("crates/core/src/{path}.rs"), text), File::new("data/models/z.toml", data)])
}

#[test]
fn model_names_in_engines_and_rules_are_reported() {
    assert_one(&at("engines/vllm/memory", "const A: &str = \"qwen3moe\";"), "model name `qwen`");
    assert_one(&at("engines/vllm/mod", "fn is_zebra() {}"), "model name `zebra`");
    assert_one(&at("rules/cache", "fn f() { Family::Gemma }"), "model name `gemma`");
    assert_one(&at("engines/llama_cpp/cache", "fn f(a: &str) { a == \"llama\" }"), "model name `llama`");
    assert_one(&at("engines/llama_cpp/cache", "const A: &str = \"Llama-3.1-8B\";"), "model name `llama`");
}

#[test]
fn engine_names_in_architectures_are_reported() {
    assert_one(&at("archs/roles", "fn f() { if vLLM {} }"), "engine name `vllm`");
    assert_one(&at("archs/roles", "struct ForLlamaCpp;"), "engine name `llamacpp`");
    assert_one(&at("archs/roles", "const A: &str = \"llama.cpp\";"), "engine name `llamacpp`");
}

#[test]
fn words_that_only_look_like_names_pass() {
    let engine = "/// As qwen does.\nconst A: &str = \"ggml-org/llama.cpp llama-server src/llama-graph.cpp\";
        fn llama_cpp(c: Control) { Recurrent::KimiDelta; StateSpace::Mamba; EngineSetup::LlamaCpp }";
    assert_none(&at("engines/llama_cpp/mod", engine));
    assert_none(&at("engines/llama_cpp/archs", "const A: &[&str] = &[\"gemma3n\", \"llama\"];"));
    assert_none(&at("archs/families/llama", "/// llama.cpp\nconst A: &str = \"llama\"; fn control() {}"));
}
