//! What must hold for every model and setting: made-up models of every kind of layer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::setup;
use proptest::prelude::*;
use vramplan_core::archs::tensor;
use vramplan_core::case::Case;
use vramplan_core::dtype::Format;
use vramplan_core::ledger::{Item, Ledger};
use vramplan_core::machine::{Backend, Device, DeviceId, Machine, Pool, PoolId, PoolKind};
use vramplan_core::model::{
    Attention, Ffn, Indexer, Latent, Layer, Mixer, Model, Recurrent, Role, StateSpace, Tensor, Window,
};
use vramplan_core::plan::{Plan, Verdict, evaluate, longest_context};
use vramplan_core::setup::{LlamaCpp, Program, Setup, Toggle};
use vramplan_core::units::{Bytes, Tokens};
use vramplan_core::workload::Inference;

const WIDTH: u64 = 256;
/// Values in the table of rotary factors: 128 bytes, as every backend aligns them.
const FACTORS: u64 = 32;

fn attention() -> impl Strategy<Value = Attention> {
    let window = prop_oneof![
        2 => Just(None),
        2 => (1_u64..2048).prop_map(|n| Some(Window::Sliding(n))),
        1 => (1_u64..8).prop_map(|n| Some(Window::Chunked(n * 256))),
    ];
    (1_u64..4, 0_u32..3, 1_u64..4, window).prop_map(|(kv_heads, shared, dim, window)| Attention {
        heads: kv_heads << shared,
        kv_heads,
        k_dim: dim * 32,
        v_dim: dim * 32,
        window,
        shares_cache_with: None,
        indexer: None,
    })
}

fn state_space_kind() -> impl Strategy<Value = StateSpace> {
    prop_oneof![
        Just(StateSpace::Mamba),
        Just(StateSpace::Mamba2),
        Just(StateSpace::GatedDelta),
        Just(StateSpace::Wkv)
    ]
}

fn recurrent() -> impl Strategy<Value = Recurrent> {
    prop_oneof![
        (state_space_kind(), 1_u64..8).prop_map(|(kind, n)| Recurrent::StateSpace {
            kind,
            conv: 4,
            inner: n * 64,
            state: 16,
            groups: u64::from(kind != StateSpace::Mamba),
            rank: n,
        }),
        (1_u64..4).prop_map(|heads| Recurrent::KimiDelta { heads, head_dim: 64, conv: 4 }),
        Just(Recurrent::ShortConv { width: WIDTH, conv: 3 }),
    ]
}

fn mixer() -> impl Strategy<Value = Mixer> {
    prop_oneof![
        4 => attention().prop_map(Mixer::Attention),
        1 => (attention(), recurrent()).prop_map(|(a, r)| Mixer::Parallel(a, r)),
        2 => recurrent().prop_map(Mixer::Recurrent),
        1 => Just(Mixer::None),
    ]
}

/// Latent layers come alone: their cache keeps one row for K and V.
fn mixers() -> impl Strategy<Value = Vec<Mixer>> {
    let latent = (1_u64..8, 1_u64..8, any::<bool>()).prop_map(|(heads, rank, indexed)| Latent {
        heads,
        kv_rank: rank * 32,
        rope_dim: 64,
        k_dim: 96,
        v_dim: 64,
        indexer: indexed.then_some(Indexer { heads: 4, k_dim: 128, top_k: 2048 }),
    });
    prop_oneof![
        5 => prop::collection::vec(mixer(), 1..8),
        1 => (latent, 1_usize..8).prop_map(|(latent, n)| vec![Mixer::Latent(latent); n]),
    ]
}

fn ffn() -> impl Strategy<Value = Ffn> {
    prop_oneof![
        (1_u64..8).prop_map(|n| Ffn::Dense { width: n * 128, gated: true }),
        (2_u64..8).prop_map(|count| Ffn::Experts {
            count,
            used: 2,
            width: 128,
            shared_width: 0,
            gated: true
        }),
        Just(Ffn::None),
    ]
}

