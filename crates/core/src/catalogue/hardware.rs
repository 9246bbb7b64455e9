//! Hardware as people name it: `rtx-4090`, `2x:rtx-3090`, `m3-max:64gb`, `cpu:32gb`.
//!
//! A named card stands in an ordinary machine of its kind; what is filled in for that is said.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::devices::{Category, DeviceRow, Vendor};
use super::memory::{Macos, MemoryBasis, driver_memory, find_memory_system, working_set};
use super::{Lookup, find_class, find_device, find_device_of_size};
use crate::machine::{Backend, Device, DeviceId, Filled, Machine, Pool, PoolId, PoolKind};
use crate::units::{Bytes, BytesPerSecond};

/// Most cards of one kind that a specification may ask for.
const MOST_CARDS: u64 = 1024;
/// What stands around a desktop or laptop card when nobody says.
const DESKTOP_MEMORY: Bytes = Bytes::from_gib(32);
const DESKTOP_MEMORY_SYSTEM: &str = "ddr5-5600-2ch";
/// Memory of a machine around datacentre cards: so many times the cards' own.
const SERVER_MEMORY_FACTOR: u64 = 8;
/// Kept for the system and other programs on a machine that was not looked at.
const KEPT: Bytes = Bytes::from_gib(2);
const KEPT_UNIFIED: Bytes = Bytes::from_gib(3);

/// One `--on`: so many of a device, of a size where it is sold in several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardwareSpec {
    /// How many.
    pub count: u64,
    /// The name as typed.
    pub name: String,
    /// Its memory, GiB.
    pub size_gb: Option<u64>,
}

/// Why does a specification name no machine?
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HardwareError {
    /// It is empty, or asks for none or too many.
    #[error("{count} devices")]
    Count {
        /// What was asked.
        count: u64,
    },
    /// Nothing has this name.
    #[error("no hardware is called {name:?}")]
    Unknown {
        /// The name.
        name: String,
    },
    /// Several devices have this name.
    #[error("{name:?} is several devices")]
    Ambiguous {
        /// The name.
        name: String,
        /// The devices.
        rows: Vec<DeviceRow>,
    },
    /// It is sold in several sizes and none was given.
    #[error("{name:?} is sold in several sizes")]
    NeedsSize {
        /// The name.
        name: String,
        /// The device.
        row: Box<DeviceRow>,
    },
    /// It is not sold in the size given.
    #[error("{name:?} is not sold with {size_gb} GiB")]
    NotSoldWith {
        /// The name.
        name: String,
        /// The size.
        size_gb: u64,
        /// The devices of that name.
        rows: Vec<DeviceRow>,
    },
    /// How much memory it has is not known.
    #[error("the memory of {name:?} is not known")]
    NoMemory {
        /// The name.
        name: String,
    },
    /// Unified chips are machines of their own.
    #[error("{name:?} shares its memory and cannot stand beside other devices")]
    UnifiedBesideOthers {
        /// The name.
        name: String,
    },
}

/// What else is known of the machine around the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// System memory.
    pub ram: Option<Bytes>,
    /// What other programs hold on every card (of system memory, without cards).
    pub used: Option<Bytes>,
    /// What is free on every card (of system memory, without cards); wins over `used`.
    pub free: Option<Bytes>,
    /// To be kept free.
    pub reserve: Option<Bytes>,
}

/// A machine, and what was filled in to have one.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedMachine {
    /// The machine.
    pub machine: Machine,
    /// What nobody said.
    pub filled: Vec<Filled>,
}

impl HardwareSpec {
    /// Reads `[Nx:]NAME[:SIZE][@LINK]`; the link has no bearing on memory and is passed over.
    pub fn parse(text: &str) -> Self {
        let text = text.rsplit_once('@').map_or(text, |(device, _)| device).trim();
        let (count, rest) = counted(text).unwrap_or((1, text));
        let (name, size_gb) = sized(rest);
        Self { count, name: name.into(), size_gb }
    }

