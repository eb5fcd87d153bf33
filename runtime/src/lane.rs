//! The one writing lane: requests one after the other, in memory, ahead of the disk.
//!
//! The lane executes a request over what it has executed before, whether that is durable yet or
//! not, and adds what it wrote to the group being gathered. Whenever a committer is free it gets
//! the group, as one batch; the next group is executed while that one is written. There are two
//! committers: while one waits for the disk, the other writes the next group. Callers are
//! answered when the group that their answer is in is durable, an error or an answer that wrote
//! nothing too: it may rest on what others wrote.
//!
//! A group for which nobody waits, neither a caller nor a reader nor a follower, gathers for a
//! moment longer: callers that are content with the buffered answer would else have the disk at
//! work for a few of them at a time.
//!
//! If a group fails, all in it and all executed on top of it never happened, a group that is
//! written meanwhile included: the lane goes back to what the store holds, and each of their callers
//! gets `storage`. When the store takes no more writes, or does not know what it wrote, the lane
//! refuses all that follows; reading goes on as far as the store still answers.
//!
//! Invariants: instants and ids never go backward, also over failures and restarts; commits have
//! no gaps; what a caller was told is durable is.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, SyncSender};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::clock::from_millis;
use crate::error::CallError;
use crate::follow::StreamKey;
use crate::history::{self, FirstAnswer, HistoryEntry};
use crate::key::{self, Key, Kind};
use crate::limits::OVERHEAD;
use crate::meta::{self, Head};
use crate::object::{encoded, stored};
use crate::observer::{Observed, Watched, WrittenGroup};
use crate::overlay::{Base, Gathered, Read, Write};
use crate::request::Request;
use crate::shared::{Shared, Status};
use crate::store::{Batch, Commit, CommitError, Durability, TransactionId};
use crate::transaction::{Access, Circumstances, Transaction};

/// How long a group gathers for which nobody waits.
const LINGER: Duration = Duration::from_millis(2);

/// Bytes in a group from which on it gathers no longer than it must.
const LINGER_BYTES: usize = 256 << 10;

/// How long the lane, and a caller who is content with the buffered answer and before whom nobody
/// waits, look for what comes next before they go to sleep: to be woken takes longer than most calls.
pub(crate) const AWAKE: Duration = Duration::from_micros(20);

/// Looks for something until it is there, or whoever looks may go to sleep. Whoever else has work to
/// do on this processor does it meanwhile.
pub(crate) fn look<T>(mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        let it = found();
        if it.is_some() || begun.elapsed() >= AWAKE {
            return it;
        }
        std::thread::yield_now();
    }
}

/// What the lane is told.
pub(crate) enum Message {
    /// Execute a request.
    Job(Job),
    /// Stand still until the other end is dropped, and say when you do.
    Hold(SyncSender<()>, Receiver<()>),
    /// Somebody waits for what was executed to be durable.
    Hurry,
    /// The store has a group, the disk not yet: the next can be written.
    Written,
    /// The committer of this number is free: its group is durable, or is not there.
    Done(usize, Result<(), Failed>),
    /// Finish what came before, and end.
    Close,
}

/// A request whose caller waits.
pub(crate) struct Job {
    pub(crate) request: Request,
    pub(crate) durability: Durability,
    pub(crate) reply: oneshot::Sender<Answered>,
    /// What is told of it, where somebody observes.
    pub(crate) observed: Option<Box<Observed>>,
}

/// An answer to a caller.
pub(crate) type Answered = Result<Done, CallError>;

/// What a request came to.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) output: Vec<u8>,
    /// Its commit, if it made one.
    pub(crate) commit: Option<u64>,
}

/// A caller with the answer that it gets once the group is durable.
pub(crate) struct Waiting {
    asker: Asker,
    answer: Answered,
}

/// Where an answer goes.
struct Asker {
    reply: oneshot::Sender<Answered>,
    observed: Option<Box<Observed>>,
}

impl Asker {
    /// Answers, and tells whoever observes.
    fn answer(self, shared: &Shared, answer: Answered) {
        if let (Some(observed), Some(observer)) = (&self.observed, &shared.observer) {
            observed.tell(observer.as_ref(), &shared.model, answer.as_ref().err());
        }
        // A caller that no longer waits has no use for the answer.
        let _ = self.reply.send(answer);
    }
}

