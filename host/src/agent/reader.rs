//! Somebody who follows a turn: from where they were, up to the end.
//!
//! Recorded events are read from the log and from nowhere else, so however slow a reader is, it sees
//! each once and in order, and holds nobody back. What is being said is asked for by how much of it
//! the reader has: a slow one gets longer pieces. What is kept for a reader is what it has not taken yet
//! of one entry of the log, and the texts of the turn, which `done` tells whole.
//!
//! Each connection begins with `metadata`. Then every block that was open at the cursor is told
//! again from its start. Events that are told again have the cursor as their id: whoever loses the
//! connection among them comes back to the same place.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use quixos_engine::live::Speech;
use quixos_engine::{EngineError, TurnAt};
use quixos_protocol::agent::{AgentEvent, ErrorCode, ErrorEvent, EventStage, MetadataEvent};
use quixos_runtime::{CallError, Event, Follow};
use quixos_session::sessions::{Authority, Session};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::log::{Entry, Logged, instant};
use super::position::Position;
use super::problem::Problem;
use super::projection::{BlockRef, Projection, Told, Turn};
use crate::limits::Slot;
use crate::metrics::Open;
use crate::state::State;

/// How often a turn is said to be followed where the host is busy.
const TRIES: u32 = 8;
/// How long after the first time. Each time it is twice as long: five seconds in all.
const FIRST_WAIT: Duration = Duration::from_millis(40);

/// An event as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    /// Where the reader is when it has the event. Deltas have none: they are not recorded.
    pub(crate) id: Option<Position>,
    /// The event.
    pub(crate) event: AgentEvent,
}

/// The events of a turn, as they come.
pub(crate) struct TurnStream {
    state: Arc<State>,
    turn: Arc<Turn>,
    /// Who reads.
    by: Authority,
    /// Where the turn began, or if it waited, before where it will.
    from: u64,
    log: Follow,
    projection: Projection,
    speech: Speech,
    /// Behind this the reader wants events.
    cursor: Position,
    /// The last event that it has.
    last: Position,
    has_begun: bool,
    /// Whether the turn began only after it was asked for: it may be that nobody follows it yet.
    has_waited: bool,
    /// The blocks that are being told.
    telling: Vec<Telling>,
    queue: VecDeque<Sent>,
    /// How the turn ended, if it has.
    end: Option<Sent>,
    is_over: bool,
    /// When the turn has made no progress for too long.
    patience: Duration,
    deadline: Instant,
    /// When it began: what was there before is not late.
    opened: DateTime<Utc>,
    /// Counts it.
    _open: Open,
    /// Its place among the streams of its owner.
    _slot: Slot,
}

/// A block that is being told.
struct Telling {
    block: BlockRef,
    start: AgentEvent,
    /// What it says, once that is known.
    text: Option<String>,
    /// How many bytes of it the reader has, in how many pieces.
    bytes: usize,
    deltas: u32,
}

impl TurnStream {
    /// Follows a turn from behind an event, or from its begin.
    ///
    /// # Errors
    ///
    /// The log cannot be read, or the owner follows too many turns already.
    pub(crate) async fn open(
        state: Arc<State>,
        by: Authority,
        request_id: String,
        at: &TurnAt,
        after: Option<Position>,
        slot: Slot,
    ) -> Result<Self, Problem> {
        let events = state.engine.runtime().stream(at.session.object(), "events")?;
        let agent = Session::on(state.door(), at.session).agent().await?;
        let turn = Arc::new(Turn {
            request_id,
            thread_id: at.session_id.clone(),
            agent_id: agent.id().to_string(),
            turn_id: at.turn_id.clone(),
        });
        let begin = Position::new(at.offset, 0);
        // Who listens first and reads then misses nothing in between.
        let speech = state.engine.speech(&at.session_id);
        let end = events.len().await?;
        let patience = state.stream_timeout;
        let mut stream = Self {
            projection: Projection::new(Arc::clone(&turn)),
            turn,
            by,
            from: at.offset,
            log: events.follow(at.offset),
            speech,
            cursor: after.unwrap_or(begin).max(begin),
            last: begin,
            has_begun: false,
            has_waited: false,
            telling: Vec::new(),
            queue: VecDeque::new(),
            end: None,
            is_over: false,
            patience,
            deadline: Instant::now() + patience,
            opened: state.now(),
            _open: state.metrics.traffic.stream("turns"),
            state,
            _slot: slot,
        };
        stream.catch_up(at.offset, end).await?;
        Ok(stream)
    }

