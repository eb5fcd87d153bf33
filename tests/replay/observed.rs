//! What a store holds, in the words of the model, so that the two can be held side by side.
//!
//! Ids sort by creation, so the number that the model knows an object by is its place among the
//! objects of its atom.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use quixos_package::agent_runtime::{
    AgentCompletion, AgentData, DirectoryData, ItemData, QuestionData, RequestState, ThreadData,
};
use quixos_runtime::{CallError, ObjectRef, Snapshot};
use serde::de::DeserializeOwned;

use super::choose::Kind;
use crate::plain::Model;

/// The number of each object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers(HashMap<ObjectRef, usize>);

impl Numbers {
    /// Counts what is there.
    pub(crate) fn read(snapshot: &Snapshot<'_>) -> Result<Self, CallError> {
        let mut numbers = HashMap::new();
        for kind in Kind::ALL {
            let objects = snapshot.objects(kind.tag(), None, usize::MAX)?;
            numbers.extend(objects.into_iter().enumerate().map(|(at, object)| (object, at)));
        }
        Ok(Self(numbers))
    }

    /// Returns the number of an object that is there.
    pub(crate) fn of(&self, object: ObjectRef) -> usize {
        *self.0.get(&object).unwrap_or_else(|| panic!("{object:?} was answered, and is not there"))
    }
}

#[derive(Clone, PartialEq, Debug)]
struct Directory {
    data: DirectoryData,
    pending: BTreeSet<usize>,
    notifications: BTreeSet<usize>,
    repairs: BTreeMap<String, usize>,
}

#[derive(Clone, PartialEq, Debug)]
struct Agent {
    data: AgentData,
    directory: usize,
    told: Vec<(usize, usize, String)>,
}

#[derive(Clone, PartialEq, Debug)]
struct Thread {
    data: ThreadData,
    active: Option<usize>,
}

#[derive(Clone, PartialEq, Debug)]
struct Request {
    text: String,
    sequence: u64,
    progress: RequestState,
    spawned: u32,
    thread: usize,
    correction: Option<usize>,
}

/// Everything that calls change.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Observed {
    directories: Vec<Directory>,
    agents: Vec<Agent>,
    threads: Vec<Thread>,
    requests: Vec<Request>,
    items: Vec<(ItemData, usize)>,
    questions: Vec<(QuestionData, usize)>,
}

impl Observed {
    /// Returns what the model holds.
    pub(crate) fn of(model: &Model) -> Self {
        let directories = model.directories.iter().map(|it| Directory {
            data: it.data.clone(),
            pending: it.pending.clone(),
            notifications: it.notifications.clone(),
            repairs: it.repairs.clone(),
        });
        let agents = model.agents.iter().map(|it| Agent {
            data: it.data.clone(),
            directory: it.directory,
            told: it.told.clone(),
        });
        let threads =
            model.threads.iter().map(|it| Thread { data: it.data.clone(), active: it.active });
        let requests = model.requests.iter().map(|it| Request {
            text: it.admission.text.clone(),
            sequence: it.admission.sequence,
            progress: it.progress.clone(),
            spawned: it.spawned,
            thread: it.thread,
            correction: it.correction,
        });
        Self {
            directories: directories.collect(),
            agents: agents.collect(),
            threads: threads.collect(),
            requests: requests.collect(),
            items: model.items.iter().map(|it| (it.data.clone(), it.request)).collect(),
            questions: model.questions.iter().map(|it| (it.data.clone(), it.request)).collect(),
        }
    }

    /// Reads what a store holds.
    pub(crate) fn read(snapshot: &Snapshot<'_>) -> Result<Self, CallError> {
        let reading = Reading { snapshot, numbers: Numbers::read(snapshot)? };
        Ok(Self {
            directories: reading.each(Kind::Directory, Reading::directory)?,
            agents: reading.each(Kind::Agent, Reading::agent)?,
            threads: reading.each(Kind::Thread, Reading::thread)?,
            requests: reading.each(Kind::Request, Reading::request)?,
            items: reading.each(Kind::Item, |it, item| {
                Ok((it.state(item, "data")?, it.one(item, "request")?))
            })?,
            questions: reading.each(Kind::Question, |it, question| {
                Ok((it.state(question, "data")?, it.one(question, "request")?))
            })?,
        })
    }