/// A group on its way to the disk.
pub(crate) struct Group {
    commit: Box<dyn Commit>,
    newest: u64,
    transactions: u64,
    bytes: usize,
    streams: Vec<StreamKey>,
    waiting: Vec<Waiting>,
}

/// A group that did not get there.
pub(crate) struct Failed {
    error: CommitError,
    /// Whether the store had it, and the disk did not follow.
    is_written: bool,
    waiting: Vec<Waiting>,
}

/// How many committers there are: while one has the disk at work, another writes.
pub(crate) const COMMITTERS: usize = 2;

/// Writes groups, one after the other, until the lane is gone. The lane sees to it that only one
/// committer writes at a time; `number` is what it calls this one.
pub(crate) fn run_committer(
    shared: &Shared,
    groups: &Receiver<Group>,
    lane: &Sender<Message>,
    number: usize,
) {
    while let Ok(group) = groups.recv() {
        let Group { commit, newest, transactions, bytes, streams, waiting } = group;
        let begun = shared.observer.as_ref().map(|observer| (observer, Instant::now()));
        let mut is_written = false;
        let written = guarded(|| commit.write()).and_then(|written| {
            is_written = true;
            // A lane that is gone has nothing left to be written.
            drop(lane.send(Message::Written));
            guarded(|| written.wait())
        });
        if let Some((observer, begun)) = begun {
            let (took, error) = (begun.elapsed(), written.as_ref().err());
            observer.written(&WrittenGroup { transactions, bytes, took, error });
        }
        match written {
            Ok(_) => {
                // The group after it may have been waited for before.
                shared.status.send_modify(|now| now.durable = now.durable.max(newest));
                // The lane first, so that the next group sets off while these are answered.
                if lane.send(Message::Done(number, Ok(()))).is_err() {
                    return;
                }
                shared.wakes.wake(&streams);
                answer_all(shared, waiting);
            }
            Err(error) => {
                let failed = Failed { error, is_written, waiting };
                if lane.send(Message::Done(number, Err(failed))).is_err() {
                    return;
                }
            }
        }
    }
}

/// Calls the store. One that panics has done nobody knows what.
fn guarded<T>(call: impl FnOnce() -> Result<T, CommitError>) -> Result<T, CommitError> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(CommitError::Unknown("the store panicked".into())))
}

fn answer_all(shared: &Shared, waiting: Vec<Waiting>) {
    for Waiting { asker, answer } in waiting {
        asker.answer(shared, answer);
    }
}

/// The lane.
pub(crate) struct Lane {
    shared: Arc<Shared>,
    messages: Receiver<Message>,
    committers: Vec<Sender<Group>>,
    /// The numbers of those that have no group.
    free: Vec<usize>,
    base: Base,
    head: Head,
    /// Those whose answers are in the group being gathered.
    waiting: Vec<Waiting>,
    /// Named transactions in the group.
    transactions: Vec<TransactionId>,
    /// Streams that the group appends to.
    streams: Vec<StreamKey>,
    /// Transactions in the group.
    transactions_gathered: u64,
    /// Bytes in the group.
    gathered: usize,
    /// Whether a group is being written, so that the next has to wait.
    writing: bool,
    /// Since when the group could have set off.
    lingers: Option<Instant>,
    /// Whether somebody waits who is not among `waiting`.
    hurry: bool,
    /// Why no more writes are taken.
    stopped: Option<String>,
    /// What came in while the lane could take no more.
    backlog: VecDeque<Message>,
    closing: bool,
}

impl Lane {
    pub(crate) fn new(
        shared: Arc<Shared>,
        messages: Receiver<Message>,
        committers: Vec<Sender<Group>>,
    ) -> Result<Self, CallError> {
        let mut base = shared.base()?;
        base.over = Gathered::new();
        let head = meta::head(&base)?;
        base.commit = head.commit;
        shared.executed().commit = head.commit;
        shared.status.send_modify(|status| status.durable = head.commit);
        Ok(Self {
            shared,
            messages,
            free: (0..committers.len()).collect(),
            committers,
            base,
            head,
            waiting: Vec::new(),
            transactions: Vec::new(),
            streams: Vec::new(),
            transactions_gathered: 0,
            gathered: 0,
            writing: false,
            lingers: None,
            hurry: false,
            stopped: None,
            backlog: VecDeque::new(),
            closing: false,
        })
    }

