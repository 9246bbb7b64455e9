//! Problems on standard error: what, why, what to do.

use std::io::Write;

use crate::problem::Problem;

/// Prints a problem; a broken pipe is nobody's fault.
pub(crate) fn print(problem: &Problem) {
    let mut err = anstream::stderr().lock();
    let bold = anstyle::Style::new().bold();
    let _ = writeln!(err, "{bold}error:{bold:#} {}", problem.what);
    for line in problem.why.iter().chain(&problem.hints) {
        let _ = writeln!(err, "  {line}");
    }
}
