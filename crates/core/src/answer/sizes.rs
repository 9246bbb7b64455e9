//! What would a model weigh in the forms that people fetch or make?

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::archs::Described;
use crate::catalogue::{converted, usual_recipe};
use crate::dtype::Format;
use crate::formats::hf_config::Config;
use crate::model::Parameter;
use crate::packing::{Layout, MlxMode, OwnFormat, Packing, Scales, Stored, mlx};
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

/// The model of a config in every usual form, or in one recipe alone; `release` is the day it came out.
pub fn sizes(
    config: &Value,
    described: &Described,
    release: Option<&str>,
    only: Option<Recipe>,
) -> Vec<Size> {
    let own = own_format(config);
    let model_type = config.get("model_type").and_then(Value::as_str).unwrap_or("");
    let stored = described.stored();
    let whole: Vec<Parameter> = described.parameters.iter().cloned().chain(described.unbuilt()).collect();
    let weigh = |packing: &Packing, of: &[Parameter]| {
        packing.store(of.iter(), OwnFormat::new(own, model_type)).iter().map(Stored::bytes).sum()
    };
    let mut list = Vec::new();
    let stated = Packing::of_config(config);
    if let Ok(packing) = &stated {
        let plain = Packing::none();
        let name = packing.as_ref().map_or(own.name(), |packing| packing.method.as_str()).to_string();
        let bytes = weigh(packing.as_ref().unwrap_or(&plain), &stored);
        list.push(Size { name, kind: SizeKind::Published, bytes });
    }
    list.extend(gguf(config, described, release, only));
    // What is quantised already is not quantised again.
    if only.is_none() && matches!(stated, Ok(None)) {
        list.extend(quantised().into_iter().map(|(name, packing)| Size {
            name: name.into(),
            kind: SizeKind::Quantised,
            bytes: weigh(&packing, &stored),
        }));
        let mixed = described.facts.experts.is_some();
        for bits in [8, 4] {
            let layout = Layout::Mlx { bits, group: 64, mode: MlxMode::Affine };
            let bytes = weigh(&mlx(layout, model_type, mixed), &whole);
            list.push(Size { name: alloc::format!("{bits}-bit"), kind: SizeKind::Mlx, bytes });
        }
    }
    list
}

fn gguf(config: &Value, described: &Described, release: Option<&str>, only: Option<Recipe>) -> Vec<Size> {
    let usual = usual_recipe(config);
    let mut recipes: Vec<Recipe> = match only {
        Some(recipe) => [recipe].into(),
        None if RECIPES.contains(&usual) => RECIPES.into(),
        None => [usual].into(),
    };
    recipes.retain(|recipe| only.is_some() || !described.facts.arch.is_empty() || *recipe == usual);
    let size = |recipe: Recipe| {
        let model = converted(String::new(), described, Making::published(recipe, release)).ok()?;
        let bytes = file_bytes(&model).total();
        Some(Size { name: recipe.name().into(), kind: SizeKind::Gguf, bytes })
    };
    recipes.into_iter().filter_map(size).collect()
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
fn own_format(config: &Value) -> Format {
    let stated = Config::new(config).ok().and_then(|config| config.dtype());
    match stated {
        Some("float32") => Format::F32,
        Some("float16") => Format::F16,
        _ => Format::Bf16,
    }
}