    /// Returns what is set when the host stops, and streams are to end because of that.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.state.stopping.clone()
    }

    /// Returns the next event; nothing when the stream is over. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Sent> {
        loop {
            if let Some(sent) = self.queue.pop_front() {
                if sent.event.is_terminal() {
                    self.is_over = true;
                    self.queue.clear();
                }
                return Some(sent);
            }
            if self.is_over {
                return None;
            }
            if self.has_waited {
                self.follow().await;
                continue;
            }
            let is_listening = self.telling.iter().any(|it| it.block.source().is_some());
            tokio::select! {
                biased;
                event = self.log.next() => match event {
                    Ok(Some(event)) => self.take(&event),
                    Ok(None) => return None,
                    Err(error) => self.fail(&error),
                },
                () = self.speech.changed(), if is_listening => self.listen(),
                () = tokio::time::sleep_until(self.deadline) => self.time_out(),
            }
        }
    }

    /// Reads what has come, and counts how late it is if the reader is handed something of it.
    fn take(&mut self, event: &Event) {
        match Entry::read(event, Some(&self.turn.turn_id)) {
            Ok(entry) => self.read(&entry),
            Err(error) => return self.fail(&error),
        }
        // The queue was empty; what is in it without an id was said meanwhile.
        let is_handed = self.queue.iter().any(|sent| sent.id.is_some());
        if is_handed && event.instant >= self.opened {
            self.state.metrics.traffic.handed(event.instant, self.state.now());
        }
    }

    /// Reads what the log has from where the turn begins up to the cursor, and then the begin of
    /// what the reader lacks.
    async fn catch_up(&mut self, from: u64, end: u64) -> Result<(), Problem> {
        for _ in from..end {
            let Some(event) = self.log.next().await? else { break };
            let entry = Entry::read(&event, Some(&self.turn.turn_id))?;
            self.read(&entry);
            if self.has_begun {
                return Ok(());
            }
            // What comes behind the end of the turn is of others.
            if self.end.is_some() {
                break;
            }
        }
        // Nobody has more than the log has, whatever the cursor says.
        self.cursor = self.cursor.min(Position::before(end));
        self.begin();
        self.listen();
        // Of a turn that is over, and that the reader has all of, the end is told again.
        if let (true, Some(end)) = (self.queue.iter().all(|it| !it.event.is_terminal()), &self.end)
        {
            self.queue.push_back(end.clone());
        }
        Ok(())
    }

    /// Tells what each connection begins with.
    fn begin(&mut self) {
        self.has_begun = true;
        let metadata = AgentEvent::Metadata(MetadataEvent {
            request_id: self.turn.request_id.clone(),
            thread_id: self.turn.thread_id.clone(),
            agent_id: self.turn.agent_id.clone(),
            timestamp: self.now(),
        });
        let again = self.telling.iter().map(|telling| telling.start.clone());
        let id = Some(self.last);
        self.queue.extend(std::iter::once(metadata).chain(again).map(|event| Sent { id, event }));
    }

    fn read(&mut self, entry: &Entry) {
        if entry.logged != Logged::Other {
            self.progressed();
        }
        let is_end = matches!(entry.logged, Logged::TurnCompleted { .. });
        let is_begin = matches!(entry.logged, Logged::TurnStarted { .. });
        self.has_waited |= is_begin && entry.offset > self.from;
        for told in self.projection.fold(entry) {
            match told {
                Told::Text { block, text } => {
                    if let Some(telling) =
                        self.telling.iter_mut().find(|it| it.block.id == block.id)
                    {
                        telling.text = Some(text);
                    }
                }
                Told::Start { at, event, block } => {
                    self.tell(at, event.clone());
                    let (text, bytes, deltas) = (None, 0, 0);
                    self.telling.push(Telling { block, start: event, text, bytes, deltas });
                }
                Told::Event { at, event } => {
                    if event.stage() == Some(EventStage::Stop)
                        && let Some(id) = event.block_id()
                        && let Some(place) = self.telling.iter().position(|it| it.block.id == id)
                    {
                        self.stop(at, place, event);
                        continue;
                    }
                    if is_end && event.is_terminal() {
                        self.end = Some(Sent { id: Some(at), event: event.clone() });
                    }
                    self.tell(at, event);
                }
            }
        }
        if self.has_begun {
            self.listen();
        }
    }

    /// Passes on a recorded event that the reader has not got.
    fn tell(&mut self, at: Position, event: AgentEvent) {
        if at <= self.cursor {
            self.last = self.last.max(at);
            return;
        }
        if !self.has_begun {
            self.begin();
        }
        self.queue.push_back(Sent { id: Some(at), event });
    }

    /// Ends a block, with all that the reader lacks of it.
    fn stop(&mut self, at: Position, place: usize, event: AgentEvent) {
        if at > self.cursor && !self.has_begun {
            self.begin();
        }
        let mut telling = self.telling.remove(place);
        if at > self.cursor
            && let Some(rest) = telling.text.take().and_then(|text| telling.rest_of(&text))
        {
            self.say(&mut telling, rest);
        }
        self.tell(at, event);
    }

    /// Passes on what has been said of the blocks that are open.
    fn listen(&mut self) {
        let mut all = std::mem::take(&mut self.telling);
        for telling in &mut all {
            let said = telling.block.source().and_then(|source| {
                self.speech.text(source.call, source.attempt, source.index, telling.bytes)
            });
            if let Some(said) = said.filter(|said| !said.is_empty()) {
                self.progressed();
                self.say(telling, said);
            }
        }
        self.telling = all;
    }

    fn say(&mut self, telling: &mut Telling, said: String) {
        telling.bytes += said.len();
        let index = telling.deltas;
        telling.deltas += 1;
        let delta = telling.block.delta(&self.turn, said, index, self.now());
        self.queue.extend(delta.map(|event| Sent { id: None, event }));
    }

    /// Says that the turn is followed, now that it has begun: it then ends once nothing is left to do
    /// in it, and says what it waits for. Whoever drops the future says it anew, which changes nothing;
    /// what the log tells meanwhile is read afterwards.
    async fn follow(&mut self) {
        let (engine, by, turn) = (&self.state.engine, &self.by, &self.turn);
        let follow = || engine.follow_turn(by.clone(), &turn.thread_id, &turn.turn_id);
        let followed = patiently(follow).await;
        self.has_waited = false;
        if let Err(error) = followed {
            self.fail(&error);
        }
    }

    fn progressed(&mut self) {
        self.deadline = Instant::now() + self.patience;
    }

    fn now(&self) -> String {
        instant(self.state.now())
    }

    /// Ends the connection, not the turn.
    fn time_out(&mut self) {
        let message = "the turn has made no progress for too long; it goes on without this stream";
        self.end_with(ErrorCode::StreamTimeout, message, true);
    }

    fn fail(&mut self, error: &dyn fmt::Display) {
        tracing::error!(%error, request = %self.turn.request_id, "a turn could not be read");
        self.end_with(ErrorCode::InternalError, "the host failed; its log says how", true);
    }

    fn end_with(&mut self, code: ErrorCode, message: &str, retryable: bool) {
        let event = AgentEvent::Error(ErrorEvent {
            request_id: self.turn.request_id.clone(),
            message: message.to_owned(),
            code: Some(code),
            retryable: Some(retryable),
            timestamp: self.now(),
        });
        self.queue.push_back(Sent { id: None, event });
    }
}

