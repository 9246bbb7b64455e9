//! `vram models`: what is known of a model, by its name or its files.

use clap::{Args, Subcommand};

use crate::locale::Locale;
use crate::problem::{Exit, Problem};
use crate::render;
use crate::resolve;

/// Shows what is known of models
#[derive(Args, Debug)]
pub(crate) struct Models {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show a model's parameters, layers and cache, by its name or its files
    Show {
        /// A name such as llama-3.1-8b, a .gguf or .safetensors file, a config.json, or a folder
        #[arg(value_name = "MODEL")]
        model: String,
        /// List its tensors with their shapes too
        #[arg(long)]
        tensors: bool,
        /// Print all of it as JSON, tensors included
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub(crate) fn run(locale: &Locale, models: &Models) -> Result<Exit, Problem> {
    let What::Show { model, tensors, json } = &models.what;
    let answer = resolve::explained(locale, model)?;
    let printed = if *json {
        render::json::print(&answer)
    } else {
        render::text::print_model(locale, &answer, *tensors)
    };
    // A reader that has seen enough is no error.
    drop(printed);
    Ok(Exit::Fits)
}
