//! A runtime and its store, and the two ways to say that nothing has changed.

use std::fmt::Debug;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_runtime::store::{Batch, Direction, Durability, MemoryStore, Store};
use quixos_runtime::{
    CallError, Caller, Clock, ManualClock, ObjectRef, PackageCode, Ref, Runtime, SeededIds,
    Session, Tag, key, reference_text,
};
use serde::Serialize;
use serde_json::Value;

use super::inputs::START;

/// A runtime over a store, with a clock that stands still.
pub(crate) struct World {
    pub(crate) runtime: Runtime,
    pub(crate) session: Session,
    pub(crate) clock: Arc<ManualClock>,
    store: Arc<dyn Store>,
}

/// Keys of objects, their state and edges, and of streams; not those of the history, in which a
/// call that was answered leaves a line although it changed nothing.
const OBJECTS: std::ops::RangeInclusive<u8> = 0x10..=0x2F;

impl World {
    /// Opens a runtime over an empty store in memory.
    pub(crate) fn new() -> Self {
        Self::over(Arc::new(MemoryStore::new()))
    }

    /// Opens a runtime over a store.
    pub(crate) fn over(store: Arc<dyn Store>) -> Self {
        Self::with(store, quixos_package::packages())
    }

    /// Opens a runtime with other packages than ours alone.
    pub(crate) fn with(
        store: Arc<dyn Store>,
        packages: impl IntoIterator<Item = PackageCode>,
    ) -> Self {
        let start: DateTime<Utc> = START.parse().unwrap();
        let clock = Arc::new(ManualClock::at(start));
        let builder = packages
            .into_iter()
            .fold(Runtime::builder(), |builder, package| builder.package(package));
        let runtime = builder
            .clock(clock.clone())
            .ids(Arc::new(SeededIds::new(7)))
            .open(store.clone())
            .unwrap();
        let session = runtime.session(Caller::operator("anna"));
        Self { runtime, session, clock, store }
    }

    /// Makes everything durable, and returns the store, which nobody uses any longer.
    pub(crate) fn close(self) -> Arc<dyn Store> {
        self.runtime.close();
        self.store
    }

    /// Closes the store and opens it again.
    pub(crate) fn reopen(&mut self) {
        self.runtime.clone().close();
        let now = self.clock.now();
        *self = Self::over(self.store.clone());
        self.clock.set(now);
    }

    /// Writes a state slot behind the runtime's back.
    pub(crate) fn rewrite<T: Serialize>(
        &mut self,
        object: impl Into<ObjectRef>,
        slot: &str,
        value: &T,
    ) {
        self.runtime.clone().close();
        let bytes = postcard::to_allocvec(value).unwrap();
        let batch = Batch {
            read_version: self.store.view().unwrap().version(),
            writes: vec![(key::state(object.into(), Tag::of(slot)), Some(bytes.into()))],
            ..Batch::default()
        };
        self.store.commit(batch, Durability::Durable).unwrap();
        self.reopen();
    }

    /// Moves the clock forward.
    pub(crate) fn wait(&self, minutes: u64) {
        self.clock.advance(Duration::from_secs(60 * minutes));
    }

    /// Creates a workspace.
    pub(crate) async fn workspace(&self) -> Ref<WorkspaceObject> {
        let data = WorkspaceData { name: "home".to_owned() };
        WorkspaceObject::create(&self.session, &WorkspaceObjectInput { data }).await.unwrap()
    }

    /// Returns the canonical text of a reference.
    pub(crate) fn text(&self, reference: impl Into<ObjectRef>) -> String {
        reference_text(self.runtime.definitions(), reference.into())
    }

    /// Calls a member by JSON, as an operator.
    pub(crate) async fn outside(
        &self,
        on: impl Into<ObjectRef>,
        member: &str,
        input: Value,
    ) -> Result<Value, CallError> {
        self.session.invoke_json(on.into(), member, &input).await.map(|answer| answer.value)
    }

    /// Calls an internal member, as an operator who says so.
    pub(crate) async fn internal(
        &self,
        on: impl Into<ObjectRef>,
        member: &str,
        input: Value,
    ) -> Result<Value, CallError> {
        let session = self.session.with_internal();
        session.invoke_json(on.into(), member, &input).await.map(|answer| answer.value)
    }

    /// Returns the error of a call that fails, having seen that it left the store as it was.
    pub(crate) async fn fails<T: Debug>(
        &self,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> CallError {
        let before = self.bytes(0..=0xFE);
        let error = call.await.unwrap_err();
        assert!(before == self.bytes(0..=0xFE), "a failed call left a trace: {error}");
        error
    }

    /// Returns the answer of a call, having seen that it changed no object.
    pub(crate) async fn keeps<T>(&self, call: impl Future<Output = Result<T, CallError>>) -> T {
        let before = self.bytes(OBJECTS);
        let answer = call.await.unwrap();
        assert!(before == self.bytes(OBJECTS), "the call changed something");
        answer
    }

    /// Returns all that is stored under some kinds of key.
    fn bytes(&self, kinds: std::ops::RangeInclusive<u8>) -> Vec<(Vec<u8>, Vec<u8>)> {
        let view = self.store.view().unwrap();
        let (first, last) = ([*kinds.start()], [kinds.end() + 1]);
        let page = view
            .range(Bound::Included(&first), Bound::Excluded(&last), Direction::Forward, usize::MAX)
            .unwrap();
        assert!(!page.more && !page.entries.is_empty());
        page.entries.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
    }

    /// Checks every byte and every invariant.
    pub(crate) async fn verify(&self) {
        assert_eq!(self.findings().await, Vec::<String>::new());
    }

    /// Returns what a check of every byte and every invariant finds.
    pub(crate) async fn findings(&self) -> Vec<String> {
        let report = self.runtime.verify().await.unwrap();
        report.findings.iter().map(ToString::to_string).collect()
    }
}

/// Returns the path of an `invalid`; of another error, what it says.
pub(crate) fn invalid_at(error: CallError) -> String {
    if let CallError::Invalid { path, .. } = error { path } else { error.to_string() }
}
