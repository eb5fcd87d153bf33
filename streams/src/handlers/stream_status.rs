//! `stream_status`: tells whether a stream is there, and if it is over, whether a fork needs it.
//!
//! Nobody has to come by for a stream to be over, so this is found when it is asked for, and so is
//! whether its forks are over, down to the last of them.

use quixos_runtime::CallError;

use crate::Streams;
use crate::lifetime;
use crate::status::{ABSENT, GONE, OPEN};
use crate::streams::stream_status::{Context, Handler, Input, Output};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, _input: Input) -> Result<Output, CallError> {
        let (config, data) = (cx.config().read()?, cx.data().read()?);
        if !lifetime::is_over(&config, &data, cx.instant())? {
            return Ok(OPEN.to_owned());
        }
        for fork in cx.forks().all()? {
            if cx.fork(fork).status()? != ABSENT {
                return Ok(GONE.to_owned());
            }
        }
        Ok(ABSENT.to_owned())
    }
}
