//! What models say while they say it, for whoever listens now.
//!
//! There are two ways to hear it. Deltas ([`Live::listen`]) come as they were said; they are not
//! repeated, and a listener that is too slow misses some, and is told that it did. Speech
//! ([`Live::speech`]) is what running attempts have said so far, by block, to be read from wherever
//! a reader stands: one that is slow gets longer pieces and misses nothing.
//!
//! None of it is in the log, but that a block begins is, before anything of it is heard here, and
//! all that it said once it has ended. When an attempt is over, only the log has what it said.

mod attempt;
mod blocks;
mod hold;
mod sink;
mod speech;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quixos_protocol::StreamDelta;
use tokio::sync::{broadcast, watch};

pub(crate) use hold::{Hold, Said};
pub use sink::{Sink, Spoken};
pub use speech::Speech;

use attempt::Attempt;

/// Deltas that a listener may be behind before it misses some.
const BACKLOG: usize = 1024;

/// A piece of what a model says.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    /// The model call.
    pub call: Arc<str>,
    /// The attempt of it. Deltas of another attempt are another reply.
    pub attempt: u32,
    /// The turn that the call belongs to.
    pub turn: Option<Arc<str>>,
    /// Its place among those of this attempt: 0, 1, 2 …
    pub seq: u64,
    /// What is said.
    pub delta: StreamDelta,
}

/// The live channels of sessions, one for each that is listened to or spoken in.
#[derive(Clone, Debug, Default)]
pub struct Live {
    channels: Arc<Mutex<HashMap<Arc<str>, Arc<Channel>>>>,
}

/// An attempt: its call, and which one it is.
type Key = (Arc<str>, u32);

/// What is said in one session, and to whom.
#[derive(Debug)]
struct Channel {
    deltas: broadcast::Sender<Delta>,
    /// Tells readers of speech that there is more, or an attempt less.
    changes: watch::Sender<()>,
    /// The attempts that run and stream, by call and number.
    attempts: Mutex<HashMap<Key, Arc<Mutex<Attempt>>>>,
}

impl Live {
    /// Listens to a session, from now on. Dropping the receiver ends it.
    #[must_use]
    pub fn listen(&self, session: &str) -> broadcast::Receiver<Delta> {
        let mut channels = locked(&self.channels);
        channels.retain(|_, channel| !channel.is_idle(1));
        Self::open(&mut channels, session).deltas.subscribe()
    }

    /// Reads what running attempts in a session have said, from wherever it is asked for.
    #[must_use]
    pub fn speech(&self, session: &str) -> Speech {
        Speech::new(self.clone(), session.into(), self.channel(session))
    }

    /// Returns how many listen to a session.
    #[must_use]
    pub fn listeners(&self, session: &str) -> usize {
        let channels = locked(&self.channels);
        channels.get(session).map_or(0, |channel| channel.deltas.receiver_count())
    }

    fn channel(&self, session: &str) -> Arc<Channel> {
        Self::open(&mut locked(&self.channels), session)
    }

    fn open(channels: &mut HashMap<Arc<str>, Arc<Channel>>, session: &str) -> Arc<Channel> {
        Arc::clone(channels.entry(session.into()).or_insert_with(|| {
            Arc::new(Channel {
                deltas: broadcast::channel(BACKLOG).0,
                changes: watch::Sender::new(()),
                attempts: Mutex::default(),
            })
        }))
    }

    /// Forgets the channel of a session if nobody is left but the one that leaves.
    fn leave(&self, session: &str) {
        let mut channels = locked(&self.channels);
        if channels.get(session).is_some_and(|channel| channel.is_idle(2)) {
            channels.remove(session);
        }
    }
}

impl Channel {
    /// Says whether nobody listens, and nobody but so many holds it.
    fn is_idle(self: &Arc<Self>, holders: usize) -> bool {
        self.deltas.receiver_count() == 0 && Arc::strong_count(self) <= holders
    }

    fn changed(&self) {
        self.changes.send_replace(());
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
