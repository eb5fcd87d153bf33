//! Where the content of a stream is: some in those that it was forked from, the rest in itself.
//!
//! A fork shares its source's content and never copies it. Its lineage names each stream that has a
//! part of it, by the event up to which: `lineage` is in order, and a part begins where the one
//! before it ends. The own content of a stream begins where the last of them ends.

use quixos_runtime::{CallError, Ref};

use crate::offset::START;
use crate::streams::{Chunk, Position, StreamObject};

/// How many streams may be ahead of a fork.
pub(crate) const DEPTH: usize = 16;

/// How many chunks are read at once, at most. One may have megabytes, and is let go if it is too much.
const AT_ONCE: u64 = 16;

/// Who reads: an operation that has been granted it.
pub(crate) trait Parts {
    /// Returns the lineage of the stream.
    fn lineage(&self) -> Result<Vec<(String, Ref<StreamObject>)>, CallError>;
    /// Reads the stream's own content.
    fn own(&self, from: u64, limit: usize) -> Result<Vec<Chunk>, CallError>;
    /// Reads the own content of another one.
    fn of(
        &self,
        ancestor: Ref<StreamObject>,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Chunk>, CallError>;
}

/// The content of a stream, whichever objects it lies in.
pub(crate) struct Content<'p, P> {
    parts: &'p P,
    /// The event up to which each part goes, with whom it lies in.
    lineage: Vec<(u64, Ref<StreamObject>)>,
    tail: Position,
}

impl<'p, P: Parts> Content<'p, P> {
    pub(crate) fn of(parts: &'p P, tail: Position) -> Result<Self, CallError> {
        let part = |(key, ancestor): (String, Ref<StreamObject>)| {
            let until = key.parse().map_err(|_| CallError::Corrupt {
                message: format!("`{key}` is stored as the end of a part"),
            })?;
            Ok((until, ancestor))
        };
        let lineage = parts.lineage()?.into_iter().map(part).collect::<Result<_, CallError>>()?;
        Ok(Self { parts, lineage, tail })
    }

    /// Reads from a place on, until there are so many bytes; one chunk at least, if there is one.
    /// Returns the place behind the last of them.
    pub(crate) fn read(
        &self,
        from: &Position,
        limit: u64,
    ) -> Result<(Vec<Chunk>, Position), CallError> {
        let (mut chunks, mut next) = (Vec::new(), from.clone());
        while next.events < self.tail.events {
            let left = limit.saturating_sub(next.bytes.saturating_sub(from.bytes));
            let page = self.page(next.events, self.likely(&next, left))?;
            if page.is_empty() {
                let message = format!("there is no event {} of the content", next.events);
                return Err(CallError::Corrupt { message });
            }
            for chunk in page {
                if !chunks.is_empty() && chunk.end.saturating_sub(from.bytes) > limit {
                    return Ok((chunks, next));
                }
                next = Position { events: next.events + 1, bytes: chunk.end };
                chunks.push(chunk);
            }
        }
        Ok((chunks, next))
    }

    /// Returns the chunk at an event, if there is one.
    pub(crate) fn at(&self, event: u64) -> Result<Option<Chunk>, CallError> {
        if event >= self.tail.events {
            return Ok(None);
        }
        Ok(self.page(event, 1)?.pop())
    }

    /// Returns the lineage of a fork that has what is ahead of an event.
    pub(crate) fn of_fork(
        &self,
        until: u64,
        stream: Ref<StreamObject>,
    ) -> Vec<(String, Ref<StreamObject>)> {
        let (mut lineage, mut start) = (Vec::new(), START.events);
        for (end, part) in self.lineage.iter().copied().chain([(u64::MAX, stream)]) {
            if start >= until {
                break;
            }
            lineage.push((format!("{:016}", end.min(until)), part));
            start = end;
        }
        lineage
    }

    /// Guesses how many chunks have so many bytes, from how long they are behind a place.
    fn likely(&self, from: &Position, bytes: u64) -> u64 {
        let events = self.tail.events.saturating_sub(from.events).max(1);
        let mean = self.tail.bytes.saturating_sub(from.bytes) / events;
        (bytes / mean.max(1)).clamp(1, AT_ONCE)
    }

    /// Reads at most so many chunks of the part that an event is in.
    fn page(&self, event: u64, limit: u64) -> Result<Vec<Chunk>, CallError> {
        let mut start = START.events;
        for (until, ancestor) in &self.lineage {
            if event < *until {
                let count = count(limit.min(until - event));
                return self.parts.of(*ancestor, event - start, count);
            }
            start = *until;
        }
        self.parts.own(event - start, count(limit.min(self.tail.events.saturating_sub(event))))
    }
}

fn count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
