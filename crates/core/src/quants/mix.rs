//! The rules of the mixes: which format does a tensor that may be quantised get?
//!
//! One function per part of the network. Source of all: ggml-org/llama.cpp v0.5.0
//! `src/llama-quant.cpp:llama_tensor_get_type_impl`.

use crate::dtype::Format;
use crate::model::{Model, Tensor};

use super::facts::Facts;
use super::part::Part;
use super::{Making, Quantiser, Recipe};

/// Walks over the tensors of one model, which must come layer by layer: some rules count.
pub(super) struct Mix {
    facts: Facts,
    seen: Seen,
}

/// How many tensors of a part came before?
#[derive(Default)]
struct Seen {
    value: u64,
    down: u64,
    gate: u64,
    up: u64,
}

/// Where a tensor stands among its like.
#[derive(Clone, Copy)]
struct Place {
    index: u64,
    of: u64,
}

impl Place {
    /// Among the first 1/`part` of all.
    const fn is_in_first(self, part: u64) -> bool {
        self.index < self.of / part
    }

    /// Among the last eighth.
    const fn is_in_last_eighth(self) -> bool {
        self.index >= self.of.saturating_mul(7) / 8
    }

    /// The medium mixes spend more bits on the first and the last eighth and on every third in between.
    const fn gets_more_bits(self) -> bool {
        self.is_in_first(8) || self.is_in_last_eighth() || (self.index - self.of / 8) % 3 == 2
    }
}

impl Mix {
    pub(super) fn new(making: Making, model: &Model) -> Self {
        Self { facts: Facts::of(making, model), seen: Seen::default() }
    }

    /// The format the mix wants for the next tensor, whether or not its rows divide into blocks.
    pub(super) fn choose(&mut self, tensor: &Tensor) -> Format {
        let part = self.facts.quantiser.part(&tensor.name);
        let is_output = part == Part::Output || (self.facts.tied && self.serves_as_output(tensor, part));
        if is_output {
            self.output(tensor)
        } else if self.facts.recipe == Recipe::Mxfp4Moe {
            self.mxfp4(part, tensor)
        } else if part == Part::Embedding {
            embedding(self.facts.recipe)
        } else if self.facts.recipe.is_tiny() {
            self.tiny(part)
        } else {
            self.ordinary(part, tensor)
        }
    }

    /// Whether the tensor is what a model without an output projection has in its place; today's rules take
    /// embeddings by layer for it too.
    fn serves_as_output(&self, tensor: &Tensor, part: Part) -> bool {
        let every = self.facts.quantiser == Quantiser::Current;
        part == Part::Embedding && (every || tensor.name == "token_embd.weight")
    }

    /// The output projection, or the embedding that serves as one, is worth more bits.
    fn output(&self, tensor: &Tensor) -> Format {
        let recipe = self.facts.recipe;
        let main = recipe.main_format();
        let fits = tensor.shape[0].is_multiple_of(main.block_elements());
        if recipe == Recipe::Mxfp4Moe || self.facts.is_falcon || !fits {
            Format::Q8_0
        } else if recipe.is_tiny() || recipe == Recipe::Iq3Xxs {
            Format::Q5K
        } else if main == Format::Q8_0 {
            main
        } else {
            Format::Q6K
        }
    }

    /// Experts, which are the 3-D tensors, get MXFP4.
    fn mxfp4(&self, part: Part, tensor: &Tensor) -> Format {
        let is_ffn = matches!(part, Part::Up | Part::Gate | Part::Down);
        let is_expert = tensor.shape[2] > 1 && (is_ffn || !self.facts.experts_by_name);
        if is_expert { Format::Mxfp4 } else { Format::Q8_0 }
    }

    /// The 1- and 2-bit codebook mixes.
    fn tiny(&mut self, part: Part) -> Format {
        match part {
            Part::Value => self.tiny_value(),
            Part::Key if self.facts.has_eight_experts() => Format::Q4K,
            Part::Down => self.tiny_down(),
            Part::AttentionOutput => self.tiny_attention_output(),
            _ => self.facts.recipe.main_format(),
        }
    }

    fn tiny_value(&self) -> Format {
        if self.facts.shares_four() || self.facts.experts >= 4 { Format::Q4K } else { self.tiny_raised() }
    }

    /// These mixes count matrices here, not layers, also where experts have several a layer.
    fn tiny_down(&mut self) -> Format {
        let place = Place { index: next(&mut self.seen.down), of: self.facts.layers };
        if place.is_in_first(8) { self.tiny_raised() } else { self.facts.recipe.main_format() }
    }

