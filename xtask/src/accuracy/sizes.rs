//! Suite `sizes`: bytes of published files and repositories, from the model's config and a quantisation's name.
//!
//! What is no recipe's size is left out: dynamic and other own mixes, importance matrices, projectors, models
//! with parts taken out. Three uploaders give mixes of their own the plain names; their files are a group apart.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;
use vramplan_core::answer::Weighed;
use vramplan_core::catalogue::{ModelRow, converted, find_model};
use vramplan_core::packing::{Layout, MlxMode, Packing};
use vramplan_core::quants::{FileBytes, Making, Quantiser, Recipe, file_bytes};

use super::corpus::Corpus;
use super::score::{Outcome, Score};

/// Words in names of files that are no plain recipe's.
const LEFT_OUT: &[&str] =
    &["UD-", "imatrix", "mmproj", "APEX", "MoQ", "-OTQ", "AutoRound", "REAP", "D_AU", "NEO-CODE", "-MTP-"];

/// Uploaders whose plain names stand for mixes of their own.
const OWN_MIXES: &[&str] = &["unsloth/", "bartowski/", "DavidAU/"];

/// The share of the estimated metadata that the rest of a file may be: tokenizers with and without merges.
const METADATA: (u64, u64) = (40, 220);

pub(crate) fn run(corpus: &Corpus) -> Result<Score> {
    let mut score = Score::default();
    let names = corpus.json("names.json")?.unwrap_or_default();
    let mut repositories: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for row in corpus.records_near("published_sizes.jsonl")? {
        let Some(file) = File::read(row, &names) else { continue };
        match file.text("format") {
            "gguf" => repositories.entry(file.text("repo").to_owned()).or_default().push(file),
            "mlx" | "safetensors" if file.text("kind") == "safetensors_total_size" => {
                packed(&mut score, &file)
            }
            _ => {}
        }
    }
    repositories.values().for_each(|files| score_repository(&mut score, files));
    Ok(score)
}

/// A published file or repository of a model of the catalogue.
struct File {
    row: Value,
    model: ModelRow,
}

impl File {
    fn read(row: Value, names: &Value) -> Option<Self> {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let mapped = names["repos"][text("repo")].as_str().or(names["models"][text("base")].as_str());
        let id = row["model"].as_str().or(mapped)?;
        let model = find_model(id).one()?;
        Some(Self { row, model })
    }

    fn text(&self, key: &str) -> &str {
        self.row[key].as_str().unwrap_or_default()
    }

    fn bytes(&self) -> u64 {
        self.row["bytes"].as_u64().unwrap_or(0)
    }

    fn id(&self) -> String {
        format!("{}/{} {}", self.text("repo"), self.text("file"), self.text("quant"))
    }

    fn is_exact(&self) -> bool {
        self.row["exact"].as_bool() == Some(true)
    }

    /// How far the true size may lie from the one that is recorded; `None` where it was typed by hand.
    fn rounding(&self) -> Option<u64> {
        if self.is_exact() {
            return Some(0);
        }
        match self.text("rounding") {
            text if text.contains("decimal GB") => Some((1 << 30) / 20),
            text if text.contains("decimal MB") => Some((1 << 20) / 20),
            text if text.contains("2 decimals in GiB") => Some((1 << 30) / 200),
            _ => None,
        }
    }

    /// The quantisation of whole repositories that its repository is named for.
    fn tool(&self) -> Option<&'static str> {
        ["AWQ", "FP8", "NVFP4", "GPTQ"].into_iter().find(|tool| self.text("repo").contains(tool))
    }

    /// The recipe of its name; `None` for what is none.
    fn recipe(&self) -> Option<Recipe> {
        let name = self.text("file").trim_end_matches(".gguf");
        if LEFT_OUT.iter().any(|word| name.contains(word) || self.text("repo").contains(word)) {
            return None;
        }
        let last = || name.rsplit(['-', '.', '_']).next()?.parse().ok();
        let end = |n: usize| {
            let words: Vec<&str> = name.rsplitn(n + 1, ['-', '.']).collect();
            words.get(n - 1)?.parse().ok()
        };
        // The record's own field is read off the name too, and now and then wrong.
        end(1).or_else(last).or_else(|| self.text("quant").parse().ok())
    }

    /// The file made like this.
    fn made(&self, making: Making) -> Option<FileBytes> {
        let described = self.model.describe().ok()?;
        Some(file_bytes(&converted(self.model.name.clone(), &described, making).ok()?))
    }
}

