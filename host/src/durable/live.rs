//! Waiting for what comes, and by whom.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::select_all;
use quixos_runtime::{CallError, Follow};
use tokio::time::Instant;

use super::page::Page;
use crate::state::State;

/// What a reader waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// There may be something new.
    Changed,
    /// The time is up.
    TimedOut,
    /// The host stops.
    Stopping,
}

/// Waits until there may be something behind a page, or until a moment.
pub(super) async fn behind(
    state: &State,
    page: &Page,
    until: Instant,
) -> Result<Waited, CallError> {
    let runtime = state.engine.runtime();
    let follow =
        |wait: &super::page::Wait| Ok(runtime.stream(wait.object, &wait.stream)?.follow(wait.from));
    let mut follows = page.waits.iter().map(follow).collect::<Result<Vec<Follow>, CallError>>()?;
    let changed = select_all(follows.iter_mut().map(|follow| follow.next().boxed()));
    tokio::select! {
        (event, ..) = changed => {
            Ok(if event?.is_some() { Waited::Changed } else { Waited::Stopping })
        }
        // What is over is found out by reading it again.
        () = over(state, page) => Ok(Waited::Changed),
        () = tokio::time::sleep_until(until) => Ok(Waited::TimedOut),
        () = state.stopping.cancelled() => Ok(Waited::Stopping),
    }
}

/// Waits until what is read is over, if ever.
async fn over(state: &State, page: &Page) {
    match page.ends_at {
        Some(end) => {
            let left = (end - state.now()).to_std().unwrap_or_default();
            // One more, since instants have milliseconds and sleep may have less.
            tokio::time::sleep(left.saturating_add(Duration::from_millis(1))).await;
        }
        None => std::future::pending().await,
    }
}
