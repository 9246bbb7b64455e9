//! How long do the steps of a plan take? Budgets: one `evaluate` of a 70B-class model under 100 us; a
//! header with a vocabulary of 128k tokens a few milliseconds.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use vramplan_core::answer::{Request, answer};
use vramplan_core::archs::describe;
use vramplan_core::case::Case;
use vramplan_core::catalogue::hardware::{Around, HardwareSpec, named_machine};
use vramplan_core::catalogue::{find_device, find_model};
use vramplan_core::dtype::Format;
use vramplan_core::engines::WeightsSource;
use vramplan_core::formats::{gguf, hf_config};
use vramplan_core::machine::Machine;
use vramplan_core::model::Model;
use vramplan_core::plan::evaluate;
use vramplan_core::quants::Recipe;
use vramplan_core::setup::{EngineSetup, LlamaCpp, Setup};
use vramplan_core::units::Tokens;
use vramplan_core::workload::Inference;

fn model(name: &str) -> Model {
    find_model(name).one().unwrap().build(Recipe::Q4KM).unwrap()
}

fn machine(spec: &str) -> Machine {
    named_machine(&[HardwareSpec::parse(spec)], &Around::default()).unwrap().machine
}

fn evaluating(c: &mut Criterion) {
    let setup = Setup {
        cache_k: Format::F16,
        cache_v: Format::F16,
        engine: EngineSetup::LlamaCpp(LlamaCpp::default()),
    };
    let cases = [
        ("llama-3.3-70b", "2x:rtx-3090"),
        ("deepseek-v3", "8x:h200-sxm-141gb"),
        ("qwen3-30b-a3b", "cpu:32gb"),
    ];
    for (name, spec) in cases {
        let (model, machine) = (model(name), machine(spec));
        let workload = Inference { context: Tokens(16_384), sequences: 1 };
        let case = Case { model: &model, machine: &machine, workload, setup: &setup };
        c.bench_function(&format!("evaluate {name}"), |b| b.iter(|| evaluate(black_box(&case)).unwrap()));
    }
}

fn answering(c: &mut Criterion) {
    let (model, machine) = (model("llama-3.3-70b"), machine("2x:rtx-3090"));
    let request = Request {
        context: Some(Tokens(16_384)),
        ..Request::open(&model, "Q4_K_M", &machine, WeightsSource::File("m.gguf"))
    };
    c.bench_function("answer llama-3.3-70b", |b| b.iter(|| answer(black_box(&request)).unwrap()));
}

fn building(c: &mut Criterion) {
    for name in ["llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v3"] {
        let row = find_model(name).one().unwrap();
        c.bench_function(&format!("build {name}"), |b| {
            b.iter(|| black_box(&row).build(Recipe::Q4KM).unwrap())
        });
    }
}

/// From the text of a config.json to every parameter with its shape; budget: 2 ms for DeepSeek V3.
fn describing(c: &mut Criterion) {
    for name in ["llama-3.1-8b", "deepseek-v3", "gemma-3-27b"] {
        let text = find_model(name).one().unwrap().config.to_string();
        c.bench_function(&format!("describe {name}"), |b| {
            b.iter(|| describe(&hf_config::parse(black_box(&text)).unwrap()).unwrap())
        });
    }
}

fn looking_up(c: &mut Criterion) {
    c.bench_function("find model", |b| b.iter(|| find_model(black_box("llama-3.1-8b"))));
    c.bench_function("find device", |b| b.iter(|| find_device(black_box("NVIDIA GeForce RTX 4090"))));
    c.bench_function("named machine", |b| b.iter(|| machine(black_box("2x:rtx-3090"))));
}

/// Type numbers of GGUF values.
const U32: u32 = 4;
const I32: u32 = 5;
const F32: u32 = 6;
const TEXT: u32 = 8;
const ARRAY: u32 = 9;
/// Tokens of Llama 3's vocabulary.
const TOKENS: u64 = 128_256;
/// Tensors of Llama 3.1 8B, a table of rotary factors among them.
const TENSORS: u64 = 292;

fn text(s: &str) -> Vec<u8> {
    [&(s.len() as u64).to_le_bytes()[..], s.as_bytes()].concat()
}

fn key(name: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&text(name)[..], &kind.to_le_bytes(), value].concat()
}

/// An array under a key, an item for every token.
fn per_token(name: &str, kind: u32, item: impl Fn(u64) -> Vec<u8>) -> Vec<u8> {
    let head = [&kind.to_le_bytes()[..], &TOKENS.to_le_bytes()].concat();
    [key(name, ARRAY, &head), (0..TOKENS).flat_map(item).collect()].concat()
}

/// The header of a file like Llama 3.1 8B's: its hyperparameters, its vocabulary with scores and types,
/// and a table of as many tensors.
fn header() -> Vec<u8> {
    let mut keys = vec![key("general.architecture", TEXT, &text("llama"))];
    let sizes = [
        ("block_count", 32_u32),
        ("context_length", 131_072),
        ("embedding_length", 4096),
        ("feed_forward_length", 14_336),
        ("attention.head_count", 32),
        ("attention.head_count_kv", 8),
    ];
    keys.extend(sizes.map(|(name, n)| key(&format!("llama.{name}"), U32, &n.to_le_bytes())));
    keys.push(per_token("tokenizer.ggml.tokens", TEXT, |i| text(&format!("<token_{i}>"))));
    keys.push(per_token("tokenizer.ggml.scores", F32, |i| (i as f32).to_le_bytes().into()));
    keys.push(per_token("tokenizer.ggml.token_type", I32, |_| 1_i32.to_le_bytes().into()));
    let mut bytes = [&b"GGUF\x03\0\0\0"[..], &TENSORS.to_le_bytes()].concat();
    bytes.extend((keys.len() as u64).to_le_bytes());
    keys.iter().for_each(|key| bytes.extend(key));
    for i in 0..TENSORS {
        bytes.extend(text(&format!("blk.{}.part_{}.weight", i / 10, i % 10)));
        bytes.extend([&2_u32.to_le_bytes()[..], &4096_u64.to_le_bytes(), &4096_u64.to_le_bytes()].concat());
        bytes.extend([&12_u32.to_le_bytes()[..], &(i << 24).to_le_bytes()].concat());
    }
    bytes
}

fn parsing(c: &mut Criterion) {
    let bytes = header();
    assert!(matches!(gguf::parse(&bytes), Ok(vramplan_core::formats::Progress::Done(_))));
    c.bench_function("parse GGUF header, 128k tokens", |b| b.iter(|| gguf::parse(black_box(&bytes))));
}

criterion_group!(benches, evaluating, answering, building, describing, looking_up, parsing);
criterion_main!(benches);