/// Files of one repository are made by one quantiser with or without an importance matrix; records do not
/// say which, so the way that fits most of them holds for all.
fn score_repository(score: &mut Score, files: &[File]) {
    let files: Vec<(&File, Recipe)> = files.iter().filter_map(|f| Some((f, f.recipe()?))).collect();
    let ways = [Quantiser::Current, Quantiser::Older].map(|q| [(q, false), (q, true)]).concat();
    let outcomes = |(quantiser, imatrix): (Quantiser, bool)| -> Vec<(Outcome, String)> {
        let of = |(file, recipe): &(&File, Recipe)| {
            gguf(file, Making { recipe: *recipe, imatrix: imatrix || recipe.needs_imatrix(), quantiser })
        };
        files.iter().map(of).collect()
    };
    let met = |outcomes: &Vec<(Outcome, String)>| {
        outcomes.iter().filter(|(outcome, _)| *outcome == Outcome::Error(0.0)).count()
    };
    let best = ways.into_iter().map(outcomes).rev().max_by_key(met).unwrap_or_default();
    for ((file, _), (outcome, detail)) in files.iter().zip(best) {
        let Some(rounding) = file.rounding() else { continue };
        let group = match rounding {
            0 if file.text("kind") == "ollama_manifest_total" => "ollama/exact",
            0 => "gguf/exact",
            _ if OWN_MIXES.iter().any(|uploader| file.text("repo").starts_with(uploader)) => "gguf/own mixes",
            _ => "gguf/rounded",
        };
        score.add(group, &file.id(), outcome, &detail);
    }
}

/// Whether a file is as large as its recipe says: rounded sizes within their rounding; of exact ones the
/// tensors to the byte, what is left being the metadata's.
fn gguf(file: &File, making: Making) -> (Outcome, String) {
    let Some(made) = file.made(making) else { return (Outcome::Missed, "not built".to_owned()) };
    let (least, most) = METADATA;
    let body = made.tensors.0 + made.table.0;
    let slack = file.rounding().unwrap_or(0);
    let low = (body + made.metadata.0 * least / 100).saturating_sub(slack);
    let high = body + made.metadata.0 * most / 100 + slack;
    let bytes = file.bytes();
    let detail = format!("{making:?}: {} and {bytes}, {} left", made.total().0, bytes as i64 - body as i64);
    let within = (low..=high).contains(&bytes);
    (if within { Outcome::Error(0.0) } else { Outcome::of(made.total().0, bytes) }, detail)
}

/// A repository of safetensors: MLX's, or the model as it is published.
fn packed(score: &mut Score, file: &File) {
    let mut group = format!("{}/{}", file.text("format"), if file.is_exact() { "exact" } else { "rounded" });
    let (Some(slack), Ok(described)) = (file.rounding(), file.model.describe()) else { return };
    let weighed = Weighed::of_row(&file.model, &described);
    let bytes = match (file.text("format"), Packing::of_config(&file.model.config)) {
        ("mlx", _) => mlx_layout(file).map(|layout| weighed.mlx_bytes(layout)),
        (_, Err(_)) => None,
        (_, Ok(Some(packing))) => Some(weighed.bytes(&packing)),
        (_, Ok(None)) => match file.tool() {
            None => Some(weighed.bytes(&Packing::none())),
            // Made from the model of the row, by rules that its config does not tell.
            Some(tool) => {
                group = "safetensors/by a tool".into();
                let usual = weighed.sizes(None).into_iter().find(|size| size.name.starts_with(tool));
                usual.map(|size| size.bytes)
            }
        },
    };
    let Some(bytes) = bytes else { return };
    let is_near = bytes.0.abs_diff(file.bytes()) <= slack;
    let outcome = if is_near { Outcome::Error(0.0) } else { Outcome::of(bytes.0, file.bytes()) };
    let off = file.bytes() as i64 - bytes.0 as i64;
    score.add(
        &group,
        &file.id(),
        outcome,
        &format!("{}: {} and {}, {off}", file.model.id, bytes.0, file.bytes()),
    );
}

/// The layout that a repository's name states; `None` for mixes.
fn mlx_layout(file: &File) -> Option<Layout> {
    let (quant, repo) = (file.text("quant"), file.text("repo"));
    if quant == "bf16" {
        return Some(Layout::Plain);
    }
    if repo.contains("DQ") || repo.contains("NVFP4") {
        return None;
    }
    let group = if repo.contains("gs32") { 32 } else { 64 };
    Some(if repo.ends_with("MXFP4") || quant.ends_with("mxfp4") {
        Layout::Mlx { bits: 4, group: 32, mode: MlxMode::Byte }
    } else {
        let bits = quant.trim_end_matches("bit").parse().ok()?;
        Layout::Mlx { bits, group, mode: MlxMode::Affine }
    })
}