fn tensors(layers: usize, tied: bool, factors: bool) -> Vec<Tensor> {
    let mut list = vec![tensor("llama", "token_embd.weight".into(), [WIDTH, 1000, 1, 1], Format::Q4K, 0)];
    if !tied {
        list.push(tensor("llama", "output.weight".into(), [WIDTH, 1000, 1, 1], Format::Q6K, 0));
    }
    if factors {
        list.push(tensor("llama", "rope_freqs.weight".into(), [FACTORS, 1, 1, 1], Format::F32, 0));
    }
    for i in 0..layers {
        let name = |part: &str| format!("blk.{i}.{part}.weight");
        list.push(tensor("llama", name("attn_q"), [WIDTH, 512, 1, 1], Format::Q4K, 0));
        list.push(tensor("llama", name("ffn_up_exps"), [WIDTH, 512, 4, 1], Format::Q4K, 0));
        list.push(tensor("llama", name("attn_norm"), [WIDTH, 1, 1, 1], Format::F32, 0));
    }
    list
}

fn model() -> impl Strategy<Value = Model> {
    (mixers(), ffn(), any::<bool>(), any::<bool>()).prop_map(|(mixers, ffn, tied, factors)| {
        let layers: Vec<_> = mixers
            .into_iter()
            .map(|mixer| Layer { mixer, cross: None, ffn, predicts_ahead: false })
            .collect();
        Model {
            name: "made up".into(),
            arch: "llama".into(),
            vocab: 1000,
            width: WIDTH,
            context_length: Some(Tokens(1 << 20)),
            tensors: tensors(layers.len(), tied, factors),
            layers,
            data_offset: 0,
        }
    })
}

/// A machine with so many cards of so much free memory, and a CPU.
fn machine(cards: u16, free: Bytes) -> Machine {
    let pool = |kind, free| Pool { kind, total: free, free, reserve: Bytes::ZERO, bandwidth: None };
    let mut pools = vec![pool(PoolKind::Ram, Bytes::from_gib(1 << 20))];
    pools.extend((0..cards).map(|_| pool(PoolKind::Vram, free)));
    let mut devices: Vec<_> = (0..cards).map(|i| Device::new("", Backend::Cuda, PoolId(i + 1))).collect();
    devices.push(Device::cpu(PoolId(0)));
    Machine { pools, devices }
}

fn run(model: &Model, machine: &Machine, context: u64, sequences: u64, setup: &Setup) -> Option<Plan> {
    let workload = Inference { context: Tokens(context), sequences };
    evaluate(&Case { model, machine, workload, setup }).ok()
}

/// What every device must hold, as single numbers.
fn needs(ledger: &Ledger, machine: &Machine) -> Vec<u64> {
    machine.ids().map(|id| ledger.need(id).likely.0).collect()
}

fn no_less(more: &[u64], less: &[u64]) -> bool {
    more.iter().zip(less).all(|(more, less)| more >= less)
}

/// What an item takes on one device.
fn on(ledger: &Ledger, device: DeviceId, item: Item) -> u64 {
    ledger.on(device).filter(|l| l.item == item).map(|l| l.bytes.likely.0).sum()
}

fn on_gpus(ledger: &Ledger, cards: u16, item: Item) -> u64 {
    let lines = ledger.lines.iter().filter(|l| l.item == item && l.device.0 < cards);
    lines.map(|l| l.bytes.likely.0).sum()
}

