//! What an attempt has said, by block, and which of it may be heard.

use std::collections::VecDeque;
use std::sync::Arc;

use quixos_protocol::StreamDelta;
use quixos_session::sessions::{BlockBegin, BlockBeginToolCall, BlockChange};
use tokio::sync::Notify;

use super::blocks::{Block, Blocks, Change, Kind};
use super::{Channel, Delta, Key};

/// What an attempt has said, by block.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) key: Key,
    turn: Option<Arc<str>>,
    blocks: Blocks,
    /// Changes of blocks that are recorded.
    recorded: usize,
    /// Blocks that may be heard.
    heard: usize,
    /// Deltas that wait for a block to be recorded: how many blocks it takes for each.
    held: VecDeque<(usize, Delta)>,
    seq: u64,
    /// How many want it to be silent for now, and what it said since.
    hushed: u32,
    since: Vec<StreamDelta>,
    /// Tells who records that a block has begun.
    begun: Arc<Notify>,
}

impl Attempt {
    pub(super) fn new(
        key: Key,
        turn: Option<Arc<str>>,
        is_recorded: bool,
        begun: Arc<Notify>,
    ) -> Self {
        Self {
            key,
            turn,
            blocks: Blocks::default(),
            recorded: 0,
            heard: if is_recorded { 0 } else { usize::MAX },
            held: VecDeque::new(),
            seq: 0,
            hushed: 0,
            since: Vec::new(),
            begun,
        }
    }

    /// Says something. Returns whether it is the first.
    pub(super) fn say(&mut self, delta: StreamDelta, channel: &Channel) -> bool {
        if self.hushed > 0 {
            self.since.push(delta);
            return false;
        }
        self.blocks.grow(&delta);
        let (call, attempt) = self.key.clone();
        let delta = Delta { call, attempt, turn: self.turn.clone(), seq: self.seq, delta };
        self.held.push_back((self.blocks.all.len(), delta));
        self.seq += 1;
        self.release(channel);
        if self.has_begun() {
            self.begun.notify_one();
        }
        self.seq == 1
    }

    /// Lets be heard what may be, in the order in which it was said.
    fn release(&mut self, channel: &Channel) {
        while self.held.front().is_some_and(|(needs, _)| *needs <= self.heard) {
            if let Some((_, delta)) = self.held.pop_front() {
                // Nobody listens: then nobody misses it.
                let _ = channel.deltas.send(delta);
            }
        }
    }

    /// Says whether a block has begun that is not recorded.
    pub(super) fn has_begun(&self) -> bool {
        self.blocks.all.len() > self.heard
    }

    /// Returns what is to be recorded, and up to which change that is all.
    pub(super) fn unrecorded(&self) -> (Vec<BlockChange>, usize) {
        let changes = self.blocks.changes.iter().skip(self.recorded);
        let changes = changes.map(|change| recordable(&self.blocks.all, *change)).collect();
        (changes, self.blocks.changes.len())
    }

    /// Takes note that changes are recorded.
    pub(super) fn recorded(&mut self, changes: usize, channel: &Channel) {
        self.recorded = self.recorded.max(changes);
        let changes = self.blocks.changes.iter().take(self.recorded);
        self.heard = changes.filter(|change| matches!(change, Change::Begins(_))).count();
        self.release(channel);
    }

    /// Ends all blocks, with all that was said.
    pub(super) fn end(&mut self) {
        for delta in std::mem::take(&mut self.since) {
            self.blocks.grow(&delta);
        }
        self.blocks.end();
    }

    /// Returns what there is of a block beyond some bytes, if the block may be heard.
    pub(super) fn beyond(&self, block: usize, bytes: usize) -> Option<String> {
        let block = self.blocks.all.get(block).filter(|_| block < self.heard)?;
        Some(block.said.get(bytes..).unwrap_or_default().to_owned())
    }

    /// Returns all text, or all reasoning.
    pub(super) fn all_of(&self, kind: &Kind) -> String {
        let blocks = self.blocks.all.iter().filter(|block| block.kind == *kind);
        blocks.map(|block| block.said.as_str()).collect()
    }

    /// Lets nothing more be heard until it may go on.
    pub(super) fn hush(&mut self) {
        self.hushed += 1;
    }

    /// Lets be heard again what is said, and what was meanwhile.
    pub(super) fn go_on(&mut self, channel: &Channel) {
        self.hushed = self.hushed.saturating_sub(1);
        if self.hushed == 0 {
            for delta in std::mem::take(&mut self.since) {
                self.say(delta, channel);
            }
        }
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
