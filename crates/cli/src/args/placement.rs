//! What goes where: options that name devices, layers and tensors.

use clap::Args;
use vramplan_core::answer::Placement;
use vramplan_core::setup::{Override, Target};

/// Options of placement; what is left open goes to the accelerators.
#[derive(Args, Debug)]
#[command(next_help_heading = "Placement")]
pub(crate) struct PlacementArgs {
    /// Layers on the GPUs, the output counted as one: a number, or all
    #[arg(long, value_name = "N", value_parser = layers, allow_hyphen_values = true)]
    gpu_layers: Option<Layers>,
    /// Keep the experts of every layer in RAM
    #[arg(long, conflicts_with = "n_cpu_moe")]
    cpu_moe: bool,
    /// Keep the experts of the first N layers in RAM
    #[arg(long, value_name = "N")]
    n_cpu_moe: Option<u64>,
    /// Put tensors whose name matches elsewhere: REGEX=cpu or REGEX=gpu0; repeatable, first match wins
    #[arg(long, value_name = "REGEX=DEVICE", value_parser = tensor_override)]
    override_tensor: Vec<Override>,
    /// Shares of the cards, such as 3,1 (default: by free memory)
    #[arg(long, value_name = "SHARES", value_delimiter = ',', value_parser = share)]
    tensor_split: Vec<f32>,
    /// Everything on the card of this number, counted from 0
    #[arg(long, value_name = "CARD", conflicts_with = "tensor_split")]
    only_card: Option<u16>,
    /// Keep the KV cache in RAM
    #[arg(long)]
    kv_on_host: bool,
}

/// A number of layers, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layers {
    All,
    Some(u64),
}

fn layers(text: &str) -> Result<Layers, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(Layers::All);
    }
    text.parse().map(Layers::Some).map_err(|_| "give a number of layers, or all".to_owned())
}

fn share(text: &str) -> Result<f32, String> {
    let share = text.trim().parse().ok().filter(|s: &f32| s.is_finite() && *s >= 0.0);
    share.ok_or_else(|| "shares are numbers of at least 0, such as 3,1".to_owned())
}

fn tensor_override(text: &str) -> Result<Override, String> {
    let usage = || "give REGEX=cpu or REGEX=gpu0".to_owned();
    let (pattern, device) = text.rsplit_once('=').ok_or_else(usage)?;
    let device = device.to_ascii_lowercase();
    let target = match device.strip_prefix("gpu") {
        Some(number) => Target::Gpu(number.parse().map_err(|_| usage())?),
        None if device == "cpu" => Target::Host,
        None => return Err(usage()),
    };
    if pattern.is_empty() {
        return Err(usage());
    }
    Ok(Override { pattern: pattern.into(), target })
}

impl PlacementArgs {
    /// The same for the core.
    pub(crate) fn placement(&self) -> Placement {
        Placement {
            gpu_layers: match self.gpu_layers {
                Some(Layers::Some(n)) => Some(n),
                Some(Layers::All) | None => None,
            },
            host_experts: if self.cpu_moe { u64::MAX } else { self.n_cpu_moe.unwrap_or(0) },
            overrides: self.override_tensor.clone(),
            only_card: self.only_card,
            tensor_split: self.tensor_split.clone(),
            cache_on_host: self.kv_on_host,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_read() {
        assert_eq!(layers("all"), Ok(Layers::All));
        assert_eq!(layers("24"), Ok(Layers::Some(24)));
        assert!(layers("-1").is_err());
        let up = tensor_override("ffn_up=cpu");
        assert_eq!(up, Ok(Override { pattern: "ffn_up".into(), target: Target::Host }));
        let card = tensor_override(r"blk\.[0-9]=GPU1").map(|o| o.target);
        assert_eq!(card, Ok(Target::Gpu(1)));
        for bad in ["ffn_up", "=cpu", "ffn_up=tpu", "x=gpu", "x=gpu99999"] {
            assert!(tensor_override(bad).is_err(), "{bad}");
        }
        for bad in ["nan", "inf", "-1", "x", ""] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