    /// Executes what comes, until told to close.
    pub(crate) fn run(mut self) {
        while let Some(message) = self.next() {
            match message {
                Message::Job(job) => {
                    self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                    self.execute(job);
                }
                Message::Hold(held, release) => {
                    if held.send(()).is_ok() {
                        // Ends when the holder drops its end.
                        let _ = release.recv();
                    }
                }
                Message::Hurry => self.hurry = true,
                Message::Written => self.writing = false,
                Message::Done(committer, written) => {
                    self.free.push(committer);
                    if let Err(Failed { error, is_written, waiting }) = written {
                        // Where it was, this was told before, and may be so of the next by now.
                        self.writing &= is_written;
                        self.roll_back(&error, waiting);
                    }
                }
                Message::Close => self.closing = true,
            }
            self.hand_over();
        }
        self.shared.status.send_modify(|status| status.closed = true);
        self.shared.wakes.close();
    }

    /// Returns what to do next; `None` when all is done.
    fn next(&mut self) -> Option<Message> {
        loop {
            let full = !self.can_hand_over() && self.gathered + self.room() > self.batch_limit();
            if !full && let Some(message) = self.backlog.pop_front() {
                return Some(message);
            }
            if self.closing && self.is_settled() && self.backlog.is_empty() {
                return None;
            }
            let message = self.receive()?;
            let of_a_committer = matches!(message, Message::Written | Message::Done(..));
            if self.closing && !of_a_committer {
                // Came too late; its sender is told by this end being dropped.
                continue;
            }
            if of_a_committer || (!full && self.backlog.is_empty()) {
                return Some(message);
            }
            self.backlog.push_back(message);
        }
    }

