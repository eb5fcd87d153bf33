//! AgentRuntime: a durable queue of work for AI agents, and a small host package.

include!(concat!(env!("OUT_DIR"), "/quixos.rs"));
