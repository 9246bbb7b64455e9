//! What the driver holds for a process outside the engine's own buffers.

use alloc::borrow::Cow;

use super::placement::Placement;
use crate::case::Case;
use crate::ledger::{Basis, Buffer, Estimate, Item, Ledger, Line, Why};
use crate::machine::Backend;
use crate::units::Bytes;

/// A fit of what start-up logs show beyond the printed buffers, in MiB.
struct Fit {
    base: u64,
    /// Per multiprocessor, in tenths of a MiB.
    tenths_per_unit: u64,
    band: u64,
    samples: u32,
    inside_percent: u8,
    source: &'static str,
}

/// CUDA on Linux: 71 + 3.6 MiB a multiprocessor over four kinds of card (16 to 188 of them),
/// residuals -47 to +50 MiB.
const CUDA: Fit = Fit {
    base: 71,
    tenths_per_unit: 36,
    band: 90,
    samples: 4,
    inside_percent: 100,
    source: "start-up logs of four CUDA cards on Linux",
};
/// ROCm on consumer cards: 253 to 313 MiB on two kinds.
const ROCM: Fit = Fit {
    base: 285,
    tenths_per_unit: 0,
    band: 115,
    samples: 4,
    inside_percent: 100,
    source: "start-up logs of two ROCm cards",
};
/// Vulkan: 9 MiB after load, 74 at the peak, on one card.
const VULKAN: Fit = Fit {
    base: 100,
    tenths_per_unit: 0,
    band: 100,
    samples: 1,
    inside_percent: 100,
    source: "growth of one card under Vulkan",
};
/// Multiprocessors of a card whose count is not known: the middle of the cards sold.
const UNKNOWN_UNITS: u32 = 60;

/// Charges the driver's context on every GPU in use. Metal counts nothing outside its buffers.
pub(super) fn charge(case: &Case<'_>, placement: &Placement, ledger: &mut Ledger) {
    for card in placement.gpus() {
        let units = case.machine.device(card.id).and_then(|d| d.units);
        let Some(fit) = fit_of(card.backend) else { continue };
        ledger.add(Line {
            item: Item::RuntimeContext,
            device: card.id,
            buffer: Buffer::Device,
            bytes: estimate(fit, units),
            why: Why::DriverContext { units },
            basis: Basis::Fitted {
                samples: fit.samples,
                inside_percent: fit.inside_percent,
                source: Cow::Borrowed(fit.source),
            },
        });
    }
}

fn fit_of(backend: Backend) -> Option<&'static Fit> {
    match backend {
        Backend::Cuda => Some(&CUDA),
        Backend::Rocm => Some(&ROCM),
        Backend::Vulkan => Some(&VULKAN),
        Backend::Metal | Backend::Cpu | Backend::Other => None,
    }
}

fn estimate(fit: &Fit, units: Option<u32>) -> Estimate {
    let units = u64::from(units.unwrap_or(UNKNOWN_UNITS));
    let likely = fit.base + fit.tenths_per_unit * units / 10;
    Estimate {
        low: Bytes::from_mib(likely.saturating_sub(fit.band)),
        likely: Bytes::from_mib(likely),
        high: Bytes::from_mib(likely + fit.band),
    }
}
