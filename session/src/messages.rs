//! Lists of messages: how they are kept, and what a model is sent of them.
//!
//! A worker gives a whole list with each answer, most of which is a path of the tree. It is kept as
//! the stretches of the tree that it goes along, and word for word only where it leaves them.

use quixos_protocol::{DraftMessage, Message, Role};
use quixos_runtime::CallError;

use crate::past::Past;
use crate::sessions::NodeData;
use crate::stored::{Messages, Stretch};
use crate::tree;

/// A text, under what it is known by.
pub(crate) struct Text {
    /// BLAKE3 in hex.
    pub(crate) digest: String,
    pub(crate) text: String,
}

/// A list of messages, ready to be kept.
pub(crate) struct Encoded {
    pub(crate) messages: Messages,
    /// The texts that it refers to; some may be kept already.
    pub(crate) texts: Vec<Text>,
}

/// Returns a text with its digest.
pub(crate) fn text(text: String) -> Text {
    Text { digest: blake3::hash(text.as_bytes()).to_hex().to_string(), text }
}

/// Returns the message of a node.
pub(crate) fn message(node: &NodeData) -> Result<Message, CallError> {
    serde_json::from_str(&node.message).map_err(|error| CallError::Corrupt {
        message: format!("message `{}` of the tree: {error}", node.id),
    })
}

/// Returns a list as it is kept.
pub(crate) fn encode(past: &impl Past, list: &[DraftMessage]) -> Result<Encoded, CallError> {
    let mut encoded = Encoded { messages: Messages::new(), texts: Vec::new() };
    for draft in list {
        match recorded(past, draft)? {
            Some(node) => extend(&mut encoded.messages, node),
            None => {
                let text = text(to_json(draft)?);
                encoded.messages.push(Stretch::Text(text.digest.clone()));
                encoded.texts.push(text);
            }
        }
    }
    Ok(encoded)
}

/// Returns the node that a draft repeats to the letter.
fn recorded(past: &impl Past, draft: &DraftMessage) -> Result<Option<NodeData>, CallError> {
    let Some(id) = draft.id() else { return Ok(None) };
    let Some(node) = past.node(id)? else { return Ok(None) };
    let same = message(&node)?.into_draft() == *draft;
    Ok(same.then_some(node))
}

/// Adds a node: to the last stretch if it goes on there, else as a new one.
fn extend(messages: &mut Messages, node: NodeData) {
    match messages.last_mut() {
        Some(Stretch::Path { to, .. }) if node.parent.as_ref() == Some(to) => *to = node.id,
        Some(_) | None => messages.push(Stretch::Path { from: node.parent, to: node.id }),
    }
}

/// Returns a list that was kept.
pub(crate) fn decode(
    past: &impl Past,
    messages: &Messages,
) -> Result<Vec<DraftMessage>, CallError> {
    let mut list = Vec::new();
    for stretch in messages {
        match stretch {
            Stretch::Path { from, to } => {
                for node in tree::below(past, from.as_deref(), Some(to))? {
                    list.push(message(&node)?.into_draft());
                }
            }
            Stretch::Text(digest) => list.push(draft(past, digest)?),
        }
    }
    Ok(list)
}

fn draft(past: &impl Past, digest: &str) -> Result<DraftMessage, CallError> {
    let corrupt = |message: String| CallError::Corrupt { message };
    let text = past
        .text(digest)?
        .ok_or_else(|| corrupt(format!("the text {digest} of a list of messages is not kept")))?;
    serde_json::from_str(&text).map_err(|error| corrupt(format!("the text {digest}: {error}")))
}

fn to_json(draft: &DraftMessage) -> Result<String, CallError> {
    serde_json::to_string(draft)
        .map_err(|error| CallError::invalid("messages", format!("not to be written: {error}")))
}

/// What a model reads where a tool call was never answered.
const UNANSWERED: &str = "error: this call has no recorded result";

/// Returns a list that a provider takes: behind each assistant message, one answer to each of its
/// tool calls, in their order, and no other message of a tool.
///
/// Ids of tool calls repeat between replies, so an answer belongs to the last reply before it that
/// made the call. Where there are several, the first counts; where there is none, one is put that
/// says so.
pub(crate) fn well_formed(list: Vec<DraftMessage>) -> Vec<DraftMessage> {
    let mut formed = Vec::with_capacity(list.len());
    for (index, message) in list.iter().enumerate() {
        if message.role == Role::Tool {
            continue;
        }
        formed.push(message.clone());
        let rest = list.get(index + 1..).unwrap_or_default();
        formed.extend(message.tool_calls.iter().map(|call| {
            answer_to(&call.id, rest)
                .cloned()
                .unwrap_or_else(|| DraftMessage::tool(&call.id, &call.function.name, UNANSWERED))
        }));
    }
    formed
}

/// Returns the first answer to a call before another reply makes a call of that id.
fn answer_to<'a>(id: &str, rest: &'a [DraftMessage]) -> Option<&'a DraftMessage> {
    rest.iter()
        .take_while(|message| message.tool_calls.iter().all(|call| call.id != id))
        .find(|message| message.role == Role::Tool && message.tool_call_id.as_deref() == Some(id))
}

#[cfg(test)]
mod tests {
    use quixos_protocol::ToolCall;

    use super::*;

    fn calling(ids: &[&str]) -> DraftMessage {
        let tool_calls = ids.iter().map(|id| ToolCall::function(*id, "find", "{}")).collect();
        DraftMessage { content: None, tool_calls, ..DraftMessage::assistant("") }
    }

    fn texts(list: Vec<DraftMessage>) -> Vec<String> {
        let text = |draft: &DraftMessage| draft.content.as_ref().map(|it| it.text().into_owned());
        list.iter().map(|draft| text(draft).unwrap_or_else(|| "calls".to_owned())).collect()
    }

    #[test]
    fn puts_answers_behind_their_calls_in_their_order() {
        let list = vec![
            DraftMessage::user("go"),
            calling(&["a", "b"]),
            DraftMessage::tool("b", "find", "second"),
            DraftMessage::user("well?"),
            DraftMessage::tool("a", "find", "first"),
        ];
        assert_eq!(texts(well_formed(list)), ["go", "calls", "first", "second", "well?"]);
    }

    #[test]
    fn fills_what_is_missing_and_leaves_out_what_nobody_asked_for() {
        let list = vec![
            DraftMessage::tool("x", "find", "stray"),
            calling(&["a"]),
            DraftMessage::user("next"),
        ];
        assert_eq!(texts(well_formed(list)), ["calls", UNANSWERED, "next"]);
    }

    #[test]
    fn gives_each_reply_its_own_answers_where_ids_repeat() {
        let list = vec![
            calling(&["a"]),
            DraftMessage::tool("a", "find", "one"),
            DraftMessage::tool("a", "find", "one again"),
            calling(&["a"]),
            DraftMessage::tool("a", "find", "two"),
        ];
        assert_eq!(texts(well_formed(list)), ["calls", "one", "calls", "two"]);
    }
}
