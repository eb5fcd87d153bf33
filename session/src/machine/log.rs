//! The log: one function an event, so that what an event says is written once.
//!
//! An event is appended before anything is begun that it announces. It refers to messages, triggers
//! and prompts by their ids and digests; each of them is written out once.

use quixos_protocol::DraftMessage;
use quixos_runtime::CallError;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Machine;
use super::blocks;
use super::calls::{Dropped, Void};
use super::settle::Failure;
use crate::sessions::{
    BlockData, CallData, DecisionData, InterruptData, NodeData, SendData, SessionEvent, Usage,
    VersionData,
};
use crate::status::{LLM_CALL, TOOL_CALL};
use crate::stored::{self, StoredCall, StoredOutcome, StoredTrigger};

impl Machine<'_, '_> {
    /// Appends an event, and returns its offset.
    fn log(
        &self,
        kind: &str,
        turn: Option<&str>,
        payload: impl Serialize,
    ) -> Result<u64, CallError> {
        self.cx.events().append(&SessionEvent {
            r#type: kind.to_owned(),
            turn: turn.map(str::to_owned),
            payload: stored::json_text(&payload)?,
        })
    }

    pub(super) fn log_session_created(&self) -> Result<u64, CallError> {
        let binding = &self.binding;
        let metadata: Value = stored::read_text(&binding.metadata, "metadata")?;
        let payload = json!({
            "agent_id": binding.agent_id,
            "identity": { "id": binding.owner_id, "metadata": metadata },
            "ancestry": binding.ancestry,
        });
        self.log("session.created", None, payload)
    }

    pub(crate) fn log_session_done(
        &self,
        turn: Option<&str>,
        data: &Value,
    ) -> Result<u64, CallError> {
        self.log("session.done", turn, json!({ "data": data }))
    }

    pub(crate) fn log_session_cancelled(&self) -> Result<u64, CallError> {
        self.log("session.cancelled", None, json!({}))
    }

    pub(crate) fn log_interrupted(&self, interrupt: &InterruptData) -> Result<u64, CallError> {
        let payload: Value = stored::read_text(&interrupt.payload, "a payload")?;
        let payload = json!({
            "interrupt_id": interrupt.id,
            "origin": interrupt.origin,
            "reason": interrupt.reason,
            "payload": payload,
            "anchor": interrupt.anchor,
        });
        self.log("session.interrupted", interrupt.turn.as_deref(), payload)
    }

    pub(crate) fn log_interrupt_resumed(
        &self,
        interrupt: &InterruptData,
        payload: &Value,
    ) -> Result<u64, CallError> {
        let turn = self.active_turn(interrupt.turn.as_deref());
        let payload = json!({ "interrupt_id": interrupt.id, "payload": payload });
        self.log("session.interrupt_resumed", turn.as_deref(), payload)
    }

    pub(super) fn log_message_requested(&self, send: &SendData) -> Result<u64, CallError> {
        let message: DraftMessage = stored::read_text(&send.message, "a message")?;
        let payload = json!({ "id": send.id, "session_id": send.session, "message": message });
        self.log("session.message_requested", send.turn.as_deref(), payload)
    }

    pub(super) fn log_message_sent(
        &self,
        send: &SendData,
        error: Option<&str>,
    ) -> Result<u64, CallError> {
        let kind = if error.is_none() { "session.message_sent" } else { "session.message_failed" };
        let turn = self.active_turn(send.turn.as_deref());
        let payload = json!({ "id": send.id, "session_id": send.session });
        self.log(kind, turn.as_deref(), with(payload, "error", error)?)
    }

    pub(super) fn log_message_new(
        &self,
        turn: Option<&str>,
        node: &NodeData,
    ) -> Result<u64, CallError> {
        let message: Value = stored::read_text(&node.message, "a message")?;
        let payload = with(json!({ "message": message }), "parent_id", node.parent.as_ref())?;
        self.log("message.new", turn, payload)
    }

    pub(super) fn log_head_moved(&self, turn: Option<&str>, head: &str) -> Result<u64, CallError> {
        self.log("head.moved", turn, json!({ "head_id": head }))
    }

    pub(crate) fn log_turn_started(
        &self,
        turn: &str,
        input: &str,
        trace: Option<&str>,
    ) -> Result<u64, CallError> {
        let payload = with(json!({ "input": input }), "trace", trace)?;
        self.log("turn.started", Some(turn), payload)
    }

