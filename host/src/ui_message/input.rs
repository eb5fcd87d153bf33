//! What the AI SDK's transport sends, and what of it is asked of the agent.

use quixos_protocol::ParseError;
use quixos_session::sessions::Once;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::encode::Approval;
use crate::front::{Said, once};

/// What the transport sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "UiChatRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChatInput {
    /// The thread, by a name that the client chooses. It is the token's owner's.
    pub(crate) id: String,
    /// The whole conversation.
    pub(crate) messages: Vec<Message>,
    /// What is wanted: `submit-message`, if it is not said.
    #[serde(default)]
    pub(crate) trigger: Trigger,
    /// Anything else; handed to the worker.
    #[serde(flatten)]
    pub(crate) rest: Map<String, Value>,
}

/// What is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "UiChatTrigger")]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Trigger {
    /// An answer to what is new.
    #[default]
    SubmitMessage,
    /// Another answer to what was said last.
    RegenerateMessage,
}

/// A message of the conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "UiMessage")]
pub(crate) struct Message {
    /// Its id.
    #[serde(default)]
    id: Option<String>,
    /// Who speaks: `user`, or the agent.
    role: String,
    /// What is said and done.
    parts: Vec<Part>,
}

/// A part of a message. Other kinds of part than those that are looked at here are let be.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "UiMessagePart")]
#[serde(rename_all = "camelCase")]
struct Part {
    /// What it is: `text`, `tool-` and the tool's name, `dynamic-tool`.
    #[serde(rename = "type")]
    kind: String,
    /// Of a text: the text.
    #[serde(default)]
    text: Option<String>,
    /// Of a tool: the call.
    #[serde(default)]
    tool_call_id: Option<String>,
    /// Of a tool: how far the call is.
    #[serde(default)]
    state: Option<String>,
    /// Of a tool that has ended: what it brought.
    #[serde(default)]
    output: Option<Value>,
    /// Of a tool that has failed: what went wrong.
    #[serde(default)]
    error_text: Option<String>,
    /// Of a tool: whether it is the agent's to run.
    #[serde(default)]
    provider_executed: Option<bool>,
    /// Of a tool that needs a yes: the answer.
    #[serde(default)]
    approval: Option<Answered>,
}

/// The answer to a question for a yes or a no.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "UiApproval")]
struct Answered {
    /// The question.
    id: String,
    /// The answer.
    #[serde(default)]
    approved: Option<bool>,
    /// Why.
    #[serde(default)]
    reason: Option<String>,
}

impl ChatInput {
    /// Returns what is said in the conversation. The parts of the agent's last message that the client
    /// has filled in are said behind it.
    ///
    /// # Errors
    ///
    /// A message of the user is more than text.
    pub(crate) fn conversation(&self) -> Result<Vec<Said>, ParseError> {
        let mut said = Vec::new();
        for (at, message) in self.messages.iter().enumerate() {
            if message.role == "user" {
                said.push(Said::User { id: message.id.clone(), text: message.text(at)? });
            } else {
                said.push(Said::Told);
                said.extend(message.parts.iter().filter_map(Part::ended));
            }
        }
        Ok(said)
    }

    /// Returns the id of what the user said last, if that stands at the end.
    pub(crate) fn last_said(&self) -> Option<String> {
        let last = self.messages.last().filter(|last| last.role == "user")?;
        last.id.clone().filter(|id| !id.is_empty())
    }

    /// Returns what the answers in it are known by: what the client has filled in of the agent's last
    /// message, with the ids of what is said behind it. Nothing if nothing is filled in, or if what is
    /// said has no id.
    pub(crate) fn once(&self) -> Option<Once> {
        let last = self.messages.iter().rposition(|message| message.role != "user")?;
        let (agents, behind) = self.messages.get(last..)?.split_first()?;
        let mut parts: Vec<String> =
            agents.parts.iter().filter_map(Part::filled).flatten().collect();
        if parts.is_empty() {
            return None;
        }
        for message in behind {
            parts.push(message.id.clone().filter(|id| !id.is_empty())?);
        }
        let parts = std::iter::once(self.id.as_str()).chain(parts.iter().map(String::as_str));
        Some(once("ui-message", parts))
    }

    /// Returns the yes and no to questions.
    pub(crate) fn approvals(&self) -> Vec<(Approval, Value)> {
        let last = self.messages.iter().rfind(|message| message.role != "user");
        let parts = last.map(|message| message.parts.as_slice()).unwrap_or_default();
        parts.iter().filter_map(Part::approval).collect()
    }
}

impl Message {
    fn text(&self, at: usize) -> Result<String, ParseError> {
        let texts =
            self.parts.iter().enumerate().map(|(part, it)| match (it.kind.as_str(), &it.text) {
                ("text", Some(text)) => Ok(text.as_str()),
                // A file would be lost, and nobody would notice.
                ("file", _) => Err(ParseError::Shape {
                    path: format!("/messages/{at}/parts/{part}"),
                    message: "is not text, which is all there is so far".to_owned(),
                }),
                _ => Ok(""),
            });
        texts.collect()
    }
}

impl Part {
    fn ended(&self) -> Option<Said> {
        let call = self.tool_call_id.clone()?;
        let outcome = match self.state.as_deref()? {
            "output-available" => Ok(self.output.clone().unwrap_or_default()),
            "output-error" => Err(self.error_text.clone().unwrap_or_else(|| "failed".to_owned())),
            _ => return None,
        };
        Some(Said::Tool { call, outcome })
    }

    /// Returns what the client has filled in: of what, and with what. A yes or a no stays in the part
    /// when its tool has ended.
    fn filled(&self) -> Option<[String; 3]> {
        if let Some((Approval { id, .. }, data)) = self.answered() {
            return Some([id, "approval".to_owned(), data.to_string()]);
        }
        match self.ended().filter(|_| self.provider_executed != Some(true))? {
            Said::Tool { call, outcome: Ok(output) } => {
                Some([call, "output".to_owned(), output.to_string()])
            }
            Said::Tool { call, outcome: Err(error) } => Some([call, "error".to_owned(), error]),
            Said::User { .. } | Said::Told => None,
        }
    }

    fn approval(&self) -> Option<(Approval, Value)> {
        (self.state.as_deref() == Some("approval-responded")).then(|| self.answered())?
    }

    fn answered(&self) -> Option<(Approval, Value)> {
        let Answered { id, approved, reason } = self.approval.as_ref()?;
        let approved = (*approved)?;
        let mut data = json!({ "approved": approved });
        if let Some(reason) = reason {
            data["reason"] = reason.clone().into();
        }
        Some((Approval { id: id.clone(), approved }, data))
    }
}
