//! `stream_begin`: puts the first content into a stream that was just made.

use quixos_runtime::CallError;

use crate::Streams;
use crate::form::Form;
use crate::payload;
use crate::status::CLOSED;
use crate::streams::StreamMark;
use crate::streams::stream_begin::{Context, Handler, Input, Output};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let mut data = cx.data().read()?;
        if let Some(prefix) = input.prefix {
            cx.content().append(&prefix)?;
            data.tail = payload::behind(&prefix, &data.tail);
        }
        let form = Form::of(&cx.config().read()?.content_type);
        if let Some(chunk) = payload::chunk(form, input.body, &data.tail)? {
            cx.content().append(&chunk)?;
            data.tail = payload::behind(&chunk, &data.tail);
        }
        if input.close {
            cx.marks().append(&StreamMark { what: CLOSED.to_owned() })?;
            data.closed = true;
        }
        cx.data().write(&data)
    }
}
