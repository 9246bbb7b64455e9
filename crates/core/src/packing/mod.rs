//! How quantised repositories of the hub store their weights: which matrices are packed, and how.
//!
//! A config names a method and what it leaves alone; the class says which parameters are matrices of
//! linear layers. From both follows every tensor of the files, before any byte of them is read.

mod config;
mod layout;
mod mlx;
mod names;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

pub use config::PackingError;
pub use layout::{Layout, MlxMode, Piece, Scales};
pub use mlx::Converted;

use crate::dtype::Format;
use crate::model::{Parameter, ParameterKind};
use crate::units::Bytes;
use names::Names;

/// How does a repository store its weights?
#[derive(Clone, Debug)]
pub struct Packing {
    /// What the method is called.
    pub method: String,
    /// Layouts and the modules they are for; the first that means a module holds.
    rules: Vec<(Names, Layout)>,
    /// Modules that stay as they are.
    left: Names,
    /// What of the model is packed beside linear layers and experts.
    beside: Beside,
    /// Every attention has scales for a cache of 8 bits.
    cache_scales: bool,
}

/// The format that a model's files hold what is not packed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnFormat {
    /// Of nearly everything.
    format: Format,
    /// Ends of names of what is kept in 32 bits.
    wide: &'static [&'static str],
    /// Those of them that stay so, where a converter brings the rest to the format.
    kept: Option<&'static [&'static str]>,
}

impl OwnFormat {
    /// Kept in 32 bits by every model that has it: the decay of a recurrence, corrections of a router.
    const WIDE: &'static [&'static str] = &["A_log", "e_score_correction_bias"];

    /// The format of a model of this type whose config states `format`.
    pub fn new(format: Format, model_type: &str) -> Self {
        // Its routers come in 32 bits too.
        let wide: &[&str] = match model_type {
            "minimax_m2" => &["A_log", "e_score_correction_bias", "mlp.gate.weight"],
            _ => Self::WIDE,
        };
        Self { format, wide, kept: None }
    }

    /// Everything in one format.
    pub fn alone(format: Format) -> Self {
        Self { format, wide: &[], kept: None }
    }

    /// After a converter that leaves only names with these ends in the bits they came in.
    fn cast_but(self, kept: &'static [&'static str]) -> Self {
        Self { kept: Some(kept), ..self }
    }

    fn of(self, name: &str) -> Format {
        let ends = |list: &[&str]| list.iter().any(|end| name.ends_with(end));
        if ends(self.wide) && self.kept.is_none_or(ends) { Format::F32 } else { self.format }
    }
}

/// What is packed beside linear layers and experts?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Beside {
    /// Embedding tables.
    tables: bool,
    /// Routers.
    routers: RouterPacking,
    /// Nothing but experts.
    experts_alone: bool,
}

/// How are routers packed?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RouterPacking {
    /// Not at all.
    #[default]
    Left,
    /// As rules say.
    Ruled,
    /// All like this, whatever rules say.
    As(Layout),
}

/// Tensors of the same shape and format that files hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Name of the first.
    pub name: String,
    /// Extents, slowest first.
    pub shape: Vec<u64>,
    /// Format of its numbers.
    pub format: Format,
    /// How many there are: one for every expert.
    pub copies: u64,
}

impl Stored {
    /// Bytes of all copies.
    pub fn bytes(&self) -> Bytes {
        let numbers = self.shape.iter().fold(self.copies, |n, extent| n.saturating_mul(*extent));
        Bytes((numbers / self.format.block_elements()).saturating_mul(self.format.block_bytes()))
    }
}

/// Bytes by format, of all tensors of a list.
pub fn bytes_by_format(list: &[Stored]) -> BTreeMap<Format, Bytes> {
    let mut sums: BTreeMap<Format, Bytes> = BTreeMap::new();
    for tensor in list {
        *sums.entry(tensor.format).or_default() += tensor.bytes();
    }
    sums
}

impl Packing {
    /// Weights as the class has them, in one format.
    pub fn none() -> Self {
        Self::everywhere("", Layout::Plain)
    }

    /// Every linear layer but the head packed like this.
    pub fn everywhere(method: &str, layout: Layout) -> Self {
        Self {
            method: method.to_string(),
            rules: vec![(Names::new(["Linear"].into_iter()), layout)],
            left: Names::new(["lm_head"].into_iter()),
            beside: Beside::default(),
            cache_scales: false,
        }
    }

