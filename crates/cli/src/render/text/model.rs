//! A model, explained: its parameters under each of their names, its layers and what they keep.

use vramplan_core::answer::{Form, Input, LayerRun, ModelAnswer, Size, SizeKind, TensorRun};
use vramplan_core::archs::Beyond;
use vramplan_core::model::{Attention, Ffn, Indexer, Latent, Mixer, Part, Recurrent, StateSpace, Window};

use super::number::{gib, small_bytes, thousands};
use super::{Page, TITLE, WIDTH, wrap};
use crate::locale::{Locale, Message};

/// Width of the column of names within a block.
const NAME: usize = 22;
/// Width of the column of counts.
const COUNT: usize = 17;
/// Ranges of layers shown: of more than these, the first ones and the last.
const RANGES: usize = 5;

/// Prints what is known of a model.
pub(crate) fn print_model(locale: &Locale, answer: &ModelAnswer, tensors: bool) -> std::io::Result<()> {
    let mut page = Page::default();
    page.line(heading(locale, answer));
    block(&mut page, &locale.word("block-parameters"), &parameters(locale, answer));
    block(&mut page, &locale.word("block-parts"), &parts(locale, answer));
    block(&mut page, &locale.word("block-files"), &files(locale, answer));
    block(&mut page, &locale.word("block-sizes"), &sizes(locale, answer));
    block(&mut page, &locale.word("block-layers"), &layers(locale, answer));
    block(&mut page, &locale.word("block-keeps"), &keeps(locale, answer));
    block(&mut page, &locale.word("block-model"), &facts(locale, answer));
    block(&mut page, &locale.word("block-assumed"), &assumed(locale, answer));
    if tensors {
        block(&mut page, &locale.word("block-tensors"), &tensor_lines(&answer.tensors));
    }
    page.print()
}

/// Lines behind a title; nothing at all for an empty block.
fn block(page: &mut Page, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    page.gap();
    let mut title = title.to_owned();
    for line in lines {
        page.line(format!("{title:<TITLE$}{line}"));
        title.clear();
    }
}

fn heading(locale: &Locale, answer: &ModelAnswer) -> String {
    let form = locale.word(match answer.form {
        Form::Catalogue => "form-catalogue",
        Form::Config => "form-config",
        Form::Safetensors => "form-safetensors",
        Form::Gguf => "form-gguf",
    });
    let arch = match answer.arch.as_str() {
        "" => String::new(),
        arch => format!("{arch}, "),
    };
    format!("{}  ({arch}{form})", answer.name)
}

fn counted(name: &str, count: u64, remark: &str) -> String {
    format!("{name:<NAME$}{:>COUNT$}   {remark}", thousands(count))
}

fn share(part: u64, whole: u64) -> String {
    let percent = part as f64 * 100.0 / whole.max(1) as f64;
    if percent < 0.05 && part > 0 { "<0.1%".into() } else { format!("{percent:.1}%") }
}

fn parameters(locale: &Locale, answer: &ModelAnswer) -> Vec<String> {
    let counts = &answer.parameters;
    let mut lines = vec![counted(&locale.word("count-built"), counts.built, "")];
    let active =
        if counts.active == counts.built { String::new() } else { share(counts.active, counts.built) };
    lines.push(counted(&locale.word("count-active"), counts.active, &active));
    match (counts.stored, &answer.stored) {
        (Some(stored), _) => lines.push(counted(&locale.word("count-stored"), stored, "")),
        (None, Some(_)) => {
            lines.push(format!("{:<NAME$}{}", locale.word("count-stored"), locale.word("count-packed")));
        }
        (None, None) => {}
    }
    lines
}

/// The parts, largest first.
fn parts(locale: &Locale, answer: &ModelAnswer) -> Vec<String> {
    let counts = &answer.parameters;
    let mut parts: Vec<(Part, u64)> = counts.by_part.iter().map(|(part, n)| (*part, *n)).collect();
    parts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let line = |(part, n): &(Part, u64)| counted(&part_name(locale, *part), *n, &share(*n, counts.built));
    parts.iter().map(line).collect()
}