/// Engine settings that move memory.
fn engine() -> impl Strategy<Value = LlamaCpp> {
    let flash = prop_oneof![Just(Toggle::Auto), Just(Toggle::On), Just(Toggle::Off)];
    let program = prop_oneof![Just(Program::Server), Just(Program::Library)];
    let ubatch = prop_oneof![Just(64_u64), Just(512), Just(2048)];
    let placement = (any::<bool>(), 0_u64..10, 0_u64..4, any::<bool>());
    (flash, program, ubatch, any::<bool>(), any::<bool>(), placement).prop_map(
        |(flash_attention, program, ubatch, unified_cache, full_window_cache, placement)| {
            let (cache_on_host, gpu_layers, host_experts, op_offload) = placement;
            LlamaCpp {
                program,
                ubatch,
                flash_attention,
                gpu_layers: Some(gpu_layers),
                host_experts,
                unified_cache,
                cache_on_host,
                op_offload,
                full_window_cache,
                ..LlamaCpp::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn more_context_never_needs_less(model in model(), engine in engine(), cards in 0_u16..3, c in 1_u64..40_000, more in 0_u64..40_000, n in 1_u64..4) {
        let machine = machine(cards, Bytes::from_gib(24));
        let setup = setup(engine);
        let less = run(&model, &machine, c, n, &setup).expect("accepted");
        let more = run(&model, &machine, c + more, n, &setup).expect("accepted");
        prop_assert!(no_less(&needs(&more.ledger, &machine), &needs(&less.ledger, &machine)));
    }

    /// Of `n` and a multiple of it: a batch is rounded up to whole tokens a sequence, so that 512 tokens
    /// are 513 for three sequences and 512 for four.
    #[test]
    fn more_sequences_never_need_less(model in model(), engine in engine(), cards in 0_u16..3, each in 1_u64..10_000, n in 1_u64..4, times in 1_u64..4) {
        let machine = machine(cards, Bytes::from_gib(24));
        let setup = setup(engine);
        let less = run(&model, &machine, each * n, n, &setup).expect("accepted");
        let more = run(&model, &machine, each * n * times, n * times, &setup).expect("accepted");
        prop_assert!(no_less(&needs(&more.ledger, &machine), &needs(&less.ledger, &machine)));
    }

    #[test]
    fn larger_cache_formats_never_need_less(model in model(), engine in engine(), cards in 0_u16..3, c in 1_u64..20_000) {
        let machine = machine(cards, Bytes::from_gib(24));
        let engine = LlamaCpp { flash_attention: Toggle::On, ..engine };
        let mut smaller = vec![0; machine.devices.len()];
        for format in [Format::Q4_0, Format::Q8_0, Format::F16, Format::F32] {
            let setup = Setup { cache_k: format, cache_v: format, ..setup(engine.clone()) };
            let ledger = run(&model, &machine, c, 1, &setup).expect("accepted").ledger;
            let caches: Vec<_> = machine.ids().map(|id| on(&ledger, id, Item::KvCache)).collect();
            prop_assert!(no_less(&caches, &smaller), "{format:?}: {caches:?} after {smaller:?}");
            smaller = caches;
        }
    }

    /// Moving layers moves their bytes. What differs: a tied head's copy, a table of rotary factors in every
    /// buffer of layers that turn positions (none without such layers), and padding of each tensor.
    #[test]
    fn weights_are_conserved_wherever_layers_go(model in model(), cards in 1_u16..3, layers in 0_u64..10) {
        let machine = machine(cards, Bytes::from_gib(24));
        let moved = setup(LlamaCpp { gpu_layers: Some(layers), ..LlamaCpp::default() });
        let plan = run(&model, &machine, 4096, 1, &moved).expect("accepted");
        let copy = if model.is_tied() && layers > 0 { model.tensors[0].size() } else { Bytes::ZERO };
        let padding = Bytes(256) * (model.tensors.len() as u64 + 1);
        let has_factors = model.tensors.iter().any(|t| t.role == Role::RopeFactors);
        let factors = if has_factors { Bytes(FACTORS * 4) } else { Bytes::ZERO };
        let least = model.tensor_bytes() - factors + copy;
        let weights = plan.ledger.total(Item::Weights).likely;
        prop_assert!(weights >= least);
        prop_assert!(weights <= least + factors * (u64::from(cards) + 1) + padding);
    }

    /// Moving experts to the host takes them off the card and leaves the sum alone, padding apart.
    #[test]
    fn experts_are_conserved(model in model(), moved in 0_u64..10) {
        let machine = machine(1, Bytes::from_gib(24));
        let weights = |host_experts| {
            let setup = setup(LlamaCpp { host_experts, ..LlamaCpp::default() });
            let ledger = run(&model, &machine, 4096, 1, &setup).expect("accepted").ledger;
            (ledger.total(Item::Weights).likely.0, on_gpus(&ledger, 1, Item::Weights))
        };
        let (stayed, split) = (weights(0), weights(moved));
        prop_assert!(stayed.0.abs_diff(split.0) <= 256 * model.tensors.len() as u64);
        prop_assert!(split.1 <= stayed.1);
    }

    #[test]
    fn more_gpu_layers_never_lower_what_gpus_hold(model in model(), cards in 1_u16..3, layers in 0_u64..10) {
        let machine = machine(cards, Bytes::from_gib(24));
        let held = |gpu_layers| {
            let setup = setup(LlamaCpp { gpu_layers: Some(gpu_layers), ..LlamaCpp::default() });
            let ledger = run(&model, &machine, 4096, 1, &setup).expect("accepted").ledger;
            [Item::Weights, Item::KvCache, Item::RecurrentState].map(|item| on_gpus(&ledger, cards, item))
        };
        prop_assert!(no_less(&held(layers + 1), &held(layers)));
    }

    #[test]
    fn a_longest_context_fits_and_the_next_does_not(model in model(), mib in 1_u64..200) {
        let machine = machine(1, Bytes::from_mib(mib + 300));
        let setup = setup(LlamaCpp::default());
        let workload = Inference { context: Tokens(256), sequences: 1 };
        let case = Case { model: &model, machine: &machine, workload, setup: &setup };
        let most = Tokens(1 << 20);
        let verdict = |tokens: u64| run(&model, &machine, tokens, 1, &setup).map(|plan| plan.verdict);
        match longest_context(&case, most) {
            Some(longest) => {
                prop_assert_eq!(verdict(longest.0), Some(Verdict::Fits));
                prop_assert!(longest == most || verdict(longest.0 + 256) != Some(Verdict::Fits));
            }
            None => prop_assert!(verdict(256) != Some(Verdict::Fits)),
        }
    }

    #[test]
    fn more_free_memory_never_worsens_the_verdict(model in model(), mib in 1_u64..600, more in 0_u64..600) {
        let setup = setup(LlamaCpp::default());
        let verdict = |mib| run(&model, &machine(1, Bytes::from_mib(mib)), 8192, 1, &setup).map(|plan| plan.verdict);
        prop_assert!(verdict(mib + more) <= verdict(mib));
    }

    #[test]
    fn sums_and_products_never_wrap(a in any::<u64>(), b in any::<u64>()) {
        let sum = Bytes(a) + Bytes(b);
        prop_assert!(sum >= Bytes(a) && sum >= Bytes(b));
        prop_assert!(b == 0 || Bytes(a) * b >= Bytes(a));
        prop_assert!(Bytes(a) - Bytes(b) <= Bytes(a));
        prop_assert!(Bytes(a).padded(b) >= Bytes(a) && Tokens(a).padded(b) >= Tokens(a));
        prop_assert!(b == 0 || Bytes(a).scaled(a.max(b), b) >= Bytes(a));
        prop_assert!(Bytes::from_gib(a) >= Bytes::from_mib(a) && Bytes::from_mib(a) >= Bytes(a));
    }

    #[test]
    fn ledgers_survive_json(model in model(), engine in engine()) {
        let plan = run(&model, &machine(2, Bytes::from_gib(24)), 4096, 2, &setup(engine)).expect("accepted");
        let json = serde_json::to_string(&plan.ledger).expect("a ledger is JSON");
        let back: Ledger = serde_json::from_str(&json).expect("and reads back");
        prop_assert_eq!(back, plan.ledger);
    }
}

#[test]
fn absurd_contexts_do_not_wrap() {
    let layer = Layer {
        cross: None,
        mixer: Mixer::Attention(Attention {
            heads: u64::MAX,
            kv_heads: u64::MAX,
            k_dim: 1 << 40,
            v_dim: 1 << 40,
            window: None,
            shares_cache_with: None,
            indexer: None,
        }),
        ffn: Ffn::None,
        predicts_ahead: false,
    };
    let model = Model {
        name: String::new(),
        arch: "llama".into(),
        vocab: u64::MAX,
        width: u64::MAX,
        context_length: None,
        tensors: tensors(1, false, false),
        layers: vec![layer],
        data_offset: 0,
    };
    let machine = machine(1, Bytes::from_gib(24));
    let plan = run(&model, &machine, u64::from(u32::MAX) - 255, 1, &setup(LlamaCpp::default()));
    let need = plan.map(|plan| plan.ledger.need(DeviceId(0)).likely);
    assert_eq!(need, Some(Bytes(u64::MAX)));
}
