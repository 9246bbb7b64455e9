//! The parameters that the library's model class creates: names as its modules nest, shapes as it
//! stores them (a matrix is `[output, input]`).
//!
//! [`Modules`] collects them; its children say what each kind of module holds. Families and towers put
//! kinds together and write no formula of their own.

pub(super) mod attention;
pub(super) mod decoder;
pub(super) mod experts;
pub(super) mod ffn;
pub(super) mod layout;
pub(super) mod ngrams;
pub(super) mod recurrent;
pub(super) mod streams;
pub(super) mod towers;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::facts::Facts;
use crate::formats::hf_config::{Config, ConfigError, ConfigProblem};
use crate::model::{Parameter, ParameterKind};

/// More tensors than any model has, experts counted one by one.
const MAX_TENSORS: usize = 1 << 17;

/// More modules of one kind than any model repeats.
const MAX_REPEATS: u64 = 1024;

/// What happens when a module cannot be built.
pub(super) type Built = Result<(), ConfigError>;

/// A language model: the facts that were read, and the part of the config they were read from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    /// What was read.
    pub(super) facts: &'a Facts,
    /// Where it was read.
    pub(super) config: &'a Config<'a>,
}

/// Collects parameters, module by module.
#[derive(Debug, Default)]
pub(super) struct Modules {
    path: String,
    list: Vec<Parameter>,
    /// What files hold beside parameters: buffers that are saved.
    kept: Vec<Parameter>,
    /// A repeat or a count that no model has.
    overflowed: bool,
}

impl Modules {
    /// What was collected: parameters, and what files hold beside them.
    ///
    /// # Errors
    /// It was more than any model has.
    pub(super) fn finish(self) -> Result<(Vec<Parameter>, Vec<Parameter>), ConfigError> {
        if self.overflowed {
            let problem = ConfigProblem::TooManyTensors;
            return Err(ConfigError { field: "the file".into(), problem });
        }
        Ok((self.list, self.kept))
    }

    /// Builds what lies in module `name`; an empty name is the module itself.
    pub(super) fn under<R>(&mut self, name: &str, build: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.path.len();
        if !name.is_empty() {
            self.path.push_str(name);
            self.path.push('.');
        }
        let result = build(self);
        self.path.truncate(outer);
        result
    }

    /// Builds the module of this number in a list.
    pub(super) fn numbered<R>(&mut self, i: u64, build: impl FnOnce(&mut Self) -> R) -> R {
        self.under(&format!("{i}"), build)
    }

    /// Builds modules `name.0` to `name.{count - 1}`.
    pub(super) fn each(
        &mut self,
        name: &str,
        count: u64,
        mut build: impl FnMut(&mut Self, u64) -> Built,
    ) -> Built {
        self.overflowed |= count > MAX_REPEATS;
        for i in 0..count.min(MAX_REPEATS) {
            self.under(&format!("{name}.{i}"), |m| build(m, i))?;
        }
        Ok(())
    }

    /// Adds a parameter that is named as it stands.
    pub(super) fn parameter(&mut self, name: &str, shape: &[u64]) {
        self.add(name, shape, ParameterKind::Other);
    }

    /// Adds a parameter of this kind, named as it stands.
    pub(super) fn add(&mut self, name: &str, shape: &[u64], kind: ParameterKind) {
        if self.list.len() >= MAX_TENSORS {
            self.overflowed = true;
            return;
        }
        self.list.push(Parameter { name: format!("{}{name}", self.path), shape: shape.into(), kind });
    }

    /// Adds a buffer that files hold: no parameter to the library.
    pub(super) fn buffer(&mut self, name: &str, shape: &[u64]) {
        let name = format!("{}{name}", self.path);
        self.kept.push(Parameter { name, shape: shape.into(), kind: ParameterKind::Other });
    }

    /// Adds `name.weight`.
    pub(super) fn weight(&mut self, name: &str, shape: &[u64]) {
        self.under(name, |m| m.parameter("weight", shape));
    }

    /// A linear layer from `input` to `output` values.
    pub(super) fn linear(&mut self, name: &str, input: u64, output: u64, bias: bool) {
        self.under(name, |m| {
            m.add("weight", &[output, input], ParameterKind::Linear);
            if bias {
                m.parameter("bias", &[output]);
            }
        });
    }

    /// A linear layer that keeps its matrix the other way round (`Conv1D` of GPT-2's time).
    pub(super) fn transposed(&mut self, name: &str, input: u64, output: u64) {
        self.under(name, |m| {
            m.add("weight", &[input, output], ParameterKind::Transposed);
            m.parameter("bias", &[output]);
        });
    }

    /// An embedding table.
    pub(super) fn table(&mut self, name: &str, rows: u64, width: u64) {
        self.under(name, |m| m.add("weight", &[rows, width], ParameterKind::Table));
    }

    /// A norm with a scale alone.
    pub(super) fn norm(&mut self, name: &str, width: u64) {
        self.weight(name, &[width]);
    }

    /// A norm with a scale and a shift.
    pub(super) fn layer_norm(&mut self, name: &str, width: u64) {
        self.under(name, |m| {
            m.parameter("weight", &[width]);
            m.parameter("bias", &[width]);
        });
    }

    /// A convolution: `[output, input, kernel …]`.
    pub(super) fn convolution(&mut self, name: &str, shape: &[u64], bias: bool) {
        self.under(name, |m| {
            m.parameter("weight", shape);
            if bias {
                m.parameter("bias", &shape[..1]);
            }
        });
    }
}
