//! A GGUF writer that will write anything, right or wrong.

use std::string::{String, ToString};
use std::vec::Vec;

use super::super::Kind;

/// A file to be; fields are public so that tests can spoil them.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) version: u32,
    pub(super) big_endian: bool,
    pub(super) keys: Vec<(String, Stored)>,
    pub(super) tensors: Vec<Entry>,
    /// Counts to write instead of the true ones.
    pub(super) tensor_count: Option<u64>,
    pub(super) key_count: Option<u64>,
}

/// A value as it is written.
#[derive(Clone, Debug)]
pub(super) enum Stored {
    /// A number, bool or float of this kind, given by its bits.
    Scalar(Kind, u64),
    Text(String),
    /// Items of one kind, given by their bits.
    Numbers(Kind, Vec<u64>),
    Texts(Vec<String>),
    /// Any type number, and bytes after it.
    Raw(u32, Vec<u8>),
}

/// A row of the tensor table.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) extents: Vec<u64>,
    pub(super) format: u32,
    pub(super) offset: u64,
}

impl Entry {
    pub(super) fn new(name: &str, extents: &[u64], format: u32, offset: u64) -> Self {
        Self { name: name.into(), extents: extents.into(), format, offset }
    }
}

/// A small file with a value of every kind and two tensors.
pub(super) fn sample() -> File {
    let mut file = File {
        version: 3,
        big_endian: false,
        keys: Vec::new(),
        tensors: Vec::from([
            Entry::new("token_embd.weight", &[256, 10], 12, 0),
            Entry::new("output_norm.weight", &[256], 0, 1440),
        ]),
        tensor_count: None,
        key_count: None,
    };
    file.text("general.architecture", "llama");
    file.key("u8", Stored::Scalar(Kind::U8, 200));
    file.key("u16", Stored::Scalar(Kind::U16, 60_000));
    file.key("u32", Stored::Scalar(Kind::U32, 4_000_000_000));
    file.key("u64", Stored::Scalar(Kind::U64, 1 << 40));
    file.key("i8", Stored::Scalar(Kind::I8, 100));
    file.key("i16", Stored::Scalar(Kind::I16, 0xffff));
    file.key("i32", Stored::Scalar(Kind::I32, 7));
    file.key("i64", Stored::Scalar(Kind::I64, -5i64 as u64));
    file.key("f32", Stored::Scalar(Kind::F32, 0.5f32.to_bits().into()));
    file.key("f64", Stored::Scalar(Kind::F64, 0.1f64.to_bits()));
    file.key("yes", Stored::Scalar(Kind::Bool, 1));
    file.key("heads", Stored::Numbers(Kind::I32, Vec::from([8, 0, 4])));
    file.key("signs", Stored::Numbers(Kind::I8, Vec::from([1, 0xfe])));
    file.key("scales", Stored::Numbers(Kind::F32, Vec::from([1.5f32.to_bits().into()])));
    file.key("windowed", Stored::Numbers(Kind::Bool, Vec::from([1, 0])));
    let tokens = ["<unk>", "", "abc"].map(|token| token.to_string());
    file.key("tokenizer.ggml.tokens", Stored::Texts(tokens.into()));
    file
}

impl File {
    pub(super) fn key(&mut self, key: &str, value: Stored) {
        self.keys.push((key.into(), value));
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.key(key, Stored::Text(value.into()));
    }

    /// The header as bytes, up to the end of the tensor table.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = Out { bytes: b"GGUF".to_vec(), big_endian: self.big_endian };
        out.number(self.version.into(), 4);
        out.number(self.tensor_count.unwrap_or(self.tensors.len() as u64), 8);
        out.number(self.key_count.unwrap_or(self.keys.len() as u64), 8);
        for (key, value) in &self.keys {
            out.text(key);
            out.value(value);
        }
        for tensor in &self.tensors {
            out.tensor(tensor);
        }
        out.bytes
    }
}

struct Out {
    bytes: Vec<u8>,
    big_endian: bool,
}

impl Out {
    fn number(&mut self, number: u64, width: usize) {
        let little = number.to_le_bytes();
        let little = little[..width].iter().copied();
        if self.big_endian { self.bytes.extend(little.rev()) } else { self.bytes.extend(little) }
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64, 8);
        self.bytes.extend(text.bytes());
    }

    fn value(&mut self, value: &Stored) {
        match value {
            Stored::Scalar(kind, bits) => {
                self.number(id(*kind), 4);
                self.number(*bits, kind.width() as usize);
            }
            Stored::Text(text) => {
                self.number(id(Kind::Text), 4);
                self.text(text);
            }
            Stored::Numbers(kind, items) => {
                self.array(*kind, items.len());
                items.iter().for_each(|bits| self.number(*bits, kind.width() as usize));
            }
            Stored::Texts(items) => {
                self.array(Kind::Text, items.len());
                items.iter().for_each(|text| self.text(text));
            }
            Stored::Raw(id, bytes) => {
                self.number((*id).into(), 4);
                self.bytes.extend(bytes);
            }
        }
    }

    fn array(&mut self, kind: Kind, len: usize) {
        self.number(id(Kind::Array), 4);
        self.number(id(kind), 4);
        self.number(len as u64, 8);
    }

    fn tensor(&mut self, tensor: &Entry) {
        self.text(&tensor.name);
        self.number(tensor.extents.len() as u64, 4);
        tensor.extents.iter().for_each(|extent| self.number(*extent, 8));
        self.number(tensor.format.into(), 4);
        self.number(tensor.offset, 8);
    }
}

/// The type number of a kind.
pub(super) fn id(kind: Kind) -> u64 {
    (0..).find(|id| Kind::from_id(*id) == Some(kind)).unwrap().into()
}
