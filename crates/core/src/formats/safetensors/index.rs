//! The index of a model in several files: `model.safetensors.index.json`.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};

use serde_json::Value;

use super::SafetensorsError;

/// Which files hold the tensors of a model?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Names of the files, in order.
    pub files: BTreeSet<String>,
    /// Tensors listed.
    pub tensors: u64,
    /// Bytes of all tensors, when stated.
    pub total_size: Option<u64>,
}

/// Reads the text of an index.
///
/// # Errors
/// It is no JSON, or has no map from tensors to files.
pub fn parse_index(text: &str) -> Result<Index, SafetensorsError> {
    let broken = |why: &str| SafetensorsError::Broken(why.into());
    let value: Value = serde_json::from_str(text).map_err(|error| broken(&error.to_string()))?;
    let map = value.get("weight_map").and_then(Value::as_object).ok_or_else(|| broken("no weight_map"))?;
    let mut files = BTreeSet::new();
    for file in map.values() {
        let file = file.as_str().ok_or_else(|| broken("weight_map: a file that is no text"))?;
        // A name that leads out of the folder is no part of this model.
        if file.is_empty() || file.contains(['/', '\\']) || file == ".." {
            return Err(broken("weight_map: a file outside the folder"));
        }
        files.insert(file.to_string());
    }
    let total = value.get("metadata").and_then(|m| m.get("total_size"));
    // Some writers state it as a float.
    let total_size = total.and_then(|t| t.as_u64().or_else(|| t.as_f64().map(|f| f as u64)));
    Ok(Index { files, tensors: map.len() as u64, total_size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_once_and_lie_in_the_folder() {
        let index = parse_index(
            r#"{"metadata": {"total_size": 10.0}, "weight_map": {"a": "x-1.safetensors", "b": "x-1.safetensors"}}"#,
        )
        .unwrap();
        assert_eq!((index.files.len(), index.tensors, index.total_size), (1, 2, Some(10)));
        for text in ["", "{}", r#"{"weight_map": {"a": 1}}"#, r#"{"weight_map": {"a": "../x"}}"#] {
            assert!(parse_index(text).is_err(), "{text}");
        }
    }
}
