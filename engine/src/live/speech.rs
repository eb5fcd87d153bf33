//! What running attempts have said, to be read from wherever a reader stands.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Channel, Live, locked};

/// What running attempts in a session have said so far, by block.
///
/// A reader keeps how many bytes it has of a block, asks for what is beyond ([`Speech::text`]), and
/// waits for more ([`Speech::changed`]). Only what this process runs is here.
#[derive(Debug)]
pub struct Speech {
    live: Live,
    session: Arc<str>,
    channel: Arc<Channel>,
    changes: watch::Receiver<()>,
}

impl Speech {
    pub(super) fn new(live: Live, session: Arc<str>, channel: Arc<Channel>) -> Self {
        let changes = channel.changes.subscribe();
        Self { live, session, channel, changes }
    }

    /// Returns what a block of an attempt says beyond some bytes; empty if that is nothing yet.
    ///
    /// None if the attempt does not run here, or no longer, or if the block's begin is not in the
    /// log yet. What an attempt that is over said is in the log by then.
    #[must_use]
    pub fn text(&self, call: &str, attempt: u32, block: u32, from_byte: usize) -> Option<String> {
        let attempts = locked(&self.channel.attempts);
        let said = Arc::clone(attempts.get(&(call.into(), attempt))?);
        drop(attempts);
        let said = locked(&said);
        said.beyond(usize::try_from(block).ok()?, from_byte)
    }

    /// Waits until something was said, or an attempt is over, since this was called last or the
    /// reader began.
    pub async fn changed(&mut self) {
        // What sends is held by this reader, too, so it cannot be gone.
        let _ = self.changes.changed().await;
    }
}

impl Drop for Speech {
    fn drop(&mut self) {
        self.live.leave(&self.session);
    }
}
