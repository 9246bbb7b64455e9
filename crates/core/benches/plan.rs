//! How long do the steps of a plan take? Budgets: one `evaluate` of a 70B-class model under 100 us; a
//! header with a vocabulary of 128k tokens a few milliseconds.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use vramplan_core::answer::{Request, answer};
use vramplan_core::case::Case;
use vramplan_core::catalogue::hardware::{Around, HardwareSpec, named_machine};
use vramplan_core::catalogue::{find_device, find_model};
use vramplan_core::dtype::Format;
use vramplan_core::engines::WeightsSource;
use vramplan_core::formats::gguf;
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

fn looking_up(c: &mut Criterion) {
    c.bench_function("find model", |b| b.iter(|| find_model(black_box("llama-3.1-8b"))));
    c.bench_function("find device", |b| b.iter(|| find_device(black_box("NVIDIA GeForce RTX 4090"))));
    c.bench_function("named machine", |b| b.iter(|| machine(black_box("2x:rtx-3090"))));
}

/// A header with 128,256 tokens and the tensors of a 32-layer model.
fn header() -> Vec<u8> {
    let text = |s: &str| [&(s.len() as u64).to_le_bytes()[..], s.as_bytes()].concat();
    let mut bytes = [&b"GGUF\x03\0\0\0"[..], &289_u64.to_le_bytes(), &2_u64.to_le_bytes()].concat();
    bytes.extend([text("general.architecture"), 8_u32.to_le_bytes().into(), text("llama")].concat());
    bytes.extend(
        [text("tokenizer.ggml.tokens"), 9_u32.to_le_bytes().into(), 8_u32.to_le_bytes().into()].concat(),
    );
    bytes.extend(128_256_u64.to_le_bytes());
    (0..128_256).for_each(|i| bytes.extend(text(&format!("<token_{i}>"))));
    for i in 0..289_u64 {
        bytes.extend(text(&format!("blk.{}.part_{}.weight", i / 9, i % 9)));
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

criterion_group!(benches, evaluating, answering, building, looking_up, parsing);
criterion_main!(benches);
