//! What a session has behind it: the tree of its messages, what has ended, and its log.
//!
//! All of it is written once and never changed, so that it is read one piece at a time, when it is
//! needed. Several operations read it, each through a context of its own; the rules that read it
//! are written once, against [`Past`].

use quixos_runtime::CallError;

use crate::sessions::{CallData, DecisionData, NodeData, SessionEvent, VersionData};

/// Reads what is behind a session.
pub(crate) trait Past {
    /// Says whether the tree has a message.
    fn has_node(&self, id: &str) -> Result<bool, CallError>;
    /// Returns a message of the tree.
    fn node(&self, id: &str) -> Result<Option<NodeData>, CallError>;
    /// Returns the newest message that answers a call of a tool.
    fn result(&self, tool_call_id: &str) -> Result<Option<NodeData>, CallError>;
    /// Returns every message of the tree, in the order in which they were written.
    fn nodes(&self) -> Result<Vec<NodeData>, CallError>;
    /// Returns the newest call of an id among those that have ended.
    fn ended_call(&self, id: &str) -> Result<Option<CallData>, CallError>;
    /// Returns a decision that has ended.
    fn ended_decision(&self, id: &str) -> Result<Option<DecisionData>, CallError>;
    /// Returns the version of `state` or `agent` at a place.
    fn version(&self, place: &str) -> Result<Option<VersionData>, CallError>;
    /// Returns the version at the next place behind one.
    fn version_behind(&self, place: &str) -> Result<Option<VersionData>, CallError>;
    /// Returns a text by its digest.
    fn text(&self, digest: &str) -> Result<Option<String>, CallError>;
    /// Returns an event of the log by its offset.
    fn event(&self, offset: u64) -> Result<Option<SessionEvent>, CallError>;
}

/// Implements [`Past`] for the contexts of operations that declare the same requirements for it:
/// `events`, `session`, `message`, `call`, `decision`, `version` and `text`.
macro_rules! past {
    ($($operation:ident),* $(,)?) => {$(
        impl $crate::past::Past for $crate::sessions::$operation::Context<'_> {
            fn has_node(&self, id: &str) -> Result<bool, CallError> {
                Ok(!self.session(self.receiver()).nodes_at(id)?.is_empty())
            }

            fn node(&self, id: &str) -> Result<Option<NodeData>, CallError> {
                let found = self.session(self.receiver()).nodes_at(id)?;
                found.first().map(|&node| self.message(node).data()).transpose()
            }

            fn result(&self, tool_call_id: &str) -> Result<Option<NodeData>, CallError> {
                let found = self.session(self.receiver()).results_at(tool_call_id)?;
                found.first().map(|&node| self.message(node).data()).transpose()
            }

            fn nodes(&self) -> Result<Vec<NodeData>, CallError> {
                let entries = self.session(self.receiver()).nodes()?;
                let mut nodes = entries
                    .into_iter()
                    .map(|(_, node)| self.message(node).data())
                    .collect::<Result<Vec<_>, _>>()?;
                nodes.sort_by_key(|node| node.index);
                Ok(nodes)
            }

            fn ended_call(&self, id: &str) -> Result<Option<CallData>, CallError> {
                // Later ones have greater references.
                let found = self.session(self.receiver()).calls_at(id)?;
                found.last().map(|&call| self.call(call).data()).transpose()
            }

            fn ended_decision(&self, id: &str) -> Result<Option<DecisionData>, CallError> {
                let found = self.session(self.receiver()).decisions_at(id)?;
                found.last().map(|&decision| self.decision(decision).data()).transpose()
            }

            fn version(&self, place: &str) -> Result<Option<VersionData>, CallError> {
                let found = self.session(self.receiver()).versions_at(place)?;
                found.first().map(|&version| self.version(version).data()).transpose()
            }

            fn version_behind(&self, place: &str) -> Result<Option<VersionData>, CallError> {
                let found = self.session(self.receiver()).versions_page(Some(place), 1)?;
                found.first().map(|(_, version)| self.version(*version).data()).transpose()
            }

            fn text(&self, digest: &str) -> Result<Option<String>, CallError> {
                let found = self.session(self.receiver()).texts_at(digest)?;
                found.first().map(|&text| Ok(self.text(text).data()?.text)).transpose()
            }

            fn event(&self, offset: u64) -> Result<Option<SessionEvent>, CallError> {
                Ok(self.events().read(offset, 1)?.pop())
            }
        }
    )*};
}

past!(session_apply, session_agenda, session_request_of, session_prompt_of, session_view);
