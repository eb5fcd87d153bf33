//! How much is under way in this process, for whoever waits until it is over.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long nothing has to be under way to count as over: what one thing leads to begins a commit
/// after it.
const QUIET: Duration = Duration::from_millis(250);

/// Counts what is under way.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(watch::Sender<usize>);

/// Something that is under way until this is dropped.
pub(crate) struct Begun(watch::Sender<usize>);

impl UnderWay {
    pub(crate) fn begin(&self) -> Begun {
        self.0.send_modify(|count| *count += 1);
        Begun(self.0.clone())
    }

    /// Waits until nothing is under way, and nothing begins for a while.
    pub(crate) async fn over(&self) {
        let mut count = self.0.subscribe();
        loop {
            // The sender is held by `self`, so that neither wait can fail.
            drop(count.wait_for(|count| *count == 0).await);
            if timeout(QUIET, count.changed()).await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_follows_at_once_is_waited_for_too() {
        let under_way = UnderWay::default();
        let first = under_way.begin();
        let begun = tokio::time::Instant::now();
        let work = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            drop(first);
            tokio::time::sleep(QUIET / 2).await;
            let _second = under_way.begin();
            tokio::time::sleep(Duration::from_secs(4)).await;
        };
        tokio::join!(work, under_way.over());
        assert!(begun.elapsed() >= Duration::from_secs(7) + QUIET, "{:?}", begun.elapsed());
    }
}
