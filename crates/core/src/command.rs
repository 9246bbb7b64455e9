//! A command to run, as a list of words; quoting is the front end's business.

use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to type to get what was planned?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments, one word each, unquoted.
    pub args: Vec<String>,
}
