//! Embeddings of the last tokens together: every head looks its n-gram up by a hash, in a part of one table
//! whose rows are a prime number.

use super::{Built, Modules, Text};

/// The longest search for a prime: no two primes below 2^40 are further apart.
const FURTHEST_PRIME: u64 = 1 << 12;

/// The table and what brings its rows into `streams` residual streams; `turn` counts the layers that have
/// such a table.
pub(in crate::archs) fn embed(m: &mut Modules, text: &Text<'_>, streams: u64, turn: u64) -> Built {
    let (config, width) = (text.config, text.facts.width);
    let size = config.required(&["ngram_size"])?;
    let heads = size.saturating_sub(1).saturating_mul(config.required(&["heads_per_ngram"])?);
    let embedded = config.uint(&["ple_embed_dim"])?.unwrap_or(width);
    let divisor = config.required(&["make_ngram_vocab_size_divisible_by"])?.max(1);
    let rows = rows(config.required(&["ngram_vocab_size_base"])?, heads, turn);
    let table = [rows.div_ceil(divisor).saturating_mul(divisor), embedded.checked_div(heads).unwrap_or(0)];
    m.weight("ple_embedding.ngram_embedding", &table);
    let all = width.saturating_mul(streams);
    m.linear("key_proj", embedded, all, false);
    m.linear("value_proj", embedded, width, false);
    ["norm_key", "norm_query", "norm_conv"].iter().for_each(|name| m.norm(name, all));
    m.convolution("conv1d", &[all, 1, config.required(&["ple_conv_kernel_size"])?], false);
    Ok(())
}

/// Rows of all heads of one table: each has as many as the next prime after the last one's, from `base` on.
fn rows(base: u64, heads: u64, turn: u64) -> u64 {
    let mut prime = base.saturating_sub(1);
    let mut sum: u64 = 0;
    for head in 0..turn.saturating_add(1).saturating_mul(heads).min(FURTHEST_PRIME) {
        prime = next_prime(prime);
        if head >= turn.saturating_mul(heads) {
            sum = sum.saturating_add(prime);
        }
    }
    sum
}

fn next_prime(after: u64) -> u64 {
    let candidates = (1..=FURTHEST_PRIME).map(|step| after.saturating_add(step));
    candidates.into_iter().find(|n| is_prime(*n)).unwrap_or(after)
}

fn is_prime(n: u64) -> bool {
    let divisors = (2..).take_while(|d: &u64| d.checked_mul(*d).is_some_and(|square| square <= n));
    n > 1 && divisors.into_iter().all(|d| !n.is_multiple_of(d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_head_has_a_prime_of_its_own() {
        assert_eq!(rows(10, 3, 0), 11 + 13 + 17);
        assert_eq!(rows(10, 3, 1), 19 + 23 + 29);
        assert_eq!(rows(11, 1, 0), 11);
    }
}