impl Telling {
    /// Returns what the reader lacks of a text, if what it has is the begin of it.
    fn rest_of(&self, text: &str) -> Option<String> {
        text.get(self.bytes..).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }
}

/// Asks again, a few times and each time later, as long as the host is busy: that passes.
async fn patiently<T, F>(ask: impl Fn() -> F) -> Result<T, EngineError>
where
    F: Future<Output = Result<T, EngineError>>,
{
    let mut wait = FIRST_WAIT;
    for _ in 1..TRIES {
        let answered = ask().await;
        if !matches!(answered, Err(EngineError::Call(CallError::Busy { .. }))) {
            return answered;
        }
        tokio::time::sleep(wait).await;
        wait = wait.saturating_mul(2);
    }
    ask().await
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Returns how often it is asked what is busy so many times, and whether it is told then.
    async fn asked(busy: u32) -> (u32, bool) {
        let asked = AtomicU32::new(0);
        let told = patiently(async || {
            let message = "all hands are full".to_owned();
            if asked.fetch_add(1, Ordering::SeqCst) < busy {
                return Err(EngineError::Call(CallError::Busy { message }));
            }
            Ok(())
        });
        let told = told.await.is_ok();
        (asked.into_inner(), told)
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_busy_is_asked_again_for_a_while() {
        assert_eq!(asked(0).await, (1, true));
        assert_eq!(asked(3).await, (4, true));
        assert_eq!(asked(u32::MAX).await, (TRIES, false));
        // What went wrong for another reason goes wrong again.
        let gone = async || Err::<(), _>(EngineError::NotFound("a turn".to_owned()));
        assert_eq!(patiently(gone).await, Err(EngineError::NotFound("a turn".to_owned())));
    }
}
