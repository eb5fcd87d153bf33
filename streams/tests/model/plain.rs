//! What streams are, in plain collections: each has all of its content, a fork a copy.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::step::{self, Fork, Step};

/// What a step is answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Done,
    Written { applied: bool, tail: String, closed: bool },
    Page { data: String, next: String, at_end: bool, closed: bool },
    Refused(String),
    Invalid(String),
}

/// All that there is.
#[derive(Default)]
pub(crate) struct Model {
    now: u64,
    /// Every stream that ever was; a number names one.
    all: Vec<Stream>,
    keys: BTreeMap<u8, usize>,
}

struct Stream {
    json: bool,
    ttl: Option<u64>,
    /// Each append, whatever it holds.
    content: Vec<Vec<String>>,
    /// The bytes ahead of each place.
    bytes: Vec<u64>,
    closed: bool,
    closed_by: Option<(u8, u64, u64)>,
    deleted: bool,
    touched: u64,
    sequence: Option<u8>,
    producers: BTreeMap<u8, (u64, u64)>,
    fork: Option<Forked>,
}

#[derive(Clone, Copy, PartialEq)]
struct Forked {
    source: usize,
    at: usize,
    sub: u64,
}

type Refused<T> = Result<T, Answer>;

fn refused<T>(word: &str) -> Refused<T> {
    Err(Answer::Refused(word.to_owned()))
}

impl Stream {
    fn tail(&self) -> String {
        step::offset((self.content.len() as u64, *self.bytes.last().unwrap()))
    }

    fn push(&mut self, messages: Vec<String>) {
        let joined = messages.join(",").len() as u64;
        self.bytes.push(self.bytes.last().unwrap() + joined);
        self.content.push(messages);
    }

    /// Returns what a body holds.
    fn messages(&self, body: &[u8]) -> Refused<Vec<String>> {
        let text = String::from_utf8(body.to_vec()).unwrap();
        if text.is_empty() || !self.json {
            return Ok(Some(text).filter(|text| !text.is_empty()).into_iter().collect());
        }
        // Only white space around elements is dropped, and the bodies have none inside of them.
        match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => Ok(items.iter().map(Value::to_string).collect()),
            Ok(value) => Ok(vec![value.to_string()]),
            Err(_) => Err(Answer::Invalid("body".to_owned())),
        }
    }

    fn written(&self, applied: bool) -> Answer {
        Answer::Written { applied, tail: self.tail(), closed: self.closed }
    }
}

impl Model {
    pub(crate) fn step(&mut self, step: &Step) -> Answer {
        match step {
            Step::Create { key, json, ttl, closed, body, fork } => {
                self.create(*key, *json, *ttl, *closed, body, fork.as_ref()).unwrap_or_else(|it| it)
            }
            Step::Append { key, json, body, close, producer, sequence } => {
                self.append(*key, *json, body, *close, *producer, *sequence).unwrap_or_else(|it| it)
            }
            Step::Delete { key } => self.delete(*key).unwrap_or_else(|it| it),
            Step::Touch { key } => match self.open(*key) {
                Ok(at) => {
                    self.all[at].touched = self.now;
                    Answer::Done
                }
                Err(answer) => answer,
            },
            Step::Read { key, from, limit } => {
                self.read(*key, *from, *limit).unwrap_or_else(|it| it)
            }
            Step::Wait { millis } => {
                self.now += millis;
                Answer::Done
            }
            Step::Reopen => Answer::Done,
        }
    }

    fn is_over(&self, at: usize) -> bool {
        let stream = &self.all[at];
        let end = stream.ttl.map(|ttl| stream.touched + ttl * 1000 + ttl * 125);
        stream.deleted || end.is_some_and(|end| end <= self.now)
    }

    /// Tells whether a stream is used: itself, or by a fork.
    fn is_needed(&self, at: usize) -> bool {
        let is_fork = |fork: &usize| self.all[*fork].fork.is_some_and(|it| it.source == at);
        !self.is_over(at) || (0..self.all.len()).filter(is_fork).any(|fork| self.is_needed(fork))
    }

    fn open(&self, key: u8) -> Refused<usize> {
        let Some(at) = self.keys.get(&key).copied() else { return refused("absent") };
        if !self.is_over(at) {
            return Ok(at);
        }
        refused(if self.is_needed(at) { "gone" } else { "absent" })
    }

    fn create(
        &mut self,
        key: u8,
        json: bool,
        ttl: Option<u64>,
        closed: bool,
        body: &[u8],
        fork: Option<&Fork>,
    ) -> Refused<Answer> {
        let mut stream = Stream {
            json,
            ttl,
            content: Vec::new(),
            bytes: vec![0],
            closed: false,
            closed_by: None,
            deleted: false,
            touched: self.now,
            sequence: None,
            producers: BTreeMap::new(),
            fork: None,
        };
        if let Some(fork) = fork {
            self.inherit(&mut stream, fork)?;
        }
        if let Some(there) = self.keys.get(&key).copied() {
            if !self.is_over(there) {
                let says_where = fork.is_some_and(|fork| fork.at.is_some());
                let found = &self.all[there];
                let same_fork = match (found.fork, stream.fork) {
                    (Some(a), Some(b)) => {
                        a.source == b.source && a.sub == b.sub && (!says_where || a.at == b.at)
                    }
                    (a, b) => a.is_none() && b.is_none(),
                };
                let same = found.json == stream.json
                    && found.ttl == stream.ttl
                    && found.closed == closed
                    && same_fork;
                return if same { Ok(found.written(false)) } else { refused("taken") };
            }
            if self.is_needed(there) {
                return refused("taken");
            }
        }
        let messages = stream.messages(body)?;
        if !messages.is_empty() {
            stream.push(messages);
        }
        stream.closed = closed;
        let answer = stream.written(true);
        self.keys.insert(key, self.all.len());
        self.all.push(stream);
        Ok(answer)
    }