    /// The devices it names; none for a machine without GPU (`cpu`, `cpu:32gb`).
    fn row(&self) -> Result<Option<DeviceRow>, HardwareError> {
        if self.count == 0 || self.count > MOST_CARDS {
            return Err(HardwareError::Count { count: self.count });
        }
        if self.name.eq_ignore_ascii_case("cpu") {
            return Ok(None);
        }
        let name = self.name.clone();
        let found = match self.size_gb {
            Some(gb) => find_device_of_size(&name, gb),
            None => find_device(&name),
        };
        match (found, self.size_gb) {
            (Lookup::One(row), None) if row.needs_size() => {
                Err(HardwareError::NeedsSize { name, row: Box::new(row) })
            }
            (Lookup::One(row), _) => Ok(Some(row)),
            (Lookup::Several(rows), _) => Err(HardwareError::Ambiguous { name, rows }),
            (Lookup::None, size) => Err(self.nothing(name, size)),
        }
    }

    fn nothing(&self, name: String, size: Option<u64>) -> HardwareError {
        match (size, find_device(&name).into_rows()) {
            (Some(size_gb), rows) if !rows.is_empty() => HardwareError::NotSoldWith { name, size_gb, rows },
            _ => HardwareError::Unknown { name },
        }
    }
}

/// Splits `4x:rest`.
fn counted(text: &str) -> Option<(u64, &str)> {
    let (head, rest) = text.split_once(':')?;
    let digits = head.strip_suffix(['x', 'X'])?;
    Some((digits.parse().ok()?, rest))
}

/// Splits `name:64gb`; a tail that is no size belongs to the name.
fn sized(text: &str) -> (&str, Option<u64>) {
    let Some((name, tail)) = text.rsplit_once(':') else { return (text, None) };
    let digits = tail.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &tail[digits.len()..];
    let is_gb = ["", "g", "gb", "gib"].iter().any(|u| unit.eq_ignore_ascii_case(u));
    match digits.parse() {
        Ok(gb) if is_gb => (name, Some(gb)),
        _ => (text, None),
    }
}

/// Builds the machine that these specifications name: several of them are devices of one machine.
///
/// # Errors
/// A name that stands for nothing, or for more than one thing.
pub fn named_machine(specs: &[HardwareSpec], around: &Around) -> Result<NamedMachine, HardwareError> {
    let mut builder = Builder::new(*around);
    for spec in specs.iter().map(of_class) {
        match spec.row()? {
            None => builder.ram = builder.ram.or(spec.size_gb.map(Bytes::from_gib)),
            Some(row) => builder.add(&spec, &row)?,
        }
    }
    Ok(builder.finish())
}

/// A class of hardware stands for its representative.
fn of_class(spec: &HardwareSpec) -> HardwareSpec {
    match find_class(&spec.name) {
        Some(class) if spec.size_gb.is_none() => {
            HardwareSpec { count: spec.count, ..HardwareSpec::parse(&class.hardware) }
        }
        _ => spec.clone(),
    }
}

/// Gathers devices and pools.
struct Builder {
    around: Around,
    ram: Option<Bytes>,
    pools: Vec<Pool>,
    gpus: Vec<Device>,
    filled: Vec<Filled>,
    server_memory: Bytes,
    /// The chip whose memory everything shares, as it was named.
    unified: Option<String>,
}

impl Builder {
    fn new(around: Around) -> Self {
        Self {
            around,
            ram: around.ram,
            pools: Vec::new(),
            gpus: Vec::new(),
            filled: Vec::new(),
            server_memory: Bytes::ZERO,
            unified: None,
        }
    }

    fn add(&mut self, spec: &HardwareSpec, row: &DeviceRow) -> Result<(), HardwareError> {
        if let Some(name) = self.unified.clone() {
            return Err(HardwareError::UnifiedBesideOthers { name });
        }
        if row.unified && (spec.count > 1 || !self.gpus.is_empty()) {
            return Err(HardwareError::UnifiedBesideOthers { name: spec.name.clone() });
        }
        for _ in 0..spec.count {
            let total = self.total_of(spec, row)?;
            if row.unified {
                self.unified = Some(spec.name.clone());
                self.add_unified(row, total, spec.size_gb);
            } else {
                self.add_card(row, total);
            }
        }
        Ok(())
    }

