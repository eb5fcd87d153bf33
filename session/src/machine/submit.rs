//! What clients send: messages and actions begin turns, the rest goes on with the active one.
//!
//! An input is taken as a whole or refused as a whole.

use quixos_protocol::input::{ClientAction, ClientMessage, InterruptResume, ToolError, ToolResult};
use quixos_protocol::{ClientInput, Role, parse};
use quixos_runtime::CallError;
use serde_json::Value;

use super::turn::{NewTurn, kept};
use super::{Ending, Failure, Machine, Tell};
use crate::past::Past as _;
use crate::refusal::Refusal;
use crate::sessions::{Authority, Submit};
use crate::status::{CLIENT, FRONTEND, START_FAILED};
use crate::stored::StoredTrigger;

/// The longest input, in bytes of its JSON. What carries it adds little to it.
pub(super) const INPUT_BYTES: usize = 3 << 20;

/// The longest `traceparent`, in bytes: that of this version.
const TRACE_BYTES: usize = 55;

/// The source of a request that a client's input began: a person waits for it.
pub(super) const USER: &str = "user";

/// Reads an input.
///
/// # Errors
///
/// `invalid`, with the path to the field.
pub(crate) fn read_input(input: &str) -> Result<ClientInput, CallError> {
    parse(input.as_bytes(), INPUT_BYTES)
        .map_err(|error| CallError::invalid("input", error.to_string()))
}

/// Checks a trace: what is kept of it is a header, and no longer than one.
///
/// # Errors
///
/// `invalid`, if it cannot be one.
pub(super) fn traced(trace: Option<String>) -> Result<Option<String>, CallError> {
    let is_header = |text: &String| text.len() <= TRACE_BYTES && text.is_ascii();
    match trace {
        Some(trace) if !is_header(&trace) => {
            Err(CallError::invalid("trace", "is no `traceparent`"))
        }
        trace => Ok(trace),
    }
}

impl Machine<'_, '_> {
    /// Takes an input.
    pub(crate) fn submit(&mut self, submit: Submit) -> Result<(), CallError> {
        let input = read_input(&submit.input)?;
        self.trace = traced(submit.trace)?;
        let by = &submit.by;
        self.require_owner(by)?;
        if let Some(agent) = input.agent_id()
            && agent != self.binding.agent_id
        {
            return Err(Refusal::WrongAgent.into());
        }
        if let ClientInput::ClientMessage(ClientMessage { message, .. }) = &input
            && message.role != Role::User
        {
            return Err(Refusal::Role.into());
        }
        if self.data.cancelled {
            return Err(Refusal::Cancelled.into());
        }
        self.on_input(by, input)?;
        let active = self.data.turn.as_ref().map(|turn| turn.id.clone());
        if let (true, Some(turn)) = (submit.followed, self.report.turn.clone().or(active)) {
            self.mark_followed(&turn);
        }
        Ok(())
    }

    fn on_input(&mut self, by: &Authority, input: ClientInput) -> Result<(), CallError> {
        match input {
            ClientInput::ClientMessage(input) => self.on_message(input),
            ClientInput::ClientMessages(input) => self.on_view(input),
            ClientInput::ClientAction(input) => self.on_action(input),
            ClientInput::InterruptResume(input) => self.on_resume(by, input),
            ClientInput::ToolResult(ToolResult { id, attempt, result }) => {
                let ending = Ending::Result(result.unwrap_or_default());
                self.on_answer(by, &id, attempt, ending)
            }
            ClientInput::ToolError(ToolError { id, error, retryable, attempt }) => {
                let failure =
                    Failure { error, retryable, code: None, detail: None, retry_after: None };
                self.on_answer(by, &id, attempt, Ending::Failure(failure))
            }
        }
    }

    /// Says whether a turn is known already, and if so reports it: to submit it again does nothing.
    pub(super) fn is_repeated(&mut self, turn: Option<&str>) -> Result<bool, CallError> {
        let Some(turn) = turn else { return Ok(false) };
        if self.cx.turns().get(turn)?.is_none() {
            return Ok(false);
        }
        self.report.turn = Some(turn.to_owned());
        self.report.applied = false;
        Ok(true)
    }

    fn on_message(&mut self, input: ClientMessage) -> Result<(), CallError> {
        if self.is_repeated(input.turn_id.as_deref())? {
            return Ok(());
        }
        self.refuse_if_paused()?;
        let text = input.message.content.as_ref().map(|content| content.text().into_owned());
        let turn = NewTurn {
            id: input.turn_id.clone(),
            input: "client.messages",
            text: text.unwrap_or_default(),
            data: kept(&ClientInput::ClientMessage(input.clone()))?,
            stream: input.stream,
        };
        self.begin(turn, StoredTrigger::ClientMessage { message: input.message })
    }

    fn on_action(&mut self, input: ClientAction) -> Result<(), CallError> {
        if self.is_repeated(input.turn_id.as_deref())? {
            return Ok(());
        }
        self.refuse_if_paused()?;
        let turn = NewTurn {
            id: input.turn_id.clone(),
            input: "client.action",
            text: format!("action {}", input.name),
            data: kept(&ClientInput::ClientAction(input.clone()))?,
            stream: None,
        };
        let ClientAction { name, args, .. } = input;
        self.begin(turn, StoredTrigger::ClientAction { name, args })
    }

    /// Begins a turn with the decision that it is for. A `session.start` that had failed is asked
    /// again before it.
    pub(super) fn begin(&mut self, turn: NewTurn, trigger: StoredTrigger) -> Result<(), CallError> {
        let id = self.begin_turn(turn, USER)?;
        self.raise(&trigger, None, Some(id.clone()))?;
        if self.data.start == START_FAILED {
            self.raise_start()?;
        }
        self.report.turn = Some(id);
        Ok(())
    }

    pub(super) fn refuse_if_paused(&self) -> Result<(), CallError> {
        if self.is_paused() { Err(Refusal::Interrupted.into()) } else { Ok(()) }
    }

    /// Settles a call that a client runs.
    fn on_answer(
        &mut self,
        by: &Authority,
        id: &str,
        attempt: Option<u32>,
        ending: Ending,
    ) -> Result<(), CallError> {
        self.require_open(by, id, attempt)?;
        if self.data.turn.is_none() {
            return Err(Refusal::NoActiveTurn.into());
        }
        self.settle(id, attempt, ending, Tell::Worker)?.map_err(|why| Refusal::from(why).into())
    }

    /// Refuses to settle a call that is not the caller's, not known, or not open, in this order.
    pub(crate) fn require_open(
        &self,
        by: &Authority,
        id: &str,
        attempt: Option<u32>,
    ) -> Result<(), CallError> {
        let Some(call) = self.call(id) else {
            let ended = self.cx.ended_call(id)?;
            let is_foreign = ended.as_ref().is_some_and(|call| call.handler != CLIENT);
            return Err(match ended {
                Some(_) if is_foreign && by.class == FRONTEND => Refusal::WrongHandler,
                Some(_) => Refusal::NotPending,
                None => Refusal::UnknownCall,
            }
            .into());
        };
        if call.handler != CLIENT && by.class == FRONTEND {
            return Err(Refusal::WrongHandler.into());
        }
        if attempt.is_some_and(|attempt| attempt != call.attempt) {
            return Err(Refusal::AttemptMismatch.into());
        }
        Ok(())
    }

    fn on_resume(&mut self, by: &Authority, input: InterruptResume) -> Result<(), CallError> {
        let payload = input.payload.unwrap_or(Value::Null);
        self.resume(by, &input.interrupt_id, payload)
    }
}
