//! Sessions: conversations that workers decide about, as a package on AgentRuntime.

mod machine;
mod past;
mod stored;

include!(concat!(env!("OUT_DIR"), "/quixos.rs"));
