//! `stream_end`: ends a stream that is deleted. A fork that nobody forked lets its source go.

use quixos_runtime::CallError;

use crate::Streams;
use crate::status::{ABSENT, DELETED};
use crate::streams::StreamMark;
use crate::streams::stream_end::{Context, Handler, Input, Output};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, _input: Input) -> Result<Output, CallError> {
        let mut data = cx.data().read()?;
        data.deleted = true;
        cx.data().write(&data)?;
        cx.marks().append(&StreamMark { what: DELETED.to_owned() })?;
        if cx.stream(cx.receiver()).status()? == ABSENT
            && let Some(source) = cx.source().resolve()?
        {
            cx.source().disconnect(source)?;
        }
        Ok(())
    }
}
