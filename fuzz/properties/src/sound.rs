//! What holds for a store with anything in it.

use std::sync::Arc;

use quixos_runtime::store::{MemoryStore, Store};
use quixos_runtime::{CallError, Runtime, Snapshot, blocking, import};

use crate::calls::{EVERY_OPERATION, Lines};
use crate::world::{Start, World, entries};

/// How much of everything is read.
const MANY: usize = 64;

/// Opens a store. It must be that
///
/// - it is refused, or all of it can be read and verified, with typed errors at the worst;
/// - where `verify` finds nothing, everything can be read;
/// - what is exported is imported as what it was;
/// - calls are answered, and those that fail change nothing.
pub(crate) fn whatever_is_in(store: Arc<dyn Store>) {
    let world = match World::over(store, 9) {
        Ok(world) => world,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let report = blocking(world.runtime.verify());
    let is_clean = report.is_ok_and(|report| report.is_clean());
    let read = blocking(world.runtime.read(|snapshot| everything(snapshot, is_clean)));
    assert!(read.is_ok() || !is_clean, "verify finds nothing, but {read:?}");
    through_an_export(&world.runtime, world.store.as_ref(), is_clean);
    Lines::new(&world, &Start::get().objects, is_clean).run(EVERY_OPERATION);
    world.runtime.close();
}

/// Tells an error from one that must not be: that of code which broke off.
pub(crate) fn assert_expected(error: &CallError, is_clean: bool) {
    let text = error.to_string();
    assert!(!text.contains("broke off"), "a panic: {text}");
    let broken = matches!(error, CallError::Corrupt { .. } | CallError::Storage { .. });
    assert!(!broken || !is_clean, "on a store in which nothing is wrong: {text}");
}

fn through_an_export(runtime: &Runtime, store: &dyn Store, is_clean: bool) {
    let mut file = Vec::new();
    match blocking(runtime.export(&mut file)) {
        Ok(_) => {
            let copy = MemoryStore::new();
            import(&file[..], &copy).expect("what was exported can be imported");
            assert_eq!(entries(&copy), entries(store));
        }
        Err(error) => assert!(!is_clean, "verify finds nothing, but {error}"),
    }
}

/// Reads everything there is to read, and goes on behind what cannot be read; answers the first
/// error.
fn everything(snapshot: &Snapshot<'_>, is_clean: bool) -> Result<(), CallError> {
    let mut reading = Reading { snapshot, is_clean, first: Ok(()) };
    reading.try_it(snapshot.head());
    reading.try_it(snapshot.packages());
    reading.try_it(snapshot.history(0, MANY));
    reading.try_it(snapshot.recent_history(MANY));
    for atom in &snapshot.definitions().atoms {
        let objects = reading.try_it(snapshot.objects(atom.tag, None, MANY)).unwrap_or_default();
        for object in objects {
            reading.try_it(snapshot.created(object));
            for slot in &atom.states {
                reading.try_it(snapshot.state(object, &slot.name));
            }
            let edges = atom.edges.iter().map(|slot| &slot.name);
            for name in edges.chain(atom.inverses.iter().map(|slot| &slot.name)) {
                let found = reading.try_it(snapshot.edge(object, name, None, MANY));
                for entry in found.unwrap_or_default() {
                    reading.try_it(snapshot.edge(object, name, Some(&entry), 1));
                }
            }
            let holders = reading.try_it(snapshot.holders(object, None, MANY));
            for holder in holders.unwrap_or_default() {
                reading.try_it(snapshot.holders(object, Some(&holder), 1));
            }
            for slot in &atom.streams {
                reading.stream(object, &slot.name);
            }
        }
    }
    reading.first
}

struct Reading<'a> {
    snapshot: &'a Snapshot<'a>,
    is_clean: bool,
    first: Result<(), CallError>,
}

impl Reading<'_> {
    fn stream(&mut self, object: quixos_runtime::ObjectRef, name: &str) {
        self.try_it(self.snapshot.stream_len(object, name));
        self.try_it(self.snapshot.cursors(object, name));
        let events = self.try_it(self.snapshot.events(object, name, 0, MANY));
        for event in events.unwrap_or_default() {
            self.try_it(self.snapshot.event_value(object, name, &event));
        }
    }

    fn try_it<T>(&mut self, read: Result<T, CallError>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(error) => {
                assert_expected(&error, self.is_clean);
                if self.first.is_ok() {
                    self.first = Err(error);
                }
                None
            }
        }
    }
}
