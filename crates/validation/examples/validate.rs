//! Prints the validation table as Markdown, as docs/VALIDATION.md has it.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let validation = validation::validate();
    write!(std::io::stdout(), "{}", validation.table())
}
