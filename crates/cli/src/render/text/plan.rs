//! A plan on one screen.

use anstyle::{AnsiColor, Style as Paint};
use vramplan_core::answer::Answer;
use vramplan_core::machine::{Backend, PoolKind};
use vramplan_core::plan::{Memory, Verdict};
use vramplan_core::units::Bytes;

use super::number::{gib, rough, thousands};
use super::{Page, TITLE, WIDTH, bar, ledger, names, wrap};
use crate::locale::{Locale, Message};
use crate::render::Style;

/// Assumptions shown without `--explain`.
const ASSUMPTIONS_SHOWN: usize = 6;

/// Prints a plan.
pub(crate) fn print(locale: &Locale, answer: &Answer, style: Style, explain: bool) -> std::io::Result<()> {
    let mut page = Page::default();
    verdict(locale, answer, style, &mut page);
    if style.terminal {
        page.gap();
        bars(locale, answer, style, &mut page);
    }
    page.gap();
    ledger::print(locale, answer, &mut page);
    limits(locale, answer, &mut page);
    if answer.verdict != Verdict::DoesNotFit {
        launch(locale, answer, style, &mut page);
    }
    assumed(locale, answer, explain, &mut page);
    if explain {
        ledger::explain(locale, answer, &mut page);
    }
    page.print()
}

/// The memory that decides: the worst verdict, and of equal ones the least room.
fn tightest(answer: &Answer) -> Option<&Memory> {
    let room = |m: &Memory| (core::cmp::Reverse(m.verdict), m.short_by(), core::cmp::Reverse(m.headroom()));
    let used = answer.memories.iter().filter(|m| m.need.high > Bytes::ZERO);
    let relevant = used.filter(|m| m.verdict == answer.verdict);
    relevant.max_by_key(|m| (room(m).1, room(m).2))
}

/// The verdict, and what decides it; a long sentence goes on below its own start.
fn verdict(locale: &Locale, answer: &Answer, style: Style, page: &mut Page) {
    let (key, colour) = match answer.verdict {
        Verdict::Fits => ("verdict-fits", AnsiColor::Green),
        Verdict::Tight => ("verdict-tight", AnsiColor::Yellow),
        Verdict::DoesNotFit => ("verdict-does-not-fit", AnsiColor::Red),
    };
    let word = locale.word(key);
    let margin = word.chars().count() + 2;
    let word = painted(&word, Paint::new().fg_color(Some(colour.into())).bold(), style);
    let mut lines = wrap::words(&sentence(locale, answer), WIDTH - 2 - margin).into_iter();
    page.line(format!("{word}  {}", lines.next().unwrap_or_default()));
    lines.for_each(|line| page.line(format!("{:margin$}{line}", "")));
}

fn sentence(locale: &Locale, answer: &Answer) -> String {
    let Some(memory) = gpu_or_tightest(answer) else { return String::new() };
    let model = names::model(&answer.model.name, &answer.model.quant);
    let on = machine_name(locale, answer);
    let message = match answer.verdict {
        Verdict::Fits => Message::new("sentence-fits").with("spare", rough(memory.headroom())),
        Verdict::Tight => Message::new("sentence-tight").with("usable", rough(memory.free - memory.reserve)),
        Verdict::DoesNotFit => Message::new("sentence-does-not-fit")
            .with("need", rough(memory.need.likely))
            .with("short", rough(short(memory))),
    };
    let memory_name = memory_name(locale, answer, memory);
    let message = message.with("model", model).with("machine", on).with("memory", memory_name);
    locale.text(&message)
}

/// What decides when all fits is the card with the least room; RAM only where there is no card.
fn gpu_or_tightest(answer: &Answer) -> Option<&Memory> {
    if answer.verdict != Verdict::Fits {
        return tightest(answer);
    }
    let cards = answer.memories.iter().filter(|m| m.kind == PoolKind::Vram);
    cards.min_by_key(|m| m.headroom()).or_else(|| tightest(answer))
}

