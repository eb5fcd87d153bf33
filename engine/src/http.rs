//! HTTP as the engine speaks it, to workers and to providers of models.
//!
//! One client for all, so that connections are shared. Nothing here has a total timeout: a reply may
//! be streamed for as long as its decision or call lasts, which the driver minds. What is bounded
//! is silence between two pieces of a body, and size: of a whole body, of one event, of a stream.

mod body;
mod client;
mod events;
mod tls;

use std::time::Duration;

pub use client::{ClientError, HttpClient, SendError};

pub(crate) use body::{Body, BodyFault};
pub(crate) use client::describe;
pub(crate) use events::{Event, Events};

/// What of an answer is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an answer that is no stream, after decompression.
    pub answer: usize,
    /// Bytes of one event of a stream.
    pub event: usize,
    /// Bytes of a stream.
    pub stream: usize,
    /// How long nothing may come once an answer has begun.
    pub idle: Duration,
}

impl Limits {
    /// What is taken of a worker where nobody says otherwise.
    pub const WORKER: Self =
        Self { answer: 3 << 20, event: 1 << 20, stream: 64 << 20, idle: Duration::from_secs(60) };

    /// What is taken of a provider where nobody says otherwise. Replies may have pictures in them.
    pub const PROVIDER: Self = Self {
        answer: 32 << 20,
        event: 16 << 20,
        stream: 128 << 20,
        idle: Duration::from_secs(60),
    };
}

/// Says whether an answer is a stream of events.
pub(crate) fn is_stream(response: &reqwest::Response) -> bool {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("text/event-stream")
}
