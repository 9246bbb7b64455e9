//! Memory by name and by rule: memory systems of CPUs, what a driver reports for a card, and what a
//! GPU may use of unified memory.

use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::devices::{Category, DeviceRow, bytes_per_second};
use super::generated::{DRIVER_RULES, MEMORY_SYSTEMS, WORKING_SET_LIMITS, WORKING_SET_SHARES};
use super::normalise;
use crate::units::{Bytes, BytesPerSecond};

/// How much memory, and how is that known?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// So much.
    pub bytes: Bytes,
    /// Known so.
    pub basis: MemoryBasis,
}

/// How is an amount of memory known?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "basis", rename_all = "snake_case")]
pub enum MemoryBasis {
    /// Seen on this very part or size.
    Seen {
        /// Where.
        source: String,
    },
    /// A rule from others of its generation.
    Rule {
        /// The sightings behind it.
        source: String,
    },
    /// The capacity it is sold with, for lack of better.
    Nominal,
}

/// How fast is a CPU's memory? One socket of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySystemRow {
    /// Key, such as `ddr5-5600-2ch`.
    pub id: String,
    /// Kind of memory.
    pub kind: String,
    /// Million transfers a second.
    pub mt_s: Option<u32>,
    /// Channels of 64 bits.
    pub channels: Option<u32>,
    /// Width of all channels, bits.
    pub bus_bits: Option<u32>,
    /// Peak, decimal GB/s.
    pub theoretical_gbs: f64,
    /// Share of the peak that a source measured.
    pub typical_fraction: Option<f64>,
    /// What a source measured, decimal GB/s.
    pub typical_gbs: Option<f64>,
    /// How that was measured.
    pub fraction_basis: Option<String>,
    /// Where such memory is found.
    pub platforms: Option<String>,
    /// Where the facts are from.
    pub source: String,
    /// What else to know.
    pub notes: Option<String>,
}

impl MemorySystemRow {
    /// Peak bandwidth.
    pub fn bandwidth(&self) -> BytesPerSecond {
        bytes_per_second(self.theoretical_gbs)
    }
}

/// Which memory system has this id?
pub fn find_memory_system(id: &str) -> Option<MemorySystemRow> {
    MEMORY_SYSTEMS.find(&normalise(id)).one()
}

/// Which memory systems are there?
pub fn memory_systems() -> impl Iterator<Item = MemorySystemRow> {
    MEMORY_SYSTEMS.all()
}

/// A row of `data/driver_memory.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DriverRule {
    architecture: String,
    #[serde(default)]
    categories: Vec<Category>,
    memory_type: Option<String>,
    less_one_in: Option<u64>,
    less_at_most_mib: Option<u64>,
    #[serde(default)]
    less_mib: u64,
    seen: String,
}

impl DriverRule {
    fn holds_for(&self, device: &DeviceRow) -> bool {
        self.architecture == device.architecture
            && (self.categories.is_empty() || self.categories.contains(&device.category))
            && (self.memory_type.is_none() || self.memory_type == device.memory_type)
    }

    /// Whole MiB, as drivers are read.
    fn apply(&self, nominal_mib: u64) -> Bytes {
        let share = self.less_one_in.map_or(0, |n| nominal_mib.div_ceil(n.max(1)));
        let less = share.min(self.less_at_most_mib.unwrap_or(u64::MAX)).saturating_add(self.less_mib);
        Bytes::from_mib(nominal_mib.saturating_sub(less))
    }
}

/// What total does the driver report for this device? What was seen, else the rule of its
/// generation, else what it is sold with; None where the name alone does not say how much.
pub fn driver_memory(device: &DeviceRow) -> Option<Memory> {
    if let Some(mib) = device.driver_mib {
        let source = device.driver_basis.clone().unwrap_or_default();
        return Some(Memory { bytes: Bytes::from_mib(mib), basis: MemoryBasis::Seen { source } });
    }
    let nominal = device.memory_gb.filter(|_| !device.needs_size())?.saturating_mul(1024);
    let rule = DRIVER_RULES.all::<DriverRule>().find(|rule| rule.holds_for(device));
    Some(rule.map_or_else(
        || Memory { bytes: Bytes::from_mib(nominal), basis: MemoryBasis::Nominal },
        |rule| Memory { bytes: rule.apply(nominal), basis: MemoryBasis::Rule { source: rule.seen } },
    ))
}

/// Which generation of macOS? The default limit of the GPU rose with 26.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Macos {
    /// Up to 15.
    #[serde(rename = "older")]
    Older,
    /// 26 and later.
    #[serde(rename = "26")]
    From26,
}

/// A value seen, of `data/working_set.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    memory_gb: u64,
    macos: Macos,
    mib: u64,
    source: String,
}

/// What stands in for a value not seen, of `data/working_set.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Share {
    macos: Macos,
    from_gb: u64,
    numerator: u64,
    denominator: u64,
    source: String,
}

/// How much of `memory_gb` GiB may an Apple GPU use when nobody has raised the limit? None only
/// where the data say nothing of this macOS.
pub fn working_set(memory_gb: u64, macos: Macos) -> Option<Memory> {
    let seen = |l: &Limit| l.memory_gb == memory_gb && l.macos == macos;
    if let Some(limit) = WORKING_SET_LIMITS.all().find(seen) {
        let basis = MemoryBasis::Seen { source: limit.source };
        return Some(Memory { bytes: Bytes::from_mib(limit.mib), basis });
    }
    let shares = WORKING_SET_SHARES.all().filter(|s: &Share| s.macos == macos && s.from_gb <= memory_gb);
    let share = shares.max_by_key(|s| s.from_gb)?;
    let mib = Bytes::from_mib(
        memory_gb.saturating_mul(1024).saturating_mul(share.numerator) / share.denominator.max(1),
    );
    Some(Memory { bytes: mib, basis: MemoryBasis::Rule { source: share.source } })
}
