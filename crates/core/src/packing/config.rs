//! The packing that a config.json states: `quantization_config`, or `quantization` of MLX.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::layout::{Layout, Scales};
use super::names::Names;
use super::{Beside, Packing, mlx};
use crate::dtype::Format;

/// Why is it not known how weights are stored?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackingError {
    /// Nobody here knows the method.
    #[error("unknown quantisation method {0:?}")]
    UnknownMethod(String),
    /// A field is missing or makes no sense.
    #[error("{field} is missing or makes no sense")]
    Field {
        /// The field.
        field: String,
    },
}

pub(super) type Read<T> = Result<T, PackingError>;

/// Lists of modules that stay as they are go by these names.
const LEFT: &[&str] = &[
    "modules_to_not_convert",
    "ignored_layers",
    "ignore",
    "exclude_modules",
    "llm_int8_skip_modules",
    "skip_modules",
];

/// More bits, and longer groups, than any method has.
const MOST: (u64, u64) = (16, 1 << 16);

impl Packing {
    /// The packing that a config states; `None` for weights that are not quantised.
    ///
    /// # Errors
    /// The method is not known, or a field of it makes no sense.
    pub fn of_config(config: &Value) -> Read<Option<Self>> {
        let inner = config.get("text_config");
        let of = |key: &str| {
            let places = [Some(config), inner].into_iter().flatten();
            places.filter_map(|part| part.get(key)?.as_object()).next()
        };
        match (of("quantization_config"), of("quantization")) {
            (Some(stated), _) if stated.contains_key("quant_method") || is_modelopt(stated) => {
                Stated(stated).read().map(Some)
            }
            // MLX writes the same table under both names.
            (_, Some(stated)) | (Some(stated), None) => mlx::stated(stated).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// NVIDIA's tool states the algorithm where others state the method.
fn is_modelopt(stated: &Map<String, Value>) -> bool {
    stated.contains_key("quant_algo")
}

/// A quantisation config as it stands.
struct Stated<'a>(&'a Map<String, Value>);

impl<'a> Stated<'a> {
    fn read(&self) -> Read<Packing> {
        let method = self.text("quant_method").unwrap_or("modelopt");
        let packing = match method {
            "fp8" => self.everywhere(self.fp8()?),
            "fbgemm_fp8" => {
                self.everywhere(Layout::Fp8 { scales: Scales::Row(Format::F32), input_scale: true })
            }
            "gptq" => self.everywhere(Layout::Gptq { bits: self.bits()?, group: self.group()? }),
            "awq" => self.everywhere(Layout::Awq { bits: self.bits()?, group: self.group()? }),
            "mxfp4" => self.mxfp4(),
            "bitsandbytes" => self.bitsandbytes(),
            "torchao" => self.everywhere(self.torchao()?),
            "compressed-tensors" => self.groups(method)?,
            "modelopt" | "modelopt_fp4" => self.modelopt()?,
            other => return Err(PackingError::UnknownMethod(other.to_string())),
        };
        // NVIDIA's tool has one name and many algorithms.
        let method = self.text("quant_algo").unwrap_or(method).to_ascii_lowercase();
        Ok(Packing { method, ..packing })
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).and_then(Value::as_str)
    }

    fn flag(&self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    fn bits(&self) -> Read<u64> {
        bits(self.0, "bits")
    }

    fn group(&self) -> Read<Option<u64>> {
        group(self.0, "group_size")
    }

    /// Modules that stay as they are; the head where none are listed.
    fn left(&self) -> Names {
        let lists = LEFT.iter().filter_map(|key| self.0.get(*key)?.as_array()).collect::<Vec<_>>();
        // What GPTQModel leaves alone, it lists as patterns behind a minus.
        let minus = self.0.get("dynamic").and_then(Value::as_object).into_iter().flatten();
        let minus: Vec<String> =
            minus.filter_map(|(key, _)| key.strip_prefix("-:")).map(|p| format!("re:{p}")).collect();
        let head = lists.is_empty().then_some("lm_head");
        let listed = lists.iter().flat_map(|list| list.iter()).filter_map(Value::as_str);
        Names::new(listed.chain(minus.iter().map(String::as_str)).chain(head))
    }

    fn everywhere(&self, layout: Layout) -> Packing {
        Packing { left: self.left(), ..Packing::everywhere("", layout) }
    }

    fn fp8(&self) -> Read<Layout> {
        let input_scale = self.text("activation_scheme") == Some("static");
        let Some(block) = self.0.get("weight_block_size").filter(|block| !block.is_null()) else {
            return Ok(Layout::Fp8 { scales: Scales::Tensor, input_scale });
        };
        let extent = |n: usize| block.get(n).and_then(Value::as_u64).filter(|n| (1..=MOST.1).contains(n));
        match (extent(0), extent(1)) {
            (Some(rows), Some(columns)) => {
                Ok(Layout::Fp8 { scales: Scales::Block(rows, columns), input_scale })
            }
            _ => Err(wrong("weight_block_size")),
        }
    }

    fn mxfp4(&self) -> Packing {
        let beside = Beside { experts_alone: true, ..Beside::default() };
        Packing { beside, ..self.everywhere(Layout::Mxfp4) }
    }

    fn bitsandbytes(&self) -> Packing {
        let four = self.flag("load_in_4bit") || self.flag("_load_in_4bit");
        let nested = self.flag("bnb_4bit_use_double_quant");
        self.everywhere(if four { Layout::Bnb4 { nested } } else { Layout::Bnb8 })
    }

    fn torchao(&self) -> Read<Layout> {
        let stated = self.0.get("quant_type");
        let default = stated.and_then(|t| t.get("default"));
        let name = default.and_then(|d| d.get("_type")).or(stated).and_then(Value::as_str).unwrap_or("");
        let name = name.to_ascii_lowercase().replace('_', "");
        let data = default.and_then(|d| d.get("_data")).and_then(Value::as_object);
        let eight = Layout::Fp8 { scales: Scales::Row(Format::F32), input_scale: false };
        if name.starts_with("int4weightonly") {
            let group = data.map(|data| group(data, "group_size")).transpose()?.flatten();
            Ok(Layout::TorchaoInt4 { group: group.unwrap_or(128) })
        } else if name.starts_with("int8") {
            Ok(Layout::Int8)
        } else if name.starts_with("float8") {
            Ok(eight)
        } else {
            Err(PackingError::UnknownMethod(format!("torchao {name}")))
        }
    }

    /// Groups of modules, each with its layout.
    fn groups(&self, method: &str) -> Read<Packing> {
        let groups = self.0.get("config_groups").and_then(Value::as_object);
        let groups = groups.ok_or_else(|| wrong("config_groups"))?;
        let whole = self.text("format");
        let mut rules = Vec::new();
        for group in groups.values().filter_map(Value::as_object) {
            let targets = group.get("targets").and_then(Value::as_array);
            let targets = Names::new(targets.into_iter().flatten().filter_map(Value::as_str));
            let format = group.get("format").and_then(Value::as_str).or(whole);
            let weights = group.get("weights").and_then(Value::as_object);
            let Some(weights) = weights else { continue };
            rules.push((targets, weights_of(weights, format, method)?));
        }
        // Rules that name modules come before those for all.
        rules.sort_by_key(|(names, _)| names.mean(&[]));
        let cache_scales = self.0.get("kv_cache_scheme").is_some_and(Value::is_object);
        Ok(Packing { rules, cache_scales, ..self.everywhere(Layout::Plain) })
    }

    fn modelopt(&self) -> Read<Packing> {
        if let Some(layers) = self.0.get("quantized_layers").and_then(Value::as_object) {
            return self.layer_by_layer(layers);
        }
        if self.0.contains_key("config_groups") {
            return self.groups("modelopt");
        }
        let layout = algorithm(self.text("quant_algo").unwrap_or(""))?;
        Ok(Packing { cache_scales: self.0.contains_key("kv_cache_quant_algo"), ..self.everywhere(layout) })
    }

    /// A layout for every module by name.
    fn layer_by_layer(&self, layers: &Map<String, Value>) -> Read<Packing> {
        let mut rules: Vec<(Layout, Vec<&str>)> = Vec::new();
        for (name, stated) in layers {
            let layout = algorithm(stated.get("quant_algo").and_then(Value::as_str).unwrap_or(""))?;
            match rules.iter_mut().find(|(known, _)| *known == layout) {
                Some((_, names)) => names.push(name),
                None => rules.push((layout, vec![name])),
            }
        }
        let rules = rules.into_iter().map(|(layout, names)| (Names::new(names.into_iter()), layout));
        Ok(Packing { rules: rules.collect(), ..self.everywhere(Layout::Plain) })
    }
}

/// The layout of one of NVIDIA's algorithms.
fn algorithm(name: &str) -> Read<Layout> {
    Ok(match name {
        "NVFP4" | "W4A16_NVFP4" => Layout::Nvfp4,
        "MXFP4" => Layout::Mxfp4,
        "MXFP8" => Layout::Mxfp8,
        "FP8" => Layout::Fp8 { scales: Scales::Tensor, input_scale: true },
        "FP8_PER_CHANNEL_PER_TOKEN" => Layout::Fp8 { scales: Scales::Row(Format::F32), input_scale: false },
        "FP8_PB_WO" => Layout::Fp8 { scales: Scales::Block(128, 128), input_scale: false },
        other => return Err(PackingError::UnknownMethod(other.to_string())),
    })
}

/// The layout of a group of compressed-tensors, or of NVIDIA's tool in the same form.
fn weights_of(weights: &Map<String, Value>, format: Option<&str>, method: &str) -> Read<Layout> {
    let bits = bits(weights, "num_bits")?;
    let group = group(weights, "group_size")?;
    let is_float = weights.get("type").and_then(Value::as_str) == Some("float");
    let strategy = weights.get("strategy").and_then(Value::as_str).unwrap_or("");
    let symmetric = weights.get("symmetric").and_then(Value::as_bool).unwrap_or(true);
    Ok(match (is_float, bits) {
        (true, 4) if format.is_some_and(|f| f.starts_with("mxfp4")) || group == Some(32) => Layout::Mxfp4,
        (true, 4) => Layout::Nvfp4,
        (true, 8) => {
            let row = if method == "compressed-tensors" { Format::Bf16 } else { Format::F32 };
            let block = weights.get("block_structure").and_then(Value::as_array);
            let extent = |n: usize| block.and_then(|b| b.get(n)?.as_u64()).unwrap_or(128);
            let scales = match strategy {
                "channel" => Scales::Row(row),
                "block" => Scales::Block(extent(0), extent(1)),
                _ => Scales::Tensor,
            };
            Layout::Fp8 { scales, input_scale: method == "modelopt" }
        }
        (false, 8) if strategy == "channel" || format == Some("int-quantized") => Layout::Int8,
        (false, bits @ (4 | 8)) => Layout::Words { bits, group, zeros: !symmetric },
        _ => return Err(PackingError::UnknownMethod(format!("{method}, {bits} bits"))),
    })
}

pub(super) fn bits(stated: &Map<String, Value>, key: &str) -> Read<u64> {
    let bits = stated.get(key).and_then(Value::as_u64);
    bits.filter(|bits| (1..=MOST.0).contains(bits)).ok_or_else(|| wrong(key))
}

/// Inputs that share a scale; -1 and null stand for all.
pub(super) fn group(stated: &Map<String, Value>, key: &str) -> Read<Option<u64>> {
    match stated.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) if value.as_i64() == Some(-1) => Ok(None),
        Some(value) => {
            let size = value.as_u64().filter(|size| (1..=MOST.1).contains(size));
            size.map(Some).ok_or_else(|| wrong(key))
        }
    }
}

pub(super) fn wrong(field: &str) -> PackingError {
    PackingError::Field { field: format!("quantization_config.{field}") }
}