    /// What the driver reports for a card; of a unified chip, what it is bought with.
    fn total_of(&mut self, spec: &HardwareSpec, row: &DeviceRow) -> Result<Bytes, HardwareError> {
        if let Some(gb) = spec.size_gb.filter(|_| row.unified && row.driver_mib.is_none()) {
            return Ok(Bytes::from_gib(gb));
        }
        let no_memory = || HardwareError::NoMemory { name: spec.name.clone() };
        let memory = driver_memory(row).ok_or_else(no_memory)?;
        if !matches!(memory.basis, MemoryBasis::Seen { .. }) {
            let device = DeviceId(self.gpus.len() as u16);
            self.filled.push(Filled::DriverTotal { device, total: memory.bytes });
        }
        Ok(memory.bytes)
    }

    fn free_of(&self, total: Bytes) -> Bytes {
        self.around.free.unwrap_or(total - self.around.used.unwrap_or_default()).min(total)
    }

    fn add_card(&mut self, row: &DeviceRow, total: Bytes) {
        let free = self.free_of(total);
        let reserve = self.around.reserve.unwrap_or_default();
        if row.category == Category::Datacenter {
            self.server_memory += total * SERVER_MEMORY_FACTOR;
        }
        self.pools.push(Pool { kind: PoolKind::Vram, total, free, reserve, bandwidth: row.bandwidth() });
        self.push_gpu(row, None);
    }

    fn add_unified(&mut self, row: &DeviceRow, total: Bytes, size_gb: Option<u64>) {
        let free = self.free_of(total);
        let reserve = self.kept(KEPT_UNIFIED);
        self.pools.push(Pool { kind: PoolKind::Unified, total, free, reserve, bandwidth: row.bandwidth() });
        let limit = gpu_limit(row, total, size_gb);
        let device = DeviceId(self.gpus.len() as u16);
        self.filled.extend(limit.map(|limit| Filled::GpuLimit { device, limit }));
        self.push_gpu(row, limit);
    }

    fn push_gpu(&mut self, row: &DeviceRow, limit: Option<Bytes>) {
        let pool = PoolId((self.pools.len() - 1) as u16);
        self.gpus.push(Device {
            id: row.id.clone(),
            limit,
            units: row.units,
            ..Device::new(&row.name, backend_of(row), pool)
        });
    }

    /// What is to be kept free of memory that the system lives in.
    fn kept(&mut self, usual: Bytes) -> Bytes {
        self.around.reserve.unwrap_or_else(|| {
            self.filled.push(Filled::KeptForSystem { bytes: usual });
            usual
        })
    }

    fn finish(mut self) -> NamedMachine {
        let cpu_pool = if self.unified.is_some() { PoolId(0) } else { self.add_ram() };
        let untouched = self.around.used.is_none() && self.around.free.is_none();
        if untouched && !self.gpus.is_empty() {
            self.filled.push(Filled::NothingElseOnCards);
        }
        let mut devices = self.gpus;
        devices.push(Device::cpu(cpu_pool));
        NamedMachine { machine: Machine { pools: self.pools, devices }, filled: self.filled }
    }

    fn add_ram(&mut self) -> PoolId {
        let usual = if self.server_memory > Bytes::ZERO { self.server_memory } else { DESKTOP_MEMORY };
        let total = self.ram.unwrap_or_else(|| {
            self.filled.push(Filled::SystemMemory { total: usual });
            usual
        });
        let alone = self.gpus.is_empty();
        let free = if alone { self.free_of(total) } else { total };
        let reserve = if alone { self.kept(KEPT) } else { KEPT };
        self.pools.push(Pool { kind: PoolKind::Ram, total, free, reserve, bandwidth: desktop_bandwidth() });
        PoolId((self.pools.len() - 1) as u16)
    }
}

fn desktop_bandwidth() -> Option<BytesPerSecond> {
    find_memory_system(DESKTOP_MEMORY_SYSTEM).map(|row| row.bandwidth())
}

