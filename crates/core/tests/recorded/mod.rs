//! Metadata of recorded models, read as a GGUF file's would be.
#![allow(unreachable_pub, reason = "tests share it")]

use serde_json::{Map, Value};
use vramplan_core::archs::{KeyError, KeyProblem, Keys, PerLayer};

/// Metadata of a recorded model, keys without their architecture prefix.
pub struct Recorded<'a>(pub &'a Map<String, Value>);

impl Recorded<'_> {
    fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key.split_once('.').map_or(key, |(_, rest)| rest))
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_bool().map(u64::from))
}

impl Keys for Recorded<'_> {
    fn uint(&self, key: &str) -> Result<Option<u64>, KeyError> {
        let wrong = || KeyError { key: key.into(), problem: KeyProblem::WrongType { wanted: "a number" } };
        self.value(key).map(|v| v.as_u64().ok_or_else(wrong)).transpose()
    }

    fn per_layer(&self, key: &str) -> Result<Option<PerLayer>, KeyError> {
        Ok(self.value(key).and_then(|v| match v {
            Value::Array(list) => list.iter().map(number).collect::<Option<_>>().map(PerLayer::Each),
            _ => number(v).map(PerLayer::All),
        }))
    }
}
