//! Which of a conversation that a client sends is news.
//!
//! Messages are known by their ids. What stands before the last message that is not the client's own
//! was said in an earlier turn, under whatever id; of what stands behind it, that is news whose id the
//! thread has not recorded. A message that is recorded is never submitted again.

use std::collections::BTreeSet;

use quixos_protocol::{DraftMessage, Message, Role};
use serde::Deserialize;
use serde_json::Value;

/// What a thread knows already, and what it waits for.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The ids of its messages, on all branches.
    messages: BTreeSet<String>,
    /// Its messages on the branch that it stands on.
    path: Vec<Message>,
    /// What it waits for of its client.
    actions: Vec<Action>,
}

/// A message that a client sends, as far as it can be news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// One of the user.
    User {
        /// Its id, if it has one.
        id: Option<String>,
        /// The text.
        text: String,
    },
    /// The end of a tool call.
    Tool {
        /// The call.
        call: String,
        /// The result, or what went wrong.
        outcome: Result<Value, String>,
    },
    /// One that the client was told.
    Told,
}

/// What is news in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// New messages of the user: the id, and the text.
    pub(crate) messages: Vec<(Option<String>, String)>,
    /// What the thread waits for and the client has: results of calls, answers to questions.
    pub(crate) results: Vec<(String, Result<Value, String>)>,
}

/// What is read of a session's view.
#[derive(Deserialize)]
struct View {
    messages: Vec<Message>,
    message_tree: Tree,
}

#[derive(Deserialize)]
struct Tree {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    message: Recorded,
}

#[derive(Deserialize)]
struct Recorded {
    id: String,
}

/// Something that a turn waits for.
#[derive(Debug, Deserialize)]
struct Action {
    action_id: String,
}

impl Known {
    /// Reads what a thread knows from the view of its session, and what it waits for from its turn.
    ///
    /// # Errors
    ///
    /// They are none.
    pub(crate) fn read(view: &str, waiting: Option<&str>) -> Result<Self, serde_json::Error> {
        let View { messages, message_tree } = serde_json::from_str(view)?;
        Ok(Self {
            messages: message_tree.nodes.into_iter().map(|node| node.message.id).collect(),
            path: messages,
            actions: waiting.map(serde_json::from_str).transpose()?.unwrap_or_default(),
        })
    }

    fn waits_for(&self, action: &str) -> bool {
        self.actions.iter().any(|it| it.action_id == action)
    }

    /// Returns the conversation as a view of it has it.
    pub(crate) fn path(&self) -> impl Iterator<Item = DraftMessage> {
        self.path.iter().cloned().map(Message::into_draft)
    }

    /// Returns the conversation up to what the user said last, if the user has said something.
    pub(crate) fn up_to_user(&self) -> Option<Vec<DraftMessage>> {
        let last = self.path.iter().rposition(|message| message.role == Role::User)?;
        Some(self.path().take(last + 1).collect())
    }

    /// Returns what is news in a conversation.
    pub(crate) fn news_in(&self, conversation: Vec<Said>) -> News {
        let told = conversation.iter().rposition(|said| *said == Said::Told);
        let behind = told.map_or(0, |at| at + 1);
        let mut news = News::default();
        for (at, said) in conversation.into_iter().enumerate() {
            match said {
                Said::User { id, text } if at >= behind => {
                    if id.as_ref().is_none_or(|id| !self.messages.contains(id)) {
                        news.messages.push((id, text));
                    }
                }
                // A result is news as long as it is waited for, wherever it stands.
                Said::Tool { call, outcome } if self.waits_for(&call) => {
                    if news.results.iter().all(|(known, _)| *known != call) {
                        news.results.push((call, outcome));
                    }
                }
                Said::User { .. } | Said::Tool { .. } | Said::Told => {}
            }
        }
        news
    }
}

/// Says whether what a turn waits for is its client's to answer.
///
/// # Errors
///
/// It is no list of such things.
pub(crate) fn waits(waiting: &str) -> Result<bool, serde_json::Error> {
    Ok(!serde_json::from_str::<Vec<Action>>(waiting)?.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use super::*;

    fn known() -> Known {
        let view = r#"{"messages": [{"id": "u1", "role": "user", "content": "Hi"},
                {"id": "a1", "role": "assistant", "content": "Hello"}],
            "message_tree": {"nodes": [{"message": {"id": "u0"}}, {"message": {"id": "u1"}},
                {"message": {"id": "a1"}}]}}"#;
        Known::read(view, Some(r#"[{"action_id": "c"}, {"action_id": "q"}]"#)).unwrap()
    }

    fn user(id: &str) -> Said {
        Said::User { id: Some(id.to_owned()), text: id.to_owned() }
    }

    fn tool(call: &str) -> Said {
        Said::Tool { call: call.to_owned(), outcome: Ok(Value::Null) }
    }

    fn messages(conversation: Vec<Said>) -> Vec<String> {
        known().news_in(conversation).messages.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn what_is_recorded_is_not_said_again() {
        assert_eq!(messages(vec![user("u1"), Said::Told, user("u2")]), ["u2"]);
        assert_eq!(messages(vec![user("u1"), user("u2"), user("u3")]), ["u2", "u3"]);
        assert_eq!(messages(vec![user("u1")]), [""; 0]);
        // On another branch, too.
        assert_eq!(messages(vec![user("u0")]), [""; 0]);
        // Under another id, if something was said to the client behind it.
        assert_eq!(messages(vec![user("other"), Said::Told]), [""; 0]);
    }

    #[test]
    fn a_result_is_news_while_it_is_waited_for() {
        let conversation = vec![tool("old"), tool("c"), Said::Told, tool("c"), tool("q")];
        let news = known().news_in(conversation);
        let result = |call: &str| (call.to_owned(), Ok(Value::Null));
        assert_eq!(news.results, [result("c"), result("q")]);
        assert!(waits(r#"[{"action_id": "c"}]"#).unwrap() && !waits("[]").unwrap());
    }

    #[test]
    fn what_was_said_last_can_be_answered_anew() {
        let ids = |path: Vec<DraftMessage>| -> Vec<String> {
            path.into_iter().filter_map(|message| message.id).collect()
        };
        assert_eq!(ids(known().path().collect()), ["u1", "a1"]);
        assert_eq!(ids(known().up_to_user().unwrap()), ["u1"]);
        assert_eq!(Known::default().up_to_user(), None);
    }
}
