//! The command line of llama-server for a case.
//!
//! `common/arg.cpp` of v0.5.0: only flags that this version and the last year's builds accept.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::case::Case;
use crate::command::Command;
use crate::dtype::Format;
use crate::engines::WeightsSource;
use crate::machine::Backend;
use crate::setup::{EngineSetup, LlamaCpp, Override, Split, Target, Toggle};

/// The batch and physical batch the engine takes when nothing is said.
const DEFAULT_UBATCH: u64 = 512;

/// The command that starts a case.
pub(super) fn command(case: &Case<'_>, source: &WeightsSource<'_>) -> Command {
    let EngineSetup::LlamaCpp(given) = &case.setup.engine;
    let mut args = Vec::new();
    weights(&mut args, source);
    flag(&mut args, "-ngl", gpu_layers(case, given));
    placement(&mut args, case, given);
    flag(&mut args, "-c", case.workload.context.0.to_string());
    flag(&mut args, "-np", case.workload.sequences.to_string());
    flag(&mut args, "-fa", toggle(given.flash_attention).into());
    cache_formats(&mut args, case);
    if given.ubatch != DEFAULT_UBATCH {
        flag(&mut args, "-ub", given.ubatch.to_string());
        flag(&mut args, "-b", given.batch.max(given.ubatch).to_string());
    }
    if given.unified_cache {
        args.push("-kvu".into());
    }
    Command { program: "llama-server".into(), args }
}

fn flag(args: &mut Vec<String>, name: &str, value: String) {
    args.push(name.into());
    args.push(value);
}

fn weights(args: &mut Vec<String>, source: &WeightsSource<'_>) {
    match source {
        WeightsSource::File(path) => flag(args, "-m", (*path).into()),
        WeightsSource::Hub { repository, quant } => {
            flag(args, "-hf", alloc::format!("{repository}:{quant}"));
        }
    }
}

fn gpu_layers(case: &Case<'_>, given: &LlamaCpp) -> String {
    match given.gpu_layers {
        _ if case.machine.gpus().next().is_none() => "0".into(),
        Some(n) => n.to_string(),
        None => "99".into(),
    }
}

/// What was put elsewhere than the engine would.
fn placement(args: &mut Vec<String>, case: &Case<'_>, given: &LlamaCpp) {
    let layers = case.model.layers.len() as u64;
    match given.host_experts {
        0 => {}
        n if n >= layers => args.push("--cpu-moe".into()),
        n => flag(args, "--n-cpu-moe", n.to_string()),
    }
    if !given.overrides.is_empty() {
        let patterns: Vec<_> = given.overrides.iter().map(|o| override_text(case, o)).collect();
        flag(args, "-ot", patterns.join(","));
    }
    if given.split == Split::None {
        flag(args, "-sm", "none".into());
        flag(args, "-mg", given.main_gpu.to_string());
    } else if !given.tensor_split.is_empty() {
        let shares: Vec<_> = given.tensor_split.iter().map(f32::to_string).collect();
        flag(args, "-ts", shares.join(","));
    }
    if given.cache_on_host {
        args.push("-nkvo".into());
    }
}

/// `pattern=CPU`, or the name that the engine gives a card.
fn override_text(case: &Case<'_>, o: &Override) -> String {
    let buffer = match o.target {
        Target::Host => "CPU".into(),
        Target::Gpu(card) => {
            let backend = case.machine.gpus().nth(usize::from(card)).map(|(_, d)| d.backend);
            let name = match backend {
                Some(Backend::Rocm) => "ROCm",
                Some(Backend::Vulkan) => "Vulkan",
                Some(Backend::Metal) => "MTL",
                _ => "CUDA",
            };
            alloc::format!("{name}{card}")
        }
    };
    alloc::format!("{}={buffer}", o.pattern)
}

fn toggle(value: Toggle) -> &'static str {
    match value {
        Toggle::Auto => "auto",
        Toggle::On => "on",
        Toggle::Off => "off",
    }
}

fn cache_formats(args: &mut Vec<String>, case: &Case<'_>) {
    for (name, format) in [("-ctk", case.setup.cache_k), ("-ctv", case.setup.cache_v)] {
        if format != Format::F16 {
            flag(args, name, format.name().to_ascii_lowercase());
        }
    }
}
