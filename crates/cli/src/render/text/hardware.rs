//! Devices of the catalogue, as a list and one by one.

use comfy_table::{CellAlignment, Table, presets};
use vramplan_core::catalogue::{DeviceRow, driver_memory};

use super::number::{gib, thousands};
use super::{Page, wrap};
use crate::locale::{Locale, Message};

/// Width of the columns of a list beside ids and names: sizes, bandwidths, and what parts them.
const NUMBERS: usize = 23;
/// Names are not cut shorter than this.
const LEAST_NAME: usize = 16;

/// Prints a list of devices.
pub(crate) fn print_devices(locale: &Locale, rows: &[DeviceRow]) -> std::io::Result<()> {
    let mut page = Page::default();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.add_row(["heading-id", "heading-name", "heading-gb", "heading-gbs"].map(|key| locale.word(key)));
    let ids = rows.iter().map(|row| row.id.chars().count()).max().unwrap_or(0);
    let name = (super::WIDTH - 2 - NUMBERS).saturating_sub(ids).max(LEAST_NAME);
    for row in rows {
        table.add_row([row.id.clone(), wrap::middle(&row.name, name), sizes(row), bandwidth(row)]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        if index > 1 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string().lines().for_each(|line| page.line(line));
    page.gap();
    page.line(locale.text(&Message::new("devices-count").count("count", rows.len() as u64)));
    page.print()
}

/// Prints what is known of a device.
pub(crate) fn print_device(locale: &Locale, row: &DeviceRow) -> std::io::Result<()> {
    let mut page = Page::default();
    page.line(format!("{}  ({})", row.name, row.id));
    page.gap();
    let driver = driver_memory(row).map(|memory| format!("{} GiB", gib(memory.bytes)));
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let rate = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v} TFLOPS"));
    let facts = [
        ("fact-memory", format!("{} GB {}", sizes(row), text(&row.memory_type))),
        ("fact-driver", driver.unwrap_or_default()),
        ("fact-bandwidth", row.bandwidth_gbs.map_or_else(String::new, |b| format!("{b} GB/s"))),
        ("fact-units", units(row)),
        ("fact-fp16", rate(row.fp16_tflops)),
        ("fact-target", text(&row.target)),
        ("fact-pcie", text(&row.pcie)),
        ("fact-link", text(&row.link)),
        ("fact-power", row.tdp_w.map_or_else(String::new, |w| format!("{w} W"))),
        ("fact-year", row.year.map_or_else(String::new, |y| y.to_string())),
        ("fact-names", row.aliases.join(", ")),
        ("fact-sources", row.sources.join(", ")),
        ("fact-notes", text(&row.notes)),
    ];
    for (key, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        let mut title = locale.word(key);
        for line in wrap::words(value, super::WIDTH - 2 - FACT) {
            page.line(format!("{title:<FACT$}{line}"));
            title.clear();
        }
    }
    page.print()
}

/// Width of the column of facts' names.
const FACT: usize = 16;

fn sizes(row: &DeviceRow) -> String {
    row.sizes().iter().map(u64::to_string).collect::<Vec<_>>().join("/")
}

fn bandwidth(row: &DeviceRow) -> String {
    row.bandwidth_gbs.map_or_else(|| "-".into(), |b| thousands(b as u64))
}

fn units(row: &DeviceRow) -> String {
    match (row.units, &row.unit_kind) {
        (Some(n), Some(kind)) => format!("{n} {kind}"),
        (Some(n), None) => n.to_string(),
        (None, _) => String::new(),
    }
}