fn part_name(locale: &Locale, part: Part) -> String {
    locale.word(match part {
        Part::Embedding => "part-embedding",
        Part::PositionEmbedding => "part-positions",
        Part::PerLayerEmbedding => "part-per-layer",
        Part::PerLayerProjection => "part-per-layer-projection",
        Part::Attention => "part-attention",
        Part::Recurrent => "part-recurrent",
        Part::Ffn => "part-ffn",
        Part::Experts => "part-experts",
        Part::SharedExpert => "part-shared",
        Part::Router => "part-router",
        Part::Norm => "part-norms",
        Part::Head => "part-head",
        Part::Vision => "part-vision",
        Part::Audio => "part-audio",
        Part::Projector => "part-projector",
        Part::Other => "part-other",
    })
}

/// What files hold: bytes by number format, and what the library builds no parameter of.
fn files(locale: &Locale, answer: &ModelAnswer) -> Vec<String> {
    let Some(stored) = &answer.stored else { return Vec::new() };
    let mut lines: Vec<String> = stored
        .formats
        .iter()
        .map(|(format, bytes)| format!("{:<NAME$}{:>COUNT$} GiB", format.name(), gib(*bytes)))
        .collect();
    if lines.len() > 1 {
        lines.push(format!("{:<NAME$}{:>COUNT$} GiB", locale.word("row-total"), gib(stored.bytes)));
    }
    for (beyond, values) in &stored.beyond {
        let name = locale.word(match beyond {
            Beyond::LayersAhead => "beyond-ahead",
            Beyond::TiedCopy => "beyond-copy",
            Beyond::Buffers => "beyond-buffers",
            Beyond::Scales => "beyond-scales",
        });
        lines.push(counted(&name, *values, &locale.word("beyond-built")));
    }
    lines
}

/// What the model weighs in each form, the kind of files said once.
fn sizes(locale: &Locale, answer: &ModelAnswer) -> Vec<String> {
    let mut last = None;
    let mut line = |size: &Size| {
        let is_new = last.replace(size.kind) != Some(size.kind);
        let kind = locale.word(match size.kind {
            SizeKind::Published => "size-published",
            SizeKind::Quantised => "size-quantised",
            SizeKind::Gguf => "size-gguf",
            SizeKind::Mlx => "size-mlx",
        });
        let remark = if is_new { kind } else { String::new() };
        format!("{:<14}{:>9} GiB   {remark}", size.name, gib(size.bytes)).trim_end().to_owned()
    };
    answer.sizes.iter().map(&mut line).collect()
}

/// Layers of one kind.
struct Kind {
    mixer: String,
    ffn: String,
    keeps: String,
    count: u64,
    /// First and last of layers that follow each other.
    ranges: Vec<[u64; 2]>,
}

/// The kinds of layers, in order of the first of each.
fn kinds(locale: &Locale, runs: &[LayerRun]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for run in runs {
        let (mixer, ffn) = (mixer(locale, run), ffn(locale, &run.layer.ffn));
        let count = run.last - run.first + 1;
        match kinds.iter_mut().find(|kind| kind.mixer == mixer && kind.ffn == ffn) {
            Some(kind) => {
                kind.count += count;
                match kind.ranges.last_mut().filter(|[_, last]| last + 1 == run.first) {
                    Some([_, last]) => *last = run.last,
                    None => kind.ranges.push([run.first, run.last]),
                }
            }
            None => kinds.push(Kind {
                mixer,
                ffn,
                keeps: kept(locale, run),
                count,
                ranges: vec![[run.first, run.last]],
            }),
        }
    }
    kinds
}

fn layers(locale: &Locale, answer: &ModelAnswer) -> Vec<String> {
    let mut lines = Vec::new();
    for kind in kinds(locale, &answer.layers) {
        let ranges = shortened(&kind.ranges);
        let count = locale.text(&Message::new("layers-count").count("count", kind.count));
        lines.push(format!("{count}: {ranges}"));
        for detail in [kind.mixer, kind.ffn, kind.keeps].into_iter().filter(|text| !text.is_empty()) {
            lines.extend(wrap::words(&detail, WIDTH - 4 - TITLE).into_iter().map(|line| format!("  {line}")));
        }
    }
    lines
}

