//! Where an attempt of a model call says what comes of it.
//!
//! What is said goes into blocks. In a session, the begin of each is recorded before anything of it
//! is heard: until then its deltas are held. Who makes the attempt only says; who records asks what
//! there is to record ([`Sink::unrecorded`]) and tells when that is done ([`Sink::recorded`]).

use std::sync::{Arc, Mutex, OnceLock};

use quixos_protocol::StreamDelta;
use quixos_session::sessions::BlockChange;
use tokio::sync::{Notify, watch};

use super::attempt::Attempt;
use super::{Channel, Live, locked};
use crate::trace::TraceContext;

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
    trace: Option<TraceContext>,
    spoken: watch::Sender<Spoken>,
    /// Where it is heard, once something is said.
    channel: OnceLock<Arc<Channel>>,
    said: Arc<Mutex<Attempt>>,
    /// Whether blocks are heard only once they are recorded.
    is_recorded: bool,
    /// Tells who records that a block has begun.
    begun: Arc<Notify>,
}

impl Sink {
    /// Returns a sink for an attempt of a call, and where to see how far it is. What is said is
    /// heard at once, and nobody records it: for a worker or a provider that runs by itself.
    #[must_use]
    pub fn new(
        live: &Live,
        session: &str,
        call: &str,
        attempt: u32,
        turn: Option<&str>,
    ) -> (Self, watch::Receiver<Spoken>) {
        Self::open(live, session, call, attempt, turn, false)
    }

    /// Returns a sink of which nothing is heard that is not recorded, if it is for an attempt that
    /// streams.
    pub(crate) fn in_session(
        live: &Live,
        session: &str,
        call: &str,
        attempt: u32,
        turn: Option<&str>,
        streams: bool,
    ) -> (Self, watch::Receiver<Spoken>) {
        Self::open(live, session, call, attempt, turn, streams)
    }

    fn open(
        live: &Live,
        session: &str,
        call: &str,
        attempt: u32,
        turn: Option<&str>,
        is_recorded: bool,
    ) -> (Self, watch::Receiver<Spoken>) {
        let (spoken, seen) = watch::channel(Spoken::default());
        let begun = Arc::new(Notify::new());
        let key = (call.into(), attempt);
        let said = Attempt::new(key, turn.map(Into::into), is_recorded, Arc::clone(&begun));
        let sink = Self {
            live: live.clone(),
            session: session.into(),
            call: call.into(),
            attempt,
            trace: None,
            spoken,
            channel: OnceLock::new(),
            said: Arc::new(Mutex::new(said)),
            is_recorded,
            begun,
        };
        (sink, seen)
    }

    /// Returns the same sink, of a call that has a place in a trace.
    #[must_use]
    pub(crate) fn traced(mut self, trace: TraceContext) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Returns the place of the call in a trace, for whoever passes it on.
    #[must_use]
    pub fn trace(&self) -> Option<TraceContext> {
        self.trace
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
        let is_first = locked(&self.said).say(delta, self.channel());
        if is_first {
            let key = (Arc::clone(&self.call), self.attempt);
            locked(&self.channel().attempts).insert(key, Arc::clone(&self.said));
        }
        self.channel().changed();
    }

    /// Waits until a block has begun that is not recorded.
    pub(crate) async fn begun(&self) {
        while !self.has_begun() {
            self.begun.notified().await;
        }
    }

    /// Says whether a block has begun that is not recorded.
    pub(crate) fn has_begun(&self) -> bool {
        self.is_recorded && locked(&self.said).has_begun()
    }

    /// Returns what is to be recorded, and up to which change that is all.
    pub(crate) fn unrecorded(&self) -> (Vec<BlockChange>, usize) {
        if self.is_recorded { locked(&self.said).unrecorded() } else { (Vec::new(), 0) }
    }

    /// Takes note that changes are recorded, so that the blocks which began may be heard.
    pub(crate) fn recorded(&self, changes: usize) {
        if self.is_recorded && changes > 0 {
            locked(&self.said).recorded(changes, self.channel());
            self.channel().changed();
        }
    }

    fn channel(&self) -> &Arc<Channel> {
        self.channel.get_or_init(|| self.live.channel(&self.session))
    }

