//! The trigger of a decision as its worker reads it, made of what the log keeps.

use quixos_protocol::trigger::{
    ClientAction, ClientMessages, InterruptResumed, LlmExecute, LlmFinished, SubAgentFinished,
    ToolExecute, ToolFinished,
};
use quixos_protocol::{ClientContext, DraftMessage, Message, Trigger, native};
use quixos_runtime::CallError;

use crate::past::Past;
use crate::sessions::{CallData, Live};
use crate::stored::{self, StoredCall, StoredOutcome, StoredTrigger};
use crate::tools::{self, Declaration};
use crate::{messages, model_request, reconcile};

/// What a trigger is read against.
pub(crate) struct Scene<'s, P> {
    pub(crate) past: &'s P,
    pub(crate) live: &'s Live,
    /// The head when the decision went live.
    pub(crate) head: Option<&'s str>,
    /// The path to it.
    pub(crate) path: &'s [Message],
}

impl<P: Past> Scene<'_, P> {
    /// Returns a stored trigger as it goes over the wire.
    pub(crate) fn trigger(&self, stored: StoredTrigger) -> Result<Trigger, CallError> {
        Ok(match stored {
            StoredTrigger::SessionStart { config: _ } => Trigger::SessionStart,
            StoredTrigger::ClientMessage { message } => {
                let view = self.appended([message]);
                Trigger::ClientMessages(self.view(view, ClientContext::default())?)
            }
            StoredTrigger::ClientAppended { messages, client } => {
                let view = self.appended(messages::decode(self.past, &messages)?);
                Trigger::ClientMessages(self.view(view, client)?)
            }
            StoredTrigger::ClientMessages { messages, client } => {
                let view = messages::decode(self.past, &messages)?;
                Trigger::ClientMessages(self.view(view, client)?)
            }
            StoredTrigger::ClientAction { name, args } => {
                Trigger::ClientAction(ClientAction { name, args })
            }
            StoredTrigger::ToolExecute { id, attempt } => {
                Trigger::ToolExecute(self.tool_execute(id, attempt)?)
            }
            StoredTrigger::ToolFinished { id } => Trigger::ToolFinished(self.tool_finished(id)?),
            StoredTrigger::LlmExecute { id, attempt } => {
                Trigger::LlmExecute(self.llm_execute(id, attempt)?)
            }
            StoredTrigger::LlmFinished { id } => Trigger::LlmFinished(self.llm_finished(id)?),
            StoredTrigger::SubAgentFinished { id } => {
                Trigger::SubAgentFinished(self.sub_agent_finished(id)?)
            }
            StoredTrigger::InterruptResumed { interrupt_id, payload } => {
                let payload = Some(payload).filter(|payload| !payload.is_null());
                Trigger::InterruptResumed(InterruptResumed { interrupt_id, payload })
            }
        })
    }

    /// Returns the path with messages behind it.
    fn appended(&self, news: impl IntoIterator<Item = DraftMessage>) -> Vec<DraftMessage> {
        self.path.iter().cloned().map(Message::into_draft).chain(news).collect()
    }

    /// Returns a view with the place of its first news, which is what echoing it would write.
    fn view(
        &self,
        messages: Vec<DraftMessage>,
        client: ClientContext,
    ) -> Result<ClientMessages, CallError> {
        let messages = reconcile::fold(self.past, self.head, messages)?;
        let new_from = reconcile::plan(self.past, messages.clone())?.known.len();
        Ok(ClientMessages { messages, new_from, client })
    }

    fn tool_execute(&self, id: String, attempt: u32) -> Result<ToolExecute, CallError> {
        let call = self.call(&id)?;
        let StoredCall::ToolCall { name, arguments } = stored::call_of(self.past, &call)? else {
            return Err(misfit(&id, "a call of a tool"));
        };
        let schema = match tools::declaration(self.past, self.head, &id, &name)? {
            Declaration::Declared(tool) => tool.input,
            Declaration::Undeclared | Declaration::Unknowable => None,
        };
        let input = tools::input(schema.as_ref(), &arguments);
        Ok(ToolExecute { id, name, arguments, input, attempt, deadline: call.deadline })
    }

    fn llm_execute(&self, id: String, attempt: u32) -> Result<LlmExecute, CallError> {
        let call = self.call(&id)?;
        let asked = stored::call_of(self.past, &call)?;
        let (StoredCall::LlmCall { format, stream, .. }, Some(request)) =
            (&asked, model_request::of(self.past, &asked)?)
        else {
            return Err(misfit(&id, "a call of a model"));
        };
        let request = match format {
            Some(format) => native::request(*format, &request),
            None => stored::json(&request)?,
        };
        let (format, stream) = (*format, *stream);
        Ok(LlmExecute { id, request, format, stream, attempt, deadline: call.deadline })
    }

    fn tool_finished(&self, id: String) -> Result<ToolFinished, CallError> {
        let (call, outcome) = self.ended(&id)?;
        let StoredCall::ToolCall { name, .. } = call else {
            return Err(misfit(&id, "a call of a tool"));
        };
        let (ok, result, error) = answer(&id, outcome)?;
        Ok(ToolFinished { id, ok, name, result, error })
    }

    fn sub_agent_finished(&self, id: String) -> Result<SubAgentFinished, CallError> {
        let (call, outcome) = self.ended(&id)?;
        let StoredCall::SubAgent { session_id, agent_id } = call else {
            return Err(misfit(&id, "a delegation"));
        };
        let (ok, result, error) = answer(&id, outcome)?;
        Ok(SubAgentFinished { id, ok, session_id, agent_id, result, error })
    }

    fn llm_finished(&self, id: String) -> Result<LlmFinished, CallError> {
        let (_, outcome) = self.ended(&id)?;
        let blank = LlmFinished {
            id,
            ok: false,
            message: None,
            truncated: false,
            usage: None,
            cost: None,
            error: None,
            code: None,
            detail: None,
        };
        Ok(match outcome {
            StoredOutcome::Reply { message, truncated, usage, cost } => {
                let message = Some(message.with_id(&blank.id));
                LlmFinished { ok: true, message, truncated, usage, cost, ..blank }
            }
            StoredOutcome::Error { error, retryable: _, code, detail } => {
                LlmFinished { error: Some(error), code, detail, ..blank }
            }
            StoredOutcome::Result { .. } => return Err(misfit(&blank.id, "a call of a model")),
        })
    }

    /// Returns a call, under way or ended.
    fn call(&self, id: &str) -> Result<CallData, CallError> {
        match self.live.calls.iter().find(|call| call.id == id) {
            Some(call) => Ok(call.clone()),
            None => self.past.ended_call(id)?.ok_or_else(|| misfit(id, "a call")),
        }
    }

    /// Returns a call that has ended, and how.
    fn ended(&self, id: &str) -> Result<(StoredCall, StoredOutcome), CallError> {
        let call = self.past.ended_call(id)?.ok_or_else(|| misfit(id, "a call that has ended"))?;
        let outcome = stored::outcome_of(self.past, &call)?;
        let outcome = outcome.ok_or_else(|| misfit(id, "a call that has ended"))?;
        Ok((stored::call_of(self.past, &call)?, outcome))
    }
}

/// Returns what a tool or a sub-agent answered: whether it is good, the result, the error.
fn answer(
    id: &str,
    outcome: StoredOutcome,
) -> Result<(bool, Option<String>, Option<String>), CallError> {
    match outcome {
        StoredOutcome::Result { result } => Ok((true, Some(result), None)),
        StoredOutcome::Error { error, .. } => Ok((false, None, Some(error))),
        StoredOutcome::Reply { .. } => Err(misfit(id, "a call of a tool")),
    }
}

fn misfit(id: &str, what: &str) -> CallError {
    CallError::Corrupt { message: format!("a decision is about `{id}`, which is not {what}") }
}
