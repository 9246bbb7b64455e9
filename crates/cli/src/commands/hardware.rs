//! `vram hardware`: which devices are known, and what is known of each.

use clap::{Args, Subcommand};
use vramplan_core::catalogue::hardware::HardwareError;
use vramplan_core::catalogue::{DeviceRow, Lookup, devices, find_device, normalise};

use crate::explain_problem;
use crate::locale::Locale;
use crate::problem::{Exit, Problem};
use crate::render;

/// Lists and shows hardware
#[derive(Args, Debug)]
pub(crate) struct Hardware {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// List known devices, all of them or those whose name has every word given
    List {
        /// Words of the name, such as rtx 40 laptop
        words: Vec<String>,
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what is known of one device
    Show {
        /// Its id or name
        #[arg(value_name = "NAME")]
        name: String,
        /// Print the facts as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub(crate) fn run(locale: &Locale, hardware: &Hardware) -> Result<Exit, Problem> {
    let printed = match &hardware.what {
        What::List { words, json } => {
            let rows: Vec<_> = devices().filter(|row| has_words(row, words)).collect();
            if *json { render::json::print(&rows) } else { render::text::print_devices(locale, &rows) }
        }
        What::Show { name, json } => {
            let row = find(locale, name)?;
            if *json { render::json::print(&row) } else { render::text::print_device(locale, &row) }
        }
    };
    // A reader that has seen enough is no error.
    drop(printed);
    Ok(Exit::Fits)
}

fn has_words(row: &DeviceRow, words: &[String]) -> bool {
    let names = [normalise(&row.id), normalise(&row.name)];
    words.iter().map(|word| normalise(word)).all(|word| names.iter().any(|name| name.contains(&word)))
}

fn find(locale: &Locale, name: &str) -> Result<DeviceRow, Problem> {
    let error = match find_device(name) {
        Lookup::One(row) => return Ok(row),
        Lookup::Several(rows) => HardwareError::Ambiguous { name: name.into(), rows },
        Lookup::None => HardwareError::Unknown { name: name.into() },
    };
    Err(explain_problem::hardware(locale, &error))
}
