//! From the log of a session to what a client is told of one turn: a fold, without I/O and clocks.
//!
//! The log says what was decided; a client sees messages made of blocks. An entry is told as no, one
//! or several events. Those that are recorded have a [`Position`], which follows from the entry's
//! place, so that each fold of the same log gives the same events. What a block says is not
//! recorded: it is told as a whole when the block ends ([`Told::Text`]), and a reader makes deltas
//! of what its client has not got yet.
//!
//! Held here: a block that began stops, at the latest with its turn; blocks of a message are counted
//! on over all attempts of its call; what a failed attempt said, and what was streamed and is not
//! what was recorded, is left out of the content at the end.

mod block;
mod ending;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quixos_engine::trace::TraceContext;
use quixos_protocol::agent::{AgentEvent, ContinuationEvent, ResultStatus};
use quixos_protocol::{Message, Role, ToolCall};
use serde_json::{Map, Value, json};

pub(crate) use self::block::BlockRef;
use self::block::{Block, Kind, Talk};
use self::ending::{Failure, Used};
use super::log::{
    Action, Asked, AttemptFailed, BlockKind, BlockStarted, BlockStopped, Entry, Logged, Replied,
};
use super::position::Position;
use super::summary;

/// Which turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The request, by its id.
    pub(crate) request_id: String,
    /// The session.
    pub(crate) thread_id: String,
    /// The agent, by the id of its object.
    pub(crate) agent_id: String,
    /// The key of the turn in its session.
    pub(crate) turn_id: String,
}

/// What an entry of the log is told as.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    /// A block begins, which is recorded.
    Start {
        /// The event's place.
        at: Position,
        /// The event.
        event: AgentEvent,
        /// The block.
        block: BlockRef,
    },
    /// Anything else that is recorded.
    Event {
        /// Its place.
        at: Position,
        /// The event.
        event: AgentEvent,
    },
    /// All that a block says.
    Text {
        /// The block, which stops next.
        block: BlockRef,
        /// What it says.
        text: String,
    },
}

/// A turn as far as its log has been read.
#[derive(Debug)]
pub(crate) struct Projection {
    turn: Arc<Turn>,
    /// The messages, in the order in which they began.
    talks: Vec<Talk>,
    /// The blocks since the client was last asked, in the order in which they began.
    segment: Vec<Place>,
    /// What the worker is asked at the moment.
    asking: BTreeMap<String, Asking>,
    /// The calls of tools that failed for good.
    failed: BTreeSet<String>,
    used: Used,
    /// Whether the last reply was cut off.
    truncated: bool,
    /// The message that was under way when it was cancelled.
    cut_off: Option<String>,
    failure: Option<Failure>,
    /// The trace that it belongs to: 32 digits.
    trace: String,
}

/// The place of a block: its message, and which of its blocks.
type Place = (usize, usize);

/// A question to the worker.
#[derive(Debug)]
struct Asking {
    trigger: String,
    call: Option<String>,
}

/// What one entry is told as, while it is being told.
struct Telling<'e> {
    entry: &'e Entry,
    part: u32,
    told: Vec<Told>,
}

impl Telling<'_> {
    fn event(&mut self, event: AgentEvent) {
        let at = self.place();
        self.told.push(Told::Event { at, event });
    }

    fn start(&mut self, event: AgentEvent, block: BlockRef) {
        let at = self.place();
        self.told.push(Told::Start { at, event, block });
    }

    fn place(&mut self) -> Position {
        let at = Position::new(self.entry.offset, self.part);
        self.part += 1;
        at
    }
}

/// Returns the trace that a turn belongs to, which is the one that its deliveries and calls are in.
fn trace_of(turn: &Turn, said: Option<&str>) -> String {
    TraceContext::of_turn(&turn.thread_id, Some(&turn.turn_id), said).trace_id()
}

impl Projection {
    /// Returns a turn of which nothing has been read.
    pub(crate) fn new(turn: Arc<Turn>) -> Self {
        Self {
            trace: trace_of(&turn, None),
            turn,
            talks: Vec::new(),
            segment: Vec::new(),
            asking: BTreeMap::new(),
            failed: BTreeSet::new(),
            used: Used::default(),
            truncated: false,
            cut_off: None,
            failure: None,
        }
    }

