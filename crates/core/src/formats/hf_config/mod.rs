//! config.json as the hub keeps it: typed look-ups, the parts of multimodal configs, and what the
//! library's class assumes where a config says nothing.

mod json;

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use serde_json::Value;

pub use json::parse;

/// Names under which multimodal configs keep the language model's own config.
const TEXT_PARTS: &[&str] = &["text_config", "llm_config", "language_config", "decoder"];

/// The part of omni models that holds a `text_config` of its own.
const THINKER: &str = "thinker_config";

/// The largest number a field may state: no extent of a model is near it.
const MAX_NUMBER: u64 = 1 << 40;

/// A field of config.json is missing or makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("config.json: {field}: {problem}")]
pub struct ConfigError {
    /// The field, by the first name it goes by, after the part it is in.
    pub field: String,
    /// What is wrong with it.
    pub problem: ConfigProblem,
}

/// What is wrong with a field?
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigProblem {
    /// It is not there, and the class has no default.
    #[error("missing")]
    Missing,
    /// It is no whole number of at least 0.
    #[error("not a whole number")]
    NotAWholeNumber,
    /// It is larger than any model's.
    #[error("out of range (0 to {max})")]
    OutOfRange {
        /// The largest that could be meant.
        max: u64,
    },
    /// It is 0, which no model has.
    #[error("must be at least 1")]
    Zero,
    /// It is neither true nor false.
    #[error("neither true nor false")]
    NotAFlag,
    /// It is no share of a whole.
    #[error("not a number from 0 to 1")]
    NotAShare,
    /// It is no text.
    #[error("not a text")]
    NotAText,
    /// It is no list of words.
    #[error("not a list of words")]
    NotAList,
    /// It is no list of whole numbers.
    #[error("not a list of whole numbers")]
    NotNumbers,
    /// It is no object.
    #[error("not an object")]
    NotAnObject,
    /// A list has fewer entries than there are layers.
    #[error("{entries} entries for {layers} layers")]
    WrongLength {
        /// Entries.
        entries: u64,
        /// Layers.
        layers: u64,
    },
    /// Query heads cannot be shared out among key/value heads.
    #[error("layer {layer}: {heads} heads do not divide among {kv_heads} key/value heads")]
    HeadsDoNotDivide {
        /// The layer.
        layer: u64,
        /// Query heads.
        heads: u64,
        /// Key/value heads.
        kv_heads: u64,
    },
    /// It states more than another field allows.
    #[error("contradicts {other}")]
    Contradicts {
        /// The other field.
        other: &'static str,
    },
    /// It names a part of a model that nobody here knows.
    #[error("not a type of model that is known")]
    UnknownPart,
    /// The model it describes has more tensors than any model.
    #[error("describes too many tensors")]
    TooManyTensors,
}

/// A value that the library's class assumes where a config says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassDefault {
    /// A number.
    Number(u64),
    /// A truth value.
    Flag(bool),
    /// A word.
    Word(&'static str),
    /// A list of numbers.
    Numbers(&'static [u64]),
}

/// Class defaults by field.
type Defaults = &'static [(&'static str, ClassDefault)];

include!(concat!(env!("OUT_DIR"), "/class_defaults.rs"));

/// What does the class of this model type assume? Nothing for a type that nobody here knows.
fn class_defaults(model_type: &str) -> Defaults {
    let at = CLASS_DEFAULTS.binary_search_by(|(known, _)| (*known).cmp(model_type));
    at.map_or(&[], |i| CLASS_DEFAULTS[i].1)
}

/// A field that a config leaves out, and what the library's class puts in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// The field, after the part it is in.
    pub field: String,
    /// The value.
    pub value: ClassDefault,
}

/// A parsed config.json, or a part of one.
#[derive(Clone, Debug)]
pub struct Config<'a> {
    root: &'a Value,
    part: &'a Value,
    path: String,
    defaults: Defaults,
    assumed: Rc<RefCell<Vec<Assumed>>>,
}