    /// Waits for a message, while a group lingers no longer than that may.
    fn receive(&self) -> Option<Message> {
        if let Some(message) = look(|| self.messages.try_recv().ok()) {
            return Some(message);
        }
        // Whoever could send is gone: as if told to close.
        let Some(since) = self.lingers else { return self.messages.recv().ok() };
        match self.messages.recv_timeout(LINGER.saturating_sub(since.elapsed())) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => Some(Message::Hurry),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Returns what one more transaction may add to a group.
    fn room(&self) -> usize {
        self.shared.limits.bytes + OVERHEAD
    }

    fn batch_limit(&self) -> usize {
        self.shared.store.limits().batch
    }

    fn execute(&mut self, job: Job) {
        let Job { request, durability, reply, mut observed } = job;
        let mut watched = Watched::new();
        let answer = self.answer(&request, &mut watched);
        if let Some(observed) = &mut observed {
            observed.watched = watched;
        }
        let asker = Asker { reply, observed };
        if durability == Durability::Buffered {
            asker.answer(&self.shared, answer);
        } else {
            self.waiting.push(Waiting { asker, answer });
        }
    }

    /// Executes a request. What it did that somebody wants to be told of is put into `watched`.
    fn answer(&mut self, request: &Request, watched: &mut Watched) -> Answered {
        if let Some(reason) = &self.stopped {
            return Err(refusing(reason));
        }
        if let Some(id) = request.transaction
            && let Some(first) = self.first_answer(request, id)?
        {
            return Ok(first);
        }
        let millis = self.shared.clock.now().timestamp_millis().max(self.head.millis);
        let circumstances = Circumstances {
            instant: from_millis(millis),
            commit: self.head.commit + 1,
            actor: &request.caller.actor,
            last_id: self.head.last_id,
            ids: self.shared.ids.as_ref(),
            limits: self.shared.limits,
            access: Access::Write,
        };
        let transaction = Transaction::new(&self.base, circumstances, false);
        // A door's rule may panic as a handler may; nothing of the transaction is kept then.
        let performed =
            catch_unwind(AssertUnwindSafe(|| request.perform(&transaction, &self.shared.model)))
                .unwrap_or_else(|_| {
                    Err(CallError::Unavailable { message: "the door's rule broke off".into() })
                })?;
        if !transaction.has_written() && request.transaction.is_none() && !performed.internal {
            return Ok(Done { output: performed.output, commit: None });
        }
        let finished = transaction.finish();
        *watched = finished.watched;
        let definitions = &self.shared.model.definitions;
        let mut entry = HistoryEntry {
            commit: self.head.commit + 1,
            instant: from_millis(millis),
            actor: request.caller.actor.clone(),
            internal: performed.internal,
            action: request.action(definitions),
            receiver: performed.receiver,
            input: *blake3::hash(&request.input).as_bytes(),
            outcome: *blake3::hash(&performed.output).as_bytes(),
            transaction: request.transaction,
            touched: history::touched(&finished.writes),
            previous: self.head.hash,
            hash: [0; 32],
        };
        let sealed = entry.seal()?;
        let head =
            Head { commit: entry.commit, hash: entry.hash, millis, last_id: finished.last_id };
        let mut writes: Vec<_> = finished.writes.into_iter().collect();
        for (key, value) in [sealed, meta::put_head(&head)?] {
            writes.push((key, Some(value)));
        }
        if let Some(id) = request.transaction {
            let first = FirstAnswer {
                commit: head.commit,
                asked: request.asked(definitions)?,
                output: performed.output.clone(),
            };
            writes.push((key::transaction(id), Some(encoded(&first)?.into())));
            self.transactions.push(id);
        }
        self.take(writes, head);
        Ok(Done { output: performed.output, commit: Some(head.commit) })
    }

    /// Looks for the answer that a transaction's id was given before.
    fn first_answer(
        &self,
        request: &Request,
        id: TransactionId,
    ) -> Result<Option<Done>, CallError> {
        let Some(bytes) = self.base.get(&key::transaction(id))? else { return Ok(None) };
        let first: FirstAnswer = stored(&bytes, || format!("the answer to transaction {id}"))?;
        if first.asked != request.asked(&self.shared.model.definitions)? {
            let message = format!("transaction {id} was another call, commit {}", first.commit);
            return Err(CallError::Conflict { message });
        }
        Ok(Some(Done { output: first.output, commit: Some(first.commit) }))
    }

    /// Adds what a transaction wrote to the group, and to what readers see of it.
    fn take(&mut self, writes: Vec<Write>, head: Head) {
        let shared = Arc::clone(&self.shared);
        let mut executed = shared.executed();
        for (key, value) in writes {
            self.gathered += key.len() + value.as_ref().map_or(0, bytes::Bytes::len);
            if key.first() == Some(&(Kind::Stream as u8))
                && let Ok(Key::Stream { object, slot }) = Key::decode(&key)
            {
                self.streams.push((object, slot));
            }
            executed.add((key.clone(), value.clone()));
            self.base.over.insert(key, value);
        }
        executed.commit = head.commit;
        self.transactions_gathered += 1;
        self.head = head;
        self.base.commit = head.commit;
    }

    /// Tells whether a group could be given to a committer.
    fn can_hand_over(&self) -> bool {
        !self.writing && !self.free.is_empty()
    }

    /// Tells whether all that was given to the committers has come to its end.
    fn is_settled(&self) -> bool {
        self.free.len() == self.committers.len()
    }

    /// Gives the group to a committer, if there is one and it can be written.
    fn hand_over(&mut self) {
        if self.base.over.is_empty() {
            if self.is_settled() {
                // All that these answers rest on is durable.
                answer_all(&self.shared, std::mem::take(&mut self.waiting));
                self.hurry = false;
            }
            return;
        }
        if !self.can_hand_over() || self.may_linger() {
            return;
        }
        // The one that was free last: it is the one that is awake.
        let Some(committer) = self.free.pop() else { return };
        self.lingers = None;
        self.hurry = false;
        let batch = Batch {
            transactions: std::mem::take(&mut self.transactions),
            read_version: self.base.version(),
            reads: Vec::new(),
            writes: self.base.over.take(),
        };
        let waiting = std::mem::take(&mut self.waiting);
        let (transactions, bytes) = (self.transactions_gathered, self.gathered);
        match self.submit(batch) {
            Ok(commit) => {
                let streams = std::mem::take(&mut self.streams);
                let newest = self.head.commit;
                let group = Group { commit, newest, transactions, bytes, streams, waiting };
                match self.committers[committer].send(group) {
                    Ok(()) => self.writing = true,
                    Err(SendError(Group { commit, waiting, .. })) => {
                        drop(commit);
                        self.free.push(committer);
                        let error = CommitError::Unknown("a committer has ended".to_owned());
                        self.lose(&error, transactions, bytes, waiting);
                    }
                }
            }
            Err(error) => {
                self.free.push(committer);
                self.lose(&error, transactions, bytes, waiting);
            }
        }
    }

    /// Takes a group back that no committer has had.
    fn lose(
        &mut self,
        error: &CommitError,
        transactions: u64,
        bytes: usize,
        waiting: Vec<Waiting>,
    ) {
        if let Some(observer) = &self.shared.observer {
            let (took, error) = (Duration::ZERO, Some(error));
            observer.written(&WrittenGroup { transactions, bytes, took, error });
        }
        self.roll_back(error, waiting);
    }

    /// Tells whether the group may gather for longer, since nobody waits for it.
    fn may_linger(&mut self) -> bool {
        let awaited = self.closing
            || self.hurry
            || !self.waiting.is_empty()
            || self.gathered >= LINGER_BYTES
            || self.shared.status.receiver_count() > 0
            || self.shared.wakes.are_followed(&self.streams);
        !awaited && self.lingers.get_or_insert_with(Instant::now).elapsed() < LINGER
    }

    /// Gives a batch to the store, and takes the view that includes it. Readers beside the lane
    /// see both at once.
    fn submit(&mut self, batch: Batch) -> Result<Box<dyn Commit>, CommitError> {
        let shared = Arc::clone(&self.shared);
        let mut executed = shared.executed();
        let commit = shared.store.submit(batch, Durability::Durable)?;
        // Without a view the batch is dropped, which takes it back.
        let view = shared.store.view().map_err(|error| CommitError::Poisoned(error.to_string()))?;
        let headers = self.base.take_headers();
        let base = Base::new(Gathered::new(), view, self.head.commit, self.base.epoch);
        self.base = base.with_headers(headers);
        executed.clear();
        self.transactions_gathered = 0;
        self.gathered = 0;
        Ok(commit)
    }

    /// Goes back to what the store holds, after a group failed.
    fn roll_back(&mut self, error: &CommitError, failed: Vec<Waiting>) {
        tracing::error!(%error, "a group of transactions was not written");
        if matches!(error, CommitError::Poisoned(_) | CommitError::Unknown(_)) {
            self.stopped = Some(error.to_string());
        }
        // What never happened is not shown to a reader either, whatever the store says now.
        self.base.over = Gathered::new();
        let epoch = self.base.epoch + 1;
        let found = self.shared.store.view().map_err(|error| error.to_string()).and_then(|view| {
            let base = Base::new(Gathered::new(), view, 0, epoch);
            let head = meta::head(&base).map_err(|error| error.to_string())?;
            Ok((base, head))
        });
        match found {
            Ok((base, head)) => {
                // Times and ids that were seen are not given out again.
                self.head = Head {
                    millis: head.millis.max(self.head.millis),
                    last_id: head.last_id.max(self.head.last_id),
                    ..head
                };
                self.base = base;
                self.base.commit = head.commit;
            }
            Err(reason) => {
                self.stopped.get_or_insert(reason);
            }
        }
        self.base.epoch = epoch;
        self.transactions_gathered = 0;
        self.gathered = 0;
        self.lingers = None;
        self.transactions.clear();
        self.streams.clear();
        let shared = Arc::clone(&self.shared);
        let mut executed = shared.executed();
        executed.clear();
        executed.commit = self.head.commit;
        executed.epoch = epoch;
        drop(executed);
        let stopped = self.stopped.is_some();
        self.shared.status.send_modify(|status| {
            *status = Status { epoch, stopped, ..*status };
        });
        let message = match &self.stopped {
            Some(reason) => refusing(reason),
            None => CallError::Storage { message: format!("{error}; nothing was written") },
        };
        let waiting = std::mem::take(&mut self.waiting);
        for Waiting { asker, .. } in failed.into_iter().chain(waiting) {
            asker.answer(&self.shared, Err(message.clone()));
        }
    }
}

fn refusing(reason: &str) -> CallError {
    CallError::Storage {
        message: format!("no more writes are taken until the store is opened again: {reason}"),
    }
}
