//! Numbers that people know, one for each rule of llama.cpp that they rest on.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{lines, machine, model, plan, setup, total, workload};
use vramplan_core::answer::{Answer, Request, answer};
use vramplan_core::case::Case;
use vramplan_core::dtype::Format;
use vramplan_core::engines::{Refusal, WeightsSource};
use vramplan_core::ledger::{Basis, Buffer, CacheKind, Item, Line, Why};
use vramplan_core::model::Model;
use vramplan_core::plan::evaluate;
use vramplan_core::quants::Recipe;
use vramplan_core::setup::{LlamaCpp, Program, Toggle};
use vramplan_core::units::{Bytes, Tokens};

fn kv(model: &Model, context: u64, sequences: u64, engine: LlamaCpp) -> Bytes {
    let plan = plan(model, &machine(&["rtx-4090"]), workload(context, sequences), &setup(engine));
    total(&plan.ledger, Item::KvCache)
}

fn kind_and_cells(line: &Line) -> (CacheKind, u64, u64) {
    match &line.why {
        Why::KvCache { kind, cells, streams, .. } => (*kind, cells.0, *streams),
        other => panic!("{other:?}"),
    }
}

#[test]
fn grouped_heads_at_32k() {
    let llama = model("llama-3.1-8b", Recipe::Q4KM);
    assert_eq!(llama.parameters(), 8_030_261_248);
    assert_eq!(kv(&llama, 32_768, 1, LlamaCpp::default()), Bytes(4_294_967_296));
}

#[test]
fn ungrouped_heads_at_4k() {
    let llama = model("llama-2-7b", Recipe::Q4_0);
    assert_eq!(kv(&llama, 4096, 1, LlamaCpp::default()), Bytes::from_gib(2));
}

#[test]
fn latent_attention_and_its_index_keys() {
    let v3 = model("deepseek-v3", Recipe::Q4KM);
    assert_eq!(kv(&v3, 32_768, 1, LlamaCpp::default()), Bytes::from_mib(2196));
    let v32 = model("deepseek-v3.2", Recipe::Q4KM);
    assert_eq!(kv(&v32, 32_768, 1, LlamaCpp::default()), Bytes::from_mib(2196 + 488));
}

#[test]
fn a_quantised_cache_takes_eight_and_a_half_bits() {
    let llama = model("llama-3.1-8b", Recipe::Q4KM);
    let quantised = vramplan_core::setup::Setup {
        cache_k: Format::Q8_0,
        cache_v: Format::Q8_0,
        ..setup(LlamaCpp::default())
    };
    let plan = plan(&llama, &machine(&["rtx-4090"]), workload(32_768, 1), &quantised);
    assert_eq!(total(&plan.ledger, Item::KvCache), Bytes(4_294_967_296 / 16 * 17 / 2));
}

/// CUDA reads quantised rows up to a multiple of 512 values: the last row of each tensor is padded.
#[test]
fn odd_rows_of_quantised_caches_are_padded_on_cuda() {
    let quantised = vramplan_core::setup::Setup {
        cache_k: Format::Q8_0,
        cache_v: Format::Q8_0,
        ..setup(LlamaCpp::default())
    };
    let cache = |model: &Model, context, device: &str| {
        let plan = plan(model, &machine(&[device]), workload(context, 1), &quantised);
        total(&plan.ledger, Item::KvCache)
    };
    // 10 heads of 128: 40 blocks of 34 bytes a row; 8 blocks more, aligned to 128, for 2 x 40 tensors.
    let phi = model("phi-4", Recipe::Q4KM);
    assert_eq!(cache(&phi, 4096, "cpu:64gb"), Bytes(40 * 34 * 4096 * 80));
    assert_eq!(cache(&phi, 4096, "rtx-4090"), Bytes((40 * 34 * 4096 + 384) * 80));
    // 576 values: 18 blocks a row and 14 more; 611,678,720 bytes in the engine.
    let v3 = model("deepseek-v3", Recipe::Q4KM);
    assert_eq!(cache(&v3, 16_384, "8x:h200-sxm-141gb"), Bytes(611_678_720));
    // 16-bit rows are never padded.
    let f16 = plan(&phi, &machine(&["rtx-4090"]), workload(4096, 1), &setup(LlamaCpp::default()));
    assert_eq!(total(&f16.ledger, Item::KvCache), Bytes(2 * 1280 * 2 * 4096 * 40));
}

