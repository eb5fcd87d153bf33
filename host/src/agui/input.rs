//! What a client of AG-UI sends, and what of it is asked of the agent.

use quixos_engine::Answered;
use quixos_protocol::{AgentTool, ClientContext, ParseError};
use quixos_session::sessions::Once;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::front::{Said, once};

/// The input of a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "RunAgentInput")]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunInput {
    /// The thread, by a name that the client chooses. It is the token's owner's.
    pub(crate) thread_id: String,
    /// The run, by an id that the client chooses. The same run is begun once, however often it is
    /// sent.
    pub(crate) run_id: String,
    /// The whole conversation.
    pub(crate) messages: Vec<Message>,
    /// Tools that the client runs.
    #[serde(default)]
    pub(crate) tools: Vec<Tool>,
    /// What the client knows; handed to the worker.
    #[serde(default)]
    pub(crate) context: Vec<Value>,
    /// The client's own state; handed to the worker.
    #[serde(default)]
    pub(crate) state: Option<Value>,
    /// Anything else; handed to the worker.
    #[serde(default)]
    pub(crate) forwarded_props: Option<Value>,
    /// Answers to the questions that ended the run before.
    #[serde(default)]
    pub(crate) resume: Vec<Resume>,
}

/// A message of the conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AgUiMessage")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    /// Its id.
    #[serde(default)]
    id: Option<String>,
    /// Who speaks. What is not `user` or `tool` was told by the agent.
    role: String,
    /// What is said: a text, or a list of parts that are texts.
    #[serde(default)]
    content: Option<Value>,
    /// Of a tool: the call.
    #[serde(default)]
    tool_call_id: Option<String>,
    /// Of a tool: what went wrong.
    #[serde(default)]
    error: Option<String>,
}

/// A tool that the client runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AgUiTool")]
pub(crate) struct Tool {
    /// Its name.
    name: String,
    /// What it is for.
    #[serde(default)]
    description: Option<String>,
    /// What it takes, as JSON Schema.
    #[serde(default)]
    parameters: Option<Value>,
}

/// An answer to a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AgUiResume")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resume {
    /// The question.
    interrupt_id: String,
    /// Whether it was answered.
    status: ResumeStatus,
    /// The answer.
    #[serde(default)]
    payload: Option<Value>,
}

/// Whether a question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "AgUiResumeStatus")]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResumeStatus {
    /// It was.
    Resolved,
    /// Nobody will answer it.
    Cancelled,
}

impl RunInput {
    /// Returns what is said in the conversation.
    ///
    /// # Errors
    ///
    /// A message of the user, or a result, is more than text.
    pub(crate) fn conversation(&self) -> Result<Vec<Said>, ParseError> {
        let messages = self.messages.iter().enumerate();
        messages
            .map(|(at, message)| match (message.role.as_str(), &message.tool_call_id) {
                ("user", _) => Ok(Said::User { id: message.id.clone(), text: message.text(at)? }),
                ("tool", Some(call)) => {
                    let outcome = match &message.error {
                        Some(error) => Err(error.clone()),
                        None => Ok(message.text(at)?.into()),
                    };
                    Ok(Said::Tool { call: call.clone(), outcome })
                }
                _ => Ok(Said::Told),
            })
            .collect()
    }

    /// Returns what answers of the run are known by, if the run has an id.
    pub(crate) fn once(&self) -> Option<Once> {
        let parts = [self.thread_id.as_str(), self.run_id.as_str()];
        (!self.run_id.is_empty()).then(|| once("ag-ui", parts))
    }

    /// Says whether the user spoke last: only that can be answered anew. What ends with the result of a
    /// tool answers something.
    pub(crate) fn ends_with_user(&self) -> bool {
        self.messages.last().is_some_and(|message| message.role == "user")
    }

    /// Returns the answers to questions.
    pub(crate) fn answers(&self) -> Vec<Answered> {
        let answers = self.resume.iter().map(|resume| {
            let outcome = match resume.status {
                ResumeStatus::Resolved => Ok(resume.payload.clone().unwrap_or_default()),
                ResumeStatus::Cancelled => Err("cancelled".to_owned()),
            };
            Answered { action_id: resume.interrupt_id.clone(), outcome }
        });
        answers.collect()
    }

    /// Returns what the client brings along.
    pub(crate) fn client(&self) -> ClientContext {
        let tools = self.tools.iter().map(|tool| AgentTool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input: tool.parameters.clone(),
            ..AgentTool::default()
        });
        // Clients send empty objects along that say nothing.
        let is_said = |value: &Value| !value.is_null() && *value != json!({});
        ClientContext {
            tools: tools.collect(),
            context: Some(self.context.clone()).filter(|context| !context.is_empty()),
            state: self.state.clone().filter(is_said),
            forwarded_props: self.forwarded_props.clone().filter(is_said),
        }
    }
}

impl Message {
    fn text(&self, at: usize) -> Result<String, ParseError> {
        let fault = |path: String, message: &str| ParseError::Shape {
            path: format!("/messages/{at}/content{path}"),
            message: message.to_owned(),
        };
        match &self.content {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().enumerate().map(|(part, value)| {
                    let text = value["text"].as_str().filter(|_| value["type"] == "text");
                    text.ok_or_else(|| {
                        fault(format!("/{part}"), "is not text, which is all there is so far")
                    })
                });
                texts.collect()
            }
            Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
                Err(fault(String::new(), "is neither a text nor a list of parts"))
            }
        }
    }
}
