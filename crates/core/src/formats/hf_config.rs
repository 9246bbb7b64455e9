//! config.json as the hub keeps it: typed look-ups that descend into the text part of multimodal
//! configs.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

/// Names under which multimodal configs keep the language model's own config.
const TEXT_PARTS: &[&str] = &["text_config", "llm_config", "language_config"];

/// A field of config.json is missing or makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("config.json: {field}: {problem}")]
pub struct ConfigError {
    /// The field, by the first name it goes by.
    pub field: String,
    /// What is wrong with it.
    pub problem: ConfigProblem,
}

/// What is wrong with a field?
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigProblem {
    /// It is not there.
    #[error("missing")]
    Missing,
    /// It is no whole number of at least 0.
    #[error("not a whole number")]
    NotAWholeNumber,
    /// It is no list of words.
    #[error("not a list of words")]
    NotAList,
}

/// A parsed config.json.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    root: &'a Value,
    text: &'a Value,
}

impl<'a> Config<'a> {
    /// Wraps a parsed config.json.
    pub fn new(root: &'a Value) -> Self {
        let text = TEXT_PARTS.iter().find_map(|part| root.get(part)).unwrap_or(root);
        Self { root, text }
    }

    /// The model's type; empty when the config does not say.
    pub fn model_type(&self) -> &'a str {
        self.root.get("model_type").and_then(Value::as_str).unwrap_or("")
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.text.get(name).filter(|v| !v.is_null())
    }

    /// The whole number under the first of `names` that is present and not null.
    ///
    /// # Errors
    /// The value is no whole number of at least 0.
    pub fn uint(&self, names: &[&str]) -> Result<Option<u64>, ConfigError> {
        let Some(value) = names.iter().find_map(|name| self.get(name)) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| error(names, ConfigProblem::NotAWholeNumber))
    }

    /// Like [`Config::uint`], for a field that must be there.
    ///
    /// # Errors
    /// The field is missing or no whole number.
    pub fn required(&self, names: &[&str]) -> Result<u64, ConfigError> {
        self.uint(names)?.ok_or_else(|| error(names, ConfigProblem::Missing))
    }

    /// The truth value under `name`. The outer config wins where both state it, as the library reads it.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.root.get(name).or_else(|| self.text.get(name)).and_then(Value::as_bool)
    }

    /// The text under `name`.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_str)
    }

    /// The list of words under `name`.
    ///
    /// # Errors
    /// The value is no list of words.
    pub fn words(&self, name: &str) -> Result<Option<Vec<&'a str>>, ConfigError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let words = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        words.map(Some).ok_or_else(|| error(&[name], ConfigProblem::NotAList))
    }

    /// How rotary positions are stretched.
    pub fn rope_type(&self) -> Option<&'a str> {
        let scaling = self.get("rope_scaling").or_else(|| self.get("rope_parameters"))?;
        scaling.get("rope_type").or_else(|| scaling.get("type")).and_then(Value::as_str)
    }

    /// The quantisation method that the published weights are stored with.
    pub fn native_quantisation(&self) -> Option<&'a str> {
        let config = self.root.get("quantization_config").or_else(|| self.text.get("quantization_config"))?;
        config.get("quant_method").and_then(Value::as_str)
    }
}

fn error(names: &[&str], problem: ConfigProblem) -> ConfigError {
    ConfigError { field: names.first().copied().unwrap_or_default().into(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_configs_are_descended_into_and_nulls_count_as_absent() {
        let value = serde_json::json!({
            "model_type": "gemma3", "tie_word_embeddings": true,
            "text_config": {"hidden_size": 2560, "q_lora_rank": null, "layer_types": ["a", "b"], "x": "1"}
        });
        let config = Config::new(&value);
        assert_eq!(config.model_type(), "gemma3");
        assert_eq!(config.required(&["n_embd", "hidden_size"]), Ok(2560));
        assert_eq!(config.uint(&["q_lora_rank"]), Ok(None));
        assert_eq!(config.words("layer_types"), Ok(Some(alloc::vec!["a", "b"])));
        assert_eq!(config.flag("tie_word_embeddings"), Some(true));
        assert_eq!(config.uint(&["x"]).unwrap_err().problem, ConfigProblem::NotAWholeNumber);
        assert_eq!(config.required(&["y"]).unwrap_err().problem, ConfigProblem::Missing);
    }
}
