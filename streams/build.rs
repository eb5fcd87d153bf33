//! Turns the definition beside this file into Rust.

fn main() -> std::process::ExitCode {
    quixos_codegen::BuildScript::new().file("streams.quixos").run()
}