    pub(crate) fn log_turn_completed(
        &self,
        turn: &str,
        data: Option<&Value>,
        error: Option<&str>,
        usage: &Usage,
        sub_agents: &Usage,
    ) -> Result<u64, CallError> {
        let payload = json!({
            "data": data,
            "usage": spent(usage)?,
            "sub_agents": spent(sub_agents)?,
        });
        self.log("turn.completed", Some(turn), with(payload, "error", error)?)
    }

    /// Says what a turn waits for, which only its client can give.
    pub(super) fn log_turn_waiting(&self, turn: &str, actions: &[Value]) -> Result<u64, CallError> {
        self.log("turn.waiting", Some(turn), json!({ "actions": actions }))
    }

    pub(super) fn log_decision_queued(
        &self,
        decision: &DecisionData,
        trigger: &StoredTrigger,
    ) -> Result<u64, CallError> {
        let payload = json!({ "decision_id": decision.id, "trigger": stored::json(trigger)? });
        let payload = with(payload, "call_id", decision.call.as_ref())?;
        self.log("decision.queued", decision.turn.as_deref(), payload)
    }

    pub(super) fn log_decision_dispatched(
        &self,
        decision: &DecisionData,
    ) -> Result<u64, CallError> {
        let payload = json!({ "decision_id": decision.id, "attempts": decision.attempts });
        let payload = with(payload, "deadline", decision.deadline.as_ref())?;
        self.log("decision.dispatched", decision.turn.as_deref(), payload)
    }

    pub(super) fn log_decision_completed(&self, decision: &DecisionData) -> Result<u64, CallError> {
        let payload = json!({ "decision_id": decision.id });
        self.log("decision.completed", decision.turn.as_deref(), payload)
    }

    /// Says that a delivery failed; for good, if no `retryAt` is there.
    pub(super) fn log_decision_errored(
        &self,
        decision: &DecisionData,
        error: &str,
        retryable: bool,
    ) -> Result<u64, CallError> {
        let payload = json!({
            "decision_id": decision.id,
            "attempts": decision.attempts,
            "error": error,
            "retryable": retryable,
        });
        let payload = with(payload, "retry_at", decision.retry_at.as_ref())?;
        self.log("decision.errored", decision.turn.as_deref(), payload)
    }

    pub(super) fn log_decision_dropped(
        &self,
        decision: &DecisionData,
        why: Dropped,
    ) -> Result<u64, CallError> {
        let payload = json!({ "decision_id": decision.id, "reason": why.word() });
        self.log("decision.dropped", decision.turn.as_deref(), payload)
    }

    /// Says that an action of an answer came to nothing.
    pub(super) fn log_action_dropped(
        &self,
        decision: &DecisionData,
        action: &str,
        call: Option<&str>,
        why: &str,
    ) -> Result<u64, CallError> {
        let payload = json!({ "decision_id": decision.id, "action": action, "reason": why });
        let payload = with(payload, "call_id", call)?;
        self.log("action.dropped", decision.turn.as_deref(), payload)
    }

    pub(super) fn log_call_requested(
        &self,
        call: &CallData,
        request: &StoredCall,
    ) -> Result<u64, CallError> {
        let payload =
            json!({ "call_id": call.id, "attempt": call.attempt, "handler": call.handler });
        let payload = with(payload, "anchor", call.anchor.as_ref())?;
        self.log_call(call, "requested", merged(payload, request)?)
    }

    pub(super) fn log_call_dispatched(&self, call: &CallData) -> Result<u64, CallError> {
        let payload = json!({
            "call_id": call.id,
            "attempt": call.attempt,
            "handler": call.handler,
        });
        self.log_call(call, "dispatched", with(payload, "deadline", call.deadline.as_ref())?)
    }

    pub(super) fn log_sub_agent_started(
        &self,
        call: &CallData,
        session: &str,
    ) -> Result<u64, CallError> {
        self.log_call(call, "started", json!({ "call_id": call.id, "session_id": session }))
    }

