//! The ledger as a table: a row for each kind of line, a column for each memory.

use comfy_table::{CellAlignment, ColumnConstraint, Table, Width, presets};
use vramplan_core::answer::Answer;
use vramplan_core::ledger::{CacheKind, Estimate, Item, Line, Why};
use vramplan_core::machine::{Backend, DeviceId};

use super::number::{cell, estimate};
use super::{Page, names};
use crate::locale::Locale;

/// Most memories that have a column of their own; more are listed below each other.
const MOST_COLUMNS: usize = 4;

/// What makes lines one row.
type Key = (Item, Option<CacheKind>);

/// A column: a heading and the devices it sums.
pub(super) struct Column {
    pub(super) heading: String,
    pub(super) devices: Vec<DeviceId>,
}

/// The columns of an answer: each device that holds something, the CPU's memory last.
pub(super) fn columns(locale: &Locale, answer: &Answer) -> Vec<Column> {
    let numbered = answer.devices.iter().zip(0u16..).map(|(device, i)| (DeviceId(i), device));
    numbered
        .filter(|(id, _)| answer.ledger.on(*id).next().is_some())
        .map(|(id, device)| {
            let heading = if device.backend == Backend::Cpu {
                locale.word("memory-ram")
            } else {
                device_name(answer, id)
            };
            Column { heading, devices: vec![id] }
        })
        .collect()
}

/// A device's name, numbered when others have the same.
pub(super) fn device_name(answer: &Answer, id: DeviceId) -> String {
    let index = usize::from(id.0);
    let Some(device) = answer.devices.get(index) else { return String::new() };
    let alike = answer.devices.iter().filter(|d| d.name == device.name).count();
    if alike < 2 {
        return device.name.clone();
    }
    let number = answer.devices[..index].iter().filter(|d| d.name == device.name).count();
    format!("{} {number}", device.name)
}

/// Adds the table to the page.
pub(super) fn print(locale: &Locale, answer: &Answer, page: &mut Page) {
    let columns = columns(locale, answer);
    if columns.len() > MOST_COLUMNS {
        return print_totals(locale, answer, &columns, page);
    }
    let mut table = table();
    let headings = columns.iter().map(|c| c.heading.clone());
    let mut head = vec![locale.word("block-memory"), String::new()];
    head.extend(headings);
    head.push(locale.word("heading-why"));
    table.add_row(head);
    for (_, lines) in rows(answer) {
        table.add_row(row(locale, answer, &columns, &lines));
    }
    let mut total = vec![format!("  {}", locale.word("row-total")), String::new()];
    total.extend(columns.iter().map(|c| estimate(sum(&lines_on(answer, c)))));
    total.push(locale.word("unit-gib"));
    table.add_row(total);
    lay_out(&mut table, columns.len());
    table.to_string().lines().for_each(|line| page.line(line));
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// Numbers end in one column; the whole table keeps to the page.
fn lay_out(table: &mut Table, columns: usize) {
    let last = columns + 2;
    for (index, column) in table.column_iter_mut().enumerate() {
        let padding = match index {
            0 => (0, 1),
            _ if index == last => (2, 0),
            _ => (1, 0),
        };
        column.set_padding(padding);
        if index > 1 && index < last {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if let Some(first) = table.column_mut(1) {
        let spare = u16::try_from(20_usize.saturating_sub(6 * columns.saturating_sub(2))).unwrap_or(8);
        first.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(spare)));
    }
}

/// Lines by row, in the order of items.
fn rows(answer: &Answer) -> Vec<(Key, Vec<&Line>)> {
    let mut rows: std::collections::BTreeMap<Key, Vec<&Line>> = Default::default();
    for line in &answer.ledger.lines {
        rows.entry(key(line)).or_default().push(line);
    }
    rows.into_iter().collect()
}

fn key(line: &Line) -> Key {
    let kind = match &line.why {
        Why::KvCache { kind, .. } => Some(*kind),
        _ => None,
    };
    (line.item, kind)
}

fn row(locale: &Locale, answer: &Answer, columns: &[Column], lines: &[&Line]) -> Vec<String> {
    let backend = |id: DeviceId| answer.devices.get(usize::from(id.0)).map_or(Backend::Other, |d| d.backend);
    let Some(first) = lines.first() else { return Vec::new() };
    let host = answer.devices.iter().zip(0u16..).find(|(d, _)| d.backend == Backend::Cpu);
    let mut cells = vec![
        format!("  {}", names::item(locale, first, backend(first.device))),
        names::detail(locale, first, &answer.model.quant),
    ];
    for column in columns {
        let here: Vec<_> = lines.iter().copied().filter(|l| column.devices.contains(&l.device)).collect();
        cells.push(cell(sum(&here)));
    }
    cells.push(names::remark(locale, lines, host.map(|(_, i)| DeviceId(i))));
    cells
}

fn lines_on<'a>(answer: &'a Answer, column: &Column) -> Vec<&'a Line> {
    answer.ledger.lines.iter().filter(|l| column.devices.contains(&l.device)).collect()
}

fn sum(lines: &[&Line]) -> Estimate {
    lines.iter().map(|l| l.bytes).sum()
}

/// Many devices: what each holds in all.
fn print_totals(locale: &Locale, answer: &Answer, columns: &[Column], page: &mut Page) {
    page.line(format!("{}  ({})", locale.word("block-memory"), locale.word("unit-gib")));
    let width = columns.iter().map(|c| c.heading.chars().count()).max().unwrap_or(0);
    for column in columns {
        let total = estimate(sum(&lines_on(answer, column)));
        page.line(format!("  {:<width$}  {total:>14}", column.heading));
    }
}

/// Adds every line with its reason and its basis.
pub(super) fn explain(locale: &Locale, answer: &Answer, page: &mut Page) {
    page.gap();
    page.line(locale.word("block-why"));
    for line in &answer.ledger.lines {
        let backend = answer.devices.get(usize::from(line.device.0)).map_or(Backend::Other, |d| d.backend);
        let device = if backend == Backend::Cpu {
            locale.word("memory-ram")
        } else {
            device_name(answer, line.device)
        };
        let bytes = super::number::thousands(line.bytes.likely.0);
        let name = names::item(locale, line, backend);
        page.line(format!("  {name}, {device}: {bytes} bytes"));
        page.line(format!("    {}", names::why(locale, line)));
        page.line(format!("    {}", names::basis(locale, &line.basis)));
    }
}
