//! An answer is understood before any of it is done.
//!
//! Here is all that can make an answer as a whole impossible to understand: JSON of another shape, a
//! config at odds with itself, a model call without a model, a settlement that names no call where
//! none is meant. Nothing is written.

use quixos_protocol::action::{
    Failure as FailureAction, Interrupt, LlmCall, LlmResult, MessageSend, SubAgentSpawn, ToolCall,
    ToolResult,
};
use quixos_protocol::{
    Action, AgentConfig, CallHandler, DecisionResponse, DraftMessage, Format, LlmTool,
    ReasoningConfig, RetryPolicy, Role, parse,
};
use quixos_runtime::CallError;
use serde_json::Value;

use super::Machine;
use super::settle::{Ending, Failure};
use crate::reconcile::{self, Plan};
use crate::sessions::DecisionData;
use crate::status::LLM_CALL;
use crate::stored::{self, LLM_EXECUTE, TOOL_EXECUTE};
use crate::{retry, tools};

/// An answer that was understood.
pub(super) struct Prepared {
    /// What its messages mean to the tree, if it has a list.
    pub(super) plan: Option<Plan>,
    pub(super) state: Option<Value>,
    pub(super) agent: Option<Value>,
    pub(super) steps: Vec<Step>,
    /// Whether it says nothing at all.
    pub(super) is_empty: bool,
}

/// An action with everything that it left out.
pub(super) enum Step {
    Model(Box<Model>),
    Tool(ToolCall),
    Settle(Settlement),
    Spawn(SubAgentSpawn),
    Send(MessageSend),
    Interrupt(Interrupt),
    Done(Value),
}

/// A model call that is asked for.
pub(super) struct Model {
    pub(super) id: Option<String>,
    pub(super) model: String,
    /// The prompt, if the action brings it along.
    pub(super) messages: Option<Vec<DraftMessage>>,
    /// What is put in front of a prompt that it does not bring along.
    pub(super) system: Option<String>,
    pub(super) tools: Vec<LlmTool>,
    pub(super) temperature: Option<f64>,
    pub(super) max_completion_tokens: Option<u64>,
    pub(super) reasoning: Option<ReasoningConfig>,
    pub(super) stream: bool,
    pub(super) format: Option<Format>,
    pub(super) retry: RetryPolicy,
    pub(super) handler: CallHandler,
}

/// A call that is settled.
pub(super) struct Settlement {
    /// The action's name.
    pub(super) action: &'static str,
    pub(super) kind: CallKind,
    pub(super) call: String,
    pub(super) attempt: Option<u32>,
    pub(super) ending: Settled,
}

/// The kinds of call that an action settles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    Tool,
    Model,
}

/// What a call is settled with, as the action has it.
pub(super) enum Settled {
    Known(Ending),
    /// A model's response, whose form the call decides.
    Response(Value),
}

impl Machine<'_, '_> {
    /// Understands an answer. The text says why it cannot be.
    pub(super) fn prepare(
        &self,
        decision: &DecisionData,
        answer: &str,
    ) -> Result<Result<Prepared, String>, CallError> {
        let response: DecisionResponse = match parse(answer.as_bytes(), usize::MAX) {
            Ok(response) => response,
            Err(error) => return Ok(Err(format!("the answer is not a decision: {error}"))),
        };
        if let Some(fault) = response.agent.as_ref().and_then(config_fault) {
            return Ok(Err(format!("the answer's `agent` is not valid: {fault}")));
        }
        let is_empty = response.is_empty();
        let DecisionResponse { messages, actions, state, agent } = response;
        let head = self.data.head.as_deref();
        let plan = |list| reconcile::plan(self.cx, reconcile::fold(self.cx, head, list)?);
        let plan = messages.map(plan).transpose()?;
        let config = match agent {
            Some(agent) => Some((agent.clone(), Some(stored::json(&agent)?))),
            None => self.config_after(plan.as_ref())?.map(|config| (config, None)),
        };
        let (config, agent) = config.map_or((None, None), |(config, new)| (Some(config), new));
        let mut steps = Vec::with_capacity(actions.len());
        for (index, action) in actions.into_iter().enumerate() {
            let kind = action.kind();
            match self.step(decision, config.as_ref(), action)? {
                Ok(step) => steps.push(step),
                Err(fault) => return Ok(Err(format!("`/actions/{index}` ({kind}): {fault}"))),
            }
        }
        Ok(Ok(Prepared { plan, state, agent, steps, is_empty }))
    }

    /// Returns the config that counts once a plan is carried out.
    fn config_after(&self, plan: Option<&Plan>) -> Result<Option<AgentConfig>, CallError> {
        let moves = plan.filter(|plan| !(plan.known.is_empty() && plan.writes.is_empty()));
        match moves.filter(|plan| plan.base != self.data.head) {
            Some(plan) => self.config_at(plan.base.as_deref()),
            None => self.config(),
        }
    }

