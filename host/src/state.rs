//! What all routes share.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use quixos_engine::{Engine, EngineError, Submitted};
use quixos_package::agent_runtime::{Agent, AgentDirectory, AgentDirectoryObject};
use quixos_protocol::{ParseError, parse};
use quixos_runtime::{CallError, Clock, Ref, Session as Caller};
use quixos_session::Refusal;
use quixos_session::sessions::{Authority, Once, Session, SessionObject};
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::agent::Problem;
use crate::connections::ConnectionLimits;
use crate::durable::Door;
use crate::error::ApiError;
use crate::keys::KeyHash;
use crate::limits::Limiter;
use crate::metrics::Metrics;
use crate::tokens::{Bearer, Identity, Tokens};

/// What all routes share.
pub(crate) struct State {
    pub(crate) engine: Engine,
    /// What the door for public streams needs.
    pub(crate) durable: Door,
    pub(crate) tokens: Tokens,
    /// The tenants, each with the hashes of its keys.
    pub(crate) tenants: Vec<(String, Vec<KeyHash>)>,
    /// The directory of agents, and those of them that somebody works for.
    pub(crate) directory: Ref<AgentDirectoryObject>,
    pub(crate) agents: BTreeSet<String>,
    /// The most bytes of a body.
    pub(crate) body: usize,
    /// The most bytes of text of one message.
    pub(crate) text: usize,
    /// How often an owner may ask, and how many streams it may have open.
    pub(crate) limiter: Limiter,
    /// How long a stream lasts whose turn makes no progress.
    pub(crate) stream_timeout: Duration,
    /// What connections may hold up.
    pub(crate) connections: ConnectionLimits,
    /// Whether there is a page at `/`.
    pub(crate) page: bool,
    pub(crate) clock: Arc<dyn Clock>,
    /// Set when the host is told to stop: no turn begins any more, and what runs may end.
    pub(crate) draining: CancellationToken,
    /// What is counted.
    pub(crate) metrics: Metrics,
    /// When the host was opened.
    pub(crate) begun: DateTime<Utc>,
    /// Set when the host stops: streams end, and no request begins.
    pub(crate) stopping: CancellationToken,
}

/// The state as routes are handed it.
pub(crate) type Shared = axum::extract::State<Arc<State>>;

/// Who asks for a session: what they may do, and with whose sessions.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    by: Authority,
    /// The agents whose sessions they may use, by name; all, if none are named.
    agents: Option<Vec<String>>,
}

impl Asker {
    /// A client, which has a token.
    pub(crate) fn client(bearer: &Bearer) -> Self {
        Self { by: frontend(bearer), agents: bearer.agents.clone() }
    }

    /// A program, which has a key.
    pub(crate) fn machine(tenant: &str) -> Self {
        Self { by: machine(tenant, ""), agents: None }
    }
}

/// The class of a client.
const FRONTEND: &str = "frontend";
/// The class of a program that has a key.
const MACHINE: &str = "machine";

impl State {
    /// Reads a body.
    pub(crate) fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, ParseError> {
        parse(body, self.body)
    }

    /// Refuses what would begin a turn once the host is told to stop.
    pub(crate) fn may_begin(&self) -> Result<(), ApiError> {
        if self.draining.is_cancelled() { Err(ApiError::stopping()) } else { Ok(()) }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Refuses an agent that is not there, or that nobody works for: each of its turns would fail.
    pub(crate) async fn require_agent(&self, name: &str) -> Result<(), Problem> {
        if self.agents.contains(name) {
            return Ok(());
        }
        for agent in AgentDirectory::on(self.door(), self.directory).agents().await? {
            if Agent::on(self.door(), agent).data().await?.name == name {
                return Err(Problem::unavailable("the agent is not available"));
            }
        }
        Err(Problem::no_agent(name))
    }

    /// Returns what came of what a client asked under a key before. Its turn is followed from now on.
    pub(crate) async fn taken(
        &self,
        bearer: &Bearer,
        once: &Once,
    ) -> Result<Option<Submitted>, EngineError> {
        let by = frontend(bearer);
        let Some(taken) = self.engine.taken(&by, once).await? else { return Ok(None) };
        if let Some(turn) = &taken.turn_id {
            self.engine.follow_turn(by, &taken.session_id, turn).await?;
        }
        Ok(Some(taken))
    }

    /// Returns a session that somebody may see, if it is there: one of theirs, with an agent that
    /// they may use.
    pub(crate) async fn visible(
        &self,
        asker: &Asker,
        session_id: &str,
    ) -> Result<Option<Ref<SessionObject>>, EngineError> {
        let Some(session) = self.engine.session(session_id).await? else { return Ok(None) };
        let Asker { by, agents } = asker;
        let binding = Session::on(self.door(), session).binding().await?;
        if binding.tenant != by.tenant {
            return Err(EngineError::Refused(Refusal::WrongTenant));
        }
        if by.class == FRONTEND && binding.owner_id != by.owner_id {
            return Err(EngineError::Refused(Refusal::NotOwner));
        }
        // The thread of an agent that a token does not open is told apart from another owner's by
        // nothing.
        if agents.as_ref().is_some_and(|agents| !agents.contains(&binding.agent_id)) {
            return Err(EngineError::Refused(Refusal::NotOwner));
        }
        Ok(Some(session))
    }

    /// Returns a session that somebody may see.
    pub(crate) async fn require(
        &self,
        asker: &Asker,
        session_id: &str,
    ) -> Result<Ref<SessionObject>, ApiError> {
        let session = self.visible(asker, session_id).await?;
        session.ok_or_else(|| ApiError::no_session(session_id))
    }

    pub(crate) fn door(&self) -> &Caller {
        self.engine.caller()
    }
}

/// Returns what a client may do: what is its owner's.
pub(crate) fn frontend(bearer: &Bearer) -> Authority {
    Authority {
        class: FRONTEND.to_owned(),
        tenant: bearer.tenant.clone(),
        owner_id: bearer.identity.id.clone(),
    }
}

/// Returns what a program may do: what is its tenant's. It speaks for an owner where it makes a
/// session.
pub(crate) fn machine(tenant: &str, owner: &str) -> Authority {
    Authority { class: MACHINE.to_owned(), tenant: tenant.to_owned(), owner_id: owner.to_owned() }
}

/// Returns the metadata of an identity as sessions keep it.
pub(crate) fn metadata(identity: &Identity) -> Result<String, EngineError> {
    serde_json::to_string(&identity.metadata)
        .map_err(|error| CallError::invalid("identity.metadata", error.to_string()))
        .map_err(EngineError::from)
}
