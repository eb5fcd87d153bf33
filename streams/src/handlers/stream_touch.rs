//! `stream_touch`: writes down that a stream was read.

use quixos_runtime::CallError;

use crate::Streams;
use crate::instant;
use crate::status::require_open;
use crate::streams::stream_touch::{Context, Handler, Input, Output};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, _input: Input) -> Result<Output, CallError> {
        require_open(&cx.stream(cx.receiver()).status()?)?;
        let mut data = cx.data().read()?;
        data.touched_at = instant::text(cx.instant());
        cx.data().write(&data)
    }
}