    /// Ends all blocks, and returns what is left to be recorded.
    pub(crate) fn end(&self) -> Vec<BlockChange> {
        if !self.is_recorded {
            return Vec::new();
        }
        let mut said = locked(&self.said);
        said.end();
        said.unrecorded().0
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let Some(channel) = self.channel.get() else { return };
        let key = (Arc::clone(&self.call), self.attempt);
        let mut attempts = locked(&channel.attempts);
        // A later try of the same may have taken the place.
        if attempts.get(&key).is_some_and(|said| Arc::ptr_eq(said, &self.said)) {
            attempts.remove(&key);
        }
        drop(attempts);
        channel.changed();
        self.live.leave(&self.session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> StreamDelta {
        StreamDelta { text: Some(text.to_owned()), ..StreamDelta::default() }
    }

    fn thought(text: &str) -> StreamDelta {
        StreamDelta { reasoning: Some(text.to_owned()), ..StreamDelta::default() }
    }

    #[test]
    fn nothing_of_a_block_is_heard_before_it_is_recorded() {
        let live = Live::default();
        let (mut deltas, speech) = (live.listen("s"), live.speech("s"));
        let (sink, _) = Sink::in_session(&live, "s", "c", 1, None, true);
        sink.delta(thought("Hm"));
        sink.delta(text("So"));
        assert!(sink.has_begun());
        assert_eq!(speech.text("c", 1, 0, 0), None);
        assert!(deltas.try_recv().is_err());
        let (changes, all) = sink.unrecorded();
        assert_eq!((changes.len(), all), (3, 3));
        sink.recorded(2);
        assert_eq!(speech.text("c", 1, 0, 0).as_deref(), Some("Hm"));
        assert_eq!((speech.text("c", 1, 1, 0), sink.has_begun()), (None, true));
        sink.recorded(3);
        sink.delta(text(" it"));
        assert_eq!(speech.text("c", 1, 1, 1).as_deref(), Some("o it"));
        assert_eq!(speech.text("c", 1, 1, 99).as_deref(), Some(""));
        let heard: Vec<u64> =
            std::iter::from_fn(|| deltas.try_recv().ok()).map(|delta| delta.seq).collect();
        assert_eq!(heard, [0, 1, 2]);
        assert_eq!(sink.end().len(), 1);
    }

    #[test]
    fn an_attempt_that_is_held_is_heard_again_when_it_is_let_go() {
        let live = Live::default();
        let speech = live.speech("s");
        let (sink, _) = Sink::in_session(&live, "s", "c", 1, None, true);
        sink.delta(thought("Hm"));
        sink.recorded(1);
        let held = live.hold("s");
        let said: Vec<_> = held.said().collect();
        assert_eq!(said[0].reasoning, "Hm");
        sink.delta(thought("m"));
        sink.delta(text("So"));
        assert_eq!(speech.text("c", 1, 0, 0).as_deref(), Some("Hm"));
        assert!(!sink.has_begun());
        drop(held);
        assert_eq!(speech.text("c", 1, 0, 0).as_deref(), Some("Hmm"));
        assert!(sink.has_begun());
        // One that ends meanwhile has said all that it said.
        let held = live.hold("s");
        sink.delta(text(" it"));
        let ends: Vec<String> = sink.end().into_iter().filter_map(|change| change.ends).collect();
        assert_eq!(ends, ["Hmm", "So it"]);
        drop(held);
        assert_eq!(live.hold("other").said().count(), 0);
    }

    #[test]
    fn an_attempt_that_is_over_is_heard_no_longer_and_leaves_nothing_behind() {
        let live = Live::default();
        let speech = live.speech("s");
        let (first, _) = Sink::in_session(&live, "s", "c", 1, None, true);
        first.delta(text("So"));
        first.recorded(1);
        let (second, _) = Sink::new(&live, "s", "c", 2, None);
        second.delta(text("Other"));
        drop(first);
        assert_eq!(speech.text("c", 1, 0, 0), None);
        assert_eq!(speech.text("c", 2, 0, 0).as_deref(), Some("Other"));
        drop(speech);
        drop(second);
        assert_eq!(live.channels.lock().unwrap().len(), 0);
        // One that says nothing opens nothing.
        let (_silent, _) = Sink::in_session(&live, "s", "c", 3, None, true);
        assert_eq!(live.channels.lock().unwrap().len(), 0);
    }
}
