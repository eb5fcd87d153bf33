//! What a worker is proposed to answer: an agent that works, if it only echoes.
//!
//! A proposal is made of what the session was when the decision went live, and of nothing else, so
//! that each delivery of a decision proposes the same. It does nothing by itself.

use quixos_protocol::action::{
    Done, Failure, Interrupt, LlmCall, MessageSend, SubAgentSpawn, ToolCall,
};
use quixos_protocol::trigger::{
    ClientMessages, LlmFinished, SubAgentFinished, ToolExecute, ToolFinished,
};
use quixos_protocol::{
    Action, AgentConfig, AgentTool, ClientContext, DecisionResponse, DraftMessage, Message,
    RetryPolicy, Role, ToolHandler, ToolInput, Trigger,
};
use quixos_runtime::CallError;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::past::Past;
use crate::stored::{self, StoredCall};
use crate::tools::{self, Declaration};
use crate::{messages, retry, status};

/// The namespace of the ids of child sessions (UUID version 5), fixed for good: a decision that is
/// delivered again proposes the same child.
const CHILDREN: Uuid = Uuid::from_u128(0x6a1f_0d52_9c0e_5b7f_8f3b_2d6c_41e9_a870);

/// What a session was when a decision about it went live.
pub(crate) struct Situation<'s, P> {
    pub(crate) past: &'s P,
    /// The decision's id.
    pub(crate) decision: &'s str,
    pub(crate) head: Option<&'s str>,
    /// The active path.
    pub(crate) path: &'s [Message],
    /// The config that resolves at the head.
    pub(crate) config: Option<&'s AgentConfig>,
    /// What the host has configured for the agent, which `session.start` proposes.
    pub(crate) configured: Option<&'s AgentConfig>,
    /// The policy of a model call where neither config nor answer has one.
    pub(crate) model_retry: RetryPolicy,
    /// Whether the client wished models to stream in this turn.
    pub(crate) stream: Option<bool>,
    pub(crate) pending_calls: u32,
    /// Whether anything is in flight on the active path.
    pub(crate) busy: bool,
}

/// Returns what is proposed as the answer to a trigger.
pub(crate) fn proposal<P: Past>(
    situation: &Situation<'_, P>,
    trigger: &Trigger,
) -> Result<DecisionResponse, CallError> {
    match trigger {
        Trigger::SessionStart => Ok(DecisionResponse {
            agent: situation.configured.cloned(),
            ..DecisionResponse::default()
        }),
        Trigger::ClientMessages(input) => Ok(situation.on_messages(input)),
        Trigger::ClientAction(_) | Trigger::LlmExecute(_) => Ok(DecisionResponse::default()),
        Trigger::ToolExecute(call) => situation.on_tool_execute(call),
        Trigger::ToolFinished(call) => {
            let ToolFinished { id, name, result, error, .. } = call;
            situation.on_answer(id, name, result.as_deref().or(error.as_deref()))
        }
        Trigger::SubAgentFinished(call) => {
            let SubAgentFinished { id, agent_id, result, error, .. } = call;
            situation.on_answer(id, agent_id, result.as_deref().or(error.as_deref()))
        }
        Trigger::LlmFinished(call) => Ok(situation.on_model(call)),
        Trigger::InterruptResumed(_) => Ok(situation.on_resumed()),
    }
}

