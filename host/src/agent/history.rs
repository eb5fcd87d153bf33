//! A thread as a page that loads wants it: what was said, as the same blocks that streams tell, what
//! it is at, and what it waits for.

use std::sync::Arc;

use quixos_engine::Thread as Listed;
use quixos_package::agent_runtime::AgentThread;
use quixos_protocol::agent::{AssistantContentBlock, UserContentBlock};
use quixos_protocol::{Content, Message, Role};
use quixos_runtime::{CallError, Ref, StreamHandle};
use quixos_session::sessions::{
    CallData, NodeData, Session, SessionCall, SessionClient, SessionMessage, SessionObject,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::log::{Action, Entry};
use super::problem::Problem;
use super::projection::{Projection, Turn, asked};
use crate::state::State;

/// The most entries of the log that are read for what one reply was streamed as.
const ENTRIES: usize = 512;
/// Bytes of such entries.
const ENTRY_BYTES: usize = 4 << 20;
/// Bytes of messages behind which a page has no more of them.
const PAGE_BYTES: usize = 512 << 10;

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thread {
    /// Its id.
    pub(crate) thread_id: String,
    /// The agent, by its name.
    pub(crate) agent_name: String,
    /// Its title, empty as long as nobody gave it one.
    pub(crate) title: String,
    /// Whether it is put away: no turn begins in it.
    pub(crate) archived: bool,
    /// What it is at.
    pub(crate) state: ThreadState,
    /// When it was made, in RFC 3339.
    pub(crate) created_at: String,
    /// When something last happened in it, in RFC 3339.
    pub(crate) updated_at: String,
}

/// What a thread is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ThreadState {
    /// Nothing goes on.
    Idle,
    /// A turn goes on.
    Running,
    /// A turn waits for the client.
    Waiting,
    /// It was closed, for good.
    Cancelled,
}

/// Something that a turn waits for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Waiting {
    /// What the answer names.
    action_id: String,
    /// What kind of thing: `tool`, `approval`, `input`, or what the agent calls it.
    kind: String,
    /// What is to be known about it: a `reason`, and the `payload` of the kind.
    payload: Map<String, Value>,
}

/// A message of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "role", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum ThreadMessage {
    /// Of the user.
    User {
        /// Its id.
        message_id: String,
        /// What is said.
        content: Vec<UserContentBlock>,
    },
    /// Of the agent.
    Assistant {
        /// Its id.
        message_id: String,
        /// What is said, thought and done, and how what was done ended.
        content: Vec<AssistantContentBlock>,
    },
}

/// A thread, and messages of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page {
    /// The thread.
    #[serde(flatten)]
    pub(crate) thread: Thread,
    /// The turn that goes on, whose stream can be followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    /// What that turn waits for.
    pub(crate) waiting_for: Vec<Waiting>,
    /// Messages, the oldest first.
    pub(crate) messages: Vec<ThreadMessage>,
    /// Where the messages before these end, if there are some: `before` of the page with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
}

/// A thread, and who it is for.
pub(crate) struct Shelved<'s> {
    state: &'s State,
    session: Ref<SessionObject>,
    /// The turn as which replies are told: of none in particular.
    turn: Arc<Turn>,
}

impl Thread {
    /// Returns a thread as it is listed.
    pub(crate) fn of(listed: Listed) -> Self {
        let state = match (listed.cancelled, &listed.turn_id) {
            (true, _) => ThreadState::Cancelled,
            (false, None) => ThreadState::Idle,
            (false, Some(_)) if listed.waiting => ThreadState::Waiting,
            (false, Some(_)) => ThreadState::Running,
        };
        Self {
            thread_id: listed.session_id,
            agent_name: listed.agent_id,
            title: listed.title,
            archived: listed.archived,
            state,
            created_at: listed.created_at,
            updated_at: listed.updated_at,
        }
    }
}

impl<'s> Shelved<'s> {
    /// Returns a thread to be shown.
    pub(crate) fn new(state: &'s State, session: Ref<SessionObject>) -> Self {
        let nobody = String::new;
        let turn = Turn {
            request_id: nobody(),
            thread_id: nobody(),
            agent_id: nobody(),
            turn_id: nobody(),
        };
        Self { state, session, turn: Arc::new(turn) }
    }

