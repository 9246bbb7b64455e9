//! `vram`: does this model run on this hardware, what does it take, how is it started?

mod args;
mod commands;
mod explain_problem;
mod locale;
mod problem;
mod render;
mod resolve;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use locale::Locale;

/// Says whether an AI model runs on a machine, what each part takes on each device, and how to start it
#[derive(Parser, Debug)]
#[command(name = "vram", version, max_term_width = 80, arg_required_else_help = false)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Fetch nothing: read what is on this disk and in the catalogue
    #[arg(long, global = true)]
    offline: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    Plan(Box<commands::plan::Plan>),
    Models(commands::models::Models),
    Hardware(commands::hardware::Hardware),
    /// Prints the JSON schema of answers
    Schema,
    Completions(commands::generate::Completions),
    Man(commands::generate::Man),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let locale = Locale::english();
    let outcome = match &cli.command {
        Some(Command::Plan(plan)) => commands::plan::run(&locale, plan, cli.offline),
        Some(Command::Models(models)) => commands::models::run(&locale, models, cli.offline),
        Some(Command::Hardware(hardware)) => commands::hardware::run(&locale, hardware),
        Some(Command::Schema) => Ok(commands::generate::schema()),
        Some(Command::Completions(args)) => Ok(commands::generate::completions(args, Cli::command())),
        Some(Command::Man(args)) => commands::generate::man(&locale, args, Cli::command()),
        None => commands::home::run(&locale),
    };
    let exit = outcome.unwrap_or_else(|problem| {
        render::problem::print(&problem);
        problem.exit
    });
    ExitCode::from(exit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_help(command: &clap::Command) -> Vec<String> {
        let own = command.get_arguments().filter(|arg| arg.get_help().is_none());
        let own = own.map(|arg| format!("{}: {}", command.get_name(), arg.get_id()));
        own.chain(command.get_subcommands().flat_map(without_help)).collect()
    }

    #[test]
    fn every_option_says_what_it_is_for() {
        Cli::command().debug_assert();
        assert_eq!(without_help(&Cli::command()), Vec::<String>::new());
        let silent = |c: &&clap::Command| c.get_about().is_none();
        let commands: Vec<_> =
            Cli::command().get_subcommands().filter(silent).map(|c| c.get_name().to_owned()).collect();
        assert_eq!(commands, Vec::<String>::new());
    }
}
