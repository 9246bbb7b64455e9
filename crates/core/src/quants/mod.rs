//! Which number format does llama.cpp's quantiser give each tensor of a model?
//!
//! A named mix such as `Q4_K_M` is a set of rules over names, shapes and the place of a layer. They are
//! facts of the quantiser, not of an engine's memory: a file keeps them wherever it is run.
//! Source: ggml-org/llama.cpp v0.5.0 `src/llama-quant.cpp`.

mod facts;
mod kept;
mod mix;
mod part;
mod recipe;

use alloc::vec::Vec;

use crate::dtype::Format;
use crate::model::{Model, Tensor};
use crate::units::Bytes;
use mix::Mix;
pub use recipe::{Recipe, UnknownRecipe};

/// Tensors start at multiples of this in a GGUF file (`GGUF_DEFAULT_ALIGNMENT`).
const ALIGNMENT: u64 = 32;

/// What would the model's file hold if it were made with this recipe? Sets every tensor's format and
/// offset; `imatrix` says whether the quantiser has an importance matrix, which changes a few rules.
///
/// The tensors' formats before count only where the quantiser leaves a tensor alone, and offsets run in
/// the order of the list. The quantiser itself writes layer by layer and by name within a layer.
/// Source: ggml-org/llama.cpp v0.5.0 `src/llama-quant.cpp:llama_model_quantize_impl`.
pub fn apply(recipe: Recipe, imatrix: bool, model: &mut Model) {
    if recipe.main_format().is_quantised() {
        quantise(recipe, imatrix, model);
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

fn quantise(recipe: Recipe, imatrix: bool, model: &mut Model) {
    let mut mix = Mix::new(recipe, imatrix, model);
    for index in in_quantiser_order(&model.tensors) {
        let tensor = &mut model.tensors[index];
        tensor.format = if kept::may_quantise(tensor) {
            fitting(mix.choose(tensor), tensor.shape[0])
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
fn fitting(wanted: Format, row: u64) -> Format {
    let fits = |format: &Format| row.is_multiple_of(format.block_elements());
    [wanted, smaller_blocks(wanted)].into_iter().find(fits).unwrap_or(Format::F16)
}

const fn smaller_blocks(format: Format) -> Format {
    use Format::{Iq1M, Iq1S, Iq2S, Iq2Xs, Iq2Xxs, Iq3S, Iq3Xxs, Iq4Nl, Iq4Xs};
    match format {
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
        assert_eq!(fitting(Format::Q4K, 4096), Format::Q4K);
        assert_eq!(fitting(Format::Q4K, 1408), Format::Q5_0);
        assert_eq!(fitting(Format::Iq2Xxs, 96), Format::Iq4Nl);
        assert_eq!(fitting(Format::Q6K, 100), Format::F16);
        assert_eq!(fitting(Format::Q8_0, 4), Format::F16);
    }
}
