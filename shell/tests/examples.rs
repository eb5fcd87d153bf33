//! The examples do what they say.

use std::sync::Arc;

use quixos_runtime::store::MemoryStore;

#[path = "../../examples/sessions.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod sessions;

#[tokio::test(flavor = "multi_thread")]
async fn a_program_runs_an_agent_in_its_own_process() {
    let store = Arc::new(MemoryStore::new());
    let told = [
        "user: How is the weather?",
        "assistant calls \"weather\"",
        "tool: 12 degrees and light rain in Oslo",
        "assistant: I looked it up: 12 degrees and light rain in Oslo.",
    ];
    assert_eq!(sessions::talk(store.clone()).await.unwrap(), told);
    // Started again over the same store, it finds what was said, and says nothing twice.
    assert_eq!(sessions::talk(store).await.unwrap(), told);
}