/// What a look-up finds.
enum Found<'a> {
    Value(&'a Value),
    Null,
    Default(ClassDefault),
    Nothing,
}

static EMPTY: Value = Value::Null;

impl<'a> Config<'a> {
    /// Wraps a parsed config.json.
    ///
    /// # Errors
    /// It is no object.
    pub fn new(root: &'a Value) -> Result<Self, ConfigError> {
        if !root.is_object() {
            return Err(ConfigError { field: "the file".into(), problem: ConfigProblem::NotAnObject });
        }
        let whole = Self { root, part: root, path: String::new(), defaults: &[], assumed: Rc::default() };
        Ok(whole.as_class(""))
    }

    /// The language model's own part. Where there is none, it is all of the config if the whole may be
    /// `flat`, else what the class assumes. `class` is the model type that the class of the whole gives that
    /// part when it states none.
    ///
    /// # Errors
    /// The part is no object.
    pub fn language_model(&self, class: &str, flat: bool) -> Result<Self, ConfigError> {
        let base = if self.part.get(THINKER).is_some() { self.part(THINKER, "")? } else { self.clone() };
        let named = TEXT_PARTS.iter().find(|name| base.part.get(**name).is_some_and(|v| !v.is_null()));
        match named {
            Some(name) => base.part(name, class),
            None if flat => Ok(base),
            None => base.part(TEXT_PARTS[0], class),
        }
    }

    /// The part under `name`; an empty one where the config has none, which leaves all to the class.
    /// `class` is the part's model type when it states none.
    ///
    /// # Errors
    /// It is no object.
    pub fn part(&self, name: &str, class: &str) -> Result<Self, ConfigError> {
        let part = match self.part.get(name) {
            None | Some(Value::Null) => &EMPTY,
            Some(value) if value.is_object() => value,
            Some(_) => return Err(self.error(&[name], ConfigProblem::NotAnObject)),
        };
        let path = format!("{}{name}.", self.path);
        let assumed = Rc::clone(&self.assumed);
        Ok(Self { root: self.root, part, path, defaults: &[], assumed }.as_class(class))
    }

    /// The same part, its gaps filled by the class of the model type it states, else of this one.
    #[must_use]
    pub fn as_class(mut self, model_type: &str) -> Self {
        let stated = class_defaults(self.model_type());
        self.defaults = if stated.is_empty() { class_defaults(model_type) } else { stated };
        self
    }

    /// The fields that were left to the class so far, in the order they were read.
    pub fn assumed(&self) -> Vec<Assumed> {
        self.assumed.borrow().clone()
    }

