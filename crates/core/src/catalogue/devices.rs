//! Accelerators and chips with a GPU, by name.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generated::DEVICES;
use super::names::{DRIVER, trimmed};
use super::{Lookup, normalise};
use crate::units::BytesPerSecond;

/// What is known of one accelerator or chip? The head of `data/devices.toml` says what each field
/// means; an absent one is a fact without a source, never a zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceRow {
    /// Key in kebab case.
    pub id: String,
    /// Who sells it.
    pub vendor: Vendor,
    /// Name of the product.
    pub name: String,
    /// Other names that people type or a driver reports.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Names the driver prints that belong to another row.
    #[serde(default)]
    pub driver_names: Vec<String>,
    /// What kind of machine it sits in.
    pub category: Category,
    /// Year of release.
    pub year: Option<u16>,
    /// Capacity as sold, GiB; of a unified chip the largest one.
    pub memory_gb: Option<u64>,
    /// Capacities a unified chip is sold with, GiB.
    #[serde(default)]
    pub memory_options_gb: Vec<u64>,
    /// Total the driver was seen to report, MiB.
    pub driver_mib: Option<u64>,
    /// Where that was seen.
    pub driver_basis: Option<String>,
    /// Kind of memory.
    pub memory_type: Option<String>,
    /// Width of the memory bus, bits.
    pub bus_bits: Option<u32>,
    /// Peak bandwidth, decimal GB/s.
    pub bandwidth_gbs: Option<f64>,
    /// L2 cache, MB.
    pub l2_mb: Option<f64>,
    /// Memory-side cache, MB.
    pub mall_mb: Option<f64>,
    /// Multiprocessors, compute units or cores; the most sold under the name.
    pub units: Option<u32>,
    /// What the units are called.
    pub unit_kind: Option<String>,
    /// Numbers of units sold under the name, where it is more than one.
    #[serde(default)]
    pub unit_options: Vec<u32>,
    /// Vector rate in FP32, TFLOPS.
    pub fp32_tflops: Option<f64>,
    /// Dense matrix rate in TF32, TFLOPS.
    pub tf32_tflops: Option<f64>,
    /// Dense matrix rate in FP16 with FP32 sums, TFLOPS.
    pub fp16_tflops: Option<f64>,
    /// Dense matrix rate in FP16 with FP16 sums, TFLOPS.
    pub fp16_acc16_tflops: Option<f64>,
    /// Dense matrix rate in BF16 with FP32 sums, TFLOPS.
    pub bf16_tflops: Option<f64>,
    /// Dense matrix rate in FP8 with FP32 sums, TFLOPS.
    pub fp8_tflops: Option<f64>,
    /// Dense matrix rate in INT8, TOPS.
    pub int8_tops: Option<f64>,
    /// Dense matrix rate in FP4, TFLOPS.
    pub fp4_tflops: Option<f64>,
    /// How the matrix rates are known.
    pub tensor_basis: Option<String>,
    /// Generation.
    pub architecture: String,
    /// Compute capability (`sm_89`), LLVM name (`gfx1100`) or `Metal`.
    pub target: Option<String>,
    /// Board power, watts.
    pub tdp_w: Option<u32>,
    /// PCIe generation and lanes of the card.
    pub pcie: Option<String>,
    /// Link between cards.
    pub link: Option<String>,
    /// Rate of that link, GB/s of both directions together.
    pub link_gbs: Option<f64>,
    /// Price at launch, US dollars.
    pub msrp_usd: Option<f64>,
    /// Where that price is from.
    pub msrp_basis: Option<String>,
    /// Price seen in shops or second-hand, US dollars.
    pub street_usd: Option<f64>,
    /// When, as year and month.
    pub street_date: Option<String>,
    /// Whether CPU and GPU share the memory.
    #[serde(default)]
    pub unified: bool,
    /// How well the facts agree.
    pub confidence: String,
    /// Where the facts are from.
    pub sources: Vec<String>,
    /// What else to know.
    pub notes: Option<String>,
}

impl DeviceRow {
    /// Whether the name alone does not say how much memory there is: a unified chip sold in several
    /// sizes, or with whatever memory the machine has.
    pub fn needs_size(&self) -> bool {
        let open = matches!(self.category, Category::Apple | Category::Apu);
        self.unified && (self.memory_options_gb.len() > 1 || (open && self.memory_options_gb.is_empty()))
    }

    /// Whether it is sold with so much memory; a chip whose sizes are not known may be.
    pub fn sold_with(&self, gb: u64) -> bool {
        let unknown = self.needs_size() && self.memory_options_gb.is_empty();
        unknown || self.sizes().contains(&gb)
    }

    /// The sizes it is sold in, GiB.
    pub fn sizes(&self) -> &[u64] {
        if self.memory_options_gb.is_empty() { self.memory_gb.as_slice() } else { &self.memory_options_gb }
    }

