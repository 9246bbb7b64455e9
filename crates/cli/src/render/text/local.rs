//! Models on this disk, and whether they fit.

use vramplan_core::plan::Verdict;

use super::number::{gib, thousands};
use super::{Page, WIDTH, wrap};
use crate::commands::models::LocalRow;
use crate::locale::{Locale, Message};

/// Widths of the columns: name, keeper, size, quantisation.
const COLUMNS: (usize, usize, usize, usize) = (32, 9, 8, 11);

/// Prints the list.
pub(crate) fn print(locale: &Locale, rows: &[LocalRow]) -> std::io::Result<()> {
    let mut page = Page::default();
    if rows.is_empty() {
        page.line(locale.word("local-none"));
        wrap::words(&locale.word("local-places"), WIDTH - 2).into_iter().for_each(|line| page.line(line));
        return page.print();
    }
    let head =
        ["local-model", "local-keeper", "local-size", "local-quant", "local-fit"].map(|key| locale.word(key));
    let [model, keeper, size, quant, fit] = head;
    page.line(columns(&model, &keeper, &size, &quant, &fit));
    for row in rows {
        let gb = row.bytes.0 as f64 / 1e9;
        page.line(columns(
            &wrap::middle(&row.name, COLUMNS.0 - 1),
            &locale.word(match row.keeper {
                "hub" => "keeper-hub",
                "ollama" => "keeper-ollama",
                "lm_studio" => "keeper-lm-studio",
                _ => "keeper-llama-cpp",
            }),
            &format!("{gb:.1} GB"),
            &wrap::middle(row.quant.as_deref().unwrap_or("?"), COLUMNS.3 - 1),
            &fits(locale, row),
        ));
    }
    let of_disk: f64 = rows.iter().map(|row| row.bytes.0 as f64 / 1e9).sum();
    page.gap();
    let sum = Message::new("local-sum").count("n", rows.len() as u64).with("gb", format!("{of_disk:.1}"));
    page.line(locale.text(&sum));
    page.line(locale.word("local-next"));
    page.print()
}

fn columns(model: &str, keeper: &str, size: &str, quant: &str, fit: &str) -> String {
    let (a, b, c, d) = COLUMNS;
    format!("{model:<a$}{keeper:<b$}{size:>c$}  {quant:<d$}{fit}")
}

/// The verdict and what it is about.
fn fits(locale: &Locale, row: &LocalRow) -> String {
    let (Some(verdict), Some(need), Some(context)) = (row.verdict, row.need, row.context) else {
        return locale.word("local-not-planned");
    };
    let key = match verdict {
        Verdict::Fits => "local-fits",
        Verdict::Tight => "local-tight",
        Verdict::DoesNotFit => "local-does-not-fit",
    };
    locale.text(&Message::new(key).with("gib", gib(need)).with("tokens", thousands(context.0)))
}
