//! The actions of an answer, each applied after the ones before it.
//!
//! An action that was understood and does not fit what the session is by now is dropped alone; the
//! log says why.

use quixos_protocol::action::{Interrupt, MessageSend, SubAgentSpawn, ToolCall};
use quixos_protocol::{CallHandler, DraftMessage, ToolHandler, text_of};
use quixos_runtime::CallError;
use serde_json::Value;

use super::calls::{NewCall, Void};
use super::prepare::{CallKind, Model, Settled, Settlement, Step, given};
use super::settle::{Inapplicable, Tell};
use super::{Machine, Minted, TurnEnd};
use crate::messages;
use crate::past::Past;
use crate::retry;
use crate::sessions::{CallData, DecisionData, SendData};
use crate::status::{
    CLIENT, FAILED, FRONTEND, LLM_CALL, RETRY_SCHEDULED, SERVER, SUB_AGENT, TOOL_CALL, VOIDED,
    WORKER,
};
use crate::stored::{self, StoredCall};

/// Why an action does nothing that only a turn can bear.
const NO_TURN: &str = "the decision's turn is over";
/// Why an action does nothing that names a call which is there.
const KNOWN_CALL: &str = "there is a call of this id already";

impl Machine<'_, '_> {
    /// Applies one action. `listed` are the messages of the answer, as they were recorded.
    pub(super) fn act(
        &mut self,
        decision: &DecisionData,
        step: Step,
        listed: Option<&[DraftMessage]>,
    ) -> Result<(), CallError> {
        match step {
            Step::Model(model) => self.call_model(decision, *model, listed),
            Step::Tool(call) => self.call_tool(decision, call),
            Step::Settle(settlement) => self.settle_by_answer(decision, settlement),
            Step::Spawn(spawn) => self.spawn(decision, spawn),
            Step::Send(send) => self.send(decision, send),
            Step::Interrupt(interrupt) => self.interrupt_by_answer(decision, interrupt),
            Step::Done(data) => self.done(decision, &data),
        }
    }

    fn call_model(
        &mut self,
        decision: &DecisionData,
        mut model: Model,
        listed: Option<&[DraftMessage]>,
    ) -> Result<(), CallError> {
        let named = model.id.take();
        let earlier = match &named {
            Some(id) => self.earlier_call(id)?,
            None => None,
        };
        let may_be_issued = earlier.as_ref().is_none_or(may_be_issued_again);
        if !may_be_issued {
            return self.dropped(decision, "llm.call", named.as_deref(), KNOWN_CALL);
        }
        // What is late from an attempt before must not fit one of this call.
        let attempt = earlier.map_or(1, |call| call.attempt + 1);
        if let Some(id) = &named {
            self.void_calls(Void::Reissued, |call| call.id == *id)?;
        }
        let id = named.unwrap_or_else(|| self.mint(Minted::Call));
        let prompt = self.keep_prompt(&mut model, listed)?;
        let tools = self.keep_tools(&model)?;
        let handler = match model.handler {
            CallHandler::Server => SERVER,
            CallHandler::Worker => WORKER,
        };
        self.request_call(NewCall {
            id: id.clone(),
            kind: LLM_CALL,
            handler,
            attempt,
            policy: Some(retry::stored(&model.retry)),
            turn: self.active_turn(decision.turn.as_deref()),
            request: StoredCall::LlmCall {
                model: model.model,
                prompt,
                tools,
                temperature: model.temperature,
                max_completion_tokens: model.max_completion_tokens,
                reasoning: model.reasoning,
                stream: model.stream,
                format: model.format,
                retry: model.retry,
            },
        })?;
        if self.is_paused() {
            self.void_calls(Void::Interrupt, |call| call.id == id)?;
        }
        Ok(())
    }

    /// Keeps the tools that a model is offered, and returns their digest; none if there are none.
    fn keep_tools(&self, model: &Model) -> Result<Option<String>, CallError> {
        if model.tools.is_empty() {
            return Ok(None);
        }
        let text = messages::text(stored::json_text(&model.tools)?);
        let digest = text.digest.clone();
        self.keep_text(text)?;
        Ok(Some(digest))
    }

    /// Returns the call of an id, under way or ended.
    fn earlier_call(&self, id: &str) -> Result<Option<CallData>, CallError> {
        match self.call(id) {
            Some(call) => Ok(Some(call.clone())),
            None => self.cx.ended_call(id),
        }
    }

