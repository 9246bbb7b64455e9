//! What would a model weigh in the forms that people fetch or make?

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::archs::Described;
use crate::catalogue::{ModelRow, converted, usual_recipe};
use crate::dtype::Format;
use crate::formats::hf_config::Config;
use crate::packing::{Converted, Layout, MlxMode, OwnFormat, Packing, Scales, Stored};
use crate::quants::{Making, Recipe, file_bytes};
use crate::units::Bytes;

/// One form of a model, and what its files weigh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Size {
    /// What the form is called: `Q4_K_M`, `AWQ 4-bit`, `BF16`.
    pub name: String,
    /// What kind of files.
    pub kind: SizeKind,
    /// Bytes of the files: of GGUF with their metadata, which are estimated from the vocabulary.
    pub bytes: Bytes,
}

/// What kind of files is a form?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizeKind {
    /// safetensors as the config says they are published.
    Published,
    /// safetensors, quantised by a tool.
    Quantised,
    /// A GGUF file by a recipe: estimated, as uploads may be mixes of their own.
    Gguf,
    /// safetensors as MLX's converter makes them.
    Mlx,
}

/// The recipes that are shown unasked, largest first.
const RECIPES: &[Recipe] = &[
    Recipe::Q8_0,
    Recipe::Q6K,
    Recipe::Q5KM,
    Recipe::Q4KM,
    Recipe::Iq4Xs,
    Recipe::Q3KM,
    Recipe::Iq3Xxs,
    Recipe::Q2K,
];

/// Groups of inputs of the usual 4-bit quantisations.
const GROUP: u64 = 128;

/// Parts of names of repositories whose weights are quantised, also where their config does not say how.
const QUANTISED_NAMES: &[&str] =
    &["-nvfp4", "-mxfp4", "-fp8", "-awq", "-gptq", "-4bit", "-8bit", "-int4", "-int8"];

/// A model whose forms are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Weighed<'a> {
    /// What it is called: names of repositories say where weights are quantised.
    pub name: &'a str,
    /// Its config.
    pub config: &'a Value,
    /// What the config describes.
    pub described: &'a Described,
    /// The day it came out, where that is known.
    pub release: Option<&'a str>,
    /// Its files hold everything in one format, also what others of its type keep in 32 bits.
    pub one_format: bool,
}

impl<'a> Weighed<'a> {
    /// A row of the catalogue.
    pub fn of_row(row: &'a ModelRow, described: &'a Described) -> Self {
        let release = row.release.as_deref();
        Self { name: &row.id, config: &row.config, described, release, one_format: row.one_format }
    }

    /// A config of a model of which nothing else is known.
    pub fn of_config(name: &'a str, config: &'a Value, described: &'a Described) -> Self {
        Self { name, config, described, release: None, one_format: false }
    }

    /// Every usual form, or one recipe alone.
    pub fn sizes(&self, only: Option<Recipe>) -> Vec<Size> {
        let size = |name: &str, kind, packing: &Packing| Size {
            name: name.into(),
            kind,
            bytes: self.bytes(packing),
        };
        let mut list = Vec::new();
        let stated = Packing::of_config(self.config);
        match &stated {
            Ok(Some(packing)) => list.push(size(&packing.method, SizeKind::Published, packing)),
            Ok(None) if !names_a_quantisation(self.name) => {
                list.push(size(stated_format(self.config).name(), SizeKind::Published, &Packing::none()));
            }
            Ok(None) | Err(_) => {}
        }
        list.extend(self.ggufs(only));
        // What is quantised already is not quantised again.
        if only.is_none() && matches!(stated, Ok(None)) {
            let packings = quantised();
            list.extend(packings.iter().map(|(name, packing)| size(name, SizeKind::Quantised, packing)));
            list.extend([8, 4].map(|bits| {
                let layout = Layout::Mlx { bits, group: 64, mode: MlxMode::Affine };
                Size { name: format!("{bits}-bit"), kind: SizeKind::Mlx, bytes: self.mlx_bytes(layout) }
            }));
        }
        list
    }

    /// GGUF files by one recipe, or by the usual ones.
    fn ggufs(&self, only: Option<Recipe>) -> Vec<Size> {
        let usual = usual_recipe(self.config);
        let mut recipes: Vec<Recipe> = match only {
            Some(recipe) => [recipe].into(),
            None if RECIPES.contains(&usual) => RECIPES.into(),
            None => [usual].into(),
        };
        recipes.retain(|recipe| only.is_some() || !self.described.facts.arch.is_empty() || *recipe == usual);
        let size = |recipe: Recipe| {
            let making = Making::published(recipe, self.release);
            let model = converted(String::new(), self.described, making).ok()?;
            let bytes = file_bytes(&model).total();
            Some(Size { name: recipe.name().into(), kind: SizeKind::Gguf, bytes })
        };
        recipes.into_iter().filter_map(size).collect()
    }

    /// Bytes of the tensors of its files with this packing.
    pub fn bytes(&self, packing: &Packing) -> Bytes {
        packing.store(self.described.stored().iter(), self.own_format()).iter().map(Stored::bytes).sum()
    }

    /// Bytes of its tensors as MLX's converter stores them, which leaves layers ahead out.
    pub fn mlx_bytes(&self, layout: Layout) -> Bytes {
        let mixed = self.described.facts.experts.is_some();
        let converted = Converted { config: self.config, mixed, release: self.release };
        let own = converted.own_format(self.own_format());
        let unbuilt = self.described.unbuilt();
        let kept = self.described.parameters.iter().chain(&unbuilt);
        converted.packing(layout).store(kept, own).iter().map(Stored::bytes).sum()
    }

    fn own_format(&self) -> OwnFormat {
        let format = stated_format(self.config);
        let model_type = self.config.get("model_type").and_then(Value::as_str).unwrap_or("");
        if self.one_format { OwnFormat::alone(format) } else { OwnFormat::new(format, model_type) }
    }
}

fn names_a_quantisation(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    QUANTISED_NAMES.iter().any(|part| lower.contains(part))
}

/// The usual quantisations of whole repositories.
fn quantised() -> [(&'static str, Packing); 3] {
    let fp8 = Layout::Fp8 { scales: Scales::Block(128, 128), input_scale: false };
    [
        ("FP8", Packing::everywhere("fp8", fp8)),
        ("NVFP4", Packing::everywhere("nvfp4", Layout::Nvfp4)),
        ("AWQ 4-bit", Packing::everywhere("awq", Layout::Awq { bits: 4, group: Some(GROUP) })),
    ]
}

/// The number format that a config states for its weights.
fn stated_format(config: &Value) -> Format {
    let stated = Config::new(config).ok().and_then(|config| config.dtype());
    match stated {
        Some("float32") => Format::F32,
        Some("float16") => Format::F16,
        _ => Format::Bf16,
    }
}
