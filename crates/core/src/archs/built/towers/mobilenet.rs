//! MobileNet V5, the tower of Gemma 3n: convolutions in four stages, attention in the last two.

use crate::archs::built::{Built, Modules};

/// Channels after the stem and after each stage.
const CHANNELS: [u64; 5] = [64, 128, 256, 640, 1280];

/// Widths of what the stages expand to in their first blocks, as a factor of what comes in.
const EXPANSION: u64 = 6;

/// One inverted residual: depthwise kernels before and after the expansion, 0 where there is none.
struct Residual {
    start: u64,
    middle: u64,
    from: u64,
    inner: u64,
    to: u64,
}

impl Residual {
    /// A residual that keeps its width.
    const fn inside(start: u64, width: u64, factor: u64) -> Self {
        Self { start, middle: 0, from: width, inner: width * factor, to: width }
    }

    fn build(&self, m: &mut Modules) {
        if self.start > 0 {
            normed(m, "dw_start", &[self.from, 1, self.start, self.start]);
        }
        normed(m, "pw_exp", &[self.inner, self.from, 1, 1]);
        if self.middle > 0 {
            normed(m, "dw_mid", &[self.inner, 1, self.middle, self.middle]);
        }
        normed(m, "pw_proj", &[self.to, self.inner, 1, 1]);
        m.parameter("layer_scale.gamma", &[self.to]);
    }
}

/// A convolution and its norm.
fn normed(m: &mut Modules, name: &str, shape: &[u64; 4]) {
    m.under(name, |m| {
        m.convolution("conv", shape, false);
        m.norm("bn", shape[0]);
    });
}

/// The tower.
pub(in crate::archs) fn tower(m: &mut Modules, output: u64) -> Built {
    let [stem, first, second, third, fourth] = CHANNELS;
    m.under("conv_stem", |m| {
        m.convolution("conv", &[stem, 3, 3, 3], true);
        m.norm("bn", stem);
    });
    m.under("blocks", |m| {
        m.numbered(0, |m| edges(m, stem, first));
        m.numbered(1, |m| widening(m, 3, first, second, &[5, 3, 5, 3]));
        m.numbered(2, |m| {
            let kernels = [5; 7];
            widening(m, 5, second, third, &kernels);
            let next = 1 + kernels.len() as u64;
            m.numbered(next, |m| Residual::inside(0, third, 1).build(m));
            attending(m, next + 1, 14, third, &Heads { count: 12, width: 64, shrinks: true });
        });
        m.numbered(3, |m| {
            widening(m, 5, third, fourth, &[]);
            attending(m, 1, 19, fourth, &Heads { count: 16, width: 96, shrinks: false });
        });
    });
    // The last two stages are brought together.
    let both = third + fourth;
    m.under("msfa", |m| {
        m.under("ffn", |m| {
            normed(m, "pw_exp", &[both * 2, both, 1, 1]);
            normed(m, "pw_proj", &[output, both * 2, 1, 1]);
        });
        m.norm("norm", output);
    });
    Ok(())
}

/// Three residuals of whole convolutions; each expands what comes in by four.
fn edges(m: &mut Modules, from: u64, to: u64) {
    for (i, from) in [from, to, to].into_iter().enumerate() {
        m.numbered(i as u64, |m| {
            m.convolution("conv_exp", &[from * 4, from, 3, 3], false);
            m.norm("bn1", from * 4);
            m.convolution("conv_pwl", &[to, from * 4, 1, 1], false);
            m.norm("bn2", to);
        });
    }
}

/// A residual from one width to the next, then one a kernel.
fn widening(m: &mut Modules, start: u64, from: u64, to: u64, kernels: &[u64]) {
    let first = Residual { start, middle: 5, from, inner: from * EXPANSION, to };
    m.numbered(0, |m| first.build(m));
    for (i, kernel) in (1..).zip(kernels) {
        m.numbered(i, |m| Residual::inside(*kernel, to, 4).build(m));
    }
}

/// Heads of attention that share one key and one value.
struct Heads {
    count: u64,
    width: u64,
    /// Keys and values are taken from a smaller image.
    shrinks: bool,
}

/// Pairs of attention and a residual, from block `first` on.
fn attending(m: &mut Modules, first: u64, pairs: u64, width: u64, heads: &Heads) {
    for pair in 0..pairs {
        m.numbered(first + 2 * pair, |m| attention(m, width, heads));
        m.numbered(first + 2 * pair + 1, |m| Residual::inside(0, width, 2).build(m));
    }
}

fn attention(m: &mut Modules, width: u64, heads: &Heads) {
    let all = heads.count * heads.width;
    m.norm("norm", width);
    m.under("attn", |m| {
        m.convolution("query.proj", &[all, width, 1, 1], false);
        for name in ["key", "value"] {
            m.under(name, |m| {
                if heads.shrinks {
                    m.convolution("down_conv", &[width, 1, 3, 3], false);
                    m.norm("norm", width);
                }
                m.convolution("proj", &[heads.width, width, 1, 1], false);
            });
        }
        m.convolution("output.proj", &[width, all, 1, 1], false);
    });
    m.parameter("layer_scale.gamma", &[width]);
}
