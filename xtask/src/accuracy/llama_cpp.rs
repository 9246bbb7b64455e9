//! Suite `llama_cpp`: buffers of the real engine library, to the byte.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;
use vramplan_core::case::Case;
use vramplan_core::dtype::Format;
use vramplan_core::ledger::{Buffer, Item, Ledger, Line, Why};
use vramplan_core::machine::{Backend, Device, Machine, Pool, PoolId, PoolKind};
use vramplan_core::model::Model;
use vramplan_core::plan::evaluate;
use vramplan_core::setup::{EngineSetup, LlamaCpp, Load, Override, Setup, Split, Target, Toggle};
use vramplan_core::units::{Bytes, Tokens};
use vramplan_core::workload::Inference;

use super::corpus::Corpus;
use super::recorded_model;
use super::score::{Outcome, Score};

/// A buffer by the name the engine prints, and what is in it: model, context, compute.
type Buffers = BTreeMap<String, [u64; 3]>;

const PARTS: [&str; 3] = ["model", "context", "compute"];

/// Scores every record of the suite.
pub(crate) fn run(corpus: &Corpus) -> Result<Score> {
    let mut score = Score::default();
    let names = corpus.names()?;
    let entries = corpus.json("llama_cpp_models.json")?.unwrap_or_default();
    let mut models: BTreeMap<String, Option<Model>> = BTreeMap::new();
    for record in corpus.records("llama_cpp.jsonl")? {
        let name = record["model"].as_str().context("record without model")?;
        if names.is_unmapped("models", name) {
            *score.unmapped.entry(name.to_owned()).or_default() += 1;
            continue;
        }
        let model = models
            .entry(name.to_owned())
            .or_insert_with(|| entries.get(name).and_then(|entry| recorded_model::model(name, entry).ok()));
        score_record(&mut score, &record, model.as_ref());
    }
    Ok(score)
}

fn score_record(score: &mut Score, record: &Value, model: Option<&Model>) {
    let id = record["id"].as_str().unwrap_or_default();
    let kind = record["device_kind"].as_str().unwrap_or_default();
    let path = format!("{kind}-{}", record["n_devices"].as_u64().unwrap_or(0));
    let answer = model.map(|model| predict(record, model));
    if record.get("error").is_some() {
        let refused = matches!(answer, Some(Err(_)));
        let outcome = if refused { Outcome::Error(0.0) } else { Outcome::Missed };
        score.add(&format!("{path}/refusal"), id, outcome, "the engine refuses");
        return;
    }
    let measured = measured(&record["mem"]);
    let predicted = answer.and_then(Result::ok);
    for (quantity, select) in QUANTITIES {
        let Some(wanted) = sums(&measured, *select) else { continue };
        let (outcome, detail) = match &predicted {
            Some(buffers) => worst(&sums(buffers, *select).unwrap_or_default(), &wanted),
            None => (Outcome::Missed, String::new()),
        };
        score.add(&format!("{path}/{quantity}"), id, outcome, &detail);
        score.add("all", id, outcome, &detail);
    }
}

/// Which figures of which buffers make up a quantity? Parts by bit: model 1, context 2, compute 4.
type Select = fn(&str) -> u8;

const QUANTITIES: &[(&str, Select)] = &[
    ("model", |buffer| u8::from(is_own(buffer))),
    ("context", |buffer| 2 * u8::from(is_own(buffer))),
    ("compute", |buffer| 4 * u8::from(is_own(buffer))),
    ("total", |buffer| if is_total(buffer) { 7 } else { 0 }),
    ("host", |buffer| if is_pinned(buffer) { 7 } else { 0 }),
    ("mapped", |buffer| if buffer == "CPU_Mapped" { 7 } else { 0 }),
];

fn is_pinned(buffer: &str) -> bool {
    buffer.ends_with("_Host")
}

/// A buffer of a device's own memory (the CPU's included), not pinned for another and no file range.
fn is_own(buffer: &str) -> bool {
    !is_pinned(buffer) && buffer != "CPU_Mapped"
}

/// Buffers of one device that are summed for its total.
fn is_total(buffer: &str) -> bool {
    is_own(buffer)
}

/// The selected figures; those of `total` are summed by device.
fn sums(buffers: &Buffers, select: Select) -> Option<BTreeMap<String, u64>> {
    let mut list: BTreeMap<String, u64> = BTreeMap::new();
    for (name, parts) in buffers {
        let bits = select(name);
        let whole = bits.count_ones() > 1;
        let key = if whole { name.trim_end_matches("_REPACK") } else { name };
        let sum: u64 = parts.iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, n)| n).sum();
        if bits != 0 {
            *list.entry(key.to_owned()).or_default() += sum;
        }
    }
    (!list.is_empty()).then_some(list)
}

/// The worst buffer decides; a buffer of nothing need not be predicted.
fn worst(predicted: &BTreeMap<String, u64>, measured: &BTreeMap<String, u64>) -> (Outcome, String) {
    let of = |list: &BTreeMap<String, u64>, name: &str| list.get(name).copied().unwrap_or(0);
    let mut worst = (0.0, String::new());
    for name in predicted.keys().chain(measured.keys()) {
        let (p, m) = (of(predicted, name), of(measured, name));
        let Outcome::Error(error) = Outcome::of(p, m) else { continue };
        if error > worst.0 {
            worst = (error, format!("{name}: {p} for {m}"));
        }
    }
    (Outcome::Error(worst.0), worst.1)
}

fn measured(mem: &Value) -> Buffers {
    let buffers = mem.as_object().into_iter().flatten();
    buffers.map(|(name, parts)| (name.clone(), PARTS.map(|part| parts[part].as_u64().unwrap_or(0)))).collect()
}

