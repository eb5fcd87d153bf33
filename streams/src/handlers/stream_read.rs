//! `stream_read`: reads a page of a stream from an offset on, with what a reader needs to go on.

use quixos_runtime::{CallError, Ref};

use crate::Streams;
use crate::form::Form;
use crate::lineage::{Content, Parts};
use crate::offset::{self, Place, START};
use crate::refusal::Refusal;
use crate::status::require_open;
use crate::streams::stream_read::{Context, Handler, Input, Output};
use crate::streams::{Chunk, Page, Position, StreamObject};
use crate::{instant, lifetime};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        require_open(&cx.stream(cx.receiver()).status()?)?;
        let (config, data) = (cx.config().read()?, cx.data().read()?);
        let from = match offset::parse("offset", &input.offset)? {
            Place::Start => START,
            Place::End => data.tail.clone(),
            Place::At(place) if is_within(&place, &data.tail) => place,
            Place::At(_) => return Err(Refusal::Position.into()),
        };
        let (chunks, next) =
            Content::of(cx, data.tail.clone())?.read(&from, u64::from(input.limit))?;
        let is_at_end = next == data.tail;
        let messages = chunks.iter().map(|chunk| chunk.messages);
        Ok(Page {
            start: offset::text(&from),
            messages: messages.fold(0, u32::saturating_add),
            data: joined(Form::of(&config.content_type), chunks),
            next: offset::text(&next),
            up_to_date: is_at_end,
            closed: is_at_end && data.closed,
            touch: lifetime::wants_touch(&config, &data, cx.instant())?,
            ends_at: lifetime::end(&config, &data)?.map(instant::text),
            content: cx.content().len()?,
            marks: cx.marks().len()?,
            content_type: config.content_type,
        })
    }
}

/// Tells whether a place can be one of a stream that ends so.
fn is_within(place: &Position, tail: &Position) -> bool {
    place.events < tail.events && place.bytes <= tail.bytes || place == tail
}

fn joined(form: Form, chunks: Vec<Chunk>) -> Vec<u8> {
    let pieces: Vec<Vec<u8>> = chunks.into_iter().map(|chunk| chunk.data).collect();
    match form {
        Form::Json => pieces.join(b",".as_slice()),
        Form::Text | Form::Binary => pieces.concat(),
    }
}

impl Parts for Context<'_> {
    fn lineage(&self) -> Result<Vec<(String, Ref<StreamObject>)>, CallError> {
        Context::lineage(self).all()
    }

    fn own(&self, from: u64, limit: usize) -> Result<Vec<Chunk>, CallError> {
        self.content().read(from, limit)
    }

    fn of(
        &self,
        ancestor: Ref<StreamObject>,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Chunk>, CallError> {
        self.stream(ancestor).content(from, limit)
    }
}
