//! What a model says while it says it: text and reasoning as they come, for whoever listens now.
//!
//! Deltas are hints. They are not in the log and are not repeated; who needs the whole reads the
//! log, where the reply stands once it is there. A listener that is too slow misses some, and is
//! told that it did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quixos_protocol::StreamDelta;
use tokio::sync::{broadcast, watch};

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
    channels: Arc<Mutex<HashMap<Arc<str>, broadcast::Sender<Delta>>>>,
}

impl Live {
    /// Listens to a session, from now on. Dropping the receiver ends it.
    #[must_use]
    pub fn listen(&self, session: &str) -> broadcast::Receiver<Delta> {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        channels.retain(|_, channel| channel.receiver_count() > 0);
        channels.entry(session.into()).or_insert_with(|| broadcast::channel(BACKLOG).0).subscribe()
    }

    /// Returns how many listen to a session.
    #[must_use]
    pub fn listeners(&self, session: &str) -> usize {
        let channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        channels.get(session).map_or(0, broadcast::Sender::receiver_count)
    }

    fn say(&self, session: &str, delta: Delta) {
        let channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(session) {
            // Nobody listens any more: then nobody misses it.
            let _ = channel.send(delta);
        }
    }
}

/// What an attempt of a model call has said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Text of the reply.
    pub text: String,
    /// Reasoning before it.
    pub reasoning: String,
    /// How often anything came.
    pub beats: u64,
}

/// Where an attempt of a call says what comes of it, while it runs.
#[derive(Debug)]
pub struct Sink {
    live: Live,
    session: Arc<str>,
    call: Arc<str>,
    attempt: u32,
    turn: Option<Arc<str>>,
    seq: Mutex<u64>,
    spoken: watch::Sender<Spoken>,
}

impl Sink {
    /// Returns a sink for an attempt of a call, and where to see how far it is.
    #[must_use]
    pub fn new(
        live: &Live,
        session: &str,
        call: &str,
        attempt: u32,
        turn: Option<&str>,
    ) -> (Self, watch::Receiver<Spoken>) {
        let (spoken, seen) = watch::channel(Spoken::default());
        let sink = Self {
            live: live.clone(),
            session: session.into(),
            call: call.into(),
            attempt,
            turn: turn.map(Into::into),
            seq: Mutex::new(0),
            spoken,
        };
        (sink, seen)
    }

    /// Returns which attempt of the call this is.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Says that the other side lives, whatever it sent.
    pub fn alive(&self) {
        self.spoken.send_modify(|spoken| spoken.beats += 1);
    }

    /// Passes on what the model says.
    pub fn delta(&self, delta: StreamDelta) {
        self.spoken.send_modify(|spoken| {
            spoken.beats += 1;
            spoken.text.push_str(delta.text.as_deref().unwrap_or_default());
            spoken.reasoning.push_str(delta.reasoning.as_deref().unwrap_or_default());
        });
        let mut seq = self.seq.lock().unwrap_or_else(PoisonError::into_inner);
        let delta = Delta {
            call: self.call.clone(),
            attempt: self.attempt,
            turn: self.turn.clone(),
            seq: *seq,
            delta,
        };
        *seq += 1;
        self.live.say(&self.session, delta);
    }
}