    fn client(&self) -> SessionClient<'s> {
        Session::on(self.state.door(), self.session)
    }

    /// Shows the thread, with at most `limit` messages before one of its messages, or the last ones.
    ///
    /// # Errors
    ///
    /// There is no such message, or the store cannot be read.
    pub(crate) async fn page(&self, before: Option<&str>, limit: usize) -> Result<Page, Problem> {
        let client = self.client();
        let (binding, data) = (client.binding().await?, client.data().await?);
        let shelf = AgentThread::on(self.state.door(), client.thread().await?).data().await?;
        let active = data.turn;
        let waiting_for = match &active {
            Some(turn) => waiting(&turn.waiting)?,
            None => Vec::new(),
        };
        let request = client.request().await?.filter(|_| active.is_some());
        let thread = Thread::of(Listed {
            session: self.session,
            session_id: binding.session_id,
            agent_id: binding.agent_id,
            title: shelf.title,
            archived: shelf.archived,
            cancelled: data.cancelled,
            waiting: !waiting_for.is_empty(),
            turn_id: active.map(|turn| turn.id),
            created_at: binding.created_at,
            updated_at: shelf.updated_at,
        });
        let last = match before {
            Some(before) => self.node(before).await?.ok_or_else(|| no_message(before))?.parent,
            None => data.head,
        };
        let (messages, before) = self.messages(last, limit).await?;
        let request_id = request.map(|request| request.id().to_string());
        Ok(Page { thread, request_id, waiting_for, messages, before })
    }

    /// Returns the messages up to one, the oldest first, and before which there are more. There is
    /// one at least, however long, if there is any.
    async fn messages(
        &self,
        last: Option<String>,
        limit: usize,
    ) -> Result<(Vec<ThreadMessage>, Option<String>), Problem> {
        let (mut next, mut found, mut before) = (last, Vec::new(), None);
        let mut bytes = 0;
        // What tools brought belongs to the message that called them. Of each only a summary is
        // shown, so they are read again one by one, and not kept.
        let mut results = Vec::new();
        while let Some(id) = next.take() {
            let Some(node) = self.node(&id).await? else { break };
            let is_full = found.len() == limit || bytes >= PAGE_BYTES && !found.is_empty();
            bytes += node.message.len();
            let message: Message = read(&node.message, "a message")?;
            next = node.parent;
            match message.role {
                Role::Tool => results.push(id),
                Role::User | Role::Assistant if is_full => {
                    before = found.last().map(|message: &ThreadMessage| message.id().to_owned());
                    break;
                }
                Role::User => found.push(of_user(message)),
                Role::Assistant => {
                    results.reverse();
                    found.push(self.of_agent(message, std::mem::take(&mut results)).await?);
                }
                Role::System => {}
            }
        }
        found.reverse();
        Ok((found, before))
    }

    /// Returns a message of the agent: what its stream told, as far as it was recorded.
    async fn of_agent(
        &self,
        message: Message,
        results: Vec<String>,
    ) -> Result<ThreadMessage, Problem> {
        let message_id = message.id.clone();
        let mut projection = Projection::new(Arc::clone(&self.turn));
        if let Some(call) = self.call(&message_id).await? {
            for entry in self.entries(&call).await? {
                if entry.logged.call() == Some(message_id.as_str()) {
                    projection.fold(&entry);
                }
            }
        }
        projection.fold(&Entry::recorded(message));
        for result in results {
            let Some(node) = self.node(&result).await? else { continue };
            let result: Message = read(&node.message, "a message")?;
            let called = match &result.tool_call_id {
                Some(id) => self.call(id).await?,
                None => None,
            };
            if let Some(ended) = called.and_then(|call| call.ended) {
                for event in self.log()?.read(ended, 1).await? {
                    projection.fold(&Entry::read(&event, None)?);
                }
            }
            projection.fold(&Entry::recorded(result));
        }
        Ok(ThreadMessage::Assistant { message_id, content: projection.content().0 })
    }

    /// Returns what the log has of a call while it ran.
    async fn entries(&self, call: &CallData) -> Result<Vec<Entry>, Problem> {
        let Some(ended) = call.ended else { return Ok(Vec::new()) };
        let count = usize::try_from(ended.saturating_sub(call.requested)).unwrap_or(usize::MAX);
        if count >= ENTRIES {
            return Ok(Vec::new());
        }
        let events = self.log()?.read_within(call.requested, count + 1, ENTRY_BYTES).await?;
        // What is too much for that is told as it was recorded at the end.
        if events.len() <= count {
            return Ok(Vec::new());
        }
        Ok(events.iter().map(|event| Entry::read(event, None)).collect::<Result<_, _>>()?)
    }

    fn log(&self) -> Result<StreamHandle, CallError> {
        self.state.engine.runtime().stream(self.session.object(), "events")
    }

    async fn node(&self, id: &str) -> Result<Option<NodeData>, CallError> {
        match self.client().nodes_at(id).await?.first() {
            Some(&node) => SessionMessage::on(self.state.door(), node).data().await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns a call that has ended.
    async fn call(&self, id: &str) -> Result<Option<CallData>, CallError> {
        match self.client().calls_at(id).await?.last() {
            Some(&call) => SessionCall::on(self.state.door(), call).data().await.map(Some),
            None => Ok(None),
        }
    }
}

impl ThreadMessage {
    fn id(&self) -> &str {
        match self {
            Self::User { message_id, .. } | Self::Assistant { message_id, .. } => message_id,
        }
    }
}

fn of_user(message: Message) -> ThreadMessage {
    let content = match &message.content {
        Some(Content::Text(text)) => vec![UserContentBlock::text(text)],
        Some(Content::Parts(parts)) => {
            parts.iter().filter_map(|part| part.text()).map(UserContentBlock::text).collect()
        }
        None => Vec::new(),
    };
    ThreadMessage::User { message_id: message.id, content }
}

fn waiting(actions: &str) -> Result<Vec<Waiting>, CallError> {
    let actions: Vec<Action> = read(actions, "what a turn waits for")?;
    let waiting = actions.into_iter().map(|action| {
        let (kind, payload) = asked(&action.action_id, &action.asked);
        Waiting { action_id: action.action_id, kind, payload }
    });
    Ok(waiting.collect())
}

fn no_message(id: &str) -> Problem {
    Problem::invalid(format!("`before`: there is no message `{id}`"))
}

fn read<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, CallError> {
    serde_json::from_str(text)
        .map_err(|error| CallError::Corrupt { message: format!("{what}: {error}") })
}
