//! `vram` alone: this machine and what runs on it.

use vramplan_core::answer::{Answer, Request, answer};
use vramplan_core::catalogue::{ModelRow, models};
use vramplan_core::machine::Machine;
use vramplan_core::plan::Verdict;
use vramplan_core::units::Bytes;
use vramplan_io::hardware::{processor_name, this_machine};

use crate::explain_problem;
use crate::locale::Locale;
use crate::problem::{Exit, Problem};
use crate::render::text::{Home, HomeRow, print_home};
use crate::resolve;

/// Models shown.
const SHOWN: usize = 6;
/// What to try when nothing fits.
const SMALLEST: &str = "qwen3-0.6b";

/// Runs the command.
pub(crate) fn run(locale: &Locale) -> Result<Exit, Problem> {
    let here = this_machine(&Default::default()).map_err(|e| explain_problem::detection(locale, &e))?;
    let ram = here.machine.pools.first().map_or((Bytes::ZERO, Bytes::ZERO), |p| (p.total, p.free));
    let rows = runs_here(&here.machine);
    let example = rows.first().map_or_else(|| SMALLEST.to_owned(), |row| row.model.to_ascii_lowercase());
    let home = Home { ram, cpu: processor_name(), rows, example };
    // A reader that has seen enough is no error.
    drop(print_home(locale, &home));
    Ok(Exit::Fits)
}

/// The largest of the most used models that fit, one of each need.
fn runs_here(machine: &Machine) -> Vec<HomeRow> {
    let known = models().filter(|row| row.tier == Some(1));
    let mut rows: Vec<HomeRow> = known.filter_map(|row| try_model(machine, &row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.need));
    // Siblings of one shape are one line.
    rows.dedup_by_key(|row| row.need);
    rows.truncate(SHOWN);
    rows
}

fn try_model(machine: &Machine, row: &ModelRow) -> Option<HomeRow> {
    let found = resolve::of_row(row, None).ok().filter(|f| f.model.is_planned())?;
    let request = Request::open(&found.model, &found.quant, machine, found.source.as_ref());
    let answer: Answer = answer(&request).ok()?;
    let need = answer.memories.first()?.need.likely;
    (answer.verdict == Verdict::Fits).then_some(HomeRow {
        model: answer.model.name,
        quant: answer.model.quant,
        context: answer.context_per_sequence,
        need,
    })
}
