//! Turns the definitions beside this file into Rust, over AgentRuntime's, which are in another crate.

fn main() -> std::process::ExitCode {
    quixos_codegen::BuildScript::new()
        .file("../package/agent-runtime.quixos")
        .file("../package/objects.quixos")
        .file("../package/workspace.quixos")
        .elsewhere("package:org.quixos.agent:runtime", "quixos_package::agent_runtime")
        .elsewhere("package:org.quixos.workspace", "quixos_package::workspace")
        .file("sessions.quixos")
        .run()
}
