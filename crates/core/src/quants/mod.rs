//! Which number format does llama.cpp's quantiser give each tensor of a model?
//!
//! A named mix such as `Q4_K_M` is a set of rules over names, shapes and the place of a layer. They are
//! facts of the quantiser, not of an engine's memory: a file keeps them wherever it is run.
//! Source: ggml-org/llama.cpp v0.5.0 `src/llama-quant.cpp`.

mod facts;
mod file;
mod kept;
mod mix;
mod part;
mod recipe;
mod tag;

use alloc::vec::Vec;

use crate::dtype::Format;
use crate::model::{Model, Tensor};
use crate::units::Bytes;
pub use file::{FileBytes, file_bytes};
use mix::Mix;
use part::Part;
pub use recipe::{Recipe, UnknownRecipe};
pub use tag::tag_of_file;

/// Where the rules of the mixes are from.
pub const SOURCE: &str = "ggml-org/llama.cpp v0.5.0 src/llama-quant.cpp";

/// Tensors start at multiples of this in a GGUF file (`GGUF_DEFAULT_ALIGNMENT`).
const ALIGNMENT: u64 = 32;

/// Which rules does a quantiser follow? They changed once where matrices are fused, where an embedding stands
/// in for the output, and where rows fit no block.
///
/// Sources: ggml-org/llama.cpp b7698 and v0.5.0, `src/llama-quant.cpp`. The change lies between b7698 (January
/// 2026) and b8390 (March 2026).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantiser {
    /// As it was until early in 2026.
    Older,
    /// As it is.
    Current,
}

impl Quantiser {
    /// The quantiser that files of a model are made with when it comes out on this day (`2025-04-27`).
    pub fn at(release: &str) -> Self {
        const CHANGED: &str = "2026-03";
        if release < CHANGED { Self::Older } else { Self::Current }
    }

    /// The part that its rules take a tensor for.
    fn part(self, name: &str) -> Part {
        match (self, Part::of(name)) {
            (Self::Current, Part::FusedQkv | Part::FusedKv) => Part::Value,
            (_, part) => part,
        }
    }
}

/// How is a file made?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Making {
    /// The mix.
    pub recipe: Recipe,
    /// With an importance matrix, which changes a few rules.
    pub imatrix: bool,
    /// By whose rules.
    pub quantiser: Quantiser,
}

impl From<Recipe> for Making {
    /// Today's quantiser without an importance matrix.
    fn from(recipe: Recipe) -> Self {
        Self { recipe, imatrix: false, quantiser: Quantiser::Current }
    }
}

impl Making {
    /// As files of a model that came out on this day are published: the codebook mixes are always made with
    /// an importance matrix, the others with or without.
    pub fn published(recipe: Recipe, release: Option<&str>) -> Self {
        let quantiser = release.map_or(Quantiser::Current, Quantiser::at);
        Self { recipe, imatrix: recipe.is_codebook(), quantiser }
    }
}

/// What would the model's file hold if it were made like this? Sets every tensor's format and offset.
///
/// The tensors' formats before count only where the quantiser leaves a tensor alone, and offsets run in
/// the order of the list. The quantiser itself writes layer by layer and by name within a layer.
/// Source: ggml-org/llama.cpp v0.5.0 `src/llama-quant.cpp:llama_model_quantize_impl`.
pub fn apply(making: impl Into<Making>, model: &mut Model) {
    let making = making.into();
    let recipe = making.recipe;
    if recipe.main_format().is_quantised() {
        quantise(making, model);
    } else {
        for tensor in &mut model.tensors {
            tensor.format = kept::converted(recipe, tensor);
        }
    }
    lay_out(&mut model.tensors);
}

/// What is a file's quantisation called? By the type it states, else by the format most bytes are in.
pub fn name_of(file_type: Option<u64>, model: &Model) -> &'static str {
    let recipe = file_type.and_then(|n| u32::try_from(n).ok()).and_then(Recipe::from_file_type);
    match (recipe, model.main_format()) {
        (Some(recipe), _) => recipe.name(),
        (None, format) => format.map_or("", Format::name),
    }
}

fn quantise(making: Making, model: &mut Model) {
    let mut mix = Mix::new(making, model);
    for index in in_quantiser_order(&model.tensors) {
        let tensor = &mut model.tensors[index];
        tensor.format = if kept::may_quantise(tensor) {
            fitting(mix.choose(tensor), tensor.shape[0], making.quantiser)
        } else {
            kept::untouched(tensor)
        };
    }
}

/// The rules count tensors in this order: what belongs to no layer first, then layers, each by name
/// (ggml-org/llama.cpp v0.5.0 `src/llama-model-loader.h:weight_name_comparer`).
fn in_quantiser_order(tensors: &[Tensor]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    order.sort_by_key(|i| (tensors[*i].layer, tensors[*i].name.as_str()));
    order
}

/// The wanted format if rows of this length divide into its blocks, else one with smaller blocks, else F16.
///
/// Source: ggml-org/llama.cpp v0.5.0 `src/llama-quant.cpp:tensor_type_fallback`.
fn fitting(wanted: Format, row: u64, quantiser: Quantiser) -> Format {
    let fits = |format: &Format| row.is_multiple_of(format.block_elements());
    [wanted, smaller_blocks(wanted, quantiser)].into_iter().find(fits).unwrap_or(Format::F16)
}

const fn smaller_blocks(format: Format, quantiser: Quantiser) -> Format {
    use Format::{Iq1M, Iq1S, Iq2S, Iq2Xs, Iq2Xxs, Iq3S, Iq3Xxs, Iq4Nl, Iq4Xs};
    match format {
        Format::Q2K | Format::Q3K if matches!(quantiser, Quantiser::Older) => Iq4Nl,
        Iq1S | Iq1M | Iq2Xxs | Iq2Xs | Iq2S | Iq3Xxs | Iq3S | Iq4Xs => Iq4Nl,
        Format::Q2_0 | Format::Q2K | Format::Q3K | Format::Tq1_0 | Format::Tq2_0 => Format::Q4_0,
        Format::Q4K => Format::Q5_0,
        Format::Q5K => Format::Q5_1,
        Format::Q6K => Format::Q8_0,
        other => other,
    }
}

fn lay_out(tensors: &mut [Tensor]) {
    let mut end = Bytes::ZERO;
    for tensor in tensors {
        tensor.offset = end.0;
        end += tensor.size().padded(ALIGNMENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_fits_no_block_ends_as_f16() {
        assert_eq!(fitting(Format::Q4K, 4096, Quantiser::Current), Format::Q4K);
        assert_eq!(fitting(Format::Q4K, 1408, Quantiser::Current), Format::Q5_0);
        assert_eq!(fitting(Format::Iq2Xxs, 96, Quantiser::Current), Format::Iq4Nl);
        assert_eq!(fitting(Format::Q6K, 100, Quantiser::Current), Format::F16);
        assert_eq!(fitting(Format::Q8_0, 4, Quantiser::Current), Format::F16);
    }
}
