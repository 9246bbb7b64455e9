//! The key/value pairs of a GGUF file: what does the file say under this key?

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::error::{GgufError, Place};
use super::reader::{Read, Reader};
use super::value::{Found, Value};

/// What does the file say about the model? Keys in alphabetical order.
///
/// Each getter answers `None` where the key is missing and an error where it holds something else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(BTreeMap<String, Value>);

/// A key holds another value than was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} should be {wanted}, found {found}")]
pub struct ValueError {
    /// The key.
    pub key: String,
    /// What was asked for.
    pub wanted: Wanted,
    /// What is there.
    pub found: Found,
}

/// What was asked for under a key?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A whole number, not negative.
    Uint,
    /// A float.
    Float,
    /// A truth value.
    Bool,
    /// A string.
    Text,
    /// An array of anything.
    Array,
    /// One or more whole numbers, none negative.
    Uints,
    /// One or more floats.
    Floats,
    /// One or more truth values.
    Bools,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uint => "a non-negative integer",
            Self::Float => "a float",
            Self::Bool => "a truth value",
            Self::Text => "a string",
            Self::Array => "an array",
            Self::Uints => "non-negative integers",
            Self::Floats => "floats",
            Self::Bools => "truth values",
        })
    }
}

impl Metadata {
    /// The value of `key` as stored.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Every key with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many keys are there?
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no key at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A whole number, stored as any integer type.
    pub fn uint(&self, key: &str) -> Result<Option<u64>, ValueError> {
        self.read(key, Wanted::Uint, Value::uint)
    }

    /// A float of either width.
    pub fn float(&self, key: &str) -> Result<Option<f64>, ValueError> {
        self.read(key, Wanted::Float, Value::float)
    }

    /// A truth value.
    pub fn bool(&self, key: &str) -> Result<Option<bool>, ValueError> {
        self.read(key, Wanted::Bool, Value::bool)
    }

    /// A string.
    pub fn text(&self, key: &str) -> Result<Option<&str>, ValueError> {
        self.read(key, Wanted::Text, Value::text)
    }

    /// Items in an array of any kind, kept or not: the length of the vocabulary, say.
    pub fn array_len(&self, key: &str) -> Result<Option<u64>, ValueError> {
        self.read(key, Wanted::Array, |value| value.array().map(|array| array.len))
    }

    /// Whole numbers by layer; a list of one where the file states one number for all.
    pub fn uints(&self, key: &str) -> Result<Option<Vec<u64>>, ValueError> {
        self.read(key, Wanted::Uints, Value::uints)
    }

    /// Floats by layer; a list of one where the file states one float for all.
    pub fn floats(&self, key: &str) -> Result<Option<Vec<f64>>, ValueError> {
        self.read(key, Wanted::Floats, Value::floats)
    }

    /// Truth values by layer; a list of one where the file states one for all.
    pub fn bools(&self, key: &str) -> Result<Option<Vec<bool>>, ValueError> {
        self.read(key, Wanted::Bools, Value::bools)
    }

    fn read<'a, T>(
        &'a self,
        key: &str,
        wanted: Wanted,
        read: impl FnOnce(&'a Value) -> Result<T, Found>,
    ) -> Result<Option<T>, ValueError> {
        let value = self.get(key).map(read).transpose();
        value.map_err(|found| ValueError { key: key.into(), wanted, found })
    }
}

/// Reads `count` keys with their values.
pub(super) fn read(reader: &mut Reader<'_>, count: u64) -> Read<Metadata> {
    let mut metadata = BTreeMap::new();
    for number in 1..=count {
        reader.place = Place::Key { number, of: count };
        let key = reader.name()?;
        if metadata.contains_key(key) {
            return Err(GgufError::DuplicateKey { key: key.into() }.into());
        }
        let value = Value::read(reader, key)?;
        metadata.insert(key.into(), value);
    }
    Ok(Metadata(metadata))
}
