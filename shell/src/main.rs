//! The `quixos` command.
fn main() {}
