//! `directory_createThread`: a thread for an agent of this directory, about the given subjects.
//!
//! The directory's sequence goes up by one and is where the thread's own begins.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::ThreadData;
use crate::agent_runtime::directory_create_thread::{
    Context, CreateThread, CreateThreadContexts, Handler, Input, Output,
};
use crate::contexts::Contexts;
use crate::{counter, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        timestamp::parse("createdAt", &input.created_at)?;
        if cx.agent(input.agent).directory()? != cx.receiver() {
            return Err(CallError::invalid("agent", "belongs to another directory"));
        }
        let mut data = cx.data().read()?;
        data.sequence = counter::next("directory.sequence", data.sequence)?;
        cx.data().write(&data)?;

        let mut contexts = Contexts::default();
        contexts.add(input.contexts, |subject| cx.reference_text(subject));
        cx.create_thread(&CreateThread {
            contexts: contexts.map(|key, target| CreateThreadContexts { key, target }),
            data: ThreadData {
                title: input.title,
                kind: input.kind,
                archived: false,
                sequence: data.sequence,
                pending: 0,
                next_item: 1,
                updated_at: input.created_at,
            },
            directory: cx.receiver(),
            agent: input.agent,
        })
    }
}