    fn tiny_attention_output(&self) -> Format {
        match self.facts.recipe {
            _ if self.facts.has_eight_experts() => Format::Q5K,
            Recipe::Iq1S | Recipe::Iq1M => Format::Iq2Xxs,
            Recipe::Iq2S | Recipe::Iq2M => Format::Iq3S,
            recipe => recipe.main_format(),
        }
    }

    /// One step up for the parts that lose most.
    const fn tiny_raised(&self) -> Format {
        if self.facts.recipe.is_two_and_a_half_bits() { Format::Iq3S } else { Format::Q2K }
    }

    /// Every other mix. Legacy mixes pass through the same rules and match few of them.
    fn ordinary(&mut self, part: Part, tensor: &Tensor) -> Format {
        match part {
            Part::Value => self.value(),
            Part::Key if self.facts.has_eight_experts() => Format::Q8_0,
            Part::Key | Part::Query => query_or_key(self.facts.recipe),
            Part::Down => self.down(tensor),
            Part::AttentionOutput => self.attention_output(),
            Part::Gate => {
                let index = next(&mut self.seen.gate);
                self.up_or_gate(self.layer_of(tensor, index))
            }
            Part::Up => {
                let index = next(&mut self.seen.up);
                self.up_or_gate(self.layer_of(tensor, index))
            }
            Part::FusedQkv => fused(self.facts.recipe),
            Part::Embedding | Part::Output | Part::FusedKv | Part::Other => self.facts.recipe.main_format(),
        }
    }

    fn value(&mut self) -> Format {
        let place = Place { index: next(&mut self.seen.value), of: self.facts.values };
        let wanted = self.value_by_recipe(place);
        match wanted {
            // With eight experts the attention is so small a share that 8 bits cost next to nothing.
            _ if self.facts.has_eight_experts() => Format::Q8_0,
            // Eight query heads share a value head in models of this class: likewise.
            Format::Q3K | Format::Q4K if self.facts.is_70b => Format::Q5K,
            _ => wanted,
        }
    }

    fn value_by_recipe(&self, place: Place) -> Format {
        let shares_four = self.facts.shares_four();
        match self.facts.recipe {
            Recipe::Q2K if !shares_four => Format::Q3K,
            Recipe::Q2K | Recipe::Q2KS | Recipe::Iq3Xxs | Recipe::Iq3Xs | Recipe::Iq3S if shares_four => {
                Format::Q4K
            }
            Recipe::Iq3Xxs if !self.facts.imatrix => Format::Iq3S,
            Recipe::Iq3M => Format::Q4K,
            Recipe::Q3KM if place.index < 2 => Format::Q5K,
            Recipe::Q3KM => Format::Q4K,
            Recipe::Q3KL => Format::Q5K,
            Recipe::Iq4Nl | Recipe::Iq4Xs if shares_four => Format::Q5K,
            Recipe::Q4KM | Recipe::Q5KM if place.gets_more_bits() => Format::Q6K,
            Recipe::Q4KS if place.index < 4 => Format::Q5K,
            recipe => recipe.main_format(),
        }
    }

    fn down(&mut self, tensor: &Tensor) -> Format {
        let index = next(&mut self.seen.down);
        let place = self.layer_of(tensor, index);
        if self.facts.is_falcon {
            self.falcon_down(place).unwrap_or_else(|| self.down_by_recipe(place))
        } else {
            self.down_by_recipe(place)
        }
    }

    /// Where Falcon's feed-forward differs; `None` where it does not.
    fn falcon_down(&self, place: Place) -> Option<Format> {
        let more = place.gets_more_bits();
        match self.facts.recipe {
            Recipe::Q3KM if place.is_in_first(16) => Some(Format::Q5K),
            Recipe::Q3KM => Some(if more { Format::Q4K } else { Format::Q3K }),
            Recipe::Q3KL => Some(Format::Q4K),
            Recipe::Q4KM if place.is_in_first(16) => Some(Format::Q6K),
            Recipe::Q4KM => Some(if more { Format::Q5K } else { Format::Q4K }),
            Recipe::Q4KS => Some(Format::Q4K),
            _ => None,
        }
    }

