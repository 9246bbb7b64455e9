//! The ledger as a table: a row for each kind of line, a column for each memory.

use comfy_table::{CellAlignment, Table, presets};
use vramplan_core::answer::Answer;
use vramplan_core::ledger::{CacheKind, Estimate, Item, Line, Why};
use vramplan_core::machine::{Backend, DeviceId};
use vramplan_core::units::Bytes;

use super::number::{cell, estimate};
use super::{Page, WIDTH, names, wrap};
use crate::locale::Locale;

/// Most memories that have a column of their own; more are listed below each other.
const MOST_COLUMNS: usize = 4;

/// Less than this rounds to nothing in a table of GiB.
const LEAST_SHOWN: Bytes = Bytes::from_mib(5);

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
    let name = names::short(&device.name);
    if alike < 2 {
        return name.to_owned();
    }
    let number = answer.devices[..index].iter().filter(|d| d.name == device.name).count();
    format!("{name} {number}")
}

/// What a table shows beside names and numbers.
#[derive(Clone, Copy)]
struct Extras {
    detail: bool,
    why: bool,
}

/// Adds the table to the page, with as much beside the numbers as the page is wide.
pub(super) fn print(locale: &Locale, answer: &Answer, page: &mut Page) {
    let columns = columns(locale, answer);
    let choices = [(true, true), (true, false), (false, false)];
    let fitting = choices
        .into_iter()
        .map(|(detail, why)| lines(locale, answer, &columns, Extras { detail, why }))
        .find(|lines| lines.iter().all(|line| line.trim_end().chars().count() + 2 <= WIDTH));
    match fitting.filter(|_| columns.len() <= MOST_COLUMNS) {
        Some(lines) => lines.into_iter().for_each(|line| page.line(line)),
        None => print_totals(locale, answer, &columns, page),
    }
}

fn lines(locale: &Locale, answer: &Answer, columns: &[Column], extras: Extras) -> Vec<String> {
    let mut table = table();
    table.add_row(heading(locale, columns, extras));
    for (_, lines) in rows(answer) {
        table.add_row(row(locale, answer, columns, &lines, extras));
    }
    table.add_row(total(locale, answer, columns, extras));
    lay_out(&mut table, columns.len(), extras);
    table.to_string().lines().map(str::to_owned).collect()
}

/// The block's title, then a heading for each memory; where no remark follows, the title has the unit.
fn heading(locale: &Locale, columns: &[Column], extras: Extras) -> Vec<String> {
    let title = locale.word("block-memory");
    let title = if extras.why { title } else { format!("{title}, {}", locale.word("unit-gib")) };
    let detail = extras.detail.then(String::new);
    let why = extras.why.then(|| locale.word("heading-why"));
    let names = columns.iter().map(|c| c.heading.clone());
    [title].into_iter().chain(detail).chain(names).chain(why).collect()
}

fn total(locale: &Locale, answer: &Answer, columns: &[Column], extras: Extras) -> Vec<String> {
    let title = format!("  {}", locale.word("row-total"));
    let detail = extras.detail.then(String::new);
    let why = extras.why.then(|| locale.word("unit-gib"));
    let sums = columns.iter().map(|c| estimate(sum(&lines_on(answer, c))));
    [title].into_iter().chain(detail).chain(sums).chain(why).collect()
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// Numbers end in one column.
fn lay_out(table: &mut Table, columns: usize, extras: Extras) {
    let first = 1 + usize::from(extras.detail);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        if (first..first + columns).contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Lines by row, in the order of items; rows that round to nothing everywhere are left to `--explain`.
fn rows(answer: &Answer) -> Vec<(Key, Vec<&Line>)> {
    let mut rows: std::collections::BTreeMap<Key, Vec<&Line>> = Default::default();
    for line in &answer.ledger.lines {
        rows.entry(key(line)).or_default().push(line);
    }
    rows.retain(|_, lines| lines.iter().any(|l| l.bytes.likely >= LEAST_SHOWN));
    rows.into_iter().collect()
}

fn key(line: &Line) -> Key {
    let kind = match &line.why {
        Why::KvCache { kind, .. } => Some(*kind),
        _ => None,
    };
    (line.item, kind)
}

fn row(locale: &Locale, answer: &Answer, columns: &[Column], lines: &[&Line], extras: Extras) -> Vec<String> {
    let backend = |id: DeviceId| answer.devices.get(usize::from(id.0)).map_or(Backend::Other, |d| d.backend);
    let Some(first) = lines.first() else { return Vec::new() };
    let cpu = answer.devices.iter().zip(0u16..).find(|(d, _)| d.backend == Backend::Cpu);
    let mut cells = vec![format!("  {}", names::item(locale, first, backend(first.device)))];
    cells.extend(extras.detail.then(|| names::detail(locale, first, &answer.model.quant)));
    for column in columns {
        let here: Vec<_> = lines.iter().copied().filter(|l| column.devices.contains(&l.device)).collect();
        cells.push(cell(sum(&here)));
    }
    cells.extend(extras.why.then(|| names::remark(locale, lines, cpu.map(|(_, i)| DeviceId(i)))));
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
        for text in [names::why(locale, line), names::basis(locale, &line.basis)] {
            wrap::words(&text, WIDTH - 6).iter().for_each(|part| page.line(format!("    {part}")));
        }
    }
}
