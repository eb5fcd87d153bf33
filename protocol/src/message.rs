//! Messages: what a conversation is made of, and the tree in which it is recorded.
//!
//! A [`Message`] is recorded and has an id; a [`DraftMessage`] may have none. Identity is by id
//! alone: a draft under a known id is that recorded message, whatever else it says.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::presence;
use crate::tagged::Tagged;

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions. They are part of the config, not of the conversation, unless a worker records
    /// some.
    System,
    /// The client.
    User,
    /// The model.
    Assistant,
    /// The answer to one tool call of the model.
    Tool,
}

/// What a message says: a text, or several parts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(String),
    /// Texts and media, in the order in which they are shown.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// Returns content that is one text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the text of it: that of its text parts, one after the other, without the media.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => parts.iter().filter_map(ContentPart::text).collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a string or a list of content parts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::from_text(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
    }
}

/// One part of a message that is more than a text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    ImageUrl {
        /// Where it is, or itself as a `data:` URL.
        image_url: MediaUrl,
    },
    /// A file.
    File {
        /// The file.
        file: FileData,
    },
    /// A recording.
    InputAudio {
        /// The recording.
        input_audio: AudioData,
    },
    /// A film.
    VideoUrl {
        /// Where it is, or itself as a `data:` URL.
        video_url: MediaUrl,
    },
}

impl ContentPart {
    /// Every `type` that a part has.
    pub const KINDS: &'static [&'static str] =
        &["text", "image_url", "file", "input_audio", "video_url"];

    /// Returns the text, if this is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::ImageUrl { .. }
            | Self::File { .. }
            | Self::InputAudio { .. }
            | Self::VideoUrl { .. } => None,
        }
    }
}

impl<'de> Deserialize<'de> for ContentPart {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let mut part = Tagged::read(source, "type")?;
        match part.tag.as_str() {
            "text" => Ok(Self::Text { text: part.field("text")? }),
            "image_url" => Ok(Self::ImageUrl { image_url: part.field("image_url")? }),
            "file" => Ok(Self::File { file: part.field("file")? }),
            "input_audio" => Ok(Self::InputAudio { input_audio: part.field("input_audio")? }),
            "video_url" => Ok(Self::VideoUrl { video_url: part.field("video_url")? }),
            unknown => Err(D::Error::unknown_variant(unknown, Self::KINDS)),
        }
    }
}

/// Where a picture or a film is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MediaUrl {
    /// An address, or a `data:` URL.
    pub url: String,
}

/// A file, by value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileData {
    /// What it is called.
    pub filename: String,
    /// What is in it, as a `data:` URL.
    pub file_data: String,
}

/// A recording, by value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AudioData {
    /// The recording, base64.
    pub data: String,
    /// Its format: `wav`, `mp3`.
    pub format: String,
}

/// A tool call that the model made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The id that the answer names. Providers repeat them between replies.
    pub id: String,
    /// `function`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is called.
    pub function: FunctionCall,
}

impl ToolCall {
    /// Returns a call of a function, with its arguments as the text that the model wrote.
    pub fn function(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        let function = FunctionCall { name: name.into(), arguments: arguments.into() };
        Self { id: id.into(), kind: "function".to_owned(), function }
    }
}

/// The function of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCall {
    /// The name of a tool, or of a sub-agent.
    pub name: String,
    /// The arguments as the model wrote them: JSON if it did well.
    pub arguments: String,
}

/// A recorded message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Its id in the tree. An assistant message that a model call gave has the id of that call.
    pub id: String,
    /// Who speaks.
    pub role: Role,
    /// What is said; absent when the model only calls tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// The tool calls that an assistant message makes, in order.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<ToolCall>>")]
    pub tool_calls: Vec<ToolCall>,
    /// The tool call that a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name of the tool or sub-agent that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Message {
    /// Returns the same message as a draft, under its id.
    pub fn into_draft(self) -> DraftMessage {
        let Self { id, role, content, tool_calls, tool_call_id, name } = self;
        DraftMessage { id: Some(id), role, content, tool_calls, tool_call_id, name }
    }
}

impl From<Message> for DraftMessage {
    fn from(message: Message) -> Self {
        message.into_draft()
    }
}

/// A message that may not be recorded yet.
///
/// Under an id that the tree knows, it is that recorded message; under another one it is news, and
/// keeps its id; without one it is news, and gets an id when it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DraftMessage {
    /// Its id. An empty one is as good as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who speaks.
    pub role: Role,
    /// What is said; absent when the model only calls tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// The tool calls that an assistant message makes, in order.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<ToolCall>>")]
    pub tool_calls: Vec<ToolCall>,
    /// The tool call that a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name of the tool or sub-agent that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl DraftMessage {
    /// Returns a message without an id that says one text.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        let content = Some(Content::from_text(text));
        Self { id: None, role, content, tool_calls: Vec::new(), tool_call_id: None, name: None }
    }

    /// Returns instructions.
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, text)
    }

    /// Returns what the client says.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text)
    }

    /// Returns what the model says.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, text)
    }

    /// Returns the answer of the tool `name` to the call `tool_call_id`.
    pub fn tool(
        tool_call_id: impl Into<String>,
        name: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            tool_call_id: Some(tool_call_id.into()),
            name: Some(name.into()),
            ..Self::new(Role::Tool, text)
        }
    }

    /// Returns the same draft under an id.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Returns the same draft without an id.
    #[must_use]
    pub fn without_id(self) -> Self {
        Self { id: None, ..self }
    }

    /// Returns the id, unless it is empty.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| !id.is_empty())
    }

    /// Returns the message that is recorded of this draft under `id`.
    pub fn into_message(self, id: impl Into<String>) -> Message {
        let Self { id: _, role, content, tool_calls, tool_call_id, name } = self;
        Message { id: id.into(), role, content, tool_calls, tool_call_id, name }
    }
}

/// Everything that was recorded in a session, all branches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageTree {
    /// The messages, in the order in which they were recorded.
    pub nodes: Vec<TreeNode>,
    /// The leaf at which the conversation goes on; absent while nothing is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_id: Option<String>,
}

/// A message and its place in the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreeNode {
    /// The message.
    pub message: Message,
    /// The message before it; absent at the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
}