    /// Reads the next entry, and returns what it is told as.
    pub(crate) fn fold(&mut self, entry: &Entry) -> Vec<Told> {
        let mut telling = Telling { entry, part: 0, told: Vec::new() };
        let tell = &mut telling;
        match entry.logged.clone() {
            Logged::TurnStarted { trace } => self.trace = trace_of(&self.turn, trace.as_deref()),
            Logged::Other => {}
            Logged::TurnCompleted { error } => self.on_completed(tell, error.as_deref()),
            Logged::TurnWaiting { actions } => self.on_waiting(tell, &actions),
            Logged::ModelRequested { call } => self.on_requested(&call),
            Logged::BlockStarted(started) => self.on_block_started(tell, started),
            Logged::BlockStopped(stopped) => self.on_block_stopped(tell, stopped),
            Logged::ModelReplied(replied) => self.on_replied(tell, &replied),
            Logged::AttemptFailed(failed) => self.on_failed(tell, &failed),
            Logged::CallEnded { call, result } => {
                let summary = summary::of_result(&result);
                self.on_result(tell, &call, ResultStatus::Success, summary);
            }
            Logged::CallVoided { call, cancelled } => self.on_voided(tell, &call, cancelled),
            Logged::MessageRecorded(message) => self.on_recorded(tell, &message),
            Logged::DecisionQueued { decision, trigger, call } => {
                self.asking.insert(decision, Asking { trigger, call });
            }
            Logged::DecisionCompleted { decision } | Logged::DecisionDropped { decision } => {
                self.on_asked(&decision);
            }
            Logged::DecisionErrored { decision, retryable, for_good } => {
                if for_good && let Some(asked) = self.on_asked(&decision) {
                    self.failure = self.failure_of(&asked, retryable);
                }
            }
        }
        telling.told
    }

    /// Returns the message of an id, which begins if it is not there.
    fn talk(&mut self, id: &str, is_reply: bool) -> usize {
        let found = self.talks.iter().position(|talk| talk.id == id);
        found.unwrap_or_else(|| {
            self.talks.push(Talk::new(id, is_reply));
            self.talks.len() - 1
        })
    }

    fn block(&self, (talk, block): Place) -> Option<(&Talk, &Block)> {
        let talk = self.talks.get(talk)?;
        Some((talk, talk.blocks.get(block)?))
    }

    fn block_mut(&mut self, (talk, block): Place) -> Option<&mut Block> {
        self.talks.get_mut(talk)?.blocks.get_mut(block)
    }

    /// Returns the places of the blocks of a message that fit.
    fn places(&self, talk: usize, fits: impl Fn(&Block) -> bool) -> Vec<Place> {
        let blocks = self.talks.get(talk).map(|talk| talk.blocks.as_slice()).unwrap_or_default();
        let fitting = blocks.iter().enumerate().filter(|(_, block)| fits(block));
        fitting.map(|(block, _)| (talk, block)).collect()
    }

    fn begin(
        &mut self,
        tell: &mut Telling<'_>,
        talk: usize,
        kind: Kind,
        source: Option<(u32, u32)>,
    ) -> Option<Place> {
        let blocks = &mut self.talks.get_mut(talk)?.blocks;
        let place = (talk, blocks.len());
        blocks.push(Block::new(blocks.len(), kind, source, &tell.entry.instant));
        self.segment.push(place);
        let (talk, block) = self.block(place)?;
        tell.start(block.start(&self.turn, talk), block.reference(talk));
        Some(place)
    }

