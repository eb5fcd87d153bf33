//! An answer that is a stream: what the model says as it comes, then one last frame.

use quixos_protocol::native::Stream;
use quixos_protocol::{DecisionError, Format, Frame, StreamDelta, parse, parse_value};
use serde_json::Value;

use super::{again, answer, broken, never};
use crate::http::{Event, Events};
use crate::live::Sink;
use crate::worker::DeliveryError;

/// The form in which deltas come.
pub(super) enum Form {
    /// Our own: `StreamDelta`.
    Neutral,
    /// The events of a provider.
    Native(Box<Stream>),
}

impl Form {
    /// Returns the form of the deltas of a call that has a format, or none.
    pub(super) fn of(format: Option<Format>) -> Self {
        format.map_or(Self::Neutral, |format| Self::Native(Box::new(Stream::new(format))))
    }

    /// Reads a delta. What cannot be read is passed over, and so is what carries nothing.
    fn delta(&mut self, data: &[u8]) -> Option<StreamDelta> {
        // The size was minded as the event came.
        let delta: Value = parse(data, usize::MAX).ok()?;
        match self {
            Self::Neutral => parse_value(delta).ok().filter(|it| *it != StreamDelta::default()),
            Self::Native(stream) => stream.event(&delta),
        }
    }
}

/// Reads a stream up to its last frame. Without a form, no delta was asked for.
pub(super) async fn read(
    mut events: Events<'_>,
    mut form: Option<Form>,
    sink: &Sink,
) -> Result<Value, DeliveryError> {
    while let Some(Event { name, data }) = events.next().await.map_err(broken)? {
        match name.as_str() {
            Frame::DELTA => {
                let form = form.as_mut().ok_or_else(|| {
                    never("the worker streams a reply that it was not asked to stream")
                })?;
                if let Some(delta) = form.delta(&data) {
                    sink.delta(delta);
                }
            }
            Frame::RESULT => return answer::of_body(&data),
            Frame::ERROR => return Err(error(&data)),
            unknown => {
                let name = answer::cut(unknown);
                return Err(never(format!("the worker's stream has an unknown event `{name}`")));
            }
        }
    }
    Err(again("the worker's stream ended without an answer".to_owned()))
}

fn error(data: &[u8]) -> DeliveryError {
    match parse::<DecisionError>(data, usize::MAX) {
        Ok(DecisionError { message, retryable }) => {
            DeliveryError { message: answer::cut(&message), retryable }
        }
        Err(fault) => never(format!("the worker's error cannot be read: {fault}")),
    }
}
