//! Turns the definitions beside this file into Rust, over AgentRuntime's, which are in another crate.

fn main() -> std::process::ExitCode {
    quixos_codegen::BuildScript::new()
        .file("../package/agent-runtime.quixos")
        .file("../package/objects.quixos")
        .elsewhere("package:org.quixos.agent:runtime", "quixos_package::agent_runtime")
        .file("sessions.quixos")
        .run()
}
