//! The bar of one memory: 48 cells for all of it, at least one for each part.

use anstyle::{AnsiColor, Style as Paint};
use vramplan_core::ledger::{Item, Ledger};
use vramplan_core::plan::Memory;
use vramplan_core::units::Bytes;

/// Cells of a whole bar.
pub(super) const CELLS: usize = 48;
/// The last cell of what goes past the end.
const OVER: char = '!';

/// A part of the bar: its letter, colour, and items.
const PARTS: &[(char, AnsiColor, &[Item])] = &[
    ('#', AnsiColor::Blue, &[Item::Weights]),
    ('=', AnsiColor::Cyan, &[Item::KvCache, Item::RecurrentState]),
    ('+', AnsiColor::Magenta, &[Item::ComputeBuffer, Item::OutputBuffer]),
    ('~', AnsiColor::White, &[Item::RuntimeContext]),
];

/// Draws the bar of a memory, in colour or in letters.
pub(super) fn bar(memory: &Memory, ledger: &Ledger, colour: bool) -> String {
    let taken_by_others = memory.total - memory.free;
    let parts = PARTS.iter().map(|(letter, paint, items)| {
        let bytes = items.iter().map(|item| on(memory, ledger, *item)).sum();
        (*letter, *paint, bytes)
    });
    let whole = memory.total.max(memory.need.likely + taken_by_others);
    let others = ('~', AnsiColor::White, taken_by_others + memory.reserve);
    let parts: Vec<_> = parts.chain([others]).collect();
    let lengths = lengths(parts.iter().map(|p| p.2), whole);
    let mut text = String::new();
    for ((letter, paint, _), length) in parts.iter().zip(&lengths) {
        text.push_str(&cells(*letter, *paint, *length, colour));
    }
    let used: usize = lengths.iter().sum();
    text.push_str(&".".repeat(CELLS.saturating_sub(used)));
    if memory.short_by() > Bytes::ZERO && !colour {
        text.pop();
        text.push(OVER);
    }
    text
}

fn on(memory: &Memory, ledger: &Ledger, item: Item) -> Bytes {
    let lines = ledger.lines.iter().filter(|l| l.item == item && memory.devices.contains(&l.device));
    lines.map(|l| l.bytes.likely).sum()
}

/// Cells of each part: in proportion, at least one for what exists, never more than there are.
fn lengths(parts: impl Iterator<Item = Bytes>, whole: Bytes) -> Vec<usize> {
    let mut left = CELLS;
    parts
        .map(|bytes| {
            let share = bytes.scaled(CELLS as u64, whole.0.max(1)).0 as usize;
            let cells = share.max(usize::from(bytes > Bytes::ZERO)).min(left);
            left -= cells;
            cells
        })
        .collect()
}

fn cells(letter: char, paint: AnsiColor, length: usize, colour: bool) -> String {
    if !colour || length == 0 {
        return letter.to_string().repeat(length);
    }
    let paint = Paint::new().fg_color(Some(paint.into()));
    format!("{paint}{}{paint:#}", "\u{2588}".repeat(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_exists_has_a_cell_and_the_bar_never_overflows() {
        let parts = [Bytes(100), Bytes(1), Bytes(0), Bytes(900)];
        let lengths = lengths(parts.into_iter(), Bytes(1001));
        assert_eq!(lengths[1], 1);
        assert_eq!(lengths[2], 0);
        assert!(lengths.iter().sum::<usize>() <= CELLS);
    }
}
