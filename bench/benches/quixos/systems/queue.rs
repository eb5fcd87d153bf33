//! Group commit by hand: one thread writes; it takes all who wait, and answers them together.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use tokio::sync::oneshot;

use crate::failure::Failure;

/// A queue before a thread that writes.
pub(crate) struct Queue<J> {
    /// `None` only while this is dropped.
    jobs: Option<Sender<Waiting<J>>>,
    thread: Option<JoinHandle<()>>,
}

/// A job whose caller waits.
struct Waiting<J> {
    job: J,
    reply: oneshot::Sender<Result<(), Failure>>,
}

impl<J: Send + 'static> Queue<J> {
    /// Starts the thread. `commit` is given a group, never an empty one; when it returns, all of it
    /// is as durable as it is to be.
    pub(crate) fn start(
        commit: impl FnMut(Vec<J>) -> Result<(), Failure> + Send + 'static,
    ) -> Result<Self, Failure> {
        let (jobs, inbox) = channel();
        let thread = Builder::new().name("group".into()).spawn(move || run(&inbox, commit))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Has a job done, with whatever else waits.
    pub(crate) async fn done(&self, job: J) -> Result<(), Failure> {
        let (reply, answer) = oneshot::channel();
        let ended = || Failure::Group("its thread has ended".into());
        let jobs = self.jobs.as_ref().ok_or_else(ended)?;
        jobs.send(Waiting { job, reply }).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

fn run<J>(inbox: &Receiver<Waiting<J>>, mut commit: impl FnMut(Vec<J>) -> Result<(), Failure>) {
    while let Ok(first) = inbox.recv() {
        let (group, replies): (Vec<J>, Vec<_>) = std::iter::once(first)
            .chain(inbox.try_iter())
            .map(|Waiting { job, reply }| (job, reply))
            .unzip();
        let written = commit(group).map_err(|error| error.to_string());
        for reply in replies {
            // A caller that no longer waits has no use for the answer.
            let _ = reply.send(written.clone().map_err(Failure::Group));
        }
    }
}

impl<J> Drop for Queue<J> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}
