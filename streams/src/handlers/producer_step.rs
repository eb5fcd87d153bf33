//! `producer_step`: keeps how far a producer is.

use quixos_runtime::CallError;

use crate::Streams;
use crate::streams::producer_step::{Context, Handler, Input, Output};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, step: Input) -> Result<Output, CallError> {
        cx.data().write(&step)
    }
}
