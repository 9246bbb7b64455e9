//! Words for what an answer holds.

use vramplan_core::answer::{Answer, Assumption, Uncounted};
use vramplan_core::ledger::{Basis, CacheKind, Item, Line, Peak, Why};
use vramplan_core::machine::{Backend, DeviceId, Filled};

use super::number::{gib, small_bytes, thousands};
use super::wrap;
use crate::locale::{Locale, Message};

/// Longer names of models are cut in the middle.
const NAME_WIDTH: usize = 32;

/// A product's name without the words that every card of its maker bears, and without remarks.
pub(super) fn short(name: &str) -> &str {
    let words = ["GeForce ", "NVIDIA ", "AMD Radeon ", "Radeon ", "Apple "];
    let name = words.iter().find_map(|word| name.strip_prefix(word)).unwrap_or(name);
    name.split_once(" (").map_or(name, |(short, _)| short)
}

/// The model with its quantisation, said once.
pub(super) fn model(name: &str, quant: &str) -> String {
    let name_has_it = name.to_ascii_lowercase().ends_with(&quant.to_ascii_lowercase());
    let name = wrap::middle(name, NAME_WIDTH);
    if name_has_it { name } else { format!("{name} {quant}") }
}

/// What a line is called.
pub(super) fn item(locale: &Locale, line: &Line, backend: Backend) -> String {
    match (line.item, &line.why) {
        (Item::KvCache, Why::KvCache { kind: CacheKind::IndexKeys, .. }) => locale.word("item-index-keys"),
        (Item::KvCache, _) => locale.word("item-kv-cache"),
        (Item::Weights, _) => locale.word("item-weights"),
        (Item::RecurrentState, _) => locale.word("item-recurrent-state"),
        (Item::ComputeBuffer, _) => locale.word("item-compute-buffer"),
        (Item::OutputBuffer, _) => locale.word("item-output-buffer"),
        (Item::RuntimeContext, _) => backend_context(locale, backend),
    }
}

/// What the driver's share is called on a backend.
fn backend_context(locale: &Locale, backend: Backend) -> String {
    let name = match backend {
        Backend::Cuda => "CUDA",
        Backend::Rocm => "ROCm",
        Backend::Vulkan => "Vulkan",
        Backend::Metal => "Metal",
        Backend::Cpu | Backend::Other => return locale.word("item-runtime"),
    };
    locale.text(&Message::new("item-context").with("backend", name))
}

/// What makes a line as large as it is, beside its name.
pub(super) fn detail(locale: &Locale, line: &Line, quant: &str) -> String {
    match &line.why {
        Why::Weights { .. } => quant.to_owned(),
        Why::KvCache { kind, cells, streams, k, v, .. } => {
            let formats = cache_formats(k.name(), v.name());
            let key = match kind {
                CacheKind::Window => "detail-window",
                _ => "detail-cache",
            };
            let tokens = thousands(cells.0.saturating_mul(*streams));
            locale.text(&Message::new(key).with("tokens", tokens).with("formats", formats))
        }
        Why::RecurrentState { layers, .. } => {
            locale.text(&Message::new("detail-state").with("layers", layers))
        }
        Why::LargestLiveSet { batch, .. } => {
            locale.text(&Message::new("detail-batch").with("tokens", thousands(batch.0)))
        }
        Why::Outputs { rows, .. } => locale.text(&Message::new("detail-outputs").count("rows", *rows)),
        Why::DriverContext { .. } => String::new(),
    }
}

fn cache_formats(k: &str, v: &str) -> String {
    let (k, v) = (k.to_ascii_lowercase(), v.to_ascii_lowercase());
    if k == v { k } else { format!("{k}/{v}") }
}

/// The remark at the end of a row.
pub(super) fn remark(locale: &Locale, lines: &[&Line], host: Option<DeviceId>) -> String {
    let Some(first) = lines.first() else { return String::new() };
    match (&first.why, &first.basis) {
        (Why::Weights { .. }, _) => {
            let in_host = |l: &&&Line| {
                Some(l.device) == host && matches!(l.why, Why::Weights { embedding: true, layers: 0, .. })
            };
            if lines.len() > 1 && lines.iter().any(|l| in_host(&l)) {
                locale.word("remark-embedding")
            } else {
                String::new()
            }
        }
        (Why::KvCache { .. }, _) => {
            let each = |l: &&Line| match &l.why {
                Why::KvCache { bytes_per_token, .. } => bytes_per_token.0,
                _ => 0,
            };
            let sum = lines.iter().map(each).sum();
            let bytes = small_bytes(vramplan_core::units::Bytes(sum));
            locale.text(&Message::new("remark-per-token").with("bytes", bytes))
        }
        (_, Basis::Fitted { samples, .. }) => {
            let n = u64::from(*samples);
            locale.text(&Message::new("remark-fitted").with("runs", thousands(n)).count("n", n))
        }
        (_, Basis::Assumed) => locale.word("basis-assumed"),
        _ => String::new(),
    }
}

