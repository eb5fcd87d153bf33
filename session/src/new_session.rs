//! Sessions as they are made, whichever way they are asked for.

use quixos_package::agent_runtime::{AgentObject, AgentThreadObject};
use quixos_runtime::Ref;

use crate::sessions::{
    Binding, Claim, Live, NewSession, SessionData, SessionObject, SessionRegistryObject,
};
use crate::status::START_QUEUED;
use crate::usage;

/// Where a new session stands.
pub(crate) struct Place {
    pub(crate) registry: Ref<SessionRegistryObject>,
    pub(crate) agent: Ref<AgentObject>,
    pub(crate) thread: Ref<AgentThreadObject>,
    pub(crate) parent: Option<Ref<SessionObject>>,
}

/// Returns a session in which nothing has happened.
pub(crate) fn new_session(binding: Binding, place: Place) -> NewSession {
    let Place { registry, agent, thread, parent } = place;
    NewSession {
        binding,
        data: SessionData {
            head: None,
            nodes: 0,
            start: START_QUEUED.to_owned(),
            done: false,
            cancelled: false,
            turn: None,
            state: None,
            agent: None,
            next: 0,
            usage: usage::none(),
            sub_agents: usage::none(),
            claim: Claim { engine: String::new(), generation: 0 },
            last: None,
        },
        live: Live {
            calls: Vec::new(),
            decisions: Vec::new(),
            interrupts: Vec::new(),
            sends: Vec::new(),
        },
        registry,
        agent,
        thread,
        parent,
        request: None,
        waiting: Vec::new(),
        turns: Vec::new(),
        results: Vec::new(),
    }
}
