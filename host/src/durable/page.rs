//! A page of what is read: of a public stream, or of a stream of an object.

use chrono::{DateTime, Utc};
use quixos_runtime::{CallError, ObjectRef, Ref, Session};
use quixos_streams::Form;
use quixos_streams::streams::{PublicStream, Read, StreamObject};

use super::failure::Failure;
use super::objects::ObjectStream;
use crate::state::State;

/// What is read.
pub(super) enum Source {
    /// A public stream, by whom.
    Public(Ref<StreamObject>, Session),
    /// A stream of an object.
    Object(ObjectStream),
}

/// A page.
pub(super) struct Page {
    /// What of the store it is of.
    pub(super) of: String,
    pub(super) content_type: String,
    pub(super) form: Form,
    pub(super) start: String,
    /// What is in it; of JSON, messages with commas between.
    pub(super) data: Vec<u8>,
    pub(super) is_empty: bool,
    pub(super) next: String,
    pub(super) up_to_date: bool,
    pub(super) closed: bool,
    /// When what is read is over, if nobody uses it.
    pub(super) ends_at: Option<DateTime<Utc>>,
    /// Whether it is to be written down that it was read.
    pub(super) touch: bool,
    /// The streams that tell of what comes, each with the offset that it will have.
    pub(super) waits: Vec<Wait>,
}

/// What tells of what comes.
pub(super) struct Wait {
    pub(super) object: ObjectRef,
    pub(super) stream: String,
    pub(super) from: u64,
}

impl Source {
    /// Reads a page from an offset on.
    pub(super) async fn page(&self, state: &State, offset: &str) -> Result<Page, Failure> {
        let limit = state.durable.config.page;
        match self {
            Self::Public(stream, by) => {
                let read = Read { offset: offset.to_owned(), limit };
                let page = PublicStream::on(by, *stream).read(&read).await?;
                Ok(public(stream.object(), page)?)
            }
            Self::Object(object) => object.page(state, offset, limit as usize).await,
        }
    }

    /// Writes down that a page was read, if that keeps what is read from being over.
    pub(super) async fn touch(&self, page: &Page) -> Result<(), CallError> {
        match self {
            Self::Public(stream, by) if page.touch => PublicStream::on(by, *stream).touch().await,
            Self::Public(..) | Self::Object(_) => Ok(()),
        }
    }
}

fn public(object: ObjectRef, page: quixos_streams::streams::Page) -> Result<Page, CallError> {
    let ends_at = page.ends_at.as_deref().map(DateTime::parse_from_rfc3339).transpose();
    let ends_at = ends_at.map_err(|error| CallError::Corrupt { message: error.to_string() })?;
    let wait = |stream: &str, from| Wait { object, stream: stream.to_owned(), from };
    Ok(Page {
        of: object.id.to_string(),
        form: Form::of(&page.content_type),
        content_type: page.content_type,
        start: page.start,
        is_empty: page.messages == 0,
        data: page.data,
        next: page.next,
        up_to_date: page.up_to_date,
        closed: page.closed,
        ends_at: ends_at.map(|instant| instant.to_utc()),
        touch: page.touch,
        waits: vec![wait("content", page.content), wait("marks", page.marks)],
    })
}