#[test]
fn contexts_are_padded_for_every_sequence() {
    let llama = model("llama-3.2-1b", Recipe::Q4_0);
    let plan = plan(&llama, &machine(&["rtx-4090"]), workload(10_000, 3), &setup(LlamaCpp::default()));
    let cache = lines(&plan.ledger, Item::KvCache);
    assert_eq!(kind_and_cells(cache[0]), (CacheKind::Full, 3584, 3));
}

#[test]
fn a_window_cache_depends_on_the_batch_and_on_sharing() {
    let gemma = model("gemma-3-12b", Recipe::Q4KM);
    let window = |sequences, engine| {
        let plan = plan(&gemma, &machine(&["rtx-4090"]), workload(32_768, sequences), &setup(engine));
        let caches: Vec<_> = lines(&plan.ledger, Item::KvCache).into_iter().map(kind_and_cells).collect();
        let of = |kind| caches.iter().find(|(other, ..)| *other == kind).map(|(_, cells, n)| (*cells, *n));
        (of(CacheKind::Full).unwrap(), of(CacheKind::Window).unwrap())
    };
    let whole = (32_768, 1);
    assert_eq!(window(1, LlamaCpp::default()), (whole, (1024 + 512, 1)));
    assert_eq!(window(1, LlamaCpp { ubatch: 2048, ..LlamaCpp::default() }), (whole, (1024 + 2048, 1)));
    // Each of four sequences has a window of its own, in one cache or in four.
    let shared = LlamaCpp { unified_cache: true, ..LlamaCpp::default() };
    assert_eq!(window(4, shared), (whole, (4 * 1024 + 512, 1)));
    assert_eq!(window(4, LlamaCpp::default()), ((8192, 4), (1024 + 512, 4)));
    let full = LlamaCpp { full_window_cache: true, ..LlamaCpp::default() };
    assert_eq!(window(1, full), (whole, whole));
}

#[test]
fn a_tied_embedding_is_held_twice_with_a_gpu_and_once_without() {
    let llama = model("llama-3.2-1b", Recipe::Q4_0);
    let embedding = llama.tensors.iter().find(|t| t.name == "token_embd.weight").unwrap().size();
    let weights = |specs: &[&str]| {
        let plan = plan(&llama, &machine(specs), workload(4096, 1), &setup(LlamaCpp::default()));
        total(&plan.ledger, Item::Weights)
    };
    assert_eq!(weights(&["rtx-4090"]), llama.tensor_bytes() + embedding);
    assert_eq!(weights(&["cpu:32gb"]), llama.tensor_bytes());
}

#[test]
fn one_gpu_layer_is_the_output_side() {
    let llama = model("llama-3.2-1b", Recipe::Q4_0);
    let one = LlamaCpp { gpu_layers: Some(1), ..LlamaCpp::default() };
    let plan = plan(&llama, &machine(&["rtx-4090"]), workload(4096, 1), &setup(one));
    let on_card =
        lines(&plan.ledger, Item::Weights).into_iter().find(|l| l.buffer == Buffer::Device).unwrap();
    assert!(
        matches!(on_card.why, Why::Weights { layers: 0, output: true, tensors: 2, .. }),
        "{:?}",
        on_card.why
    );
    assert!(lines(&plan.ledger, Item::KvCache).iter().all(|l| l.buffer == Buffer::Host));
}

#[test]
fn the_server_reserves_logits_for_its_slots_only() {
    let llama = model("llama-3.1-8b", Recipe::Q4KM);
    let compute = |program| {
        let engine = LlamaCpp { program, ..LlamaCpp::default() };
        let plan = plan(&llama, &machine(&["rtx-4090"]), workload(8192, 1), &setup(engine));
        let buffers = lines(&plan.ledger, Item::ComputeBuffer);
        buffers.into_iter().find(|l| l.buffer == Buffer::Device).unwrap().bytes.likely
    };
    // 258.5 and 116.0 MiB in the engine.
    assert_eq!(compute(Program::Library), Bytes(258 << 20) + Bytes(1 << 19));
    let server = compute(Program::Server);
    assert!(server > Bytes::from_mib(115) && server < Bytes::from_mib(117), "{server}");
}

