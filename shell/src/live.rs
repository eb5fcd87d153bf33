//! What completion asks of the store and the session. What cannot be read is not suggested.

use std::sync::{Arc, Mutex, PoisonError};

use quixos_package::agent_runtime::AgentObject;
use quixos_runtime::{Atom, CallError, Clock, EdgeEntry, ObjectRef, Ref, Runtime, blocking};
use quixos_schema::AtomIndex;
use quixos_session::Reader;
use quixos_session::sessions::SessionObject;
use serde_json::Value;

use crate::completion::{Found, Live, Suggestion, complete};
use crate::language::{Named, Path, Variables as _};
use crate::scope::{Kept, Scope};
use crate::shell::Suggest;
use crate::stop::Stop;
use crate::verb::explain::facts;
use crate::verb::list::{brief, telling};
use crate::verb::session::find;

/// How many objects of an atom are suggested.
const MOST: usize = 20;

/// A store and the variables of a session.
pub(crate) struct Session {
    pub(crate) runtime: Runtime,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) kept: Arc<Mutex<Kept>>,
}

impl Session {
    fn read<T>(&self, read: impl Fn(&Scope<'_>) -> Result<T, Stop>) -> Option<T> {
        let kept = self.kept();
        let now = self.clock.now();
        let answer = self.runtime.read(|snapshot| {
            let scope = Scope { snapshot, kept: &kept, now };
            Ok(read(&scope).ok())
        });
        blocking(answer).ok().flatten()
    }

    fn kept(&self) -> Kept {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Suggest for Session {
    fn suggest(&self, text: &str, at: usize) -> Vec<Suggestion> {
        let definitions = Arc::clone(self.runtime.definitions());
        complete(text, at, &definitions, self)
    }
}

impl Live for Session {
    fn variables(&self) -> Vec<(String, Value)> {
        self.kept().into_iter().collect()
    }

    fn objects(&self, atom: AtomIndex) -> Vec<(String, String)> {
        let found = self.read(|scope| {
            let tag = scope.definitions().atom(atom).tag;
            let objects = scope.snapshot.objects(tag, None, MOST)?;
            objects
                .into_iter()
                .map(|object| {
                    let fields = telling(scope, object)?;
                    let about: Vec<String> = fields.iter().map(|(_, value)| brief(value)).collect();
                    Ok((scope.text(object), about.join(" ")))
                })
                .collect::<Result<Vec<_>, Stop>>()
        });
        found.unwrap_or_default()
    }

    fn find(&self, path: &Path) -> Option<Found> {
        self.read(|scope| {
            if let Ok(object) = scope.object(path) {
                let atom = scope.definitions().atom_of_tag(object.atom);
                return Ok(atom.map(Found::Object));
            }
            Ok(Some(Found::Value(scope.value(path)?)))
        })
        .flatten()
    }

    fn state(&self, path: &Path) -> Vec<Value> {
        let states = self.read(|scope| {
            let object = scope.object(path)?;
            let slots = scope.atom(object)?.states.iter();
            slots
                .map(|slot| Ok(scope.state(object, &slot.name, &slot.ty)?))
                .collect::<Result<Vec<_>, Stop>>()
        });
        states.unwrap_or_default()
    }

    fn sessions(&self, begin: &str) -> Vec<(String, String)> {
        let found = self.read(|scope| {
            let sessions = if begin.is_empty() {
                scope.snapshot.recent_objects(SessionObject::TAG, None, MOST)?
            } else {
                sessions_from(scope, begin)?
            };
            let readers = sessions.into_iter().map(|session| {
                let reader = Reader::on(scope.snapshot, Ref::checked(session)?);
                let binding = reader.binding()?;
                let about = format!("{}, {}", binding.agent_id, reader.status()?.word());
                Ok((binding.session_id, about))
            });
            readers.collect::<Result<Vec<_>, Stop>>()
        });
        found.unwrap_or_default()
    }

    fn open(&self, session: &Named) -> Vec<(String, String)> {
        let found = self.read(|scope| {
            let live = find(scope, session)?.live()?;
            let interrupts = live.interrupts.into_iter().map(|it| (it.id, it.reason));
            let calls = live.calls.into_iter().filter(|it| it.handler != "server");
            Ok(interrupts.chain(calls.map(|it| (it.id, it.kind))).collect())
        });
        found.unwrap_or_default()
    }

    fn agents(&self) -> Vec<(String, String)> {
        let found = self.read(|scope| {
            let agents = scope.snapshot.objects(AgentObject::TAG, None, MOST)?;
            let named = agents.into_iter().map(|agent| {
                let data = facts::state(scope, agent, "data")?;
                Ok((facts::text(&data, "name").to_owned(), scope.text(agent)))
            });
            named.collect::<Result<Vec<_>, Stop>>()
        });
        found.unwrap_or_default()
    }
}

/// Returns sessions whose ids begin so, in the order of their ids.
fn sessions_from(scope: &Scope<'_>, begin: &str) -> Result<Vec<ObjectRef>, CallError> {
    let mut found = Vec::new();
    for registry in Reader::registries(scope.snapshot)? {
        let registry = registry.object();
        found.extend(scope.snapshot.edge_at(registry, "sessions", begin)?);
        let after = EdgeEntry { key: Some(begin.to_owned()), object: registry };
        let page = scope.snapshot.edge(registry, "sessions", Some(&after), MOST)?;
        let begun = |it: &EdgeEntry| it.key.as_ref().is_some_and(|key| key.starts_with(begin));
        found.extend(page.into_iter().filter(begun).map(|entry| entry.object));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quixos_runtime::store::MemoryStore;
    use quixos_runtime::{Caller, SystemClock};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_offered_comes_from_the_store_and_the_session() {
        let mut builder = Runtime::builder();
        for package in quixos_package::packages() {
            builder = builder.package(package);
        }
        let runtime = builder.open(Arc::new(MemoryStore::new())).unwrap();
        let caller = runtime.session(Caller::operator("anna"));
        let input = json!({"data": {"name": "Home"}});
        let made = blocking(caller.create_json("WorkspaceObject", &input)).unwrap().value;
        let kept = Kept::from([("w".to_owned(), made.clone())]);
        let kept = Arc::new(Mutex::new(kept));
        let session = Session { runtime, clock: Arc::new(SystemClock), kept };
        let offered = |text: &str| -> Vec<String> {
            let found = session.suggest(text, text.len());
            found.into_iter().map(|it| it.text).collect()
        };
        assert_eq!(offered("call $w.ins"), ["install"]);
        assert_eq!(offered("call $w.data"), ["data"]);
        let id = made.as_str().and_then(|text| text.rsplit_once('/')).unwrap().1;
        assert_eq!(offered("show workspace/"), [format!("workspace/{id}")]);
        assert_eq!(offered("call $w.rename \"H"), Vec::<String>::new());
        assert_eq!(offered("$w.data.n"), ["name"]);
    }
}
