//! `stream_append`: appends to a stream, closes it, or both.
//!
//! A producer that has a name numbers what it sends. What it sends again is answered and not
//! appended again; what an older epoch of it sends is refused, whatever it is: whoever claimed the
//! name since is the one who writes. `Stream-Seq` is asked about only after that, so that a repetition
//! is one although its sequence is not behind the last.

use std::cmp::Ordering;

use quixos_runtime::{CallError, Ref};

use crate::Streams;
use crate::form::{self, Form};
use crate::refusal::Refusal;
use crate::status::{CLOSED, require_open};
use crate::streams::stream_append::{Context, CreateProducer, Handler, Input, Output};
use crate::streams::{Append, Appended, ProducerObject, ProducerStep, StreamData, StreamMark};
use crate::{instant, offset, payload};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        require_open(&cx.stream(cx.receiver()).status()?)?;
        let mut data = cx.data().read()?;
        let known = Known::of(cx, input.producer.as_ref())?;
        if let Some(step) = &input.producer {
            known.fence(step)?;
        }
        if data.closed {
            return closed(&data, &input);
        }
        let config = cx.config().read()?;
        if !input.body.is_empty() {
            let given = input.content_type.as_deref().unwrap_or_default();
            if !form::is_same(given, &config.content_type) {
                return Err(Refusal::ContentType.into());
            }
        }
        if let Some(step) = &input.producer
            && let Some(last) = known.repeated(step)?
        {
            return Ok(answer(false, &data, Some(last)));
        }
        if let Some(sequence) = &input.sequence {
            if data.sequence.as_ref().is_some_and(|last| sequence.as_bytes() <= last.as_bytes()) {
                return Err(Refusal::Sequence.into());
            }
            data.sequence = Some(sequence.clone());
        }
        let is_empty = input.body.is_empty();
        match payload::chunk(Form::of(&config.content_type), input.body, &data.tail)? {
            Some(chunk) => {
                cx.content().append(&chunk)?;
                data.tail = payload::behind(&chunk, &data.tail);
            }
            None if input.close && is_empty => {}
            None => return Err(CallError::invalid("body", "there is nothing to append")),
        }
        if input.close {
            cx.marks().append(&StreamMark { what: CLOSED.to_owned() })?;
            data.closed = true;
            data.closed_by.clone_from(&input.producer);
        }
        data.touched_at = instant::text(cx.instant());
        cx.data().write(&data)?;
        if let Some(step) = &input.producer {
            known.keep(cx, step)?;
        }
        Ok(answer(true, &data, input.producer))
    }
}

/// Answers what comes when the stream is closed: what closed it may come again.
fn closed(data: &StreamData, input: &Append) -> Result<Appended, CallError> {
    let is_again = match &input.producer {
        Some(step) => data.closed_by.as_ref() == Some(step),
        None => input.close && input.body.is_empty(),
    };
    if is_again {
        return Ok(answer(false, data, input.producer.clone()));
    }
    Err(Refusal::Closed(offset::text(&data.tail)).into())
}

fn answer(applied: bool, data: &StreamData, producer: Option<ProducerStep>) -> Appended {
    Appended { applied, tail: offset::text(&data.tail), closed: data.closed, producer }
}

/// How far a producer is, if it was ever here.
struct Known(Option<(Ref<ProducerObject>, ProducerStep)>);

impl Known {
    fn of(cx: &Context<'_>, producer: Option<&ProducerStep>) -> Result<Self, CallError> {
        let Some(producer) = producer else { return Ok(Self(None)) };
        let known = cx.producers().get(&producer.id)?;
        let known = known.map(|known| Ok::<_, CallError>((known, cx.producer(known).data()?)));
        known.transpose().map(Self)
    }

    /// Refuses what an older epoch sends.
    fn fence(&self, step: &ProducerStep) -> Result<(), CallError> {
        match &self.0 {
            Some((_, last)) if step.epoch < last.epoch => {
                Err(Refusal::StaleEpoch(last.epoch).into())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the last step of the epoch if this one was done before, and refuses one that cannot
    /// come next.
    fn repeated(&self, step: &ProducerStep) -> Result<Option<ProducerStep>, CallError> {
        let gap = |expected| Refusal::Gap { expected, received: step.sequence };
        let Some((_, last)) = &self.0 else {
            return if step.sequence == 0 { Ok(None) } else { Err(gap(0).into()) };
        };
        if step.epoch > last.epoch {
            return if step.sequence == 0 { Ok(None) } else { Err(Refusal::EpochStart.into()) };
        }
        let next = last.sequence.saturating_add(1);
        match step.sequence.cmp(&next) {
            Ordering::Less => Ok(Some(last.clone())),
            Ordering::Equal => Ok(None),
            Ordering::Greater => Err(gap(next).into()),
        }
    }

    /// Keeps a step that was done.
    fn keep(&self, cx: &Context<'_>, step: &ProducerStep) -> Result<(), CallError> {
        if let Some((producer, _)) = &self.0 {
            return cx.producer(*producer).step(step);
        }
        let producer = cx.create_producer(&CreateProducer { data: step.clone() })?;
        cx.producers().connect(&step.id, producer)?;
        Ok(())
    }
}
