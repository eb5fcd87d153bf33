//! Turns as clients see them: begun and followed, answered to, found again by their requests.

use quixos_package::agent_runtime::{AgentRequest, AgentRequestObject};
use quixos_protocol::{ClientContext, DraftMessage};
use quixos_runtime::Atom as _;
use quixos_runtime::{CallError, ObjectRef, Ref, Ulid};
use quixos_session::receipt;
use quixos_session::sessions::{
    ActionAnswer, Authority, Claim, Fence, Follow, Once, Progress, Respond, Responded, Session,
    SessionObject, SessionReceipt, SessionRegistry, SessionRegistryRespondInput,
};
use serde_json::Value;
use tracing::debug;

use crate::engine::{Engine, Submitted};
use crate::error::EngineError;
use crate::live::{Hold, Said};
use crate::trace;

/// A client's answers to what a session waits for, and what is new beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// The answers. Without one, the messages begin a turn.
    pub answers: Vec<Answered>,
    /// New messages. They go along with results of calls, not with answers to questions.
    pub messages: Vec<DraftMessage>,
    /// What the client hands through to the worker beside new messages.
    pub forwarded_props: Option<Value>,
    /// Whether models are to stream from now on in the turn; as before if it is not said.
    pub stream: Option<bool>,
    /// The key under which it counts once, if the client has one.
    pub once: Option<Once>,
}

/// An answer to one thing that a session, or a sub-agent below it, waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The interrupt, or the call that the client runs.
    pub action_id: String,
    /// What was asked for, or why it is not to be had.
    pub outcome: Result<Value, String>,
}

/// A turn, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnAt {
    /// The session.
    pub session: Ref<SessionObject>,
    /// Its id.
    pub session_id: String,
    /// The turn's id, which is a key within the session.
    pub turn_id: String,
    /// Where its events begin in the log: the offset of its `turn.started`. Of a turn that waits
    /// for others to end, where the log ends now: it will begin behind that.
    pub offset: u64,
}

impl Engine {
    /// Answers what a session, and sub-agents below it, wait for of their client: all of it, or
    /// nothing. Without an answer, messages begin a turn at the head of the conversation, which
    /// belongs to the trace that this is done [within](trace::within).
    ///
    /// # Errors
    ///
    /// A refusal. `unknown-action` names what nothing waits for, or no longer.
    pub async fn respond(
        &self,
        by: Authority,
        session_id: &str,
        response: Response,
    ) -> Result<Submitted, EngineError> {
        let Response { answers, messages, forwarded_props, stream, once } = response;
        let client = ClientContext { forwarded_props, ..ClientContext::default() };
        let respond = Respond {
            by,
            answers: answers.into_iter().map(Answered::stored).collect(),
            messages: json("messages", &messages)?,
            client: json("client", &client)?,
            stream,
            trace: trace::current().map(|context| context.to_string()),
        };
        let input =
            SessionRegistryRespondInput { session_id: session_id.to_owned(), respond, once };
        let registry = SessionRegistry::on(&self.shared.caller, self.shared.registry);
        let responded = registry.respond(&input).await?;
        let Responded { session, turn, asked, applied } = responded;
        let submitted = self.submitted(session, session_id.to_owned(), turn, applied).await?;
        Ok(Submitted { asked, ..submitted })
    }

    /// Returns what came of what was asked under a key before, to whatever session.
    ///
    /// # Errors
    ///
    /// A refusal: something else was asked under it. `invalid`, if it is no key.
    pub async fn taken(
        &self,
        by: &Authority,
        once: &Once,
    ) -> Result<Option<Submitted>, EngineError> {
        let place = receipt::place(by, once)?;
        let caller = &self.shared.caller;
        let found = SessionRegistry::on(caller, self.shared.registry).receipts_at(&place).await?;
        let Some(&found) = found.first() else { return Ok(None) };
        let found = SessionReceipt::on(caller, found);
        let known = found.data().await?;
        receipt::require_same(&known, once)?;
        let session = found.session().await?;
        let session_id = Session::on(caller, session).binding().await?.session_id;
        let submitted = self.submitted(session, session_id, known.turn, false).await?;
        Ok(Some(Submitted { asked: known.asked, ..submitted }))
    }