    /// The type of the model that this part states; empty when it does not say.
    pub fn model_type(&self) -> &'a str {
        self.part.get("model_type").and_then(Value::as_str).unwrap_or("")
    }

    /// The class that the weights were saved from; empty when the config does not say.
    pub fn class(&self) -> &'a str {
        let named = self.root.get("architectures").and_then(|list| list.get(0));
        named.and_then(Value::as_str).unwrap_or("")
    }

    /// Whether the part states this field, be it as null.
    pub fn states(&self, name: &str) -> bool {
        self.part.get(name).is_some()
    }

    /// Whether the part states this field, and not as null.
    pub fn has(&self, name: &str) -> bool {
        self.part.get(name).is_some_and(|value| !value.is_null())
    }

    fn find(&self, names: &[&str]) -> Found<'a> {
        let mut stated = names.iter().filter_map(|name| self.part.get(*name)).peekable();
        let is_stated = stated.peek().is_some();
        if let Some(value) = stated.find(|value| !value.is_null()) {
            return Found::Value(value);
        }
        if is_stated {
            return Found::Null;
        }
        let default = self.defaults.iter().find(|(name, _)| names.contains(name));
        default.map_or(Found::Nothing, |(name, value)| {
            self.assume(name, *value);
            Found::Default(*value)
        })
    }

    fn assume(&self, name: &str, value: ClassDefault) {
        let field = format!("{}{name}", self.path);
        let mut list = self.assumed.borrow_mut();
        if !list.iter().any(|known| known.field == field) {
            list.push(Assumed { field, value });
        }
    }

    /// The whole number under the first of `names` that is stated, else the class default; `None` for
    /// null and for a field without either.
    ///
    /// # Errors
    /// The value is no whole number, or larger than any model's.
    pub fn uint(&self, names: &[&str]) -> Result<Option<u64>, ConfigError> {
        match self.find(names) {
            Found::Value(value) => self.number(names, value).map(Some),
            Found::Default(ClassDefault::Number(n)) => Ok(Some(n)),
            Found::Default(_) | Found::Null | Found::Nothing => Ok(None),
        }
    }

    /// Like [`Config::uint`], for a field that must have a value.
    ///
    /// # Errors
    /// There is none, or it is no whole number.
    pub fn required(&self, names: &[&str]) -> Result<u64, ConfigError> {
        self.uint(names)?.ok_or_else(|| self.error(names, ConfigProblem::Missing))
    }

    /// Like [`Config::uint`], with what the class assumes where the config says nothing.
    ///
    /// # Errors
    /// The value is no whole number.
    pub fn uint_or(&self, name: &'static str, default: u64) -> Result<u64, ConfigError> {
        if !self.states(name) {
            self.assume(name, ClassDefault::Number(default));
            return Ok(default);
        }
        self.required(&[name])
    }

    /// Like [`Config::uint`], for a field that some configs state once and others layer by layer: of a list
    /// the first number counts.
    ///
    /// # Errors
    /// The value is neither a whole number nor a list that begins with one.
    pub fn first_of(&self, names: &[&str]) -> Result<Option<u64>, ConfigError> {
        match self.find(names) {
            Found::Value(Value::Array(list)) => {
                let first = list.first().ok_or_else(|| self.error(names, ConfigProblem::NotNumbers))?;
                self.number(names, first).map(Some)
            }
            Found::Default(ClassDefault::Numbers(list)) => Ok(list.first().copied()),
            _ => self.uint(names),
        }
    }

    fn number(&self, names: &[&str], value: &Value) -> Result<u64, ConfigError> {
        let n = whole(value).ok_or_else(|| self.error(names, ConfigProblem::NotAWholeNumber))?;
        if n > MAX_NUMBER {
            return Err(self.error(names, ConfigProblem::OutOfRange { max: MAX_NUMBER }));
        }
        Ok(n)
    }

    /// The truth value under `name`, else the class default; `None` for null and for a field without
    /// either.
    ///
    /// # Errors
    /// The value is neither true nor false.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, ConfigError> {
        match self.find(&[name]) {
            Found::Value(value) => {
                value.as_bool().map(Some).ok_or_else(|| self.error(&[name], ConfigProblem::NotAFlag))
            }
            Found::Default(ClassDefault::Flag(flag)) => Ok(Some(flag)),
            Found::Default(_) | Found::Null | Found::Nothing => Ok(None),
        }
    }

    /// Like [`Config::flag`], with what the class assumes where the config says nothing.
    ///
    /// # Errors
    /// The value is neither true nor false.
    pub fn flag_or(&self, name: &'static str, default: bool) -> Result<bool, ConfigError> {
        if !self.states(name) {
            self.assume(name, ClassDefault::Flag(default));
            return Ok(default);
        }
        Ok(self.flag(name)?.unwrap_or(false))
    }

    /// Whether the head shares the embedding. The outermost config wins over its parts, as the library
    /// reads it; `default` is what the class assumes.
    ///
    /// # Errors
    /// The value is neither true nor false.
    pub fn tied(&self, default: bool) -> Result<bool, ConfigError> {
        const NAME: &str = "tie_word_embeddings";
        if self.root.get(NAME).is_some() {
            let root = Self { part: self.root, path: String::new(), ..self.clone() };
            return root.flag_or(NAME, default);
        }
        Ok(self.flag(NAME)?.unwrap_or(default))
    }

    /// The text under `name`, else the class default.
    ///
    /// # Errors
    /// The value is no text.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>, ConfigError> {
        match self.find(&[name]) {
            Found::Value(value) => {
                value.as_str().map(Some).ok_or_else(|| self.error(&[name], ConfigProblem::NotAText))
            }
            Found::Default(ClassDefault::Word(word)) => Ok(Some(word)),
            Found::Default(_) | Found::Null | Found::Nothing => Ok(None),
        }
    }

    /// The list of words under `name`.
    ///
    /// # Errors
    /// The value is no list of words.
    pub fn words(&self, name: &str) -> Result<Option<Vec<&'a str>>, ConfigError> {
        let Found::Value(value) = self.find(&[name]) else { return Ok(None) };
        let words = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        words.map(Some).ok_or_else(|| self.error(&[name], ConfigProblem::NotAList))
    }

    /// The list of words under `name`, one a layer at least.
    ///
    /// # Errors
    /// The value is no list of words, or has too few.
    pub fn words_per_layer(&self, name: &str, layers: u64) -> Result<Option<Vec<&'a str>>, ConfigError> {
        let Some(words) = self.words(name)? else { return Ok(None) };
        self.check_length(name, words.len() as u64, layers)?;
        Ok(Some(words))
    }

    /// The list of whole numbers under `name`.
    ///
    /// # Errors
    /// The value is no list of whole numbers.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<u64>>, ConfigError> {
        let value = match self.find(&[name]) {
            Found::Value(value) => value,
            Found::Default(ClassDefault::Numbers(list)) => return Ok(Some(list.to_vec())),
            Found::Default(_) | Found::Null | Found::Nothing => return Ok(None),
        };
        let list = value.as_array().ok_or_else(|| self.error(&[name], ConfigProblem::NotNumbers))?;
        let numbers: Option<Vec<u64>> = list.iter().map(|v| whole(v).filter(|n| *n <= MAX_NUMBER)).collect();
        numbers.map(Some).ok_or_else(|| self.error(&[name], ConfigProblem::NotNumbers))
    }

    /// The list of whole numbers under `name`, one a layer at least.
    ///
    /// # Errors
    /// The value is no list of whole numbers, or has too few.
    pub fn numbers_per_layer(&self, name: &str, layers: u64) -> Result<Option<Vec<u64>>, ConfigError> {
        let Some(numbers) = self.numbers(name)? else { return Ok(None) };
        self.check_length(name, numbers.len() as u64, layers)?;
        Ok(Some(numbers))
    }

    fn check_length(&self, name: &str, entries: u64, layers: u64) -> Result<(), ConfigError> {
        if entries < layers {
            return Err(self.error(&[name], ConfigProblem::WrongLength { entries, layers }));
        }
        Ok(())
    }

    /// The raw value under `name`, null included.
    pub fn raw(&self, name: &str) -> Option<&'a Value> {
        self.part.get(name)
    }

    /// How rotary positions are stretched.
    pub fn rope_type(&self) -> Option<&'a str> {
        let scaling = [self.part.get("rope_scaling"), self.part.get("rope_parameters")];
        let scaling = scaling.into_iter().flatten().find(|value| value.is_object())?;
        scaling.get("rope_type").or_else(|| scaling.get("type")).and_then(Value::as_str)
    }

    /// The share of a whole under `name`, from 0 to 1; `None` where nothing states it.
    ///
    /// # Errors
    /// The value is no such share.
    pub fn share(&self, name: &str) -> Result<Option<f64>, ConfigError> {
        let Found::Value(value) = self.find(&[name]) else { return Ok(None) };
        let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        share.map(Some).ok_or_else(|| self.error(&[name], ConfigProblem::NotAShare))
    }

    /// The number format that the weights are stated to have, by torch's name.
    pub fn dtype(&self) -> Option<&'a str> {
        let names = ["dtype", "torch_dtype"];
        let stated =
            [self.part, self.root].into_iter().find_map(|part| names.iter().find_map(|n| part.get(n)));
        stated.and_then(Value::as_str)
    }

    /// The quantisation method that the published weights are stored with.
    pub fn native_quantisation(&self) -> Option<&'a str> {
        let config = self.root.get("quantization_config").or_else(|| self.part.get("quantization_config"))?;
        config.get("quant_method").and_then(Value::as_str)
    }

    /// An error about the field that goes by these names: by the one it is stated under, else the first.
    pub fn error(&self, names: &[&str], problem: ConfigProblem) -> ConfigError {
        let stated = names.iter().find(|name| self.states(name)).or_else(|| names.first());
        let name = stated.copied().unwrap_or_default();
        ConfigError { field: format!("{}{name}", self.path), problem }
    }
}

