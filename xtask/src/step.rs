//! One command of a chore, as data.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A command that must succeed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// What to call it.
    pub(crate) name: &'static str,
    /// A program that may be absent: then the step is skipped.
    optional: Option<&'static str>,
    program: &'static str,
    args: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

impl Step {
    /// A subcommand that comes with the toolchain.
    pub(crate) const fn cargo(name: &'static str, args: &'static [&'static str]) -> Self {
        Self { name, optional: None, program: "cargo", args, variables: &[] }
    }

    /// A command of a tool that not every machine has; `tool` is the program that must be there.
    pub(crate) const fn optional(tool: &'static str, command: &'static [&'static str]) -> Self {
        let Some((program, args)) = command.split_first() else { panic!("a command has a program") };
        Self { name: tool, optional: Some(tool), program, args, variables: &[] }
    }

    /// The same step with variables of its own.
    pub(crate) const fn with(self, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { variables, ..self }
    }

    /// Can it run here?
    pub(crate) fn is_present(&self) -> bool {
        self.optional.is_none_or(|tool| {
            let path = env::var_os("PATH").unwrap_or_default();
            let file = format!("{tool}{}", env::consts::EXE_SUFFIX);
            env::split_paths(&path).any(|folder| folder.join(&file).is_file())
        })
    }

    /// The command as one would type it.
    pub(crate) fn line(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value:?} "));
        let command = [&[self.program], self.args].concat().join(" ");
        format!("{}{command}", variables.collect::<String>())
    }

    /// Runs it in the root of the workspace; its output goes straight to the terminal.
    pub(crate) fn run(&self) -> Result<()> {
        let program = match self.program {
            "cargo" => env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")),
            other => OsString::from(other),
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let variables = self.variables.iter().copied();
        let mut command = Command::new(program);
        command.args(self.args).envs(variables).current_dir(root);
        let status = command.status().with_context(|| format!("could not start `{}`", self.line()))?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_as_one_would_type_it() {
        let step = Step::cargo("doc", &["doc", "--no-deps"]).with(&[("RUSTDOCFLAGS", "-Dwarnings")]);
        assert_eq!(step.line(), "RUSTDOCFLAGS=\"-Dwarnings\" cargo doc --no-deps");
    }

    #[test]
    fn a_tool_that_is_not_installed_is_absent() {
        assert!(!Step::optional("no-such-tool-here", &["no-such-tool-here"]).is_present());
        assert!(Step::cargo("fmt", &["fmt"]).is_present());
    }

    #[test]
    fn a_command_that_does_not_start_or_does_not_succeed_is_an_error() {
        let error = Step::optional("x", &["no-such-tool-here", "x"]).run().unwrap_err().to_string();
        assert_eq!(error, "could not start `no-such-tool-here x`");
        let error = Step::optional("false", &["false"]).run().unwrap_err().to_string();
        assert!(error.starts_with("`false` failed") || error.starts_with("could not start"), "{error}");
    }
}