/// How much of shared memory a GPU may use unless the owner has raised it. Apple: what the newest
/// system allows; AMD: the driver's default of half.
fn gpu_limit(row: &DeviceRow, total: Bytes, size_gb: Option<u64>) -> Option<Bytes> {
    match row.vendor {
        Vendor::Apple => {
            let gb = size_gb.unwrap_or(total.0 >> 30);
            working_set(gb, Macos::From26).map(|memory| memory.bytes)
        }
        Vendor::Amd => Some(total.scaled(1, 2)),
        _ => None,
    }
}

fn backend_of(row: &DeviceRow) -> Backend {
    match (row.vendor, row.category) {
        (Vendor::Nvidia, _) => Backend::Cuda,
        (Vendor::Amd, Category::Apu) | (Vendor::Intel | Vendor::Qualcomm, _) => Backend::Vulkan,
        (Vendor::Amd, _) => Backend::Rocm,
        (Vendor::Apple, _) => Backend::Metal,
        (Vendor::Aws | Vendor::Google | Vendor::Huawei | Vendor::Tenstorrent, _) => Backend::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> HardwareSpec {
        HardwareSpec::parse(text)
    }

    fn machine(text: &str) -> NamedMachine {
        named_machine(&[spec(text)], &Around::default()).unwrap()
    }

    #[test]
    fn specifications_are_read() {
        let of = |count, name: &str, size_gb| HardwareSpec { count, name: name.into(), size_gb };
        assert_eq!(spec("rtx-4090"), of(1, "rtx-4090", None));
        assert_eq!(spec("2x:rtx-3090@x4"), of(2, "rtx-3090", None));
        assert_eq!(spec("m3-max:64gb"), of(1, "m3-max", Some(64)));
        assert_eq!(spec("cpu:32G"), of(1, "cpu", Some(32)));
        assert_eq!(spec("rtx:4090"), of(1, "rtx", Some(4090)));
        assert_eq!(spec("0x:rtx-4090"), of(0, "rtx-4090", None));
    }

    #[test]
    fn a_named_card_has_the_drivers_total_and_an_ordinary_machine_around_it() {
        let named = machine("rtx-4090");
        assert_eq!(named.machine.pools[0].total, Bytes::from_mib(24_564));
        assert_eq!(named.machine.pools[1].total, Bytes::from_gib(32));
        assert_eq!(named.machine.devices[0].backend, Backend::Cuda);
        assert!(named.filled.contains(&Filled::NothingElseOnCards));
    }

    #[test]
    fn several_cards_are_one_machine() {
        let specs = [spec("2x:rtx-3090"), spec("rtx-4090")];
        let named = named_machine(&specs, &Around::default()).unwrap();
        assert_eq!(named.machine.gpus().count(), 3);
        assert_eq!(named.machine.pools.len(), 4);
    }

    #[test]
    fn shared_memory_needs_a_size_and_has_a_limit() {
        let error = named_machine(&[spec("m3-max")], &Around::default()).unwrap_err();
        assert!(
            matches!(error, HardwareError::NeedsSize { .. } | HardwareError::Ambiguous { .. }),
            "{error}"
        );
        let named = machine("m4:16gb");
        assert_eq!(named.machine.pools.len(), 1);
        let limit = named.machine.devices[0].limit.unwrap();
        assert!(limit > Bytes::from_gib(11) && limit < Bytes::from_gib(12), "{limit}");
    }

    #[test]
    fn names_that_stand_for_nothing_or_too_much_are_errors() {
        let error = |text: &str| named_machine(&[spec(text)], &Around::default()).unwrap_err();
        assert!(matches!(error("rtx-509"), HardwareError::Unknown { .. }));
        assert!(matches!(error("h100"), HardwareError::Ambiguous { .. }));
        assert!(matches!(error("0x:rtx-4090"), HardwareError::Count { count: 0 }));
        assert!(matches!(
            error("m4:17gb"),
            HardwareError::NotSoldWith { .. } | HardwareError::Unknown { .. }
        ));
    }

    #[test]
    fn free_memory_wins_over_used() {
        let around =
            Around { free: Some(Bytes::from_gib(20)), used: Some(Bytes::from_gib(1)), ..Around::default() };
        let named = named_machine(&[spec("rtx-4090")], &around).unwrap();
        assert_eq!(named.machine.pools[0].free, Bytes::from_gib(20));
    }
}
