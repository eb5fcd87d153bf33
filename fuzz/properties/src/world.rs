//! A small world to send foreign bytes into: one object of each kind, and a request that is worked
//! on, with a question and an item.
//!
//! Building it takes long, so it is built once; each input gets a store of its own with the same
//! entries. Nothing here depends on how they are laid out.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use quixos_runtime::store::{Batch, Direction, Durability, MemoryStore, Store};
use quixos_runtime::{
    CallError, Caller, Clock, ManualClock, ObjectRef, OpenError, Runtime, SeededIds, Session,
    blocking, parse_reference,
};
use serde_json::{Value as Json, json};

/// Keys and values, in the order of the keys.
pub(crate) type Entries = Vec<(Bytes, Bytes)>;

/// Where the clock stands at first.
const START: &str = "2026-01-31T12:00:00Z";

/// A runtime over a store in memory, for one input.
pub(crate) struct World {
    pub(crate) runtime: Runtime,
    pub(crate) session: Session,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Arc<dyn Store>,
}

/// What every input begins with.
pub(crate) struct Start {
    pub(crate) entries: Entries,
    /// The objects, by the names that inputs have for them.
    pub(crate) objects: BTreeMap<&'static str, ObjectRef>,
    /// The same as an export.
    pub(crate) export: Vec<u8>,
}

static BUILT: LazyLock<Start> = LazyLock::new(|| built().expect("each call of the setup is good"));

impl World {
    /// Opens what is in a store.
    pub(crate) fn over(store: Arc<dyn Store>, seed: u64) -> Result<Self, OpenError> {
        let clock = Arc::new(ManualClock::at(start_time()));
        let packages = quixos_package::packages().into_iter();
        let runtime = packages
            .fold(Runtime::builder(), |builder, package| builder.package(package))
            .clock(Arc::clone(&clock) as Arc<dyn Clock>)
            .ids(Arc::new(SeededIds::new(seed)))
            .open(Arc::clone(&store))?;
        let session = runtime.session(Caller::operator("anna"));
        Ok(Self { runtime, session, clock, store })
    }

    /// Opens the small world.
    pub(crate) fn new() -> Self {
        Self::over(filled(Start::get().entries.clone()), 8).expect("it was closed as it should be")
    }

    /// Calls a member by JSON.
    pub(crate) fn call(
        &self,
        on: ObjectRef,
        member: &str,
        input: &Json,
    ) -> Result<Json, CallError> {
        blocking(self.session.invoke_json(on, member, input)).map(|answer| answer.value)
    }

    /// Returns everything that is stored.
    pub(crate) fn entries(&self) -> Entries {
        entries(self.store.as_ref())
    }

    fn reference(&self, answer: Result<Json, CallError>) -> Result<ObjectRef, CallError> {
        let answer = answer?;
        let text = answer.as_str().unwrap_or_default();
        parse_reference(self.runtime.definitions(), text)
            .map_err(|error| CallError::NotFound { what: error.to_string() })
    }

    fn asked(&self, on: ObjectRef, member: &str, input: &Json) -> Result<ObjectRef, CallError> {
        self.reference(self.call(on, member, input))
    }
}

impl Start {
    /// Returns what every input begins with.
    pub(crate) fn get() -> &'static Self {
        &BUILT
    }
}

/// Returns the small world as an export, for what is made of good files.
#[must_use]
pub fn exported() -> Vec<u8> {
    Start::get().export.clone()
}

/// Returns everything in a store.
pub(crate) fn entries(store: &dyn Store) -> Entries {
    let view = store.view().expect("a store in memory can be read");
    let all = view.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, usize::MAX);
    all.expect("a store in memory can be read").entries
}

/// Returns a store with entries that come in the order of their keys, as far as it takes them.
pub(crate) fn filled(entries: Entries) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    let writes = entries.into_iter().map(|(key, value)| (key, Some(value))).collect();
    let batch = Batch { writes, ..Batch::default() };
    // A store that refuses its entries is an empty one: that is foreign bytes, too.
    drop(store.commit(batch, Durability::Durable));
    Arc::new(store)
}

fn start_time() -> DateTime<Utc> {
    DateTime::from_timestamp(1_769_860_800, 0).expect("it is a time")
}

fn built() -> Result<Start, CallError> {
    let world = World::over(Arc::new(MemoryStore::new()), 7).expect("an empty store is good");
    let create = json!({"data": {"name": "Home"}});
    let created = blocking(world.session.create_json("WorkspaceObject", &create));
    let workspace = world.reference(created.map(|answer| answer.value))?;
    let install = json!({"instructions": "Be brief.", "settings": "{}"});
    let directory = world.asked(workspace, "install", &install)?;
    let agent = world.asked(directory, "defaultAgent", &Json::Null)?;
    let thread = world.asked(directory, "initialThread", &Json::Null)?;
    let stream = world.asked(agent, "completions", &Json::Null)?;
    let document = json!({"title": "Report", "body": "All is well.", "presentable": true});
    let document = world.asked(workspace, "createDocument", &document)?;
    let send = |text: &str| {
        json!({
            "text": text, "sourceKind": "user", "sourceLabel": "anna", "createdAt": START,
            "contexts": [], "causalDepth": 0,
        })
    };
    let request = world.asked(thread, "send", &send("Summarise the report"))?;
    let claim =
        json!({"attempt": "a1", "expectedGeneration": 0, "startedAt": START, "recover": false});
    world.call(request, "claim", &claim)?;
    let ask = json!({
        "attempt": "a1", "generation": 1, "key": "colour", "title": "Which colour?",
        "options": "[\"red\", \"blue\"]", "createdAt": START, "expiresAt": "2026-01-31T12:10:00Z",
    });
    let question = world.asked(request, "ask", &ask)?;
    let item = json!({"attempt": "a1", "generation": 1, "data": {
        "key": "draft", "kind": "output", "text": "The", "phase": "draft", "sequence": 0,
        "version": 1, "createdAt": START, "updatedAt": START,
    }});
    let item = world.asked(request, "upsertItem", &item)?;
    let queued = world.asked(thread, "send", &send("And the next"))?;
    let objects = BTreeMap::from([
        ("workspace", workspace),
        ("directory", directory),
        ("agent", agent),
        ("thread", thread),
        ("stream", stream),
        ("document", document),
        ("request", request),
        ("question", question),
        ("item", item),
        ("queued", queued),
    ]);
    let mut export = Vec::new();
    blocking(world.runtime.export(&mut export)).expect("it can be read, and memory written");
    world.runtime.close();
    Ok(Start { entries: entries(world.store.as_ref()), objects, export })
}
