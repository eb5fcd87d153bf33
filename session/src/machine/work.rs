//! The active turn as AgentRuntime sees it: items for messages and calls, questions for what waits
//! for people, and the end of the request.
//!
//! All of it is written under the fence of the turn's request, and nothing while the turn is not
//! claimed: what is open by then is asked when it is.

use quixos_package::agent_runtime::{
    AgentQuestionAnswerInput, AgentRequestAskInput, AgentRequestFinishInput, AgentRequestObject,
    AgentRequestTransitionInput, AgentRequestUpsertItemInput, ItemData, QuestionData,
};
use quixos_protocol::text_of;
use quixos_runtime::{CallError, Ref};
use serde_json::{Value, json};

use super::blocks::{REASONING, TEXT};
use super::turn::TurnEnd;
use super::{Ending, Machine, Tell};
use crate::messages;
use crate::sessions::{Authority, CallData, InterruptData, NodeData, TurnData};
use crate::status::{CLIENT, LLM_CALL, PENDING, SYSTEM};
use crate::stored::{self, StoredCall, StoredOutcome};

/// When a question expires that has no deadline.
const NEVER: &str = "9999-12-31T23:59:59Z";
/// The kind of an item that is a message.
const MESSAGE: &str = "message";
/// An item that grows.
const STREAMING: &str = "streaming";
/// An item that does not change any more.
const FINAL: &str = "final";

/// The request of a turn that is claimed, and its fence.
struct Held {
    request: Ref<AgentRequestObject>,
    attempt: String,
    generation: u32,
}

/// What an item says.
struct Said<'s> {
    key: String,
    kind: &'s str,
    text: String,
    phase: &'s str,
    activity: Option<Value>,
}

impl Machine<'_, '_> {
    /// Returns the request of the active turn, if it is claimed.
    fn held(&self) -> Result<Option<Held>, CallError> {
        let Some(turn) = self.data.turn.as_ref().filter(|turn| turn.generation > 0) else {
            return Ok(None);
        };
        let request = self.cx.request().resolve()?;
        Ok(request.map(|request| Held {
            request,
            attempt: turn.attempt.clone(),
            generation: turn.generation,
        }))
    }

    fn put_item(&mut self, said: Said<'_>) -> Result<(), CallError> {
        let Some(held) = self.held()? else { return Ok(()) };
        let now = self.now_text();
        let data = ItemData {
            key: said.key,
            kind: said.kind.to_owned(),
            text: said.text,
            phase: said.phase.to_owned(),
            activity: said.activity.as_ref().map(stored::json_text).transpose()?,
            presentation: None,
            sequence: 0,
            version: self.order(),
            created_at: now.clone(),
            updated_at: now,
            control: None,
        };
        self.upsert(&held, data)
    }

    fn upsert(&self, held: &Held, data: ItemData) -> Result<(), CallError> {
        self.cx.work(held.request).upsert_item(&AgentRequestUpsertItemInput {
            attempt: held.attempt.clone(),
            generation: held.generation,
            data,
            subject: None,
        })?;
        Ok(())
    }

    /// Shows a message that was recorded.
    pub(crate) fn mirror_message(&mut self, node: &NodeData) -> Result<(), CallError> {
        let message = messages::message(node)?;
        let text = message.content.as_ref().map(|content| content.text().into_owned());
        self.put_item(Said {
            key: format!("message:{}", node.id),
            kind: MESSAGE,
            text: text.unwrap_or_default(),
            phase: FINAL,
            activity: Some(json!({ "role": message.role })),
        })
    }

    /// Shows a call of a tool or a delegation: that it was handed out, or how it ended.
    pub(crate) fn mirror_call(
        &mut self,
        call: &CallData,
        outcome: Option<&StoredOutcome>,
    ) -> Result<(), CallError> {
        if call.kind == LLM_CALL || self.active_turn(call.turn.as_deref()).is_none() {
            return Ok(());
        }
        let (name, arguments) = match stored::call_of(self.cx, call)? {
            StoredCall::ToolCall { name, arguments } => (name, Some(arguments)),
            StoredCall::SubAgent { agent_id, .. } => (agent_id, None),
            StoredCall::LlmCall { .. } => return Ok(()),
        };
        let mut activity = json!({ "id": call.id, "name": name, "attempt": call.attempt });
        match outcome {
            Some(StoredOutcome::Result { result }) => activity["result"] = json!(result),
            Some(StoredOutcome::Error { error, .. }) => activity["error"] = json!(error),
            Some(StoredOutcome::Reply { .. }) | None => {}
        }
        if let Some(arguments) = arguments {
            activity["arguments"] = json!(arguments);
        }
        self.put_item(Said {
            key: format!("call:{}", call.id),
            kind: &call.kind,
            text: name,
            phase: if outcome.is_some() { FINAL } else { STREAMING },
            activity: Some(activity),
        })
    }