    fn step(
        &self,
        decision: &DecisionData,
        config: Option<&AgentConfig>,
        action: Action,
    ) -> Result<Result<Step, String>, CallError> {
        let settles = |action, kind, id, attempt, ending| {
            let (call, attempt) = addressee(decision, kind, id, attempt)?;
            Ok(Step::Settle(Settlement { action, kind, call, attempt, ending }))
        };
        Ok(match action {
            Action::LlmCall(call) => self.model(config, call)?,
            Action::ToolCall(call) => Ok(Step::Tool(call)),
            Action::ToolResult(ToolResult { id, attempt, result }) => {
                let ending = Settled::Known(Ending::Result(result));
                settles("tool.result", CallKind::Tool, id, attempt, ending)
            }
            Action::ToolError(FailureAction { id, attempt, error, retryable, code, detail }) => {
                let failure = Failure { error, retryable, code, detail, retry_after: None };
                let ending = Settled::Known(Ending::Failure(failure));
                settles("tool.error", CallKind::Tool, id, attempt, ending)
            }
            Action::LlmError(FailureAction { id, attempt, error, retryable, code, detail }) => {
                let failure = Failure { error, retryable, code, detail, retry_after: None };
                let ending = Settled::Known(Ending::Failure(failure));
                settles("llm.error", CallKind::Model, id, attempt, ending)
            }
            Action::LlmResult(LlmResult { id, attempt, response }) => {
                let ending = Settled::Response(response);
                match settles("llm.result", CallKind::Model, id, attempt, ending) {
                    Ok(Step::Settle(settlement)) => self.check_response(settlement)?,
                    other => other,
                }
            }
            Action::SubAgentSpawn(spawn) => Ok(Step::Spawn(spawn)),
            Action::MessageSend(send) if send.message.role != Role::User => {
                Err("only a message of role `user` can be sent".to_owned())
            }
            Action::MessageSend(send) => Ok(Step::Send(send)),
            Action::Interrupt(interrupt) => Ok(Step::Interrupt(interrupt)),
            Action::Done(done) => Ok(Step::Done(done.data.unwrap_or(Value::Null))),
        })
    }

    /// Checks that a response can be read, if there is a call that it would settle.
    fn check_response(&self, settlement: Settlement) -> Result<Result<Step, String>, CallError> {
        let call = self.call(&settlement.call).filter(|call| call.kind == LLM_CALL);
        let (Some(call), Settled::Response(response)) = (call, &settlement.ending) else {
            return Ok(Ok(Step::Settle(settlement)));
        };
        let read = self.read_reply(call, response)?;
        Ok(read.map(|_| Step::Settle(settlement)).map_err(|fault| format!("`response`: {fault}")))
    }

    fn model(
        &self,
        config: Option<&AgentConfig>,
        call: LlmCall,
    ) -> Result<Result<Step, String>, CallError> {
        let model = call.model.or_else(|| config.map(|config| config.model.clone()));
        let Some(model) = model.filter(|model| !model.is_empty()) else {
            return Ok(Err("there is neither a `model` nor a config to take it from".to_owned()));
        };
        let handler =
            call.handler.or_else(|| config.and_then(|config| config.handler)).unwrap_or_default();
        let retry = call.retry.or_else(|| config.and_then(|config| config.retry));
        let retry = match retry {
            Some(retry) => retry,
            None => retry::of_model_call(handler, self.settings()?.model_retry),
        };
        let by_worker = config.filter(|_| handler == CallHandler::Worker);
        let stream = call.stream.or_else(|| config.and_then(|config| config.stream));
        let offered = || config.map(tools::offered).unwrap_or_default();
        Ok(Ok(Step::Model(Box::new(Model {
            id: given(call.id),
            model,
            messages: call.messages,
            system: config.and_then(|config| config.system.clone()),
            tools: call.tools.unwrap_or_else(offered),
            temperature: call.temperature,
            max_completion_tokens: call.max_completion_tokens,
            reasoning: call.reasoning,
            stream: stream.unwrap_or_default(),
            format: by_worker.and_then(|config| config.format),
            retry,
            handler,
        }))))
    }
}

/// Returns the call and the attempt that a settlement is for. One that names no call is for the
/// attempt that the decision asked to run, whatever the call is at by now.
fn addressee(
    decision: &DecisionData,
    kind: CallKind,
    id: Option<String>,
    attempt: Option<u32>,
) -> Result<(String, Option<u32>), String> {
    let asked = match kind {
        CallKind::Tool => TOOL_EXECUTE,
        CallKind::Model => LLM_EXECUTE,
    };
    match (given(id), &decision.call) {
        (Some(id), _) => Ok((id, attempt)),
        (None, Some(call)) if decision.kind == asked => {
            Ok((call.clone(), attempt.or(Some(decision.attempt))))
        }
        (None, _) => Err(format!("an `id` can be left out only in the answer to a `{asked}`")),
    }
}

/// Returns an id, unless it is empty.
pub(super) fn given(id: Option<String>) -> Option<String> {
    id.filter(|id| !id.is_empty())
}

/// Returns what is wrong with a config, if something is.
fn config_fault(config: &AgentConfig) -> Option<String> {
    if config.model.is_empty() {
        return Some("`model` is empty".to_owned());
    }
    let handler = config.handler.unwrap_or_default();
    if config.format.is_some() && handler != CallHandler::Worker {
        return Some("`format` needs the handler `worker`".to_owned());
    }
    let tools = config.tools().iter().map(|tool| &tool.name);
    let mut names: Vec<&String> =
        tools.chain(config.sub_agents().iter().map(|agent| &agent.id)).collect();
    names.sort();
    let twice = names.windows(2).find(|pair| pair.first() == pair.last());
    twice.and_then(|pair| pair.first()).map(|name| format!("two tools are named `{name}`"))
}