    /// Ends a block. What it says may not be known: then its readers keep what they have.
    fn end(&mut self, tell: &mut Telling<'_>, place: Place, text: Option<String>) {
        let Some(block) = self.block_mut(place).filter(|block| block.is_open) else { return };
        block.is_open = false;
        block.text.clone_from(&text);
        let Some((talk, block)) = self.block(place) else { return };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            tell.told.push(Told::Text { block: block.reference(talk), text });
        }
        tell.event(block.stop(&self.turn, talk, &tell.entry.instant));
    }

    /// Tells a block as a whole.
    fn tell_whole(&mut self, tell: &mut Telling<'_>, talk: usize, kind: Kind, text: Option<&str>) {
        if let Some(place) = self.begin(tell, talk, kind, None) {
            self.end(tell, place, text.map(str::to_owned));
        }
    }

    fn leave_out(&mut self, places: &[Place]) {
        for place in places {
            if let Some(block) = self.block_mut(*place) {
                block.counts = false;
            }
        }
    }

    /// Begins the message of a model call, or takes it up again if the call is made once more.
    fn on_requested(&mut self, call: &str) {
        let talk = self.talk(call, true);
        if let Some(talk) = self.talks.get_mut(talk) {
            (talk.is_under_way, talk.is_answered, talk.is_void) = (true, false, false);
        }
    }

    fn on_block_started(&mut self, tell: &mut Telling<'_>, started: BlockStarted) {
        let talk = self.talk(&started.call_id, true);
        let kind = match started.kind {
            BlockKind::Text => Kind::Text,
            BlockKind::Reasoning => Kind::Thinking,
            BlockKind::ToolCall => Kind::ToolCall {
                id: started.tool_call_id.unwrap_or_default(),
                tool: started.name.unwrap_or_default(),
            },
        };
        self.begin(tell, talk, kind, Some((started.attempt, started.index)));
    }

    fn on_block_stopped(&mut self, tell: &mut Telling<'_>, stopped: BlockStopped) {
        let talk = self.talk(&stopped.call_id, true);
        let source = Some((stopped.attempt, stopped.index));
        let text = stopped.said();
        for place in self.places(talk, |block| block.is_open && block.source == source) {
            self.end(tell, place, text.clone());
        }
    }

    /// Ends what the attempt still says, and tells what it did not say before.
    fn on_replied(&mut self, tell: &mut Telling<'_>, replied: &Replied) {
        let talk = self.talk(&replied.call_id, true);
        let content = replied.message.content.as_ref();
        let text = content.map(|content| content.text().into_owned()).unwrap_or_default();
        let calls = &replied.message.tool_calls;
        let is_of_attempt =
            |block: &Block| block.source.is_some_and(|(attempt, _)| attempt == replied.attempt);
        for place in self.places(talk, |block| block.is_open && is_of_attempt(block)) {
            let rest = match self.block(place).map(|(_, block)| block.kind.clone()) {
                Some(Kind::Text) => text.strip_prefix(&self.said(talk)).map(str::to_owned),
                Some(Kind::ToolCall { id, .. }) => {
                    let call = calls.iter().find(|call| call.id == id);
                    call.map(|call| call.function.arguments.clone())
                }
                Some(Kind::Thinking | Kind::ToolResult { .. }) | None => None,
            };
            self.end(tell, place, rest);
        }
        self.align(tell, talk, &text, calls);
        if let Some(talk) = self.talks.get_mut(talk) {
            talk.is_under_way = false;
        }
        self.truncated = replied.truncated;
        self.used.add(replied.usage.as_ref());
    }

    /// Returns the text of a message that counts, as far as it is known.
    fn said(&self, talk: usize) -> String {
        let blocks = self.talks.get(talk).map(|talk| talk.blocks.as_slice()).unwrap_or_default();
        let texts = blocks.iter().filter(|block| block.counts && block.kind == Kind::Text);
        texts.filter_map(|block| block.text.as_deref()).collect()
    }

    /// Makes the blocks of a message that count say what the message says: what differs is left out
    /// and told anew.
    fn align(&mut self, tell: &mut Telling<'_>, talk: usize, text: &str, calls: &[ToolCall]) {
        if self.said(talk) != text {
            let stale = self.places(talk, |block| block.counts && block.kind == Kind::Text);
            self.leave_out(&stale);
            if !text.is_empty() {
                self.tell_whole(tell, talk, Kind::Text, Some(text));
            }
        }
        let stale = self.places(talk, |block| {
            block.counts
                && block.called().is_some_and(|(id, tool)| {
                    calls.iter().all(|call| {
                        call.id != id
                            || call.function.name != tool
                            || Some(call.function.arguments.as_str()) != block.text.as_deref()
                    })
                })
        });
        self.leave_out(&stale);
        for call in calls {
            let told = self.places(talk, |block| {
                block.counts && block.called().is_some_and(|(id, _)| id == call.id)
            });
            if told.is_empty() {
                let (id, tool) = (call.id.clone(), call.function.name.clone());
                let arguments = Some(call.function.arguments.as_str());
                self.tell_whole(tell, talk, Kind::ToolCall { id, tool }, arguments);
            }
        }
    }

    /// Ends an attempt of a model call, of which nothing counts then; or a call of a tool.
    fn on_failed(&mut self, tell: &mut Telling<'_>, failed: &AttemptFailed) {
        if let Some(talk) = self.talks.iter().position(|talk| talk.id == failed.call_id) {
            self.end_attempt(tell, talk, Some(failed.attempt));
        } else if failed.retry_at.is_none() {
            self.failed.insert(failed.call_id.clone());
            let summary = summary::of_failure(failed.code.as_deref());
            self.on_result(tell, &failed.call_id, ResultStatus::Error, summary);
        }
    }

    /// Ends a model call that was called off. It has no reply, so nothing that was streamed counts.
    fn on_voided(&mut self, tell: &mut Telling<'_>, call: &str, cancelled: bool) {
        let Some(talk) = self.talks.iter().position(|talk| talk.id == call) else { return };
        let is_begun = self
            .talks
            .get(talk)
            .is_some_and(|talk| talk.is_under_way && talk.blocks.iter().any(|block| block.counts));
        if cancelled && is_begun {
            self.cut_off = Some(call.to_owned());
        }
        self.end_attempt(tell, talk, None);
        if let Some(talk) = self.talks.get_mut(talk) {
            (talk.is_under_way, talk.is_void) = (false, true);
        }
    }

    /// Ends the blocks of an attempt, or of all, and leaves them out.
    fn end_attempt(&mut self, tell: &mut Telling<'_>, talk: usize, attempt: Option<u32>) {
        let places = self.places(talk, |block| {
            block.source.is_some_and(|(of, _)| attempt.is_none_or(|attempt| attempt == of))
        });
        for place in &places {
            self.end(tell, *place, None);
        }
        self.leave_out(&places);
    }

    /// Tells how a call ended, under the message that made it.
    fn on_result(
        &mut self,
        tell: &mut Telling<'_>,
        call: &str,
        status: ResultStatus,
        summary: String,
    ) {
        let made = self.talks.iter().enumerate().find_map(|(at, talk)| {
            let block = talk
                .blocks
                .iter()
                .find(|block| block.counts && block.called().is_some_and(|(id, _)| id == call))?;
            Some((at, block.called()?.1.to_owned()))
        });
        let Some((talk, tool)) = made else { return };
        let is_told =
            !self.places(talk, |block| block.resulted().is_some_and(|id| id == call)).is_empty();
        if !is_told {
            let kind = Kind::ToolResult { id: call.to_owned(), tool, status, summary };
            self.tell_whole(tell, talk, kind, None);
        }
    }

    /// Tells a message that was recorded, as far as it was not told before.
    fn on_recorded(&mut self, tell: &mut Telling<'_>, message: &Message) {
        let text = message.content.as_ref().map(|content| content.text().into_owned());
        let text = text.unwrap_or_default();
        match message.role {
            Role::Assistant => {
                let talk = self.talk(&message.id, false);
                self.align(tell, talk, &text, &message.tool_calls);
                if let Some(talk) = self.talks.get_mut(talk) {
                    talk.is_recorded = true;
                }
            }
            Role::Tool => {
                if let Some(call) = &message.tool_call_id {
                    let summary = summary::of_result(&text);
                    self.on_result(tell, call, ResultStatus::Success, summary);
                }
            }
            Role::System | Role::User => {}
        }
    }

    /// Notes that the worker was asked something, and returns what.
    fn on_asked(&mut self, decision: &str) -> Option<Asking> {
        let asked = self.asking.remove(decision)?;
        if asked.trigger == "llm.finished"
            && let Some(call) = &asked.call
            && let Some(talk) = self.talks.iter_mut().find(|talk| talk.id == *call)
        {
            talk.is_answered = true;
        }
        Some(asked)
    }

    /// Tells the client what it is waited for.
    fn on_waiting(&mut self, tell: &mut Telling<'_>, actions: &[Action]) {
        if actions.is_empty() {
            return;
        }
        for action in actions {
            let (kind, payload) = asked(&action.action_id, &action.asked);
            tell.event(AgentEvent::Continuation(ContinuationEvent {
                request_id: self.turn.request_id.clone(),
                action_id: action.action_id.clone(),
                kind,
                payload,
                timestamp: tell.entry.instant.clone(),
            }));
        }
        self.tell_action_required(tell);
    }
}

