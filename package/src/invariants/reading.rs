//! Reading a store page by page, by the types of the definitions.

use quixos_runtime::{Atom, CallError, EdgeEntry, ObjectRef, Ref, Snapshot, reference_text};
use serde::de::DeserializeOwned;

/// How much is read at a time.
const PAGE: usize = 256;

/// Does something with each object of an atom.
pub(super) fn each<A: Atom>(
    snapshot: &Snapshot<'_>,
    mut visit: impl FnMut(Ref<A>) -> Result<(), CallError>,
) -> Result<(), CallError> {
    let mut after = None;
    loop {
        let page = snapshot.objects(A::TAG, after, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.id);
        for object in page {
            if let Some(object) = Ref::from_object(object) {
                visit(object)?;
            }
        }
    }
}

/// Reads a state slot.
pub(super) fn state<T: DeserializeOwned>(
    snapshot: &Snapshot<'_>,
    object: impl Into<ObjectRef>,
    slot: &str,
) -> Result<T, CallError> {
    let object = object.into();
    let bytes = snapshot.state_bytes(object, slot)?;
    postcard::from_bytes(&bytes).map_err(|error| CallError::Corrupt {
        message: format!("`{slot}` of {}: {error}", place(snapshot, object)),
    })
}

/// Returns the one target of an edge, or that of an edge that may have none.
pub(super) fn target(
    snapshot: &Snapshot<'_>,
    object: impl Into<ObjectRef>,
    edge: &str,
) -> Result<Option<ObjectRef>, CallError> {
    Ok(snapshot.edge(object.into(), edge, None, 1)?.pop().map(|entry| entry.object))
}

/// Returns the text of a reference, as the place of a finding.
pub(super) fn place(snapshot: &Snapshot<'_>, object: impl Into<ObjectRef>) -> String {
    reference_text(snapshot.definitions(), object.into())
}

/// The targets of an edge, or the sources of an inverse, in order.
pub(super) struct Walk<'a> {
    snapshot: &'a Snapshot<'a>,
    object: ObjectRef,
    edge: &'static str,
    page: std::vec::IntoIter<EdgeEntry>,
    last: Option<EdgeEntry>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot<'a>,
        object: impl Into<ObjectRef>,
        edge: &'static str,
    ) -> Self {
        Self { snapshot, object: object.into(), edge, page: Vec::new().into_iter(), last: None }
    }

    /// Returns the next object.
    pub(super) fn next(&mut self) -> Result<Option<ObjectRef>, CallError> {
        if self.page.len() == 0 {
            let page = self.snapshot.edge(self.object, self.edge, self.last.as_ref(), PAGE)?;
            self.page = page.into_iter();
        }
        let Some(entry) = self.page.next() else { return Ok(None) };
        let object = entry.object;
        self.last = Some(entry);
        Ok(Some(object))
    }
}
