//! `registry_delete`: ends the stream at a key, and frees the key if no fork needs the stream.

use quixos_runtime::CallError;

use crate::Streams;
use crate::refusal::Refusal;
use crate::status::{ABSENT, require_open};
use crate::streams::registry_delete::{Context, Handler, Input, Output};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, key: Input) -> Result<Output, CallError> {
        let stream = cx.streams().get(&key)?.ok_or(Refusal::Absent)?;
        require_open(&cx.stream(stream).status()?)?;
        cx.stream(stream).end()?;
        if cx.stream(stream).status()? == ABSENT {
            cx.streams().disconnect(&key)?;
        }
        Ok(())
    }
}