/// Everything known about why a line is there, in a sentence.
pub(super) fn why(locale: &Locale, line: &Line) -> String {
    let message = match &line.why {
        Why::Weights { tensors, layers: 0, format, .. } => {
            Message::new("why-weights-ends").count("tensors", *tensors).with("format", format)
        }
        Why::Weights { tensors, layers, format, .. } => Message::new("why-weights")
            .with("tensors", thousands(*tensors))
            .with("layers", layers)
            .with("format", format),
        Why::KvCache { layers, cells, streams, bytes_per_token, .. } => Message::new("why-cache")
            .with("layers", layers)
            .with("cells", thousands(cells.0))
            .count("streams", *streams)
            .with("bytes", thousands(bytes_per_token.0)),
        Why::RecurrentState { layers, sequences } => {
            Message::new("why-state").with("layers", layers).count("sequences", *sequences)
        }
        Why::LargestLiveSet { batch, peak } => Message::new("why-live-set")
            .with("tokens", thousands(batch.0))
            .with("peak", locale.word(peak_key(*peak))),
        Why::Outputs { rows, width } => {
            Message::new("why-outputs").with("rows", rows).with("width", thousands(*width))
        }
        Why::DriverContext { units: Some(units) } => Message::new("why-driver-units").with("units", units),
        Why::DriverContext { units: None } => Message::new("why-driver"),
    };
    locale.text(&message)
}

fn peak_key(peak: Peak) -> &'static str {
    match peak {
        Peak::Logits => "peak-logits",
        Peak::FeedForward => "peak-feed-forward",
        Peak::Experts => "peak-experts",
        Peak::Attention => "peak-attention",
        Peak::Recurrence => "peak-recurrence",
        Peak::Inputs => "peak-inputs",
    }
}

/// How a number is known, in a few words.
pub(super) fn basis(locale: &Locale, basis: &Basis) -> String {
    let message = match basis {
        Basis::Exact => Message::new("basis-exact"),
        Basis::Rule { source } => Message::new("basis-rule").with("source", source),
        Basis::Fitted { samples, inside_percent, source } => Message::new("basis-fitted")
            .with("runs", thousands(u64::from(*samples)))
            .with("inside", inside_percent)
            .with("source", source),
        Basis::Assumed => Message::new("basis-assumed"),
    };
    locale.text(&message)
}

/// An assumption with the flag that settles it.
pub(super) fn assumption(locale: &Locale, answer: &Answer, assumed: &Assumption) -> String {
    let name = |id: &DeviceId| answer.devices.get(usize::from(id.0)).map_or("", |device| short(&device.name));
    let message = match assumed {
        Assumption::Quant { quant } => Message::new("assumed-quant").with("quant", quant),
        Assumption::ReadAs { model_type } => Message::new("assumed-rules").with("type", model_type),
        Assumption::Context { context } => {
            Message::new("assumed-context").with("tokens", thousands(context.0))
        }
        Assumption::EngineVersion { engine, version } => {
            Message::new("assumed-engine").with("engine", engine).with("version", version)
        }
        Assumption::NotCounted { what, bytes } => {
            let key = match what {
                Uncounted::Projector => "assumed-no-projector",
                Uncounted::Adapter => "assumed-no-adapter",
                Uncounted::Draft => "assumed-no-draft",
            };
            Message::new(key).with("gib", gib(*bytes))
        }
        Assumption::Machine { filled } => match filled {
            Filled::NothingElseOnCards => Message::new("assumed-nothing-else"),
            Filled::SystemMemory { total } => Message::new("assumed-ram").with("gib", whole_gib(total.0)),
            Filled::KeptForSystem { bytes } => Message::new("assumed-kept").with("gib", whole_gib(bytes.0)),
            Filled::DriverTotal { device, total } => {
                Message::new("assumed-total").with("device", name(device)).with("gib", gib(*total))
            }
            Filled::GpuLimit { limit, .. } => Message::new("assumed-limit").with("gib", gib(*limit)),
        },
    };
    locale.text(&message)
}

fn whole_gib(bytes: u64) -> String {
    (bytes >> 30).to_string()
}
