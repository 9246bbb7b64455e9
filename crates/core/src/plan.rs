//! Evaluating a case: its ledger, and whether the devices can hold it.

use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::engines::{Refusal, engine_of};
use crate::ledger::{Estimate, Ledger};
use crate::machine::{DeviceId, Machine, Pool, PoolKind};
use crate::units::{Bytes, Tokens};

/// What a case takes, and whether it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Every allocation.
    pub ledger: Ledger,
    /// Each memory with what it must hold.
    pub memories: Vec<Memory>,
    /// The verdict over all of them.
    pub verdict: Verdict,
}

/// Does a plan fit?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Even the upper end of the band leaves the reserve.
    Fits,
    /// Only the lower end of the band fits.
    Tight,
    /// Not even the lower end fits.
    DoesNotFit,
}

/// One memory as a plan sees it: a card's own, system memory, or what a GPU may use of a shared one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// The devices that allocate from it.
    pub devices: Vec<DeviceId>,
    /// What kind it is.
    pub kind: PoolKind,
    /// Everything there is.
    pub total: Bytes,
    /// Free for a new program, or the GPU's limit where that is less.
    pub free: Bytes,
    /// Kept free on purpose.
    pub reserve: Bytes,
    /// What the plan puts there.
    pub need: Estimate,
    /// Whether it fits there.
    pub verdict: Verdict,
}

impl Memory {
    fn new(devices: Vec<DeviceId>, pool: &Pool, limit: Option<Bytes>, need: Estimate) -> Self {
        let free = limit.map_or(pool.free, |l| l.min(pool.free));
        // What is kept free of a shared pool is kept of the pool, not of the GPU's part in it.
        let reserve = if limit.is_some() { Bytes::ZERO } else { pool.reserve };
        let verdict = verdict(need, free - reserve);
        Self { devices, kind: pool.kind, total: pool.total, free, reserve, need, verdict }
    }

    /// What is left after the plan and the reserve; 0 when nothing is.
    pub fn headroom(&self) -> Bytes {
        self.free - self.reserve - self.need.likely
    }

    /// What is missing; 0 when nothing is.
    pub fn short_by(&self) -> Bytes {
        self.need.likely - (self.free - self.reserve)
    }
}

/// Compares a need with what may be used.
fn verdict(need: Estimate, usable: Bytes) -> Verdict {
    if need.high <= usable {
        Verdict::Fits
    } else if need.low <= usable {
        Verdict::Tight
    } else {
        Verdict::DoesNotFit
    }
}

/// What does this case take, and does it fit?
///
/// # Errors
/// The engine would refuse the case.
pub fn evaluate(case: &Case<'_>) -> Result<Plan, Refusal> {
    let engine = engine_of(&case.setup.engine);
    engine.accepts(case)?;
    let mut ledger = Ledger::default();
    engine.charge(case, &mut ledger);
    let memories = memories(case.machine, &ledger);
    let verdict = memories.iter().map(|m| m.verdict).max().unwrap_or(Verdict::Fits);
    Ok(Plan { ledger, memories, verdict })
}

/// The memories of a machine under a ledger: GPUs first, what they may use of a shared pool before the
/// pool itself.
fn memories(machine: &Machine, ledger: &Ledger) -> Vec<Memory> {
    let mut list = Vec::new();
    for (id, device) in machine.gpus() {
        let Some(pool) = machine.pool_of(id) else { continue };
        if pool.kind == PoolKind::Vram || device.limit.is_some() {
            list.push(Memory::new(alloc::vec![id], pool, device.limit, ledger.need(id)));
        }
    }
    for (pool, number) in machine.pools.iter().zip(0u16..).filter(|(p, _)| p.kind != PoolKind::Vram) {
        let on_pool = |id: &DeviceId| machine.device(*id).is_some_and(|d| d.pool.0 == number);
        let devices: Vec<_> = machine.ids().filter(on_pool).collect();
        let need = devices.iter().map(|id| ledger.need(*id)).sum();
        list.push(Memory::new(devices, pool, None, need));
    }
    list
}

/// What is the longest context, up to `most`, at which the case still fits? `None` when not even the
/// shortest does. Context grows in the engine's own steps.
pub fn longest_context(case: &Case<'_>, most: Tokens) -> Option<Tokens> {
    let engine = engine_of(&case.setup.engine);
    let step = engine.context_step(case).0.max(1);
    let fits = |steps: u64| {
        let mut longer = *case;
        longer.workload.context = Tokens(steps.saturating_mul(step).min(most.0));
        evaluate(&longer).is_ok_and(|plan| plan.verdict == Verdict::Fits)
    };
    let (mut low, mut high) = (0, most.0.div_ceil(step));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    (low > 0).then(|| Tokens(low.saturating_mul(step).min(most.0)))
}
