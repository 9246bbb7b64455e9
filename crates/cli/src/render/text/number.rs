//! Numbers as people read them.

use vramplan_core::ledger::Estimate;
use vramplan_core::units::Bytes;

const GIB: f64 = (1_u64 << 30) as f64;
/// From here on one decimal is enough.
const LARGE: f64 = 100.0;
/// A band narrower than this many GiB is not shown.
const BAND_SHOWN: f64 = 0.01;

/// GiB with two decimals below 100, one above.
pub(crate) fn gib(bytes: Bytes) -> String {
    let value = bytes.0 as f64 / GIB;
    if value < LARGE { format!("{value:.2}") } else { format!("{value:.1}") }
}

/// GiB as a sentence says it: one decimal, two below 1.
pub(super) fn rough(bytes: Bytes) -> String {
    let value = bytes.0 as f64 / GIB;
    if value < 1.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}

/// GiB with its band, when it has one worth showing.
pub(super) fn estimate(e: Estimate) -> String {
    let half = (e.high - e.likely).max(e.likely - e.low).0 as f64 / GIB;
    if half < BAND_SHOWN { gib(e.likely) } else { format!("{} +-{half:.2}", gib(e.likely)) }
}

/// A cell of the ledger: `-` for nothing, `<0.01` for what rounds to nothing.
pub(super) fn cell(e: Estimate) -> String {
    match e.likely.0 {
        0 => "-".into(),
        n if (n as f64) < 0.005 * GIB => "<0.01".into(),
        _ => estimate(e),
    }
}

/// A whole number with thin grouping: 32,768.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes a token, in the unit that leaves no zeros before the point.
pub(super) fn small_bytes(bytes: Bytes) -> String {
    match bytes.0 {
        n if n < 1 << 10 => format!("{n} B"),
        n if n < 1 << 20 => trimmed(n as f64 / 1024.0, "KiB"),
        n => trimmed(n as f64 / (1 << 20) as f64, "MiB"),
    }
}

fn trimmed(value: f64, unit: &str) -> String {
    let text = format!("{value:.1}");
    format!("{} {unit}", text.trim_end_matches(".0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(gib(Bytes(4_294_967_296)), "4.00");
        assert_eq!(gib(Bytes::from_gib(101)), "101.0");
        assert_eq!(thousands(32_768), "32,768");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(8_030_261_248), "8,030,261,248");
        assert_eq!(small_bytes(Bytes(131_072)), "128 KiB");
        assert_eq!(small_bytes(Bytes(788)), "788 B");
        let band =
            Estimate { low: Bytes::from_mib(440), likely: Bytes::from_mib(530), high: Bytes::from_mib(620) };
        assert_eq!(estimate(band), "0.52 +-0.09");
        assert_eq!(cell(Estimate::exact(Bytes(1000))), "<0.01");
        assert_eq!(cell(Estimate::default()), "-");
    }
}