    fn down_by_recipe(&self, place: Place) -> Format {
        let (imatrix, first) = (self.facts.imatrix, place.is_in_first(8));
        match self.facts.recipe {
            Recipe::Q2K => Format::Q3K,
            Recipe::Q2KS if first => Format::Q4K,
            Recipe::Iq3Xxs if !imatrix => {
                if first {
                    Format::Q4K
                } else {
                    Format::Q3K
                }
            }
            Recipe::Q3KM => {
                if place.is_in_first(16) {
                    Format::Q5K
                } else {
                    Format::Q4K
                }
            }
            Recipe::Iq3M if first || (self.facts.has_eight_experts() && place.gets_more_bits()) => {
                Format::Q4K
            }
            Recipe::Q3KL => Format::Q5K,
            Recipe::Q4KM | Recipe::Q5KM if place.gets_more_bits() => Format::Q6K,
            Recipe::Iq4Nl | Recipe::Iq4Xs if first && !imatrix => Format::Q5K,
            Recipe::Q4KS if first => Format::Q5K,
            // With an importance matrix the first layers of these go wrong without a minimum.
            Recipe::Q4_0 if first && imatrix => Format::Q4_1,
            Recipe::Q5_0 if first && imatrix => Format::Q5_1,
            recipe => recipe.main_format(),
        }
    }

    fn attention_output(&self) -> Format {
        let recipe = self.facts.recipe;
        let main = recipe.main_format();
        if self.facts.is_falcon {
            return if recipe == Recipe::Q3KL { Format::Q4K } else { main };
        }
        if self.facts.has_eight_experts() {
            return if is_raised_beside_eight_experts(recipe) { Format::Q5K } else { main };
        }
        match recipe {
            Recipe::Q2K => Format::Q3K,
            Recipe::Iq3Xxs => Format::Iq3S,
            Recipe::Q3KM | Recipe::Iq3M => Format::Q4K,
            Recipe::Q3KL => Format::Q5K,
            _ => main,
        }
    }

    fn up_or_gate(&self, place: Place) -> Format {
        let is_inner = !place.is_in_first(8) && !place.is_in_last_eighth();
        match self.facts.recipe {
            Recipe::Iq3Xs if is_inner => Format::Iq3Xxs,
            recipe => recipe.main_format(),
        }
    }

    /// The place of a feed-forward matrix: by the layer in its name where a layer has several (experts),
    /// by counting where it has one; layers without a matrix of the kind are then not counted.
    fn layer_of(&self, tensor: &Tensor, counted: u64) -> Place {
        let named = tensor.layer.filter(|_| self.facts.experts > 1);
        Place { index: named.map_or(counted, u64::from), of: self.facts.layers }
    }
}

/// The embedding of a model with an output projection of its own.
const fn embedding(recipe: Recipe) -> Format {
    match recipe {
        Recipe::Iq2S | Recipe::Iq2M | Recipe::Iq3Xxs => Format::Iq3S,
        Recipe::Tq1_0 | Recipe::Tq2_0 | Recipe::Q2_0 => Format::Q4K,
        _ if recipe.is_below_two_and_a_half_bits() => Format::Q2K,
        _ => recipe.main_format(),
    }
}

/// Queries, keys and values in one matrix, by the older rules.
const fn fused(recipe: Recipe) -> Format {
    match recipe {
        Recipe::Q3KM | Recipe::Q3KL | Recipe::Iq3M => Format::Q4K,
        Recipe::Q4KM => Format::Q5K,
        Recipe::Q5KM => Format::Q6K,
        _ => recipe.main_format(),
    }
}

const fn query_or_key(recipe: Recipe) -> Format {
    match recipe {
        Recipe::Iq3Xs => Format::Iq3Xxs,
        Recipe::Iq3Xxs => Format::Iq2S,
        _ => recipe.main_format(),
    }
}

/// The mixes that raise the attention output of eight-expert models to 5 bits.
const fn is_raised_beside_eight_experts(recipe: Recipe) -> bool {
    use Recipe::{Iq3M, Iq3S, Iq3Xs, Iq3Xxs, Iq4Nl, Iq4Xs, Q2K, Q3KM, Q3KS, Q4KM, Q4KS};
    matches!(recipe, Q2K | Iq3Xs | Iq3Xxs | Q3KS | Q3KM | Iq4Nl | Q4KS | Q4KM | Iq3S | Iq3M | Iq4Xs)
}

/// Takes a number and counts on.
const fn next(counter: &mut u64) -> u64 {
    let index = *counter;
    *counter += 1;
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn more_bits_go_to_both_ends_and_every_third_between() {
        let raised: Vec<u64> = (0..32).filter(|i| Place { index: *i, of: 32 }.gets_more_bits()).collect();
        assert_eq!(raised, [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31]);
    }
}
