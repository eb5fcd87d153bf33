//! What completion asks of the store and the session. What cannot be read is not suggested.

use std::sync::{Arc, Mutex, PoisonError};

use quixos_runtime::{Clock, Runtime, blocking};
use quixos_schema::AtomIndex;
use serde_json::Value;

use crate::completion::{Found, Live};
use crate::language::{Path, Variables as _};
use crate::scope::{Kept, Scope};
use crate::stop::Stop;
use crate::verb::list::{brief, telling};

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
}