/// Returns what kind of thing a client is asked, and what it is told of it.
pub(crate) fn asked(action: &str, asked: &Asked) -> (String, Map<String, Value>) {
    let (kind, reason, payload) = match asked {
        Asked::ToolCall { name, arguments } => {
            let args = block::object(arguments).unwrap_or_default();
            let payload = json!({ "toolCallId": action, "tool": name, "args": args });
            ("tool".to_owned(), name.clone(), payload)
        }
        Asked::Interrupt { reason, payload } => {
            let named = payload.get("kind").and_then(Value::as_str).filter(|it| !it.is_empty());
            let kind = named.unwrap_or("input").to_owned();
            let (reason, payload) = outward(reason, payload);
            (kind, reason, payload)
        }
    };
    let fields = [("reason".to_owned(), reason.into()), ("payload".to_owned(), payload)];
    (kind, Map::from_iter(fields))
}

/// Takes out of a question what is not for clients: what a provider said when a model call failed.
fn outward(reason: &str, payload: &Value) -> (String, Value) {
    if payload.get("type").and_then(Value::as_str) != Some("llm.failed") {
        return (reason.to_owned(), payload.clone());
    }
    let is_cut = payload.get("truncated").and_then(Value::as_bool).unwrap_or_default();
    let reason = if is_cut { "the model's reply was cut off" } else { "the model call failed" };
    let mut payload = payload.clone();
    if let Value::Object(fields) = &mut payload {
        fields.shift_remove("error");
    }
    (reason.to_owned(), payload)
}
