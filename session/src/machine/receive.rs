//! What comes by other doors than a client's: a message of another session, or a request that
//! reached the thread without one.
//!
//! Each begins a turn. While another one is active it waits in AgentRuntime's queue, with all that
//! is needed to begin it.

use quixos_package::agent_runtime::{AgentRequestObject, RequestData};
use quixos_protocol::DraftMessage;
use quixos_runtime::{CallError, Ref};
use serde::{Deserialize, Serialize};

use super::Machine;
use super::turn::{Cause, NewTurn, TurnEnd, kept};
use crate::refusal::Refusal;
use crate::sessions::Receive;
use crate::status::START_FAILED;
use crate::stored::{self, StoredTrigger};

/// The source of a request that another session began: nobody waits for it in person.
const SESSION: &str = "session";

/// What the request of a turn keeps that may have to wait: enough to begin it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queued {
    #[serde(rename = "type")]
    kind: QueuedKind,
    turn_id: String,
    message: DraftMessage,
    /// The trace that the sender's turn belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum QueuedKind {
    #[serde(rename = "message.send")]
    MessageSend,
}

impl Machine<'_, '_> {
    /// Takes a message as a turn of its own, now or when its time comes.
    pub(crate) fn receive(&mut self, receive: Receive) -> Result<(), CallError> {
        if self.is_repeated(Some(&receive.turn))? {
            return Ok(());
        }
        if self.data.cancelled {
            return Err(Refusal::Cancelled.into());
        }
        let message: DraftMessage = stored::read_text(&receive.message, "a message")?;
        let queued = Queued {
            kind: QueuedKind::MessageSend,
            turn_id: receive.turn.clone(),
            message,
            trace: receive.trace,
        };
        let request = match receive.request {
            Some(request) => request,
            None => {
                let cause = Cause { sender: receive.sender, depth: receive.causal_depth };
                self.admit(&queued.as_turn()?, SESSION, &cause)?
            }
        };
        self.add_turn(&receive.turn, request)?;
        self.report.turn = Some(receive.turn);
        if self.data.turn.is_some() && self.is_quiescent()? {
            self.complete_turn(TurnEnd::Quiescent)?;
        }
        if self.data.turn.is_none() && self.cx.waiting().page(None, 1)?.is_empty() {
            return self.begin_received(queued, request);
        }
        self.cx.waiting().connect(request)?;
        Ok(())
    }

    /// Begins the turn of a message that was received.
    pub(super) fn begin_received(
        &mut self,
        queued: Queued,
        request: Ref<AgentRequestObject>,
    ) -> Result<(), CallError> {
        let Queued { turn_id, message, trace, .. } = queued;
        self.trace = trace;
        self.activate(&turn_id, "client.messages", request, None)?;
        self.raise(&StoredTrigger::ClientMessage { message }, None, Some(turn_id))?;
        if self.data.start == START_FAILED {
            self.raise_start()?;
        }
        Ok(())
    }
}

/// Returns the id that a turn will have whose request waits.
pub(crate) fn turn_of_waiting(request: &str, admission: &RequestData) -> String {
    Queued::of(request, admission).turn_id
}

impl Queued {
    /// Returns what a request that has waited begins: the message that another session sent, or of
    /// a request that came by another door, its text.
    pub(super) fn of(turn_id: &str, admission: &RequestData) -> Self {
        let kept = admission.data.as_deref().filter(|_| admission.source_kind == SESSION);
        kept.and_then(|data| serde_json::from_str(data).ok()).unwrap_or_else(|| Self {
            kind: QueuedKind::MessageSend,
            turn_id: turn_id.to_owned(),
            message: DraftMessage::user(&admission.text),
            trace: None,
        })
    }

    fn as_turn(&self) -> Result<NewTurn, CallError> {
        let text = self.message.content.as_ref().map(|content| content.text().into_owned());
        Ok(NewTurn {
            id: Some(self.turn_id.clone()),
            input: "client.messages",
            text: text.unwrap_or_default(),
            data: kept(self)?,
            stream: None,
        })
    }
}