    fn inherit(&self, stream: &mut Stream, fork: &Fork) -> Refused<()> {
        let source = match self.open(fork.source) {
            Ok(source) => source,
            Err(Answer::Refused(word)) if word == "gone" => return refused("source-gone"),
            Err(_) => return refused("no-source"),
        };
        let found = &self.all[source];
        let at = match fork.at {
            None => found.content.len(),
            Some((events, bytes)) => {
                let at = usize::try_from(events).unwrap();
                if found.bytes.get(at) != Some(&bytes) {
                    return refused("fork-point");
                }
                at
            }
        };
        stream.content = found.content[..at].to_vec();
        stream.bytes = found.bytes[..=at].to_vec();
        stream.fork = Some(Forked { source, at, sub: fork.sub });
        if fork.sub > 0 {
            let sub = usize::try_from(fork.sub).unwrap();
            let Some(next) = found.content.get(at) else { return refused("fork-point") };
            let part = if found.json {
                next.get(..sub).map(<[String]>::to_vec)
            } else {
                next[0].get(..sub).map(|text| vec![text.to_owned()])
            };
            let Some(part) = part else { return refused("fork-point") };
            stream.push(part);
        }
        if stream.json != found.json {
            return refused("content-type");
        }
        stream.ttl = stream.ttl.or(found.ttl);
        Ok(())
    }

    fn append(
        &mut self,
        key: u8,
        json: bool,
        body: &[u8],
        close: bool,
        producer: Option<(u8, u64, u64)>,
        sequence: Option<u8>,
    ) -> Refused<Answer> {
        let at = self.open(key)?;
        let now = self.now;
        let stream = &mut self.all[at];
        let known = producer.and_then(|(id, ..)| stream.producers.get(&id).copied());
        if let (Some((_, epoch, _)), Some((held, _))) = (producer, known)
            && epoch < held
        {
            return refused(&format!("stale-epoch:{held}"));
        }
        if stream.closed {
            let again = match producer {
                Some(producer) => stream.closed_by == Some(producer),
                None => close && body.is_empty(),
            };
            let end = format!("closed:{}", stream.tail());
            return if again { Ok(stream.written(false)) } else { refused(&end) };
        }
        if !body.is_empty() && json != stream.json {
            return refused("content-type");
        }
        if let Some((_, epoch, number)) = producer {
            let expected = match known {
                Some((held, last)) if held == epoch => last + 1,
                Some(_) if number != 0 => return refused("epoch-start"),
                Some(_) | None => 0,
            };
            if number > expected {
                return refused(&format!("gap:{expected}:{number}"));
            }
            if number < expected {
                return Ok(stream.written(false));
            }
        }
        if let (Some(sequence), Some(last)) = (sequence, stream.sequence)
            && sequence <= last
        {
            return refused("sequence");
        }
        let messages = stream.messages(body)?;
        if messages.is_empty() && !(close && body.is_empty()) {
            return Err(Answer::Invalid("body".to_owned()));
        }
        if !messages.is_empty() {
            stream.push(messages);
        }
        stream.sequence = sequence.or(stream.sequence);
        if let Some((id, epoch, number)) = producer {
            stream.producers.insert(id, (epoch, number));
        }
        if close {
            stream.closed = true;
            stream.closed_by = producer;
        }
        stream.touched = now;
        Ok(stream.written(true))
    }

    fn delete(&mut self, key: u8) -> Refused<Answer> {
        let at = self.open(key)?;
        self.all[at].deleted = true;
        if !self.is_needed(at) {
            self.keys.remove(&key);
        }
        Ok(Answer::Done)
    }

    fn read(&self, key: u8, from: Option<(u64, u64)>, limit: u32) -> Refused<Answer> {
        let stream = &self.all[self.open(key)?];
        let from = from.unwrap_or((0, 0));
        let (last, end) = (stream.content.len(), *stream.bytes.last().unwrap());
        let start = usize::try_from(from.0).unwrap();
        if start > last || start == last && from.1 != end || from.1 > end {
            return refused("position");
        }
        let mut until = start;
        while until < last
            && (until == start || stream.bytes[until + 1].saturating_sub(from.1) <= limit.into())
        {
            until += 1;
        }
        let data: Vec<String> =
            stream.content[start..until].iter().map(|messages| messages.join(",")).collect();
        let bytes = if until == start { from.1 } else { stream.bytes[until] };
        let at_end = until == last && bytes == end;
        Ok(Answer::Page {
            data: data.join(if stream.json { "," } else { "" }),
            next: step::offset((until as u64, bytes)),
            at_end,
            closed: at_end && stream.closed,
        })
    }
}