    /// Says how a call ended.
    pub(super) fn log_call_ended(
        &self,
        call: &CallData,
        outcome: &StoredOutcome,
    ) -> Result<u64, CallError> {
        let payload = json!({ "call_id": call.id, "attempt": call.attempt });
        let what = match (outcome, call.kind.as_str()) {
            (StoredOutcome::Error { .. }, _) => "errored",
            (_, TOOL_CALL | LLM_CALL) => "completed",
            (StoredOutcome::Result { .. } | StoredOutcome::Reply { .. }, _) => "turn_completed",
        };
        self.log_call(call, what, merged(payload, outcome)?)
    }

    /// Says that a try failed and when the next one is.
    pub(super) fn log_call_failed(
        &self,
        call: &CallData,
        failure: &Failure,
        retry_at: &str,
    ) -> Result<u64, CallError> {
        let payload = json!({
            "call_id": call.id,
            "attempt": call.attempt,
            "retry_at": retry_at,
        });
        self.log_call(call, "errored", merged(payload, &failure.outcome())?)
    }

    pub(super) fn log_call_voided(&self, call: &CallData, why: Void) -> Result<u64, CallError> {
        let payload = json!({ "call_id": call.id, "attempt": call.attempt, "reason": why.word() });
        let turn = self.active_turn(call.turn.as_deref());
        self.log("call.voided", turn.as_deref(), payload)
    }

    /// Says that a block of a reply begins; of a tool's call, under which id and name.
    pub(super) fn log_block_started(
        &self,
        call: &CallData,
        block: &BlockData,
        tool: Option<(String, String)>,
    ) -> Result<u64, CallError> {
        let (id, name) = tool.unzip();
        let payload = with(of_block(call, block), "kind", Some(&block.kind))?;
        let payload = with(with(payload, "tool_call_id", id)?, "name", name)?;
        let turn = self.active_turn(call.turn.as_deref());
        self.log("llm.block.started", turn.as_deref(), payload)
    }

    /// Says that a block of a reply has ended, and all that it said, as far as that is known.
    pub(super) fn log_block_stopped(
        &self,
        call: &CallData,
        block: &BlockData,
        said: Option<&str>,
    ) -> Result<u64, CallError> {
        let what = if block.kind == blocks::TOOL_CALL { "arguments" } else { "text" };
        let turn = self.active_turn(call.turn.as_deref());
        let payload = with(of_block(call, block), what, said)?;
        self.log("llm.block.stopped", turn.as_deref(), payload)
    }

    /// Says that an answer set the worker's state, or the agent's config.
    pub(super) fn log_version(
        &self,
        turn: Option<&str>,
        version: &VersionData,
    ) -> Result<u64, CallError> {
        let (kind, name) = if version.kind == crate::versions::STATE {
            ("worker.state.updated", "state")
        } else {
            ("agent.updated", "agent")
        };
        let value: Value = stored::read_text(&version.value, "a version")?;
        let payload = with(json!({}), name, Some(value))?;
        self.log(kind, turn, with(payload, "anchor", version.anchor.as_ref())?)
    }

    fn log_call(&self, call: &CallData, what: &str, payload: Value) -> Result<u64, CallError> {
        let family = match call.kind.as_str() {
            TOOL_CALL => "tool.call",
            LLM_CALL => "llm.call",
            _ => "sub_agent",
        };
        let turn = self.active_turn(call.turn.as_deref());
        self.log(&format!("{family}.{what}"), turn.as_deref(), payload)
    }
}

/// Returns what names a block.
fn of_block(call: &CallData, block: &BlockData) -> Value {
    json!({ "call_id": call.id, "attempt": call.attempt, "index": block.index })
}

/// Returns what was spent, as clients read it.
fn spent(usage: &Usage) -> Result<Value, CallError> {
    let counts: Value = stored::read_text(&usage.counts, "counts")?;
    Ok(json!({ "usage": counts, "cost": usage.cost }))
}

/// Returns an object with one more field, if that has a value.
fn with(object: Value, name: &str, value: Option<impl Serialize>) -> Result<Value, CallError> {
    let Some(value) = value else { return Ok(object) };
    merged(object, &Map::from_iter([(name.to_owned(), stored::json(&value)?)]))
}

/// Returns an object with the fields of another one behind its own.
fn merged(mut object: Value, more: &impl Serialize) -> Result<Value, CallError> {
    if let (Value::Object(fields), Value::Object(more)) = (&mut object, stored::json(more)?) {
        fields.extend(more);
    }
    Ok(object)
}
