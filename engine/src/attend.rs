//! Waiting for a worker or a model, and telling the session meanwhile what it says.
//!
//! Of an attempt that streams, the begin of each block goes into the log before anything of it is
//! heard: one step a block, which also ends the block before. Now and then the text so far is put
//! into the store, too. The attempt goes on while a step is taken.

use std::time::Duration;

use chrono::DateTime;
use quixos_runtime::CallError;
use quixos_session::sessions::{BlockChange, Delivery, Progress};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tracing::debug;

use crate::live::{Sink, Spoken};
use crate::task::{Errand, Step};

/// Who says something, and where it is heard.
pub(crate) struct Speaker<'s> {
    /// The model call.
    pub(crate) call: &'s str,
    pub(crate) attempt: u32,
    pub(crate) sink: &'s Sink,
    pub(crate) spoken: watch::Receiver<Spoken>,
    /// Whether it was asked to stream.
    pub(crate) streams: bool,
}

/// What a step that was taken meanwhile came to: how many changes of blocks it told of.
type Told = Result<usize, CallError>;

/// What is told of an attempt while it runs.
struct Scribe<'s> {
    errand: &'s Errand,
    speaker: Speaker<'s>,
    /// How much text and reasoning the store has.
    stored: (usize, usize),
    /// Whether the session wants to hear no more: the attempt is over there.
    is_over: bool,
}

impl Errand {
    /// Waits for something to be done, as long as its deadline says; none if that passes.
    ///
    /// Meanwhile what is said is told. If `extends`, each sign of life moves the deadline on: here
    /// at once, in the store before it runs out there.
    pub(crate) async fn attend<T>(
        &self,
        done: impl Future<Output = T>,
        speaker: Speaker<'_>,
        extends: bool,
    ) -> Option<T> {
        let left = self.left();
        let mut deadline = left.map(|left| Instant::now() + left);
        let (mut extended, mut beats) = (Instant::now(), 0);
        let mut ticks = tokio::time::interval(self.shared.options.checkpoint);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut scribe = Scribe { errand: self, speaker, stored: (0, 0), is_over: false };
        let mut telling = std::pin::pin!(None);
        let mut done = std::pin::pin!(done);
        let ended = loop {
            let mut is_due = false;
            tokio::select! {
                biased;
                done = &mut done => break Some(done),
                told = current(telling.as_mut()) => {
                    telling.set(None);
                    scribe.note(told);
                }
                () = at(deadline) => break None,
                () = scribe.has_begun(), if telling.is_none() => is_due = true,
                _ = ticks.tick() => {
                    let said = scribe.speaker.spoken.borrow_and_update().beats;
                    if extends && said > beats {
                        beats = said;
                        let now = Instant::now();
                        deadline = left.map(|left| now + left);
                        if left.is_some_and(|left| now - extended > left / 4) {
                            extended = now;
                            self.extend().await;
                        }
                    }
                    is_due = scribe.has_news();
                }
            }
            if is_due && telling.is_none() {
                let (step, changes) = scribe.step();
                telling.set(Some(tell(self, step, changes)));
            }
        };
        // What is under way is seen to its end, since it may be taken already.
        if telling.is_some() {
            scribe.note(current(telling.as_mut()).await);
        }
        // Past the deadline, the last step tells it all.
        if ended.is_some() && scribe.has_untold_begin() {
            let (changes, all) = scribe.speaker.sink.unrecorded();
            let step = self.progress(scribe.speaker.call, scribe.speaker.attempt, changes);
            scribe.note(tell(self, step, all).await);
        }
        ended
    }

    /// Returns how long there is until the deadline.
    fn left(&self) -> Option<Duration> {
        let deadline = self.due.deadline.as_deref()?;
        let deadline = DateTime::parse_from_rfc3339(deadline).ok()?;
        let left = deadline.signed_duration_since(self.shared.clock.now());
        Some(left.to_std().unwrap_or_default())
    }

    async fn extend(&self) {
        let delivery = Delivery {
            fence: self.fence.clone(),
            decision: self.due.id.clone(),
            attempts: self.due.attempt,
        };
        if let Err(error) = self.client().extend(&delivery).await {
            debug!(%error, "a deadline could not be moved");
        }
    }
}

impl Scribe<'_> {
    /// Waits until a block has begun that nobody was told of.
    async fn has_begun(&self) {
        if self.is_over {
            std::future::pending().await
        } else {
            self.speaker.sink.begun().await;
        }
    }

    fn has_untold_begin(&self) -> bool {
        !self.is_over && self.speaker.sink.has_begun()
    }

    /// Says whether more was said than the store has.
    fn has_news(&self) -> bool {
        let said = self.speaker.spoken.borrow();
        let has_more = self.stored != (said.text.len(), said.reasoning.len());
        self.speaker.streams && !self.is_over && has_more
    }

    /// Returns the step that tells all there is, and how many changes of blocks it tells of.
    fn step(&mut self) -> (Step, usize) {
        let (blocks, changes) = self.speaker.sink.unrecorded();
        let is_checkpoint = blocks.is_empty();
        let Spoken { text, reasoning, .. } = if is_checkpoint {
            self.speaker.spoken.borrow().clone()
        } else {
            // The sooner it is told that a block begins, the sooner it is heard.
            Spoken::default()
        };
        if is_checkpoint {
            self.stored = (text.len(), reasoning.len());
        }
        (self.progress(text, reasoning, blocks), changes)
    }

    fn progress(&self, text: String, reasoning: String, blocks: Vec<BlockChange>) -> Step {
        Step::Progress(Progress {
            fence: self.errand.fence.clone(),
            call: self.speaker.call.to_owned(),
            attempt: self.speaker.attempt,
            text,
            reasoning,
            blocks,
        })
    }

    /// Takes note of what a step came to.
    fn note(&mut self, told: Told) {
        match told {
            Ok(changes) => self.speaker.sink.recorded(changes),
            Err(error) => {
                // Whoever drives the session now, or a newer state of it, sees to it.
                debug!(%error, "what was said could not be told");
                self.is_over = true;
            }
        }
    }
}

/// Tells the session what is said. An attempt that is over there is not found.
async fn tell(errand: &Errand, step: Step, changes: usize) -> Told {
    if errand.persist(&step).await? {
        Ok(changes)
    } else {
        Err(CallError::NotFound { what: "the attempt".to_owned() })
    }
}

/// Waits for the step that is under way, or for good where none is.
async fn current<F: Future<Output = Told>>(telling: std::pin::Pin<&mut Option<F>>) -> Told {
    match telling.as_pin_mut() {
        Some(telling) => telling.await,
        None => std::future::pending().await,
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