fn predict(record: &Value, model: &Model) -> Result<Buffers> {
    let kind = record["device_kind"].as_str().unwrap_or_default();
    let cards = u16::try_from(record["n_devices"].as_u64().unwrap_or(0))?;
    let machine = machine(kind, cards);
    let flags = Flags(&record["flags"]);
    let setup = flags.setup()?;
    let context = flags.number("c").or(model.context_length.map(|t| t.0)).unwrap_or(4096);
    let workload = Inference { context: Tokens(context), sequences: flags.number("np").unwrap_or(1) };
    let case = Case { model, machine: &machine, workload, setup: &setup };
    let plan = evaluate(&case)?;
    Ok(printed(&plan.ledger, &machine))
}

/// The ledger under the names and in the parts that the engine prints.
fn printed(ledger: &Ledger, machine: &Machine) -> Buffers {
    let mut buffers = Buffers::new();
    for line in &ledger.lines {
        let Some(part) = part_of(line.item) else { continue };
        let parts = buffers.entry(buffer_name(line, machine)).or_default();
        parts[part] += printed_bytes(line).0;
    }
    buffers
}

fn part_of(item: Item) -> Option<usize> {
    match item {
        Item::Weights => Some(0),
        Item::KvCache | Item::RecurrentState => Some(1),
        Item::ComputeBuffer => Some(2),
        Item::OutputBuffer | Item::RuntimeContext => None,
    }
}

fn printed_bytes(line: &Line) -> Bytes {
    match &line.why {
        Why::Weights { span: Some(span), .. } => *span,
        _ => line.bytes.likely,
    }
}

fn buffer_name(line: &Line, machine: &Machine) -> String {
    let gpu = machine.gpus().next().map(|(_, d)| d.backend);
    let prefix = if gpu == Some(Backend::Vulkan) { "Vulkan" } else { "CUDA" };
    match line.buffer {
        Buffer::Device => format!("{prefix}{}", line.device.0),
        Buffer::Pinned => format!("{prefix}_Host"),
        Buffer::Host => "CPU".into(),
        Buffer::Repacked => "CPU_REPACK".into(),
        Buffer::Mapped => "CPU_Mapped".into(),
    }
}

/// The largest storage buffer that one binding of the software Vulkan device reaches.
const LAVAPIPE_RANGE: Bytes = Bytes::from_mib(128);

/// The machine of the corpus: cards that say 23 of 24 GiB are free, and a CPU.
fn machine(kind: &str, cards: u16) -> Machine {
    let backend = match kind {
        "vulkan-lavapipe" => Backend::Vulkan,
        _ => Backend::Cuda,
    };
    let cards = if kind == "cpu" { 0 } else { cards };
    let pool = |kind, free| Pool { kind, total: free, free, reserve: Bytes::ZERO, bandwidth: None };
    let card = |i| Device {
        largest_tensor: (backend == Backend::Vulkan).then_some(LAVAPIPE_RANGE),
        ..Device::new("", backend, PoolId(i + 1))
    };
    let mut pools = vec![pool(PoolKind::Ram, Bytes::from_gib(1 << 20))];
    pools.extend((0..cards).map(|_| pool(PoolKind::Vram, Bytes::from_gib(23))));
    let mut devices: Vec<_> = (0..cards).map(card).collect();
    devices.push(Device::cpu(PoolId(0)));
    Machine { pools, devices }
}

/// Settings under the short names of the corpus.
struct Flags<'a>(&'a Value);

impl Flags<'_> {
    fn number(&self, name: &str) -> Option<u64> {
        self.0[name].as_u64()
    }

    fn on(&self, name: &str) -> bool {
        self.number(name).unwrap_or(0) != 0
    }

    fn format(&self, name: &str) -> Result<Format> {
        let text = self.0[name].as_str().unwrap_or("f16");
        text.parse().ok().with_context(|| format!("cache format {text}"))
    }

    /// Patterns with the buffer they name, the last word of each.
    fn overrides(&self) -> Vec<Override> {
        let text = self.0["ot"].as_str().unwrap_or_default();
        let pairs = text.split(';').filter_map(|pair| pair.rsplit_once([':', '=']));
        pairs
            .map(|(pattern, buffer)| {
                let card = buffer.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse();
                let target = card.map_or(Target::Host, Target::Gpu);
                Override { pattern: pattern.into(), target }
            })
            .collect()
    }

    fn tensor_split(&self) -> Vec<f32> {
        let text = self.0["ts"].as_str().unwrap_or_default();
        text.split(',').filter_map(|share| share.parse().ok()).collect()
    }

    fn setup(&self) -> Result<Setup> {
        let flash_attention = match self.0["fa"].as_str() {
            Some("on") => Toggle::On,
            Some("off") => Toggle::Off,
            _ => Toggle::Auto,
        };
        let engine = LlamaCpp {
            batch: self.number("b").unwrap_or(2048),
            ubatch: self.number("ub").unwrap_or(512),
            flash_attention,
            gpu_layers: self.number("ngl"),
            split: if self.0["sm"] == "none" { Split::None } else { Split::Layer },
            tensor_split: self.tensor_split(),
            host_experts: self.number("ncmoe").unwrap_or(0),
            overrides: self.overrides(),
            unified_cache: self.on("kvu"),
            cache_on_host: self.on("nkvo"),
            op_offload: !self.on("noophost"),
            full_window_cache: self.on("swafull"),
            embeddings: self.on("emb"),
            outputs: self.number("nout"),
            load: if self.on("mmap") { Load::Mapped } else { Load::Read },
            repack: self.number("repack") != Some(0),
            ..LlamaCpp::default()
        };
        Ok(Setup {
            cache_k: self.format("ctk")?,
            cache_v: self.format("ctv")?,
            engine: EngineSetup::LlamaCpp(engine),
        })
    }
}