impl<P: Past> Situation<'_, P> {
    fn on_messages(&self, input: &ClientMessages) -> DecisionResponse {
        let Some(config) = self.config else { return DecisionResponse::default() };
        let layered = layered(config, &input.client);
        let view: Vec<DraftMessage> =
            input.messages.iter().filter(|message| message.role != Role::System).cloned().collect();
        let call = self.configured_call(layered.as_ref().unwrap_or(config), &view);
        DecisionResponse {
            messages: Some(view),
            actions: vec![Action::LlmCall(call)],
            agent: layered,
            ..DecisionResponse::default()
        }
    }

    /// Returns a model call with every field as the config has it.
    fn configured_call(&self, config: &AgentConfig, view: &[DraftMessage]) -> LlmCall {
        let system = config.system.as_ref().map(DraftMessage::system);
        let tools = tools::offered(config);
        let handler = config.handler.unwrap_or_default();
        let default = retry::of_model_call(handler, self.model_retry);
        let retry = config.retry.unwrap_or(default);
        LlmCall {
            model: Some(config.model.clone()),
            messages: Some(system.into_iter().chain(view.iter().cloned()).collect()),
            tools: (!tools.is_empty()).then_some(tools),
            stream: Some(self.stream.or(config.stream).unwrap_or_default()),
            retry: Some(retry),
            handler: Some(handler),
            ..LlmCall::default()
        }
    }

    fn on_tool_execute(&self, call: &ToolExecute) -> Result<DecisionResponse, CallError> {
        let undeclared = tools::declaration(self.past, self.head, &call.id, &call.name)?
            == Declaration::Undeclared;
        let error = match &call.input {
            _ if undeclared => format!("there is no tool named `{}`", call.name),
            ToolInput::Valid { .. } => return Ok(DecisionResponse::default()),
            ToolInput::Invalid { error, .. } | ToolInput::Malformed { error } => {
                format!("the arguments of `{}` are bad: {error}", call.name)
            }
        };
        let failure = Failure {
            id: Some(call.id.clone()),
            attempt: None,
            error,
            retryable: false,
            code: None,
            detail: None,
        };
        Ok(DecisionResponse {
            messages: Some(self.path()),
            actions: vec![Action::ToolError(failure)],
            ..DecisionResponse::default()
        })
    }

    /// Proposes to record an answer to a tool call, and to prompt the model once all are there.
    fn on_answer(
        &self,
        id: &str,
        name: &str,
        text: Option<&str>,
    ) -> Result<DecisionResponse, CallError> {
        let answer = DraftMessage::tool(id, name, text.unwrap_or_default());
        let mut actions = Vec::new();
        if self.pending_calls == 0 {
            match self.call_again(id, &answer)? {
                Some(call) => actions.push(Action::LlmCall(call)),
                // To record and not to prompt would leave the turn of an echo where it is.
                None => return Ok(DecisionResponse::default()),
            }
        }
        let messages = self.path().into_iter().chain([answer]).collect();
        Ok(DecisionResponse { messages: Some(messages), actions, ..DecisionResponse::default() })
    }

    /// Returns the model call again whose reply made a tool call, with all that came after it.
    fn call_again(
        &self,
        tool_call: &str,
        answer: &DraftMessage,
    ) -> Result<Option<LlmCall>, CallError> {
        let reply = tools::reply_with(self.past, self.head, tool_call)?;
        let Some(reply) = reply else { return Ok(None) };
        let Some(call) = self.past.ended_call(&reply)? else { return Ok(None) };
        let StoredCall::LlmCall {
            model,
            prompt,
            tools,
            temperature,
            max_completion_tokens,
            reasoning,
            stream,
            format: _,
            retry,
        } = stored::call_of(self.past, &call)?
        else {
            return Ok(None);
        };
        let since = self.path.iter().skip_while(|message| message.id != reply);
        let mut prompt = messages::decode(self.past, &prompt)?;
        prompt.extend(since.cloned().map(Message::into_draft));
        prompt.push(answer.clone());
        Ok(Some(LlmCall {
            id: None,
            model: Some(model),
            messages: Some(prompt),
            tools: tools.map(|digest| tools::kept_tools(self.past, &digest)).transpose()?,
            temperature,
            max_completion_tokens,
            reasoning,
            stream: Some(stream),
            retry: Some(retry),
            handler: Some(status::call_handler(&call.handler)?),
        }))
    }

    fn on_model(&self, call: &LlmFinished) -> DecisionResponse {
        let reply = call.message.as_ref().filter(|_| call.ok && !call.truncated);
        let Some(reply) = reply else { return self.on_failed_model(call) };
        let messages = self.path().into_iter().chain([reply.clone()]).collect();
        let actions = if reply.tool_calls.is_empty() {
            let data = reply.content.as_ref().map_or(Value::Null, |content| json!(content));
            vec![Action::Done(Done { data: Some(data) })]
        } else {
            reply.tool_calls.iter().flat_map(|made| self.actions_for(made)).collect()
        };
        DecisionResponse { messages: Some(messages), actions, ..DecisionResponse::default() }
    }

    /// Returns what a tool call of a reply comes to: a delegation, or the call of a tool.
    fn actions_for(&self, made: &quixos_protocol::ToolCall) -> Vec<Action> {
        let name = &made.function.name;
        let config = self.config;
        let is_agent = config.is_some_and(|it| it.sub_agents().iter().any(|it| it.id == *name));
        if !is_agent {
            let declared = config.and_then(|it| it.tools().iter().find(|it| it.name == *name));
            return vec![Action::ToolCall(ToolCall {
                id: Some(made.id.clone()),
                name: name.clone(),
                arguments: Value::String(made.function.arguments.clone()),
                handler: Some(declared.and_then(|tool| tool.handler).unwrap_or_default()),
                retry: None,
            })];
        }
        let child = self.child(&made.id);
        vec![
            Action::SubAgentSpawn(SubAgentSpawn {
                session_id: child.clone(),
                agent_id: name.clone(),
                tool_call_id: made.id.clone(),
                retry: None,
            }),
            Action::MessageSend(MessageSend {
                session_id: child,
                message: DraftMessage::user(task(&made.function.arguments)),
            }),
        ]
    }

    /// Returns the id of the session that answers a delegation of this decision.
    fn child(&self, tool_call: &str) -> String {
        let name = [self.decision, tool_call].join("\n");
        Uuid::new_v5(&CHILDREN, name.as_bytes()).to_string()
    }

    fn on_failed_model(&self, call: &LlmFinished) -> DecisionResponse {
        let reason = match (&call.error, call.truncated) {
            (Some(error), _) => format!("the model call failed: {error}"),
            (None, true) => "the model's reply was cut off".to_owned(),
            (None, false) => "the model call failed".to_owned(),
        };
        let payload = json!({
            "type": "llm.failed",
            "id": call.id,
            "error": call.error,
            "code": call.code,
            "truncated": call.truncated,
        });
        DecisionResponse {
            messages: Some(self.path()),
            actions: vec![Action::Interrupt(Interrupt {
                interrupt_id: None,
                reason,
                payload: Some(payload),
            })],
            ..DecisionResponse::default()
        }
    }

    fn on_resumed(&self) -> DecisionResponse {
        match self.config {
            Some(config) if !self.busy => {
                let path = self.path();
                let call = self.configured_call(config, &path);
                DecisionResponse {
                    messages: Some(path),
                    actions: vec![Action::LlmCall(call)],
                    ..DecisionResponse::default()
                }
            }
            Some(_) | None => DecisionResponse::default(),
        }
    }

    fn path(&self) -> Vec<DraftMessage> {
        self.path.iter().cloned().map(Message::into_draft).collect()
    }
}

/// Returns a config with the client's tools added, which the client runs; none if that adds
/// nothing. A name that the config has already stays the config's.
fn layered(config: &AgentConfig, client: &ClientContext) -> Option<AgentConfig> {
    let mut tools = config.tools().to_vec();
    for tool in &client.tools {
        let is_taken = tools.iter().any(|it| it.name == tool.name)
            || config.sub_agents().iter().any(|it| it.id == tool.name);
        if !is_taken {
            tools.push(AgentTool { handler: Some(ToolHandler::Client), ..tool.clone() });
        }
    }
    let adds = tools.len() > config.tools().len();
    adds.then(|| AgentConfig { tools: Some(tools), ..config.clone() })
}

/// Returns the task that a model hands to a sub-agent: the argument `message`, or all it wrote.
fn task(arguments: &str) -> String {
    let parsed = serde_json::from_str::<Value>(arguments).ok();
    let message = parsed.as_ref().and_then(|value| value.get("message")).and_then(Value::as_str);
    message.unwrap_or(arguments).to_owned()
}
