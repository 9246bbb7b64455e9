//! What a machine is made of: memory pools and the devices that compute on them.
//!
//! Unified memory is two devices on one pool.

use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, BytesPerSecond};

/// Which hardware is planned for?
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The memories.
    pub pools: Vec<Pool>,
    /// The devices: accelerators first, the CPU last.
    pub devices: Vec<Device>,
}

impl Machine {
    /// The accelerators in order.
    pub fn gpus(&self) -> impl Iterator<Item = (DeviceId, &Device)> {
        self.numbered().filter(|(_, d)| d.backend != Backend::Cpu)
    }

    /// The CPU. Every machine has one.
    pub fn cpu(&self) -> Option<(DeviceId, &Device)> {
        self.numbered().find(|(_, d)| d.backend == Backend::Cpu)
    }

    /// A device by its number.
    pub fn device(&self, id: DeviceId) -> Option<&Device> {
        self.devices.get(usize::from(id.0))
    }

    /// The memory a device computes on.
    pub fn pool_of(&self, id: DeviceId) -> Option<&Pool> {
        self.pools.get(usize::from(self.device(id)?.pool.0))
    }

    /// The numbers of all devices.
    pub fn ids(&self) -> impl Iterator<Item = DeviceId> {
        self.numbered().map(|(id, _)| id)
    }

    fn numbered(&self) -> impl Iterator<Item = (DeviceId, &Device)> {
        (0u16..).map(DeviceId).zip(&self.devices)
    }
}

/// Number of a device within its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DeviceId(pub u16);

/// Number of a pool within its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PoolId(pub u16);

/// One memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// What kind of memory it is.
    pub kind: PoolKind,
    /// Everything the driver or the system reports.
    pub total: Bytes,
    /// What is free for a new program now.
    pub free: Bytes,
    /// Kept free on purpose: what must still be left for a plan to fit.
    pub reserve: Bytes,
    /// Peak bandwidth, when known.
    pub bandwidth: Option<BytesPerSecond>,
}

impl Pool {
    /// What a plan may use: free memory less the reserve.
    pub fn usable(&self) -> Bytes {
        self.free - self.reserve
    }
}

/// Whose memory is a pool?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolKind {
    /// A card's own memory.
    Vram,
    /// System memory.
    Ram,
    /// One memory for CPU and GPU.
    Unified,
}

/// One processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Catalogue id, such as `rtx-4090`; empty for the CPU of a named machine.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// How engines drive it.
    pub backend: Backend,
    /// The memory it computes on.
    pub pool: PoolId,
    /// The most it may allocate of its pool, when that is less than the pool (unified memory).
    pub limit: Option<Bytes>,
    /// The largest tensor that one operation can read, where the driver limits it.
    pub largest_tensor: Option<Bytes>,
    /// Streaming multiprocessors, compute units or GPU cores, when known.
    pub units: Option<u32>,
}

impl Device {
    /// The processor, on this pool.
    pub fn cpu(pool: PoolId) -> Self {
        Self::new("CPU", Backend::Cpu, pool)
    }

    /// A device of which nothing but its name, its stack and its pool is known.
    pub fn new(name: &str, backend: Backend, pool: PoolId) -> Self {
        Self {
            id: String::new(),
            name: name.into(),
            backend,
            pool,
            limit: None,
            largest_tensor: None,
            units: None,
        }
    }
}

/// Which software stack drives a device?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// NVIDIA CUDA.
    Cuda,
    /// AMD ROCm (HIP).
    Rocm,
    /// Vulkan: Intel cards and others.
    Vulkan,
    /// Apple Metal.
    Metal,
    /// The processor itself.
    Cpu,
    /// An accelerator that needs a stack of its own (TPU, Gaudi, Trainium, Ascend …).
    Other,
}

/// Something about a machine that nobody said and that was filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "assumption", rename_all = "snake_case")]
pub enum Filled {
    /// Nothing else uses the cards.
    NothingElseOnCards,
    /// The machine around a named card has so much memory.
    SystemMemory {
        /// All of it.
        total: Bytes,
    },
    /// Kept for the system and other programs.
    KeptForSystem {
        /// How much.
        bytes: Bytes,
    },
    /// The driver's total is not known for this very card: it follows from others of its generation,
    /// or is what the card is sold with.
    DriverTotal {
        /// The card.
        device: DeviceId,
        /// What was taken.
        total: Bytes,
    },
    /// How much of shared memory the GPU may use by default.
    GpuLimit {
        /// The device.
        device: DeviceId,
        /// How much.
        limit: Bytes,
    },
}