    /// Shows how far a model's reply has come.
    pub(crate) fn mirror_progress(
        &mut self,
        call: &CallData,
        text: &str,
        reasoning: &str,
    ) -> Result<(), CallError> {
        if self.active_turn(call.turn.as_deref()).is_none() {
            return Ok(());
        }
        let parts = [(REASONING, reasoning), (MESSAGE, text)];
        for (kind, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.put_item(Said {
                key: reply_key(kind, call),
                kind,
                text: text.to_owned(),
                phase: STREAMING,
                activity: Some(json!({ "role": "assistant", "attempt": call.attempt })),
            })?;
        }
        Ok(())
    }

    /// Returns the item of a reply that is streamed, if it has come to one.
    pub(super) fn reply_item(
        &self,
        call: &CallData,
        kind: &str,
    ) -> Result<Option<ItemData>, CallError> {
        if self.active_turn(call.turn.as_deref()).is_none() {
            return Ok(None);
        }
        let Some(held) = self.held()? else { return Ok(None) };
        let key = reply_key(if kind == TEXT { MESSAGE } else { kind }, call);
        let found = self.cx.work(held.request).items_at(&key)?;
        found.first().map(|&item| self.cx.item(item).data()).transpose()
    }

    /// Asks what an interrupt waits for.
    pub(super) fn ask_interrupt(&self, interrupt: &mut InterruptData) -> Result<(), CallError> {
        let Some(held) = self.held()? else { return Ok(()) };
        if interrupt.pauses {
            let key = question_key(&interrupt.id, interrupt.raised);
            self.ask(&held, &key, &interrupt.reason, NEVER)?;
            interrupt.question = key;
        }
        Ok(())
    }

    /// Asks the client for the result of a call that it runs.
    pub(crate) fn ask_call(&mut self, id: &str) -> Result<(), CallError> {
        let Some(held) = self.held()? else { return Ok(()) };
        let Some(call) = self.call(id).cloned() else { return Ok(()) };
        let StoredCall::ToolCall { name, .. } = stored::call_of(self.cx, &call)? else {
            return Ok(());
        };
        // A second attempt is a new question.
        let key = format!("{}.{}", question_key(id, call.requested), call.attempt);
        self.ask(&held, &key, &name, call.deadline.as_deref().unwrap_or(NEVER))?;
        if let Some(call) = self.live.calls.iter_mut().find(|call| call.id == id) {
            call.question = key;
        }
        Ok(())
    }

    fn ask(&self, held: &Held, key: &str, title: &str, expires: &str) -> Result<(), CallError> {
        self.cx.work(held.request).ask(&AgentRequestAskInput {
            attempt: held.attempt.clone(),
            generation: held.generation,
            key: key.to_owned(),
            title: title.to_owned(),
            options: "[]".to_owned(),
            created_at: self.now_text(),
            expires_at: expires.to_owned(),
        })?;
        Ok(())
    }

    /// Asks all that is open and not asked: after a claim, and when a turn comes to stand below an
    /// older interrupt.
    pub(super) fn ask_what_is_open(&mut self) -> Result<(), CallError> {
        let mut interrupts = std::mem::take(&mut self.live.interrupts);
        for interrupt in interrupts.iter_mut().filter(|open| open.question.is_empty()) {
            self.ask_interrupt(interrupt)?;
        }
        self.live.interrupts = interrupts;
        let unasked: Vec<String> = self
            .live
            .calls
            .iter()
            .filter(|call| call.handler == CLIENT && call.status == PENDING)
            .filter(|call| call.question.is_empty())
            .map(|call| call.id.clone())
            .collect();
        unasked.iter().try_for_each(|id| self.ask_call(id))
    }

    /// Closes a question: answers it, or cancels it where there is no answer or it was asked under
    /// a fence that is no longer held.
    pub(crate) fn close_question(&self, key: &str, answer: Option<&str>) -> Result<(), CallError> {
        if key.is_empty() {
            return Ok(());
        }
        let Some(held) = self.held()? else { return Ok(()) };
        for question in self.cx.work(held.request).questions_at(key)? {
            let answered = match answer {
                Some(answer) => self.cx.question(question).answer(&AgentQuestionAnswerInput {
                    answer: answer.to_owned(),
                    attempt: held.attempt.clone(),
                    generation: held.generation,
                    answered_at: self.now_text(),
                })?,
                None => false,
            };
            if !answered {
                self.cx.question(question).cancel()?;
            }
        }
        Ok(())
    }

    /// Cancels all that was asked in the active turn, so that it can be asked again.
    pub(super) fn close_questions(&mut self) -> Result<(), CallError> {
        let mut asked = Vec::new();
        for interrupt in &mut self.live.interrupts {
            asked.push(std::mem::take(&mut interrupt.question));
        }
        for call in &mut self.live.calls {
            asked.push(std::mem::take(&mut call.question));
        }
        asked.iter().try_for_each(|key| self.close_question(key, None))
    }