#[test]
fn states_do_not_grow_with_context_but_with_sequences() {
    let falcon = model("falcon-h1-7b", Recipe::Q4KM);
    let state = |context, sequences| {
        let card = machine(&["rtx-4090"]);
        let plan = plan(&falcon, &card, workload(context, sequences), &setup(LlamaCpp::default()));
        total(&plan.ledger, Item::RecurrentState)
    };
    // 44 layers with 3 values of history for 3072 + 2 * 256 channels and 256 a channel, in 32 bits.
    assert_eq!(state(4096, 1), Bytes(44 * (3 * (3072 + 512) + 256 * 3072) * 4));
    assert_eq!(state(4096, 1), state(65_536, 1));
    assert_eq!(state(4096, 4), state(4096, 1) * 4);
}

#[test]
fn layers_that_predict_ahead_count_nowhere() {
    let glm = model("glm-4.5-air", Recipe::Q4KM);
    let ahead = glm.layers.iter().filter(|l| l.predicts_ahead).count();
    assert_eq!((glm.layers.len(), ahead), (47, 1));
    let card = machine(&["h200-sxm-141gb"]);
    let plan = plan(&glm, &card, workload(8192, 1), &setup(LlamaCpp::default()));
    assert_eq!(kind_and_cells(lines(&plan.ledger, Item::KvCache)[0]), (CacheKind::Full, 8192, 1));
    // 46 layers of 8 heads with 128 values in K and in V, 16 bits each.
    assert_eq!(total(&plan.ledger, Item::KvCache), Bytes(46 * 8192 * 2 * 1024 * 2));
    assert!(total(&plan.ledger, Item::Weights) < glm.tensor_bytes());
}

#[test]
fn what_the_engine_refuses() {
    let card = machine(&["rtx-4090"]);
    let refusal = |model: &Model, k: Format, v: Format, flash_attention: Toggle| {
        let engine = LlamaCpp { flash_attention, ..LlamaCpp::default() };
        let setup = vramplan_core::setup::Setup { cache_k: k, cache_v: v, ..setup(engine) };
        let case = Case { model, machine: &card, workload: workload(4096, 1), setup: &setup };
        evaluate(&case).err()
    };
    let llama = model("llama-3.1-8b", Recipe::Q4KM);
    let v = Format::Q8_0;
    assert_eq!(refusal(&llama, v, v, Toggle::Off), Some(Refusal::QuantisedValuesWithoutFlashAttention { v }));
    assert_eq!(refusal(&llama, v, Format::F16, Toggle::Off), None);
    assert_eq!(refusal(&llama, v, v, Toggle::Auto), None);
    let deepseek = model("deepseek-v2-lite", Recipe::Q4KM);
    assert_eq!(
        refusal(&deepseek, v, Format::F16, Toggle::Auto),
        Some(Refusal::UnequalCacheFormats { k: v, v: Format::F16 })
    );
    assert_eq!(
        refusal(&llama, Format::Q4K, Format::Q4K, Toggle::On),
        Some(Refusal::CacheFormat { format: Format::Q4K })
    );
}

#[test]
fn an_answer_survives_json() {
    let llama = model("llama-3.1-8b", Recipe::Q4KM);
    let card = machine(&["2x:rtx-3090"]);
    let request = Request {
        context: Some(Tokens(16_384)),
        sequences: Some(2),
        ..Request::open(&llama, "Q4_K_M", &card, WeightsSource::File("m.gguf"))
    };
    let answer = answer(&request).unwrap();
    let json = serde_json::to_string(&answer).unwrap();
    assert_eq!(serde_json::from_str::<Answer>(&json).unwrap(), answer);
}

/// The compute rule was held against CUDA's and the CPU's buffers alone: elsewhere it claims no measurements.
#[test]
fn only_measured_backends_claim_measurements() {
    let llama = model("llama-3.1-8b", Recipe::Q4KM);
    let basis = |hardware: &[&str]| {
        let plan = plan(&llama, &machine(hardware), workload(8192, 1), &setup(LlamaCpp::default()));
        let compute = lines(&plan.ledger, Item::ComputeBuffer).into_iter();
        compute.map(|line| matches!(line.basis, Basis::Fitted { .. })).collect::<Vec<_>>()
    };
    for measured in [["rtx-4090"].as_slice(), &["rtx-4090", "rtx-4090"]] {
        assert!(basis(measured).into_iter().all(|fitted| fitted), "{measured:?}");
    }
    for other in ["arc-a770", "radeon-rx-7900-xtx", "m4:16gb"] {
        assert!(basis(&[other]).into_iter().all(|fitted| !fitted), "{other}");
    }
    assert!(basis(&["rtx-4090", "arc-a770"]).into_iter().all(|fitted| !fitted));
}
