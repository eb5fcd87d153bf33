//! The conversations of an owner: listed, named, put away.

use quixos_runtime::Ref;
use quixos_session::sessions::{
    Authority, Listed, Session, SessionArchiveInput, SessionObject, SessionRegistry,
    SessionRegistryOwnedInput, SessionRenameInput,
};

use crate::engine::Engine;
use crate::error::EngineError;

/// A page of an owner's conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threads {
    /// The conversations, the newest first.
    pub threads: Vec<Thread>,
    /// From where to go on, if there are more.
    pub next: Option<String>,
}

/// A conversation as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The session.
    pub session: Ref<SessionObject>,
    /// Its id.
    pub session_id: String,
    /// The agent that it is bound to, by name.
    pub agent_id: String,
    /// Its title, empty as long as nobody gave it one.
    pub title: String,
    /// Whether it is put away.
    pub archived: bool,
    /// Whether it was cancelled, for good.
    pub cancelled: bool,
    /// The turn that is active.
    pub turn_id: Option<String>,
    /// Whether that turn waits for its client, and for nobody else.
    pub waiting: bool,
    /// When it was made, in RFC 3339.
    pub created_at: String,
    /// When something last happened in it, in RFC 3339.
    pub updated_at: String,
}

impl Engine {
    /// Returns the sessions that an owner began, the newest first, from behind where an earlier
    /// page ended. Sessions of sub-agents are not among them. A page takes the same time however
    /// many there are; it has at most 200.
    ///
    /// # Errors
    ///
    /// `invalid` if `after` is not from an earlier page.
    pub async fn threads(
        &self,
        tenant: &str,
        owner: &str,
        after: Option<String>,
        limit: u32,
    ) -> Result<Threads, EngineError> {
        let input = SessionRegistryOwnedInput {
            tenant: tenant.to_owned(),
            owner_id: owner.to_owned(),
            after,
            limit,
        };
        let registry = SessionRegistry::on(&self.shared.caller, self.shared.registry);
        let page = registry.owned(&input).await?;
        let threads = page.sessions.into_iter().map(Thread::from).collect();
        Ok(Threads { threads, next: page.next })
    }

    /// Gives a session a title: that of its thread.
    ///
    /// # Errors
    ///
    /// A refusal, or no such session.
    pub async fn rename(
        &self,
        by: Authority,
        session_id: &str,
        title: String,
    ) -> Result<(), EngineError> {
        let session = self.require(session_id).await?;
        let input = SessionRenameInput { by, title };
        Ok(Session::on(&self.shared.caller, session).rename(&input).await?)
    }

    /// Puts a session away: its thread is archived, and no turn begins in it. Or takes it out
    /// again.
    ///
    /// # Errors
    ///
    /// A refusal, or no such session. One that is cancelled stays put away.
    pub async fn archive(
        &self,
        by: Authority,
        session_id: &str,
        archived: bool,
    ) -> Result<(), EngineError> {
        let session = self.require(session_id).await?;
        let input = SessionArchiveInput { by, archived };
        Ok(Session::on(&self.shared.caller, session).archive(&input).await?)
    }
}

impl From<Listed> for Thread {
    fn from(listed: Listed) -> Self {
        Self {
            session: listed.session,
            session_id: listed.session_id,
            agent_id: listed.agent_id,
            title: listed.title,
            archived: listed.archived,
            cancelled: listed.cancelled,
            turn_id: listed.turn,
            waiting: listed.waiting,
            created_at: listed.created_at,
            updated_at: listed.updated_at,
        }
    }
}
