//! Streams of the runtime's objects, as public streams are read: messages of JSON.
//!
//! A program may read the log of a session of its tenant, and what is inside of a public stream of
//! its tenant. Other objects, agents with their completions among them, are nobody's in particular:
//! where a host has one tenant they are that one's; where it has several, each sees the completions
//! of its own sessions, and nothing else.

use quixos_package::agent_runtime::{AgentCompletion, AgentCompletionStreamObject};
use quixos_runtime::{
    Atom as _, CallError, Event, Layout, ObjectRef, Ref, StreamHandle, Ulid, Value, reference_text,
};
use quixos_session::sessions::{Session, SessionObject, SessionRegistry};
use quixos_streams::streams::{PublicStream, StreamObject};
use quixos_streams::{Form, Refusal};

use super::failure::Failure;
use super::page::{Page, Wait};
use crate::state::State;

/// Events that are read at once, if they have no more bytes than a page.
const EVENTS: usize = 256;

/// A stream of an object that somebody may read.
pub(super) struct ObjectStream {
    object: ObjectRef,
    name: String,
    handle: StreamHandle,
    /// The tenant whose events are shown, where there are others'.
    only: Option<String>,
}

impl ObjectStream {
    /// Finds the stream that `OBJECT/STREAM` names, if the tenant may read it. Of one that it may
    /// not, it is not even told that it is there.
    pub(super) async fn open(state: &State, tenant: &str, path: &str) -> Result<Self, Failure> {
        let named = path.split_once('/').and_then(|(id, name)| Some((id.parse().ok()?, name)));
        let (id, name) = named.ok_or(Refusal::Absent)?;
        let object = find(state, id, name).await?.ok_or(Refusal::Absent)?;
        let sight = sight(state, tenant, object).await?;
        let handle = state.engine.runtime().stream(object, name)?;
        let only = match sight {
            Sight::All => None,
            Sight::Own => Some(tenant.to_owned()),
            Sight::Nothing => return Err(Refusal::Absent.into()),
        };
        Ok(Self { object, name: name.to_owned(), handle, only })
    }

    /// Reads a page from an offset on.
    pub(super) async fn page(
        &self,
        state: &State,
        offset: &str,
        limit: usize,
    ) -> Result<Page, Failure> {
        let length = self.handle.len().await?;
        let from = place(offset, length)?;
        let events = self.handle.read_within(from, EVENTS, limit).await?;
        let mut next = from;
        let mut messages: Vec<String> = Vec::new();
        let mut bytes = 0;
        for event in events.iter().take_while(|event| event.offset < length) {
            if bytes > limit {
                break;
            }
            next = event.offset + 1;
            if self.shows(state, event).await? {
                let message = self.message(state, event)?;
                bytes += message.len();
                messages.push(message);
            }
        }
        Ok(Page {
            of: format!("{}:{}", self.object.id, self.name),
            content_type: "application/json".to_owned(),
            form: Form::Json,
            start: text(from),
            data: messages.join(",").into_bytes(),
            is_empty: messages.is_empty(),
            next: text(next),
            up_to_date: next == length,
            closed: false,
            ends_at: None,
            touch: false,
            waits: vec![Wait { object: self.object, stream: self.name.clone(), from: next }],
        })
    }

    /// Tells whether an event is the reader's to see.
    async fn shows(&self, state: &State, event: &Event) -> Result<bool, CallError> {
        let Some(tenant) = &self.only else { return Ok(true) };
        let completion: AgentCompletion = event.decode()?;
        let thread = completion.thread.object();
        let thread = reference_text(state.engine.runtime().definitions(), thread);
        let registry = SessionRegistry::on(state.door(), state.durable.sessions);
        let Some(session) = registry.threads_at(&thread).await?.first().copied() else {
            return Ok(false);
        };
        Ok(Session::on(state.door(), session).binding().await?.tenant == *tenant)
    }

    fn message(&self, state: &State, event: &Event) -> Result<String, CallError> {
        let definitions = state.engine.runtime().definitions();
        let atom = definitions.atom_of_tag(self.object.atom).map(|at| definitions.atom(at));
        let slot = atom.and_then(|atom| atom.streams.iter().find(|slot| slot.name == self.name));
        let slot = slot.ok_or_else(|| CallError::NotFound { what: self.name.clone() })?;
        let layout = Layout::of(definitions, &slot.ty);
        let value = Value::decode(&event.bytes, &layout)
            .map_err(|error| CallError::Corrupt { message: error.to_string() })?;
        Ok(value.to_json(&layout, definitions).to_string())
    }
}

/// What of an object somebody sees.
enum Sight {
    All,
    /// What is of its own sessions.
    Own,
    Nothing,
}

async fn sight(state: &State, tenant: &str, object: ObjectRef) -> Result<Sight, CallError> {
    if let Some(session) = Ref::<SessionObject>::from_object(object) {
        let binding = Session::on(state.door(), session).binding().await?;
        return Ok(if binding.tenant == tenant { Sight::All } else { Sight::Nothing });
    }
    if let Some(stream) = Ref::<StreamObject>::from_object(object) {
        let config = PublicStream::on(state.door(), stream).config().await?;
        let words: Vec<String> = serde_json::from_str(&config.key).unwrap_or_default();
        let is_own = words.len() > 1 && words[0] == tenant;
        return Ok(if is_own { Sight::All } else { Sight::Nothing });
    }
    Ok(match state.tenants.len() {
        1 => Sight::All,
        _ if object.atom == AgentCompletionStreamObject::TAG => Sight::Own,
        _ => Sight::Nothing,
    })
}

/// Finds the object with an id that has a stream of a name.
async fn find(state: &State, id: Ulid, name: &str) -> Result<Option<ObjectRef>, CallError> {
    let runtime = state.engine.runtime();
    let atoms = runtime.definitions().atoms.iter();
    let atoms = atoms.filter(|atom| atom.streams.iter().any(|slot| slot.name == name));
    let named: Vec<ObjectRef> = atoms.map(|atom| ObjectRef { atom: atom.tag, id }).collect();
    let find = runtime.read(|snapshot| {
        for object in &named {
            if snapshot.exists(*object)? {
                return Ok(Some(*object));
            }
        }
        Ok(None)
    });
    find.await
}

/// Returns the event that an offset stands for.
fn place(offset: &str, length: u64) -> Result<u64, Failure> {
    let number = match offset {
        "-1" => Some(0),
        "now" => Some(length),
        _ => offset.split_once('_').and_then(|(event, _)| event.parse().ok()),
    };
    let number = number.filter(|number| ["-1", "now"].contains(&offset) || text(*number) == offset);
    match number {
        Some(number) if number <= length => Ok(number),
        Some(_) => Err(Refusal::Position.into()),
        None => Err(CallError::invalid("offset", "not an offset that was answered").into()),
    }
}

/// Writes the place of an event, in the form of other streams. Bytes are not counted here.
fn text(event: u64) -> String {
    format!("{event:016}_{:016}", 0)
}
