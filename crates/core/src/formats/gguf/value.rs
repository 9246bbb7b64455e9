//! Values of GGUF metadata: what is stored under a key, and can it be read as asked?

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::error::GgufError;
use super::reader::{Read, Reader};

/// As which type is a value stored?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 8-bit unsigned integer.
    U8,
    /// 8-bit signed integer.
    I8,
    /// 16-bit unsigned integer.
    U16,
    /// 16-bit signed integer.
    I16,
    /// 32-bit unsigned integer.
    U32,
    /// 32-bit signed integer.
    I32,
    /// 32-bit float.
    F32,
    /// Truth value.
    Bool,
    /// String.
    Text,
    /// Array of one kind.
    Array,
    /// 64-bit unsigned integer.
    U64,
    /// 64-bit signed integer.
    I64,
    /// 64-bit float.
    F64,
}

impl Kind {
    /// In the order of the type numbers, from 0.
    const ALL: [Self; 13] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::F32,
        Self::Bool,
        Self::Text,
        Self::Array,
        Self::U64,
        Self::I64,
        Self::F64,
    ];

    /// The kind with this type number in a file.
    pub fn from_id(id: u32) -> Option<Self> {
        Self::ALL.get(id as usize).copied()
    }

    /// Bytes of one value; 0 for those whose length varies.
    pub(super) const fn width(self) -> u64 {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            Self::Text | Self::Array => 0,
        }
    }

    /// The name as GGUF tools print it, such as `u32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::Bool => "bool",
            Self::Text => "str",
            Self::Array => "arr",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is stored under a key? Integers and floats are widened to 64 bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Any unsigned integer.
    Uint(u64),
    /// Any signed integer.
    Int(i64),
    /// Any float.
    Float(f64),
    /// Truth value.
    Bool(bool),
    /// String.
    Text(String),
    /// Array.
    Array(Array),
}

/// What does an array hold?
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Kind of its items.
    pub kind: Kind,
    /// How many items the file has.
    pub len: u64,
    /// The items; `None` for strings and where they are too many to keep
    /// ([`MAX_KEPT_ITEMS`](super::MAX_KEPT_ITEMS)).
    pub items: Option<Items>,
}

/// The items of an array that was kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    /// Of any unsigned kind.
    Uints(Vec<u64>),
    /// Of any signed kind.
    Ints(Vec<i64>),
    /// Of any float kind.
    Floats(Vec<f64>),
    /// Truth values.
    Bools(Vec<bool>),
}

/// What was there instead of the wanted value?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An integer.
    Integer,
    /// A negative integer.
    Negative(i64),
    /// A float.
    Float,
    /// A truth value.
    Bool,
    /// A string.
    Text,
    /// An array of this kind.
    Array(Kind),
    /// An array of so many items, which were too many to keep.
    NotKept(u64),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer => f.write_str("an integer"),
            Self::Negative(n) => write!(f, "{n}"),
            Self::Float => f.write_str("a float"),
            Self::Bool => f.write_str("a truth value"),
            Self::Text => f.write_str("a string"),
            Self::Array(kind) => write!(f, "an array of {kind}"),
            Self::NotKept(len) => write!(f, "an array of {len} items, too many to keep"),
        }
    }
}

impl Value {
    /// The value as a whole number that is not negative; truth values are not numbers.
    pub fn uint(&self) -> Result<u64, Found> {
        match self {
            Self::Uint(n) => Ok(*n),
            Self::Int(n) => uint_of(*n),
            other => Err(other.found()),
        }
    }

    /// The value as a float; integers are not floats.
    pub fn float(&self) -> Result<f64, Found> {
        if let Self::Float(x) = self { Ok(*x) } else { Err(self.found()) }
    }

    /// The value as a truth value.
    pub fn bool(&self) -> Result<bool, Found> {
        if let Self::Bool(b) = self { Ok(*b) } else { Err(self.found()) }
    }

    /// The value as a string.
    pub fn text(&self) -> Result<&str, Found> {
        if let Self::Text(text) = self { Ok(text) } else { Err(self.found()) }
    }

    /// The value as an array.
    pub fn array(&self) -> Result<&Array, Found> {
        if let Self::Array(array) = self { Ok(array) } else { Err(self.found()) }
    }

    /// The numbers of an array, or the one number as a list of one.
    pub fn uints(&self) -> Result<Vec<u64>, Found> {
        let Self::Array(array) = self else { return self.uint().map(|n| vec![n]) };
        match &array.items {
            Some(Items::Uints(list)) => Ok(list.clone()),
            Some(Items::Ints(list)) => list.iter().copied().map(uint_of).collect(),
            _ => Err(self.found()),
        }
    }

    /// The floats of an array, or the one float as a list of one.
    pub fn floats(&self) -> Result<Vec<f64>, Found> {
        match self {
            Self::Array(Array { items: Some(Items::Floats(list)), .. }) => Ok(list.clone()),
            _ => self.float().map(|x| vec![x]),
        }
    }

    /// The truth values of an array, or the one truth value as a list of one.
    pub fn bools(&self) -> Result<Vec<bool>, Found> {
        match self {
            Self::Array(Array { items: Some(Items::Bools(list)), .. }) => Ok(list.clone()),
            _ => self.bool().map(|b| vec![b]),
        }
    }

    /// What this value is, for the message that it is not what was wanted.
    fn found(&self) -> Found {
        match self {
            Self::Uint(_) | Self::Int(_) => Found::Integer,
            Self::Float(_) => Found::Float,
            Self::Bool(_) => Found::Bool,
            Self::Text(_) => Found::Text,
            Self::Array(array) => array.found(),
        }
    }

    /// Reads the value of `key`, its type number first.
    pub(super) fn read(reader: &mut Reader<'_>, key: &str) -> Read<Self> {
        let kind = read_kind(reader, key)?;
        let width = kind.width();
        Ok(match kind {
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => Self::Uint(reader.unsigned(width)?),
            Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => Self::Int(reader.signed(width)?),
            Kind::F32 | Kind::F64 => Self::Float(reader.float(width)?),
            Kind::Bool => Self::Bool(reader.bool()?),
            Kind::Text => Self::Text(reader.text(key)?),
            Kind::Array => Self::Array(Array::read(reader, key)?),
        })
    }
}

impl Array {
    fn found(&self) -> Found {
        if self.items.is_none() && self.kind != Kind::Text {
            return Found::NotKept(self.len);
        }
        Found::Array(self.kind)
    }

    fn read(reader: &mut Reader<'_>, key: &str) -> Read<Self> {
        let kind = read_kind(reader, key)?;
        if kind == Kind::Array {
            return Err(GgufError::NestedArray { key: key.into() }.into());
        }
        let len = reader.u64()?;
        if kind == Kind::Text {
            reader.skip_texts(len)?;
            return Ok(Self { kind, len, items: None });
        }
        Ok(Self { kind, len, items: reader.items(kind, len)? })
    }
}

fn read_kind(reader: &mut Reader<'_>, key: &str) -> Read<Kind> {
    let id = reader.u32()?;
    Kind::from_id(id).ok_or_else(|| GgufError::UnknownKind { key: key.into(), id }.into())
}

fn uint_of(n: i64) -> Result<u64, Found> {
    u64::try_from(n).map_err(|_| Found::Negative(n))
}