    /// Peak bandwidth of its memory.
    pub fn bandwidth(&self) -> Option<BytesPerSecond> {
        self.bandwidth_gbs.map(bytes_per_second)
    }
}

/// Decimal GB/s as whole bytes a second.
pub(super) fn bytes_per_second(gbs: f64) -> BytesPerSecond {
    // Every figure has at most three digits after the point.
    BytesPerSecond(((gbs * 1000.0 + 0.5) as u64).saturating_mul(1_000_000))
}

/// Who sells a device?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Vendor {
    /// AMD.
    #[serde(rename = "AMD")]
    Amd,
    /// Apple.
    Apple,
    /// Amazon Web Services.
    #[serde(rename = "AWS")]
    Aws,
    /// Google.
    Google,
    /// Huawei.
    Huawei,
    /// Intel.
    Intel,
    /// NVIDIA.
    #[serde(rename = "NVIDIA")]
    Nvidia,
    /// Qualcomm.
    Qualcomm,
    /// Tenstorrent.
    Tenstorrent,
}

impl Vendor {
    /// The name as the vendor writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amd => "AMD",
            Self::Apple => "Apple",
            Self::Aws => "AWS",
            Self::Google => "Google",
            Self::Huawei => "Huawei",
            Self::Intel => "Intel",
            Self::Nvidia => "NVIDIA",
            Self::Qualcomm => "Qualcomm",
            Self::Tenstorrent => "Tenstorrent",
        }
    }
}

/// What kind of machine does a device sit in?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// A desktop card for consumers.
    Consumer,
    /// A GPU built into a laptop.
    Laptop,
    /// A card for workstations.
    Workstation,
    /// An accelerator for servers.
    Datacenter,
    /// An Apple chip.
    Apple,
    /// A PC chip with CPU and GPU.
    Apu,
    /// A small computer around an accelerator.
    NpuBox,
}

/// Which device has this name? Exactly, never by a part of it: its id, then the product's name,
/// then an alias; then the same without the words that only say whose product it is.
pub fn find_device(name: &str) -> Lookup<DeviceRow> {
    let key = normalise(name);
    match DEVICES.find(&key) {
        Lookup::None => without_vendor(&key).filter(|(typed, _)| *typed).map(|(_, row)| row).collect(),
        found => found,
    }
}

/// Which device of this name is sold with so much memory, in GiB? Of those that [`find_device`]
/// gives, else of all that bear the name, else the one with the size in its name. None when there
/// is none: [`find_device`] then says which sizes there are.
pub fn find_device_of_size(name: &str, gb: u64) -> Lookup<DeviceRow> {
    let tries: [&dyn Fn() -> Vec<DeviceRow>; 3] =
        [&|| find_device(name).into_rows(), &|| bearers(name), &|| {
            find_device(&format!("{name}-{gb}gb")).into_rows()
        }];
    let mut found = tries.iter().map(|rows| rows().into_iter().filter(|row| row.sold_with(gb)).collect());
    found.find(|sized| *sized != Lookup::None).unwrap_or(Lookup::None)
}

/// The devices that bear a name in any way, the best way first, driver names included.
pub(super) fn bearers(name: &str) -> Vec<DeviceRow> {
    let key = normalise(name);
    let mut rows: Vec<DeviceRow> = Vec::new();
    let exact = DEVICES.bearers(&key).filter_map(|(_, row)| DEVICES.row(row));
    for row in exact.chain(without_vendor(&key).map(|(_, row)| row)) {
        if rows.iter().all(|r| r.id != row.id) {
            rows.push(row);
        }
    }
    rows
}

/// The devices with this name less its vendor words, of the vendor they name; with each whether it
/// bears the name in a way that may be typed.
fn without_vendor(key: &str) -> impl Iterator<Item = (bool, DeviceRow)> + use<> {
    let (core, vendor) = trimmed(key);
    let is_trimmed = core.len() < key.len();
    let bearers: Vec<(u8, usize)> = DEVICES.bearers(core).filter(|_| is_trimmed).collect();
    let mut seen: Vec<usize> = Vec::new();
    let first_of_row = move |(_, row): &(u8, usize)| {
        let is_first = !seen.contains(row);
        seen.push(*row);
        is_first
    };
    bearers
        .into_iter()
        .filter(first_of_row)
        .filter_map(|(tier, row)| DEVICES.row::<DeviceRow>(row).map(|found| (tier < DRIVER, found)))
        .filter(move |(_, row)| vendor.is_none_or(|v| row.vendor.name() == v))
}

/// Which devices are there?
pub fn devices() -> impl Iterator<Item = DeviceRow> {
    DEVICES.all()
}

/// Which names of devices are there, normalised and in order? For finding the nearest one.
pub fn device_names() -> impl Iterator<Item = &'static str> {
    DEVICES.all_names()
}
