//! What this machine has. So far its memory and its processor: accelerators are named with `--on`.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};
use vramplan_core::catalogue::hardware::{Around, NamedMachine};
use vramplan_core::machine::{Device, Machine, Pool, PoolId, PoolKind};
use vramplan_core::units::Bytes;

/// Why can this machine not be looked at?
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DetectError {
    /// The system does not tell how much memory it has.
    #[error("the system reports no memory")]
    NoMemory,
}

/// This machine's processor and memory: what is free now, held against what was said.
///
/// # Errors
/// The system does not tell.
pub fn this_machine(around: &Around) -> Result<NamedMachine, DetectError> {
    let system =
        System::new_with_specifics(RefreshKind::nothing().with_memory(MemoryRefreshKind::everything()));
    let system = system.map_err(|_| DetectError::NoMemory)?;
    let total = around.ram.unwrap_or(Bytes(system.total_memory()));
    if total == Bytes::ZERO {
        return Err(DetectError::NoMemory);
    }
    let available = if around.ram.is_some() { total } else { Bytes(system.available_memory()) };
    let free = around.free.or(around.used.map(|used| total - used)).unwrap_or(available).min(total);
    let reserve = around.reserve.unwrap_or_default();
    let pool = Pool { kind: PoolKind::Ram, total, free, reserve, bandwidth: None };
    let cpu = Device::cpu(PoolId(0));
    Ok(NamedMachine { machine: Machine { pools: vec![pool], devices: vec![cpu] }, filled: Vec::new() })
}

/// What does the processor call itself?
pub fn processor_name() -> String {
    let Ok(mut system) = System::new() else { return String::new() };
    system.refresh_cpu_all();
    system.cpus().first().map(|cpu| cpu.brand().trim().to_owned()).unwrap_or_default()
}
