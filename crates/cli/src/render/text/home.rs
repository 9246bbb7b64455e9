//! `vram` alone: what this machine has, what runs on it, what to type next.

use vramplan_core::units::{Bytes, Tokens};

use super::number::{gib, thousands};
use super::{Page, wrap};
use crate::locale::{Locale, Message};

/// What `vram` alone shows.
pub(crate) struct Home {
    /// System memory, all of it and what is free.
    pub(crate) ram: (Bytes, Bytes),
    /// Name of the processor.
    pub(crate) cpu: String,
    /// Models that run here.
    pub(crate) rows: Vec<HomeRow>,
    /// A model to try next.
    pub(crate) example: String,
}

/// A model that runs here.
pub(crate) struct HomeRow {
    /// Its name.
    pub(crate) model: String,
    /// Its quantisation.
    pub(crate) quant: String,
    /// The context planned.
    pub(crate) context: Tokens,
    /// What it takes.
    pub(crate) need: Bytes,
}

/// Prints the page.
pub(crate) fn print(locale: &Locale, home: &Home) -> std::io::Result<()> {
    let mut page = Page::default();
    let (total, free) = home.ram;
    let ram = Message::new("home-ram").with("total", gib(total)).with("free", gib(free));
    page.line(format!("{:<20}{}", locale.word("home-ram-name"), locale.text(&ram)));
    page.line(format!("{:<20}{}", locale.word("home-cpu-name"), wrap::middle(&home.cpu, 56)));
    page.line(format!("{:<20}{}", locale.word("home-gpu-name"), locale.word("home-gpu")));
    page.gap();
    if home.rows.is_empty() {
        page.line(locale.word("home-nothing"));
    } else {
        let heading = locale.word("home-heading");
        page.line(format!("{heading:<34}{:<10}{:>9}{:>8}", "quant", "context", "GiB"));
    }
    for row in &home.rows {
        let name = wrap::middle(&row.model, 30);
        page.line(format!(
            "  {name:<32}{:<10}{:>9}{:>8}",
            row.quant,
            thousands(row.context.0),
            gib(row.need)
        ));
    }
    page.gap();
    let mut title = locale.word("home-next");
    for (command, key) in [
        (format!("vram plan {}", home.example), "home-next-plan"),
        (format!("vram plan {} --on rtx-4090", home.example), "home-next-on"),
        ("vram --help".to_owned(), "home-next-help"),
    ] {
        page.line(format!("{title:<8}{command:<40}{}", locale.word(key)));
        title.clear();
    }
    page.print()
}
