//! The figures for people: on the terminal and as the published table.

use super::Table;
use super::score::{Figures, Score};

/// Prints the figures of a suite, and the worst records of each group.
pub(super) fn print(suite: &str, score: &Score, worst: usize) {
    println!(
        "{suite:<36} {:>5} {:>5} {:>6}  {:>8} {:>8} {:>8} {:>8}",
        "n", "exact", "missed", "median", "p90", "p99", "worst"
    );
    for (group, f) in score.figures() {
        let [median, p90, p99, most] = percents(&f);
        println!(
            "  {group:<34} {:>5} {:>5} {:>6}  {median:>8} {p90:>8} {p99:>8} {most:>8}",
            f.n, f.exact, f.missed
        );
        let mut misses = score.misses.get(&group).cloned().unwrap_or_default();
        misses.sort_by(|a, b| b.error.total_cmp(&a.error));
        for miss in misses.iter().take(worst) {
            println!("      {}  {:.3}%  {}", miss.id, miss.error * 100.0, miss.detail);
        }
    }
    for (name, n) in &score.unmapped {
        println!("  unmapped: {name} ({n})");
    }
}

fn percents(f: &Figures) -> [String; 4] {
    [f.median, f.p90, f.p99, f.worst].map(|error| format!("{:.2}%", error * 100.0))
}

const HEAD: &str = "# How right vramplan is

Written by `cargo xtask accuracy --write` from the records under `observations/`: what real engines
allocated, replayed against the code of this version. Errors are absolute and relative; *exact* is to
the byte; *missed* is a record that the code cannot handle and counts as an error of 100%.

";

/// The published table.
pub(super) fn markdown(table: &Table) -> String {
    let mut text = HEAD.to_owned();
    for (suite, groups) in table {
        text.push_str(&format!("## {suite}\n\n{}\n", about(suite)));
        text.push_str("| group | n | exact | missed | median | p90 | p99 | worst |\n");
        text.push_str("| --- | --: | --: | --: | --: | --: | --: | --: |\n");
        for (group, f) in groups {
            let [median, p90, p99, worst] = percents(f);
            text.push_str(&format!(
                "| {group} | {} | {} | {} | {median} | {p90} | {p99} | {worst} |\n",
                f.n, f.exact, f.missed
            ));
        }
    }
    text
}

/// What a suite holds, for readers of the table.
fn about(suite: &str) -> &'static str {
    match suite {
        "llama_cpp" => {
            "Buffers of the llama.cpp library v0.5.0 (its CPU and Vulkan backends, and a backend that answers\n\
             as CUDA does without hardware), by kind of device and number of GPUs. `model` is weights,\n\
             `context` KV cache and recurrent state, `compute` scratch, `total` their sum by device, `host`\n\
             pinned host buffers, `mapped` ranges of a mapped file, `refusal` settings the engine refuses.\n\
             Compute buffers follow a largest-live-set rule, not yet the engine's allocator.\n"
        }
        "params" => {
            "Parameters and tensors that the model classes of transformers 5.24.0 create (on torch's meta device),\n\
             from config.json alone. `total`, `active` and `embedding` are counts, `by_class` the whole split by\n\
             part, `tensors` all names and shapes; a list counts as right only as a whole. Records whose name\n\
             begins with `varied/` are made up: a class's defaults with single fields varied.\n"
        }
        "recipes" => {
            "Formats that a quantisation gives every tensor, from its name alone, against those that the llama.cpp\n\
             library v0.5.0 chose. `formats` counts a model as right only when all its tensors are, `bytes` is\n\
             their sum.\n"
        }
        "layouts" => {
            "Bytes of every kind of tensor (weights, scales, zero points) on one rank, by quantised layout, against\n\
             the classes of vLLM 0.32.0 built on the meta device. Left out is what the engine makes for itself:\n\
             scales of its cache, and one record of shapes for merged matrices.\n"
        }
        "sizes" => {
            "Published files and repositories of models in the catalogue, from the config and the quantisation's\n\
             name. GGUF: a rounded size counts as exact within its rounding; of an exact one the tensors must be\n\
             equal to the byte, and what is left is the tokenizer's metadata, estimated at 42 bytes an entry and\n\
             accepted from 17 to 92. Whether a repository was made with an importance matrix and by the\n\
             quantiser's rules of before or after early 2026 is in no record: the way that fits most of its files\n\
             holds for all. Left out: dynamic mixes, importance matrices, projectors, models with parts taken out.\n\
             `own mixes` are files of three uploaders who give mixes of their own the plain names. `ollama` rows\n\
             hold projectors as well, which are not counted yet. `mlx` and `safetensors` are sums of tensors; some\n\
             records hold file headers or a tokenizer too. `by a tool` are repositories named for a quantisation\n\
             that the row's config does not state, against that quantisation of every linear layer but the head.\n"
        }
        _ => "",
    }
}