    /// Every tensor that files of these parameters hold; what is not packed is in the model's own format.
    pub fn store<'a>(&self, parameters: impl Iterator<Item = &'a Parameter>, own: OwnFormat) -> Vec<Stored> {
        let mut list = Vec::new();
        for parameter in parameters {
            self.put(parameter, own.of(&parameter.name), &mut list);
        }
        list
    }

    fn put(&self, parameter: &Parameter, base: Format, list: &mut Vec<Stored>) {
        let module = parameter.name.strip_suffix(".weight").unwrap_or(&parameter.name);
        let Some(matrix) = Matrix::of(parameter) else {
            let (name, shape) = (parameter.name.clone(), parameter.shape.clone());
            return list.push(Stored { name, shape, format: base, copies: 1 });
        };
        let layout = self.layout(parameter, module, matrix);
        let pieces = layout.pieces(matrix.outputs, matrix.inputs, base);
        list.extend(pieces.into_iter().map(|(ending, shape, format)| Stored {
            name: format!("{module}.{ending}"),
            shape,
            format,
            copies: matrix.copies,
        }));
        if self.cache_scales && (module.ends_with("k_proj") || module.ends_with("v_proj")) {
            let name = format!("{module}.{}_scale", if module.ends_with("k_proj") { 'k' } else { 'v' });
            list.push(Stored { name, shape: vec![1], format: Format::F32, copies: 1 });
        }
    }

    /// How a matrix is stored.
    fn layout(&self, parameter: &Parameter, module: &str, matrix: Matrix) -> Layout {
        let taken = match parameter.kind {
            ParameterKind::Linear | ParameterKind::Transposed => !self.beside.experts_alone,
            ParameterKind::Experts { .. } | ParameterKind::ExpertsTransposed { .. } => true,
            ParameterKind::Table => self.beside.tables,
            ParameterKind::Router => match self.beside.routers {
                RouterPacking::Left => false,
                RouterPacking::Ruled => true,
                RouterPacking::As(layout) => return layout.checked(matrix.inputs),
            },
            ParameterKind::Other => false,
        };
        let spellings = spellings(module);
        if !taken || self.left.name(&spellings) {
            return Layout::Plain;
        }
        let rule = self.rules.iter().find(|(names, _)| names.mean(&spellings));
        rule.map_or(Layout::Plain, |(_, layout)| *layout).checked(matrix.inputs)
    }
}

impl Layout {
    /// The layout, where rows of so many inputs can have it.
    fn checked(self, inputs: u64) -> Self {
        if self.takes(inputs) { self } else { Self::Plain }
    }
}

/// The names of a module that lists may use: experts that the class stacks are modules of their own in files.
fn spellings(module: &str) -> Vec<String> {
    let mut names = vec![module.to_string()];
    if let Some((stem, matrix)) = module.rsplit_once(".experts.") {
        let (first, old) = if matrix == "down_proj" { ("down_proj", "w2") } else { ("gate_proj", "w1") };
        names.push(format!("{stem}.experts.0.{first}"));
        if let Some(outer) = stem.strip_suffix("mlp") {
            names.push(format!("{outer}block_sparse_moe.experts.0.{old}"));
        }
    }
    names
}

/// Matrices of one shape.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    outputs: u64,
    inputs: u64,
    copies: u64,
}

impl Matrix {
    /// The matrices that a parameter holds; `None` where it is none.
    fn of(parameter: &Parameter) -> Option<Self> {
        let experts = |count, outputs: u64, inputs, joined: u64| {
            let joined = joined.max(1);
            Self { outputs: outputs / joined, inputs, copies: joined.saturating_mul(count) }
        };
        match (parameter.kind, parameter.shape.as_slice()) {
            (ParameterKind::Other, _) => None,
            (ParameterKind::Transposed, &[inputs, outputs]) => Some(Self { outputs, inputs, copies: 1 }),
            (ParameterKind::Experts { joined }, &[count, outputs, inputs])
            | (ParameterKind::ExpertsTransposed { joined }, &[count, inputs, outputs]) => {
                Some(experts(count, outputs, inputs, joined))
            }
            (_, &[outputs, inputs]) => Some(Self { outputs, inputs, copies: 1 }),
            _ => None,
        }
    }
}
