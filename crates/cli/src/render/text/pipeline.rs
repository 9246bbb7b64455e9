//! A diffusion pipeline: its parts, what stays in memory, the largest stage.

use vramplan_core::catalogue::{PipelineRow, Stage};

use super::number::{gib, thousands};
use super::{Page, TITLE, WIDTH, wrap};
use crate::locale::{Locale, Message};

/// Bits a value that people run the parts in.
const BITS: [u64; 3] = [16, 8, 4];

/// Prints a pipeline.
pub(crate) fn print(locale: &Locale, pipeline: &PipelineRow) -> std::io::Result<()> {
    let mut page = Page::default();
    page.line(format!("{}  ({})", pipeline.name, locale.word("form-pipeline")));
    page.gap();
    let mut title = locale.word("block-components");
    for part in &pipeline.parts {
        let about = if part.estimated { "~" } else { "" };
        let count = format!("{about}{}", thousands(part.parameters));
        let what = part.what.as_deref().map_or_else(String::new, |what| format!("  {what}"));
        let stage = locale.word(match part.stage {
            Stage::Encode => "stage-encode",
            Stage::Denoise => "stage-denoise",
            Stage::Decode => "stage-decode",
        });
        let line = format!("{:<17}{stage:<9}{count:>16}{what}", part.name);
        page.line(format!("{title:<TITLE$}{}", wrap::middle(&line, WIDTH - 2 - TITLE)));
        title.clear();
    }
    page.gap();
    let head = ["pipeline-bits", "pipeline-resident", "pipeline-stage"].map(|key| locale.word(key));
    page.line(format!(
        "{:<TITLE$}{:<17}{:>16}{:>22}",
        locale.word("block-weights"),
        head[0],
        head[1],
        head[2]
    ));
    for bits in BITS {
        let name = locale.text(&Message::new("pipeline-of-bits").with("bits", bits));
        let (all, largest) = (gib(pipeline.resident(bits)), gib(pipeline.largest_stage(bits)));
        page.line(format!("{:<TITLE$}{name:<17}{all:>12} GiB{largest:>18} GiB", ""));
    }
    page.gap();
    for line in wrap::words(&locale.word("pipeline-limits"), WIDTH - 2) {
        page.line(line);
    }
    page.print()
}
