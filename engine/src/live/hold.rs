//! Attempts that are to be silent while it is put into the store what they said: what ends them is
//! about to be done, and what was heard is not to be more than what is kept.

use std::sync::{Arc, Mutex};

use super::attempt::Attempt;
use super::blocks::Kind;
use super::{Channel, Live, locked};

/// Holds the attempts that run in a session. They go on saying, and are heard again when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    channel: Option<Arc<Channel>>,
    attempts: Vec<Arc<Mutex<Attempt>>>,
}

/// What an attempt that is held has said.
pub(crate) struct Said {
    pub(crate) call: String,
    pub(crate) attempt: u32,
    pub(crate) text: String,
    pub(crate) reasoning: String,
}

impl Live {
    /// Lets nothing more be heard in a session, until what is returned is dropped.
    pub(crate) fn hold(&self, session: &str) -> Hold {
        let channel = locked(&self.channels).get(session).cloned();
        let attempts: Vec<_> = match &channel {
            Some(channel) => locked(&channel.attempts).values().cloned().collect(),
            None => Vec::new(),
        };
        attempts.iter().for_each(|attempt| locked(attempt).hush());
        Hold { channel, attempts }
    }
}

impl Hold {
    /// Returns what the attempts have said.
    pub(crate) fn said(&self) -> impl Iterator<Item = Said> {
        self.attempts.iter().map(|attempt| {
            let attempt = locked(attempt);
            Said {
                call: attempt.key.0.as_ref().to_owned(),
                attempt: attempt.key.1,
                text: attempt.all_of(&Kind::Text),
                reasoning: attempt.all_of(&Kind::Reasoning),
            }
        })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let Some(channel) = &self.channel else { return };
        self.attempts.iter().for_each(|attempt| locked(attempt).go_on(channel));
        channel.changed();
    }
}
