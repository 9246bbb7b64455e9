//! The command line of llama-server for a case.
//!
//! `common/arg.cpp` of v0.5.0: only flags that this version and the last year's builds accept.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::case::Case;
use crate::command::Command;
use crate::dtype::Format;
use crate::engines::WeightsSource;
use crate::setup::{EngineSetup, LlamaCpp, Toggle};

/// The batch and physical batch the engine takes when nothing is said.
const DEFAULT_UBATCH: u64 = 512;

/// The command that starts a case.
pub(super) fn command(case: &Case<'_>, source: &WeightsSource<'_>) -> Command {
    let EngineSetup::LlamaCpp(given) = &case.setup.engine;
    let mut args = Vec::new();
    weights(&mut args, source);
    flag(&mut args, "-ngl", gpu_layers(case, given));
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
    if given.cache_on_host {
        args.push("-nkvo".into());
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