/// The first ranges and the last, where there are many.
fn shortened(ranges: &[[u64; 2]]) -> String {
    let ranges = ranges.iter().map(|[first, last]| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    match ranges.collect::<Vec<_>>().as_slice() {
        [first @ .., last] if first.len() >= RANGES => {
            format!("{}, ..., {last}", first[..RANGES - 1].join(", "))
        }
        few => few.join(", "),
    }
}

fn mixer(locale: &Locale, run: &LayerRun) -> String {
    let main = match &run.layer.mixer {
        Mixer::Attention(a) => scored(locale, attention(locale, a), a.indexer),
        Mixer::Latent(l) => latent(locale, l),
        Mixer::Recurrent(r) => recurrent(locale, r),
        Mixer::Parallel(a, r) => locale.text(
            &Message::new("mixer-parallel").with("a", attention(locale, a)).with("b", recurrent(locale, r)),
        ),
        Mixer::Compressed(c) => locale.text(
            &Message::new("mixer-compressed")
                .with("heads", thousands(c.heads))
                .with("dim", thousands(c.dim))
                .with("window", thousands(c.window))
                .with("ratio", thousands(c.ratio)),
        ),
        Mixer::Bidirectional(a) => locale.text(
            &Message::new("mixer-bidirectional")
                .with("heads", thousands(a.heads))
                .with("dim", thousands(a.k_dim)),
        ),
        Mixer::None => String::new(),
    };
    match &run.layer.cross {
        Some(_) if main.is_empty() => locale.word("mixer-cross-alone"),
        Some(_) => locale.text(&Message::new("mixer-cross").with("a", main)),
        None => main,
    }
}

fn latent(locale: &Locale, l: &Latent) -> String {
    let main = locale.text(
        &Message::new("mixer-latent")
            .with("heads", thousands(l.heads))
            .with("rank", thousands(l.kv_rank))
            .with("rope", thousands(l.rope_dim)),
    );
    scored(locale, main, l.indexer)
}

/// The same, and the scorer beside it.
fn scored(locale: &Locale, main: String, indexer: Option<Indexer>) -> String {
    let Some(indexer) = indexer else { return main };
    locale.text(
        &Message::new("mixer-scored")
            .with("a", main)
            .with("heads", thousands(indexer.heads))
            .with("dim", thousands(indexer.k_dim))
            .with("top", thousands(indexer.top_k)),
    )
}

fn attention(locale: &Locale, a: &Attention) -> String {
    let key = match (a.window, a.shares_cache_with) {
        (_, Some(_)) => "mixer-sharing",
        (None, None) => "mixer-attention",
        (Some(Window::Sliding(_)), None) => "mixer-window",
        (Some(Window::Chunked(_)), None) => "mixer-chunks",
    };
    locale.text(
        &Message::new(key)
            .with("heads", thousands(a.heads))
            .with("kv", thousands(a.kv_heads))
            .with("dim", thousands(a.k_dim))
            .with("tokens", thousands(a.window.map_or(0, Window::tokens))),
    )
}

fn recurrent(locale: &Locale, r: &Recurrent) -> String {
    locale.word(match r {
        Recurrent::StateSpace { kind: StateSpace::Mamba, .. } => "mixer-mamba",
        Recurrent::StateSpace { kind: StateSpace::Mamba2, .. } => "mixer-mamba2",
        Recurrent::StateSpace { kind: StateSpace::GatedDelta, .. } => "mixer-delta",
        Recurrent::StateSpace { kind: StateSpace::Wkv, .. } => "mixer-wkv",
        Recurrent::KimiDelta { .. } => "mixer-kimi",
        Recurrent::Lightning { .. } => "mixer-lightning",
        Recurrent::GatedLinear { .. } => "mixer-gated",
        Recurrent::ShortConv { .. } => "mixer-conv",
    })
}

fn ffn(locale: &Locale, ffn: &Ffn) -> String {
    match ffn {
        Ffn::None => String::new(),
        Ffn::Dense { width, .. } => locale.text(&Message::new("ffn-dense").with("width", thousands(*width))),
        Ffn::Experts { count, used, width, shared_width, .. } => {
            let key = if *shared_width > 0 { "ffn-experts-shared" } else { "ffn-experts" };
            locale.text(
                &Message::new(key)
                    .with("count", thousands(*count))
                    .with("used", thousands(*used))
                    .with("width", thousands(*width))
                    .with("shared", thousands(*shared_width)),
            )
        }
    }
}

fn kept(locale: &Locale, run: &LayerRun) -> String {
    let parts = [("keeps-token", run.cache_per_token), ("keeps-state", run.state_per_sequence)];
    let kept = parts.iter().filter(|(_, bytes)| bytes.0 > 0);
    let kept = kept.map(|(key, bytes)| locale.text(&Message::new(key).with("bytes", small_bytes(*bytes))));
    kept.collect::<Vec<_>>().join(", ")
}

/// What all layers keep together.
fn keeps(locale: &Locale, answer: &ModelAnswer) -> Vec<String> {
    let all = [("keeps-all-token", answer.cache_per_token), ("keeps-all-state", answer.state_per_sequence)];
    let kept = all.iter().filter(|(_, bytes)| bytes.0 > 0);
    kept.map(|(key, bytes)| locale.text(&Message::new(key).with("bytes", small_bytes(*bytes)))).collect()
}

fn facts(locale: &Locale, answer: &ModelAnswer) -> Vec<String> {
    let inputs: Vec<String> = answer.inputs.iter().map(|input| input_name(locale, *input)).collect();
    let named = |key: &str, value: String| format!("{:<NAME$}{value}", locale.word(key));
    let mut lines = vec![named("model-inputs", inputs.join(", "))];
    if let Some(context) = answer.context_length {
        lines.push(named(
            "model-context",
            locale.text(&Message::new("tokens").with("n", thousands(context.0))),
        ));
    }
    lines.push(named("model-width", thousands(answer.width)));
    let head = if answer.tied { "model-tied" } else { "model-untied" };
    let vocab = Message::new(head).with("n", thousands(answer.vocab));
    lines.push(named("model-vocab", locale.text(&vocab)));
    if answer.layers_ahead > 0 {
        let ahead = Message::new("model-ahead-layers").count("count", answer.layers_ahead);
        lines.push(named("model-ahead", locale.text(&ahead)));
    }
    lines
}

fn input_name(locale: &Locale, input: Input) -> String {
    locale.word(match input {
        Input::Text => "input-text",
        Input::Image => "input-image",
        Input::Audio => "input-audio",
    })
}

/// Fields that the library's class filled in: what the model would change by, if they were wrong.
fn assumed(locale: &Locale, answer: &ModelAnswer) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rules) = answer.read_as {
        let key = if rules.in_part { "assumed-rules-in-part" } else { "assumed-rules" };
        let text = locale.text(&Message::new(key).with("type", rules.model_type));
        lines.extend(wrap::words(&text, WIDTH - 2 - TITLE));
    }
    if answer.assumed.is_empty() {
        return lines;
    }
    let fields: Vec<String> = answer.assumed.iter().map(|a| format!("{} {}", a.field, a.value)).collect();
    lines.extend(wrap::words(&locale.word("assumed-class"), WIDTH - 2 - TITLE));
    lines.extend(wrap::phrases(&fields, WIDTH - 4 - TITLE).into_iter().map(|line| format!("  {line}")));
    lines
}

fn tensor_lines(tensors: &[TensorRun]) -> Vec<String> {
    let line = |t: &TensorRun| {
        let shape = t.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ");
        let format = t.format.map_or_else(String::new, |f| format!("  {}", f.name()));
        let count = if t.count > 1 { format!("{} x  ", t.count) } else { String::new() };
        [t.name.clone(), format!("  {count}{shape}{format}")]
    };
    tensors.iter().flat_map(line).collect()
}
