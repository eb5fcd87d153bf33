//! Turns the definitions beside this file into Rust: a module for each package.

fn main() -> std::process::ExitCode {
    quixos_codegen::build_script(&["agent-runtime.quixos", "objects.quixos", "workspace.quixos"])
}