    fn call_tool(&mut self, decision: &DecisionData, call: ToolCall) -> Result<(), CallError> {
        let ToolCall { id, name, arguments, handler, retry } = call;
        let id = match given(id) {
            Some(id) if self.is_call(&id)? => {
                return self.dropped(decision, "tool.call", Some(&id), KNOWN_CALL);
            }
            Some(id) => id,
            None => self.mint(Minted::Call),
        };
        let handler = match handler.unwrap_or_default() {
            ToolHandler::Worker => WORKER,
            ToolHandler::Client => CLIENT,
        };
        self.request_call(NewCall {
            id,
            kind: TOOL_CALL,
            handler,
            attempt: 1,
            policy: retry.as_ref().map(retry::stored),
            turn: self.active_turn(decision.turn.as_deref()),
            request: StoredCall::ToolCall { name, arguments: text_of(&arguments) },
        })
    }

    fn settle_by_answer(
        &mut self,
        decision: &DecisionData,
        settlement: Settlement,
    ) -> Result<(), CallError> {
        let Settlement { action, kind, call: id, attempt, ending } = settlement;
        let call = match self.settleable(&id, attempt)? {
            Ok(call) => call,
            Err(why) => return self.dropped(decision, action, Some(&id), why.word()),
        };
        let is_fit = match kind {
            CallKind::Tool => call.kind == TOOL_CALL,
            CallKind::Model => call.kind == LLM_CALL && call.handler != SERVER,
        };
        if !is_fit {
            let why = Inapplicable::WrongHandler.word();
            return self.dropped(decision, action, Some(&id), why);
        }
        let ending = match ending {
            Settled::Known(ending) => ending,
            Settled::Response(response) => match self.read_reply(&call, &response)? {
                Ok(ending) => ending,
                Err(fault) => return self.dropped(decision, action, Some(&id), &fault),
            },
        };
        match self.settle(&id, attempt, ending, Tell::Worker)? {
            Ok(()) => Ok(()),
            Err(why) => self.dropped(decision, action, Some(&id), why.word()),
        }
    }

    fn spawn(&mut self, decision: &DecisionData, spawn: SubAgentSpawn) -> Result<(), CallError> {
        let SubAgentSpawn { session_id, agent_id, tool_call_id, retry } = spawn;
        let is_known = self.is_call(&tool_call_id)? || self.has_spawned(&session_id)?;
        if is_known {
            return self.dropped(decision, "sub_agent.spawn", Some(&tool_call_id), KNOWN_CALL);
        }
        self.request_call(NewCall {
            id: tool_call_id,
            kind: SUB_AGENT,
            handler: SERVER,
            attempt: 1,
            policy: retry.as_ref().map(retry::stored),
            turn: self.active_turn(decision.turn.as_deref()),
            request: StoredCall::SubAgent { session_id, agent_id },
        })
    }

    fn send(&mut self, decision: &DecisionData, send: MessageSend) -> Result<(), CallError> {
        let MessageSend { session_id, message } = send;
        let send = SendData {
            id: self.mint(Minted::Send),
            session: session_id,
            message: stored::json_text(&message)?,
            turn: self.active_turn(decision.turn.as_deref()),
            order: self.order(),
        };
        self.log_message_requested(&send)?;
        self.live.sends.push(send);
        Ok(())
    }

    fn interrupt_by_answer(
        &mut self,
        decision: &DecisionData,
        interrupt: Interrupt,
    ) -> Result<(), CallError> {
        if self.active_turn(decision.turn.as_deref()).is_none() {
            return self.dropped(decision, "interrupt", None, NO_TURN);
        }
        let Interrupt { interrupt_id, reason, payload } = interrupt;
        let payload = payload.unwrap_or(Value::Null);
        self.raise_interrupt(given(interrupt_id), FRONTEND, reason, payload).map(drop)
    }

    fn done(&mut self, decision: &DecisionData, data: &Value) -> Result<(), CallError> {
        if self.active_turn(decision.turn.as_deref()).is_some() {
            return self.complete_turn(TurnEnd::Done(data.clone()));
        }
        if decision.turn.is_some() || self.data.turn.is_some() || self.data.done {
            return self.dropped(decision, "done", None, NO_TURN);
        }
        self.data.done = true;
        self.log_session_done(None, data).map(drop)
    }

    fn dropped(
        &mut self,
        decision: &DecisionData,
        action: &str,
        call: Option<&str>,
        why: &str,
    ) -> Result<(), CallError> {
        self.log_action_dropped(decision, action, call, why).map(drop)
    }
}

/// Says whether a model call that was there may be requested once more under its id.
fn may_be_issued_again(earlier: &CallData) -> bool {
    let failed = matches!(earlier.status.as_str(), FAILED | VOIDED);
    earlier.kind == LLM_CALL && (failed || earlier.status == RETRY_SCHEDULED)
}