    /// Fails where two differ, with no more than what differs.
    pub(crate) fn assert_is(&self, expected: &Self, when: &str) {
        same(&self.directories, &expected.directories, "directory", when);
        same(&self.agents, &expected.agents, "agent", when);
        same(&self.threads, &expected.threads, "thread", when);
        same(&self.requests, &expected.requests, "request", when);
        same(&self.items, &expected.items, "item", when);
        same(&self.questions, &expected.questions, "question", when);
    }
}

fn same<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T], what: &str, when: &str) {
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "{what} {number} {when}");
    }
    assert_eq!(found.len(), expected.len(), "how many of {what} {when}");
}

struct Reading<'a, 's> {
    snapshot: &'a Snapshot<'s>,
    numbers: Numbers,
}

impl Reading<'_, '_> {
    fn each<T>(
        &self,
        kind: Kind,
        read: impl Fn(&Self, ObjectRef) -> Result<T, CallError>,
    ) -> Result<Vec<T>, CallError> {
        let objects = self.snapshot.objects(kind.tag(), None, usize::MAX)?;
        objects.into_iter().map(|object| read(self, object)).collect()
    }

    fn state<T: DeserializeOwned>(&self, object: ObjectRef, slot: &str) -> Result<T, CallError> {
        Ok(postcard::from_bytes(&self.snapshot.state_bytes(object, slot)?).unwrap())
    }

    fn targets(&self, object: ObjectRef, edge: &str) -> Result<Vec<ObjectRef>, CallError> {
        let entries = self.snapshot.edge(object, edge, None, usize::MAX)?;
        Ok(entries.into_iter().map(|entry| entry.object).collect())
    }

    fn set(&self, object: ObjectRef, edge: &str) -> Result<BTreeSet<usize>, CallError> {
        Ok(self.targets(object, edge)?.into_iter().map(|it| self.numbers.of(it)).collect())
    }

    fn optional(&self, object: ObjectRef, edge: &str) -> Result<Option<usize>, CallError> {
        Ok(self.targets(object, edge)?.first().map(|it| self.numbers.of(*it)))
    }

    fn one(&self, object: ObjectRef, edge: &str) -> Result<usize, CallError> {
        Ok(self.optional(object, edge)?.unwrap())
    }

    fn directory(&self, directory: ObjectRef) -> Result<Directory, CallError> {
        let repairs = self.snapshot.edge(directory, "repairs", None, usize::MAX)?;
        let repair =
            |entry: quixos_runtime::EdgeEntry| (entry.key.unwrap(), self.numbers.of(entry.object));
        Ok(Directory {
            data: self.state(directory, "data")?,
            pending: self.set(directory, "pending")?,
            notifications: self.set(directory, "notifications")?,
            repairs: repairs.into_iter().map(repair).collect(),
        })
    }

    fn agent(&self, agent: ObjectRef) -> Result<Agent, CallError> {
        let stream = self.targets(agent, "completions")?[0];
        let events = self.snapshot.events(stream, "events", 0, usize::MAX)?;
        let told = events.iter().enumerate().map(|(at, event)| {
            assert_eq!(event.offset, at as u64, "an offset of a stream");
            let AgentCompletion { request, thread, status } = event.decode()?;
            let (request, thread) = (request.object(), thread.object());
            Ok((self.numbers.of(request), self.numbers.of(thread), status))
        });
        Ok(Agent {
            data: self.state(agent, "data")?,
            directory: self.one(agent, "directory")?,
            told: told.collect::<Result<_, CallError>>()?,
        })
    }

    fn thread(&self, thread: ObjectRef) -> Result<Thread, CallError> {
        Ok(Thread { data: self.state(thread, "data")?, active: self.optional(thread, "active")? })
    }

    fn request(&self, request: ObjectRef) -> Result<Request, CallError> {
        let admission: quixos_package::agent_runtime::RequestData =
            self.state(request, "admission")?;
        Ok(Request {
            text: admission.text,
            sequence: admission.sequence,
            progress: self.state(request, "progress")?,
            spawned: self.state(request, "spawned")?,
            thread: self.one(request, "thread")?,
            correction: self.optional(request, "correction")?,
        })
    }
}
