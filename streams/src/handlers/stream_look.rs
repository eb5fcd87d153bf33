//! `stream_look`: tells what can be told of a stream without reading it.

use quixos_runtime::CallError;

use crate::Streams;
use crate::offset;
use crate::status::require_open;
use crate::streams::Look;
use crate::streams::stream_look::{Context, Handler, Input, Output};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, _input: Input) -> Result<Output, CallError> {
        require_open(&cx.stream(cx.receiver()).status()?)?;
        let (config, data) = (cx.config().read()?, cx.data().read()?);
        Ok(Look {
            content_type: config.content_type,
            ttl: config.ttl,
            expires_at: config.expires_at,
            tail: offset::text(&data.tail),
            closed: data.closed,
        })
    }
}