/// What is missing: at least the lower end of the band is.
fn short(memory: &Memory) -> Bytes {
    memory.short_by().max(memory.need.low - (memory.free - memory.reserve))
}

/// `RTX 4090`, `2 x RTX 3090`, `CPU`.
fn machine_name(locale: &Locale, answer: &Answer) -> String {
    let gpus: Vec<_> = answer.devices.iter().filter(|d| d.backend != Backend::Cpu).collect();
    let mut parts: Vec<(String, usize)> = Vec::new();
    for name in gpus.iter().map(|d| names::short(&d.name)) {
        match parts.iter_mut().find(|(other, _)| other == name) {
            Some((_, n)) => *n += 1,
            None => parts.push((name.to_owned(), 1)),
        }
    }
    if parts.is_empty() {
        return locale.word("machine-cpu");
    }
    let part = |(name, n): &(String, usize)| if *n > 1 { format!("{n} x {name}") } else { name.clone() };
    parts.iter().map(part).collect::<Vec<_>>().join(" + ")
}

fn memory_name(locale: &Locale, answer: &Answer, memory: &Memory) -> String {
    match (memory.kind, memory.devices.as_slice()) {
        (PoolKind::Ram, _) => locale.word("memory-ram"),
        (PoolKind::Unified, [_, _, ..]) => locale.word("memory-unified"),
        (_, [id, ..]) => ledger::device_name(answer, *id),
        (_, []) => String::new(),
    }
}

fn bars(locale: &Locale, answer: &Answer, style: Style, page: &mut Page) {
    for memory in answer.memories.iter().filter(|m| m.need.high > Bytes::ZERO) {
        let name = wrap::middle(&memory_name(locale, answer, memory), TITLE - 1);
        let drawn = bar::bar(memory, &answer.ledger, style.colour);
        let used = gib(memory.need.likely);
        page.line(format!("{name:<TITLE$}{drawn}  {used:>5} / {}", gib(memory.total)));
    }
    if style.colour {
        page.line(format!("{:<TITLE$}{}", "", locale.word("bar-legend")));
    }
}

fn limits(locale: &Locale, answer: &Answer, page: &mut Page) {
    page.gap();
    let title = locale.word("block-limits");
    let Some(longest) = answer.limits.longest_context else {
        page.line(format!("{title:<TITLE$}{}", locale.word("limit-none")));
        return;
    };
    let card = answer.limits.memories.iter().max_by_key(|m| (m.kind != PoolKind::Ram, m.need.likely));
    let key = if answer.limits.is_models_own { "limit-models-own" } else { "limit-context" };
    let message = Message::new(key)
        .with("tokens", thousands(longest.0))
        .with("gib", card.map_or_else(String::new, |m| gib(m.need.likely)));
    page.line(format!("{title:<TITLE$}{}", locale.text(&message)));
}

fn launch(locale: &Locale, answer: &Answer, style: Style, page: &mut Page) {
    page.gap();
    page.line(locale.word("block-run"));
    let mut words = vec![answer.launch.program.clone()];
    words.extend(answer.launch.args.iter().cloned());
    for line in wrap::command(&words, WIDTH - 4, 2) {
        page.line(format!("  {}", painted(&line, Paint::new().bold(), style)));
    }
}

fn assumed(locale: &Locale, answer: &Answer, explain: bool, page: &mut Page) {
    if answer.assumed.is_empty() {
        return;
    }
    page.gap();
    let all = answer.assumed.iter().map(|a| names::assumption(locale, answer, a));
    let shown: Vec<String> = all.take(if explain { usize::MAX } else { ASSUMPTIONS_SHOWN }).collect();
    let mut title = locale.word("block-assumed");
    for line in wrap::phrases(&shown, WIDTH - 2 - TITLE) {
        page.line(format!("{title:<TITLE$}{line}"));
        title.clear();
    }
}

fn painted(text: &str, paint: Paint, style: Style) -> String {
    if style.colour { format!("{paint}{text}{paint:#}") } else { text.to_owned() }
}
