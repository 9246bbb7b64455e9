//! How large is a cache? A sum over layers of values a token times cells, in whole blocks of a format.

use crate::dtype::Format;
use crate::model::{Layer, Mixer};
use crate::units::{Bytes, Tokens};

/// What one token adds to the cache of one layer: values of K and, where one is kept, of V.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Values of K.
    pub k: u64,
    /// Values of V; 0 where K serves as V (latent attention).
    pub v: u64,
}

/// What does one token add to this layer's own cache? `None` for layers that keep none or read
/// another layer's.
pub fn row_of(layer: &Layer) -> Option<Row> {
    match &layer.mixer {
        Mixer::Attention(a) | Mixer::Parallel(a, _) => {
            a.shares_cache_with.is_none().then(|| Row { k: a.k_width(), v: a.v_width() })
        }
        Mixer::Latent(l) => Some(Row { k: l.cache_width(), v: 0 }),
        // No engine here runs them yet: those that do will say what a row of them is.
        Mixer::Compressed(_) | Mixer::Bidirectional(_) => None,
        Mixer::Recurrent(_) | Mixer::None => None,
    }
}

/// Bytes of `cells` rows of `values` values, by whole blocks of `format`.
///
/// A row that does not divide into blocks counts as the blocks it touches; engines refuse such a
/// format before they get here.
pub fn rows_bytes(format: Format, values: u64, cells: Tokens) -> Bytes {
    let blocks = values.div_ceil(format.block_elements());
    Bytes(blocks.saturating_mul(format.block_bytes())) * cells.0
}

/// Cells of a window layer that must hold its window for every sequence that shares it, and the batch
/// being processed, in steps of `step` cells; never more than `full`.
pub fn window_cells(full: Tokens, window: u64, sequences: u64, batch: u64, step: u64) -> Tokens {
    let needed = window.saturating_mul(sequences).saturating_add(batch);
    full.min(Tokens(needed).padded(step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Attention, Ffn, Latent};

    fn layer(mixer: Mixer) -> Layer {
        Layer { mixer, cross: None, ffn: Ffn::None, predicts_ahead: false }
    }

    #[test]
    fn grouped_heads_at_32k_in_f16_take_what_everybody_computes() {
        let a = Attention {
            heads: 32,
            kv_heads: 8,
            k_dim: 128,
            v_dim: 128,
            window: None,
            shares_cache_with: None,
            indexer: None,
        };
        let row = row_of(&layer(Mixer::Attention(a))).unwrap();
        let one =
            rows_bytes(Format::F16, row.k, Tokens(32_768)) + rows_bytes(Format::F16, row.v, Tokens(32_768));
        assert_eq!(one * 32, Bytes(4_294_967_296));
        let shared = Attention { shares_cache_with: Some(3), ..a };
        assert_eq!(row_of(&layer(Mixer::Attention(shared))), None);
    }

    #[test]
    fn latent_attention_keeps_one_row_for_keys_and_values() {
        let latent = Latent { heads: 128, kv_rank: 512, rope_dim: 64, k_dim: 192, v_dim: 128, indexer: None };
        let row = row_of(&layer(Mixer::Latent(latent))).unwrap();
        assert_eq!(row, Row { k: 576, v: 0 });
        assert_eq!(rows_bytes(Format::F16, row.k, Tokens(32_768)) * 61, Bytes::from_mib(2196));
    }

    #[test]
    fn quantised_rows_are_whole_blocks() {
        assert_eq!(rows_bytes(Format::Q8_0, 1024, Tokens(1)), Bytes(1088));
        assert_eq!(rows_bytes(Format::Q4_0, 1024, Tokens(2)), Bytes(1152));
    }

    #[test]
    fn a_window_never_needs_more_than_the_context() {
        assert_eq!(window_cells(Tokens(32_768), 1024, 1, 512, 256), Tokens(1536));
        assert_eq!(window_cells(Tokens(32_768), 1024, 4, 512, 256), Tokens(4608));
        assert_eq!(window_cells(Tokens(1024), 4096, 1, 512, 256), Tokens(1024));
        assert_eq!(window_cells(Tokens(32_768), 100, 1, 512, 256), Tokens(768));
    }
}
