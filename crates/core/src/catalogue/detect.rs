//! From what a driver says to a row: its name is often shared, its memory decides.

use super::Lookup;
use super::devices::{DeviceRow, bearers};
use super::memory::driver_memory;
use crate::units::Bytes;

/// Which device is it that a driver reports with this name and this much memory? Of all rows that
/// bear the name the one with the nearest total; several when that does not decide (the same
/// memory at another speed, another number of cores), the most likely first.
pub fn find_detected(name: &str, total: Bytes) -> Lookup<DeviceRow> {
    let mut rows = bearers(name);
    let nearest = rows.iter().map(|row| distance(row, total)).min();
    rows.retain(|row| Some(distance(row, total)) == nearest);
    rows.into_iter().collect()
}

/// How far a device's total is from the one reported; far when it is not known.
fn distance(device: &DeviceRow, total: Bytes) -> u64 {
    let sizes = device.memory_options_gb.iter().map(|gb| Bytes::from_gib(*gb));
    let known = driver_memory(device).map(|memory| memory.bytes);
    sizes.chain(known).map(|size| size.0.abs_diff(total.0)).min().unwrap_or(u64::MAX)
}
