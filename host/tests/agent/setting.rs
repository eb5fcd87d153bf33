//! An agent that says by a script what a test is about.

use std::sync::Arc;

use quixos_engine::provider::scripted::{Script, Scripted};
use quixos_host::Config;
use quixos_host::config::{Agent, Place, ProviderConfig, WorkerConfig};
use quixos_protocol::{AgentConfig, RetryPolicy};
use quixos_runtime::store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::support::{KEY, Running, SECRET};

/// The agent that most tests speak with.
pub(crate) const AGENT: &str = "clerk";
/// An agent that does not stream by itself, and has no tools.
pub(crate) const QUIET: &str = "quiet";

/// Returns what the model says.
fn script(pace: u64) -> Value {
    json!({ "pace_ms": pace, "lines": [
        { "when": { "says": "think" }, "think": "Let me see what this is.", "say": "It is clear." },
        {
            "when": { "says": "weather" }, "think": "A tool knows.", "say": "I look it up.",
            "call": [{ "tool": "weather", "arguments": { "city": "Oslo" } }],
        },
        { "when": { "answered": "weather" }, "say": "They say: {message}" },
        {
            "when": { "says": "wrong" },
            "call": [{ "tool": "weather", "arguments": { "place": 7 } }],
        },
        {
            "when": { "says": "book" }, "say": "I ask first.",
            "call": [{ "tool": "approve", "arguments": { "question": "Really?" } }],
        },
        {
            "when": { "says": "both" },
            "call": [
                { "tool": "approve", "arguments": { "question": "One?" } },
                { "tool": "approve", "arguments": { "question": "Two?" } },
            ],
        },
        { "when": { "answered": "approve" }, "say": "You said: {message}" },
        {
            "when": { "says": "flaky" }, "think": "Hm, hm.", "say": "This comes at the second try.",
            "fail": { "times": 1, "error": "a secret of the provider", "after_words": 4 },
        },
        {
            "when": { "says": "broken" }, "say": "Never.",
            "fail": { "times": 99, "error": "a secret of the provider", "retryable": false },
        },
        { "when": { "says": "cut" }, "say": "This is cut", "finish_reason": "length" },
        { "when": { "says": "delegate" }, "call": [{ "tool": "helper", "arguments": { "message": "book it" } }] },
        { "when": { "answered": "helper" }, "say": "The helper says: {message}" },
        { "when": { "says": "long" }, "say": "one two three four five six seven eight nine ten \
            eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty" },
        { "say": "You said: {message}" },
    ] })
}

/// Returns a config with the agents.
pub(crate) fn config(pace: u64) -> Config {
    let script: Script = serde_json::from_value(script(pace)).unwrap();
    let agent = |name: &str, config: AgentConfig| Agent {
        name: name.to_owned(),
        config,
        worker: WorkerConfig::Demo,
        decision_retry: None,
        model_retry: Some(RetryPolicy {
            timeout_secs: None,
            max_retries: 2,
            backoff_base_secs: 0,
            backoff_max_secs: 0,
        }),
        max_cost: None,
    };
    let tools = Scripted::demo_agent().tools;
    let clerk = AgentConfig {
        tools: tools.clone(),
        sub_agents: Some(vec![serde_json::from_value(json!({ "id": "helper" })).unwrap()]),
        ..AgentConfig::new("m")
    };
    let helper = AgentConfig { tools, ..AgentConfig::new("m") };
    Config {
        agents: vec![
            agent(AGENT, clerk),
            agent(QUIET, AgentConfig::new("m")),
            agent("helper", helper),
        ],
        providers: vec![ProviderConfig {
            models: vec![String::new()],
            place: Place::Scripted(Box::new(Scripted::new(script))),
        }],
        ..Config::demo(KEY, SECRET.to_owned().into())
    }
}

/// Starts a host with the agents.
pub(crate) async fn host() -> Running {
    paced(0, Arc::new(MemoryStore::new())).await
}

/// Starts one whose model takes its time.
pub(crate) async fn paced(pace: u64, store: Arc<dyn Store>) -> Running {
    Running::with(config(pace), store).await
}