    /// Takes answers that were given at AgentRuntime's own door: they resume and settle like others.
    pub(crate) fn look_for_answers(&mut self) -> Result<(), CallError> {
        let by = Authority {
            class: SYSTEM.to_owned(),
            tenant: self.binding.tenant.clone(),
            owner_id: String::new(),
        };
        let asked: Vec<(String, String)> =
            self.live.interrupts.iter().map(|it| (it.id.clone(), it.question.clone())).collect();
        for (id, key) in asked {
            if let Some(answer) = self.answer_at(&key)? {
                self.resume(&by, &id, answer)?;
            }
        }
        let asked: Vec<(String, String)> =
            self.live.calls.iter().map(|it| (it.id.clone(), it.question.clone())).collect();
        for (id, key) in asked {
            if let Some(answer) = self.answer_at(&key)? {
                // A call that is over by now needs no answer.
                let _ = self.settle(&id, None, Ending::Result(answer), Tell::Worker)?;
            }
        }
        Ok(())
    }

    /// Returns the answer that a question got, as the JSON that it is, else as a string.
    fn answer_at(&self, key: &str) -> Result<Option<Value>, CallError> {
        if key.is_empty() {
            return Ok(None);
        }
        let Some(held) = self.held()? else { return Ok(None) };
        for question in self.cx.work(held.request).questions_at(key)? {
            let QuestionData { status, answer, .. } = self.cx.question(question).data()?;
            if let (true, Some(answer)) = (status == "answered", answer) {
                let parsed = serde_json::from_str(&answer).ok();
                return Ok(Some(parsed.unwrap_or(Value::String(answer))));
            }
        }
        Ok(None)
    }

    /// Says `waiting` while a question is open on the head's path, else `running`.
    pub(crate) fn mirror_status(&mut self) -> Result<(), CallError> {
        let Some(held) = self.held()? else { return Ok(()) };
        let waits =
            self.is_paused() || self.live.calls.iter().any(|call| !call.question.is_empty());
        let wanted = if waits { "waiting" } else { "running" };
        if self.cx.work(held.request).progress()?.status != wanted {
            self.cx.work(held.request).transition(&AgentRequestTransitionInput {
                attempt: held.attempt,
                generation: held.generation,
                status: wanted.to_owned(),
                reason: String::new(),
            })?;
        }
        Ok(())
    }

    /// Finishes the request of a turn: its items become final, its questions are cancelled, its end
    /// is told on the agent's stream.
    pub(super) fn finish_request(
        &mut self,
        turn: &TurnData,
        end: &TurnEnd,
    ) -> Result<(), CallError> {
        let Some(request) = self.cx.request().resolve()? else { return Ok(()) };
        if super::turn::is_terminal(&self.cx.work(request).progress()?.status) {
            return Ok(());
        }
        self.close_questions()?;
        self.finish_items()?;
        let (status, result, reason) = match end {
            TurnEnd::Done(data) => ("completed", Some(text_of(data)), String::new()),
            TurnEnd::Quiescent if turn.generation > 0 => ("completed", None, String::new()),
            TurnEnd::Quiescent => ("cancelled", None, "not run".to_owned()),
            TurnEnd::Failed(error) => ("failed", None, error.clone()),
            TurnEnd::Cancelled => ("cancelled", None, "cancelled".to_owned()),
        };
        let counts: Value = stored::read_text(&turn.usage.counts, "counts of usage")?;
        let usage = json!({ "counts": counts, "cost": turn.usage.cost });
        let finished = self.cx.work(request).finish(&AgentRequestFinishInput {
            attempt: turn.attempt.clone(),
            generation: turn.generation,
            status: status.to_owned(),
            result,
            raw_output: None,
            usage: Some(stored::json_text(&usage)?),
            reason,
            ended_at: self.now_text(),
        })?;
        if finished {
            self.cx.work(request).publish_completion()?;
        }
        Ok(())
    }

    fn finish_items(&mut self) -> Result<(), CallError> {
        let Some(held) = self.held()? else { return Ok(()) };
        for (_, item) in self.cx.work(held.request).items()? {
            let data = self.cx.item(item).data()?;
            if data.phase == STREAMING {
                let version = self.order().max(data.version + 1);
                let (phase, updated_at) = (FINAL.to_owned(), self.now_text());
                self.upsert(&held, ItemData { phase, version, updated_at, control: None, ..data })?;
            }
        }
        Ok(())
    }
}

/// Returns the key of an item that a reply grows in.
fn reply_key(kind: &str, call: &CallData) -> String {
    format!("{kind}:{}", call.id)
}

/// Returns the key of the question that an event raised: an id that comes again asks anew.
fn question_key(id: &str, offset: u64) -> String {
    format!("{id}#{}", offset + 1)
}
