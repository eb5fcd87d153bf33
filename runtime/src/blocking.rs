//! Waiting for a session's answer on a plain thread.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park};

/// Runs a future of this crate to its end on the calling thread, which sleeps while there is
/// nothing to do. Needs no runtime of any kind; for shells, tests and scripts.
pub fn blocking<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            // Woken before it parks, it does not sleep; woken for nothing, it polls again.
            Poll::Pending => park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
