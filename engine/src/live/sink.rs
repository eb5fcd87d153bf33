//! Where an attempt of a model call says what comes of it.
//!
//! What is said goes into blocks. In a session, the begin of each is recorded before anything of it
//! is heard: until then its deltas are held. Who makes the attempt only says; who records asks what
//! there is to record ([`Sink::unrecorded`]) and tells when that is done ([`Sink::recorded`]).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

use quixos_protocol::StreamDelta;
use quixos_session::sessions::{BlockBegin, BlockBeginToolCall, BlockChange};
use tokio::sync::{Notify, watch};

use super::blocks::{Block, Blocks, Change, Kind};
use super::{Channel, Delta, Live, locked};

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

/// What an attempt has said, by block.
#[derive(Debug)]
pub(super) struct Attempt {
    blocks: Blocks,
    /// Changes of blocks that are recorded.
    recorded: usize,
    /// Blocks that may be heard.
    heard: usize,
    /// Deltas that wait for a block to be recorded: how many blocks it takes for each.
    held: VecDeque<(usize, Delta)>,
    seq: u64,
}

impl Attempt {
    /// Returns what there is of a block beyond some bytes, if the block may be heard.
    pub(super) fn beyond(&self, block: usize, bytes: usize) -> Option<String> {
        let block = self.blocks.all.get(block).filter(|_| block < self.heard)?;
        Some(block.said.get(bytes..).unwrap_or_default().to_owned())
    }
}

/// Where an attempt of a call says what comes of it, while it runs.
#[derive(Debug)]
pub struct Sink {
    live: Live,
    session: Arc<str>,
    call: Arc<str>,
    attempt: u32,
    turn: Option<Arc<str>>,
    spoken: watch::Sender<Spoken>,
    /// Where it is heard, once something is said.
    channel: OnceLock<Arc<Channel>>,
    said: Arc<Mutex<Attempt>>,
    /// Whether blocks are heard only once they are recorded.
    is_recorded: bool,
    /// Tells who records that a block has begun.
    begun: Notify,
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
        let said = Attempt {
            blocks: Blocks::default(),
            recorded: 0,
            heard: if is_recorded { 0 } else { usize::MAX },
            held: VecDeque::new(),
            seq: 0,
        };
        let sink = Self {
            live: live.clone(),
            session: session.into(),
            call: call.into(),
            attempt,
            turn: turn.map(Into::into),
            spoken,
            channel: OnceLock::new(),
            said: Arc::new(Mutex::new(said)),
            is_recorded,
            begun: Notify::new(),
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
        let mut said = locked(&self.said);
        let (blocks, is_first) = (said.blocks.all.len(), said.seq == 0);
        said.blocks.grow(&delta);
        let needs = said.blocks.all.len();
        let delta = Delta {
            call: Arc::clone(&self.call),
            attempt: self.attempt,
            turn: self.turn.clone(),
            seq: said.seq,
            delta,
        };
        said.seq += 1;
        said.held.push_back((needs, delta));
        self.release(&mut said);
        drop(said);
        if is_first {
            let key = (Arc::clone(&self.call), self.attempt);
            locked(&self.channel().attempts).insert(key, Arc::clone(&self.said));
        }
        self.channel().changed();
        if needs > blocks && self.is_recorded {
            self.begun.notify_one();
        }
    }

    /// Lets be heard what may be, in the order in which it was said.
    fn release(&self, said: &mut Attempt) {
        while said.held.front().is_some_and(|(needs, _)| *needs <= said.heard) {
            if let Some((_, delta)) = said.held.pop_front() {
                // Nobody listens: then nobody misses it.
                let _ = self.channel().deltas.send(delta);
            }
        }
    }

    /// Waits until a block has begun that is not recorded.
    pub(crate) async fn begun(&self) {
        while !self.has_begun() {
            self.begun.notified().await;
        }
    }

    /// Says whether a block has begun that is not recorded.
    pub(crate) fn has_begun(&self) -> bool {
        let said = locked(&self.said);
        self.is_recorded && said.blocks.all.len() > said.heard
    }

    /// Returns what is to be recorded, and up to which change that is all.
    pub(crate) fn unrecorded(&self) -> (Vec<BlockChange>, usize) {
        let said = locked(&self.said);
        if !self.is_recorded {
            return (Vec::new(), 0);
        }
        let changes = said.blocks.changes.iter().skip(said.recorded);
        let changes = changes.map(|change| recordable(&said.blocks.all, *change)).collect();
        (changes, said.blocks.changes.len())
    }

    /// Takes note that changes are recorded, so that the blocks which began may be heard.
    pub(crate) fn recorded(&self, changes: usize) {
        if !self.is_recorded || changes == 0 {
            return;
        }
        let mut said = locked(&self.said);
        said.recorded = said.recorded.max(changes);
        let begins = said.blocks.changes.iter().take(said.recorded);
        said.heard = begins.filter(|change| matches!(change, Change::Begins(_))).count();
        self.release(&mut said);
        drop(said);
        self.channel().changed();
    }

    fn channel(&self) -> &Arc<Channel> {
        self.channel.get_or_init(|| self.live.channel(&self.session))
    }

    /// Ends all blocks, and returns what is left to be recorded.
    pub(crate) fn end(&self) -> Vec<BlockChange> {
        locked(&self.said).blocks.end();
        self.unrecorded().0
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

/// Returns a change as it is recorded.
fn recordable(blocks: &[Block], change: Change) -> BlockChange {
    let (Change::Begins(place) | Change::Ends(place)) = change;
    let index = u32::try_from(place).unwrap_or(u32::MAX);
    let block = blocks.get(place);
    match change {
        Change::Begins(_) => BlockChange { index, begins: block.map(beginning), ends: None },
        Change::Ends(_) => {
            BlockChange { index, begins: None, ends: block.map(|block| block.said.clone()) }
        }
    }
}

fn beginning(block: &Block) -> BlockBegin {
    let (kind, tool_call) = match &block.kind {
        Kind::Text => ("text", None),
        Kind::Reasoning => ("reasoning", None),
        Kind::ToolCall { id, name } => {
            let tool_call = BlockBeginToolCall { id: id.clone(), name: name.clone() };
            ("tool_call", Some(tool_call))
        }
    };
    BlockBegin { kind: kind.to_owned(), at: block.at as u64, tool_call }
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