    /// Says that a client waits for the end of a turn: it then ends as soon as nothing is left to
    /// do in it, whatever becomes of the client and of this engine. Returns whether it was not
    /// known yet, and is of a turn that goes on.
    ///
    /// # Errors
    ///
    /// A refusal, or no such session or turn.
    pub async fn follow_turn(
        &self,
        by: Authority,
        session_id: &str,
        turn_id: &str,
    ) -> Result<bool, EngineError> {
        let session = self.require(session_id).await?;
        let client = Session::on(&self.shared.caller, session);
        let active = client.data().await?.turn.filter(|turn| turn.id == turn_id);
        if active.is_some_and(|turn| turn.followed) {
            return Ok(false);
        }
        let follow = Follow { by, turn: turn_id.to_owned() };
        Ok(client.follow(&follow).await?.applied)
    }

    /// Returns the turn that a request of AgentRuntime is, by the id of its object. It takes the
    /// same time however long the session is; turns that have ended are found, too.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn turn_of(&self, request_id: &str) -> Result<Option<TurnAt>, EngineError> {
        let Some(request) = request(request_id) else { return Ok(None) };
        let caller = &self.shared.caller;
        let thread = match AgentRequest::on(caller, request).thread().await {
            Ok(thread) => thread,
            Err(CallError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let registry = SessionRegistry::on(caller, self.shared.registry);
        let found = registry.threads_at(&thread.to_string()).await?;
        let Some(&session) = found.first() else { return Ok(None) };
        let client = Session::on(caller, session);
        let Some(turn) = client.turn_of(request).await? else { return Ok(None) };
        let session_id = client.binding().await?.session_id;
        Ok(Some(TurnAt { session, session_id, turn_id: turn.id, offset: turn.began }))
    }

    /// Puts into the store what running attempts in a session have said, before something is done
    /// that may end them. Nothing more is heard of them until what is returned is dropped.
    pub(crate) async fn keep_what_is_said(
        &self,
        session: Ref<SessionObject>,
        session_id: &str,
    ) -> Hold {
        let hold = self.shared.live.hold(session_id);
        let client = Session::on(&self.shared.caller, session);
        for Said { call, attempt, text, reasoning } in hold.said() {
            let kept = async {
                let Claim { engine, generation } = client.data().await?.claim;
                // Under the claim of another engine it is not this one that says it.
                if engine != self.shared.options.id {
                    return Ok(());
                }
                let fence = Fence { engine, generation };
                let blocks = Vec::new();
                let progress = Progress { fence, call, attempt, text, reasoning, blocks };
                client.progress(&progress).await.map(drop)
            };
            if let Err(error) = kept.await {
                debug!(%error, "what was said so far could not be stored");
            }
        }
        hold
    }

    /// Returns what an input came to that was sent to a session, with the request that its turn is.
    pub(crate) async fn submitted(
        &self,
        session: Ref<SessionObject>,
        sent_to: String,
        turn_id: Option<String>,
        applied: bool,
    ) -> Result<Submitted, EngineError> {
        let client = Session::on(&self.shared.caller, session);
        let request = match &turn_id {
            Some(turn) => client.turns_at(turn).await?.first().copied(),
            None => None,
        };
        // What was known by its key may have been taken by another session than it came to now.
        let session_id = if applied { sent_to } else { client.binding().await?.session_id };
        Ok(Submitted { session_id, turn_id, request, asked: None, applied })
    }
}

impl Answered {
    fn stored(self) -> ActionAnswer {
        let (data, error) = match self.outcome {
            Ok(data) => (Some(data.to_string()), None),
            Err(error) => (None, Some(error)),
        };
        ActionAnswer { action: self.action_id, data, error }
    }
}

/// Returns the request whose object has an id, if that is one.
fn request(id: &str) -> Option<Ref<AgentRequestObject>> {
    let id = Ulid::from_string(id).ok()?;
    Ref::from_object(ObjectRef { atom: AgentRequestObject::TAG, id })
}

fn json(path: &str, value: &impl serde::Serialize) -> Result<String, EngineError> {
    serde_json::to_string(value)
        .map_err(|error| EngineError::Invalid { path: path.to_owned(), message: error.to_string() })
}