/// A whole number of at least 0, also when it is written as a float (`4.0`).
fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|f| *f >= 0.0 && *f <= MAX_NUMBER as f64);
    // A cast back shows whether anything was cut off.
    let whole = || float().map(|f| (f as u64, f)).filter(|(n, f)| *n as f64 == *f).map(|(n, _)| n);
    value.as_u64().or_else(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multimodal() -> Value {
        serde_json::json!({
            "model_type": "gemma3", "tie_word_embeddings": true, "architectures": ["A"],
            "text_config": {
                "hidden_size": 2560, "q_lora_rank": null, "layer_types": ["a", "b"], "x": "1", "f": 4.0,
                "huge": 1e30, "half": 0.5
            },
            "vision_config": 3
        })
    }

    #[test]
    fn the_language_model_is_read_in_its_own_part() {
        let value = multimodal();
        let whole = Config::new(&value).unwrap();
        assert_eq!((whole.model_type(), whole.class()), ("gemma3", "A"));
        let text = whole.language_model("", true).unwrap();
        assert_eq!(text.required(&["n_embd", "hidden_size"]), Ok(2560));
        assert_eq!(text.words("layer_types"), Ok(Some(alloc::vec!["a", "b"])));
        assert_eq!(text.tied(false), Ok(true));
        assert_eq!(text.uint(&["f"]), Ok(Some(4)));
    }

    #[test]
    fn values_of_another_type_are_errors_that_name_the_field() {
        let value = multimodal();
        let whole = Config::new(&value).unwrap();
        let text = whole.language_model("", true).unwrap();
        let problem = |error: ConfigError| (error.field, error.problem);
        let wrong = |field: &str, problem| (String::from(field), problem);
        let uint = |name| problem(text.uint(&[name]).unwrap_err());
        assert_eq!(uint("x"), wrong("text_config.x", ConfigProblem::NotAWholeNumber));
        assert_eq!(uint("half"), wrong("text_config.half", ConfigProblem::NotAWholeNumber));
        assert_eq!(uint("huge"), wrong("text_config.huge", ConfigProblem::NotAWholeNumber));
        let missing = problem(text.required(&["y"]).unwrap_err());
        assert_eq!(missing, wrong("text_config.y", ConfigProblem::Missing));
        let part = problem(whole.part("vision_config", "").unwrap_err());
        assert_eq!(part, wrong("vision_config", ConfigProblem::NotAnObject));
        let short = problem(text.words_per_layer("layer_types", 3).unwrap_err());
        assert_eq!(short.1, ConfigProblem::WrongLength { entries: 2, layers: 3 });
    }

    #[test]
    fn the_class_fills_what_is_absent_but_not_what_is_null() {
        let value = multimodal();
        let text = Config::new(&value).unwrap().language_model("deepseek_v2", true).unwrap();
        assert_eq!(text.uint(&["q_lora_rank"]), Ok(None));
        assert_eq!(text.uint(&["kv_lora_rank"]), Ok(Some(512)));
        assert_eq!(text.uint(&["kv_lora_rank"]), Ok(Some(512)));
        let value = ClassDefault::Number(512);
        assert_eq!(text.assumed(), [Assumed { field: "text_config.kv_lora_rank".into(), value }]);
    }
}
