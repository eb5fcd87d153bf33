//! The text form of a reference: the atom's id, `/`, the object's ULID.
//!
//! A reference has one text, so that texts can be compared and kept as keys: what is not the text
//! that [`reference_text`] prints is refused, also where it could be understood.

use quixos_schema::{Definitions, meant};
use ulid::Ulid;

use crate::reference::ObjectRef;

/// Why a text is no reference.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReferenceError {
    /// There is no `/` in it.
    #[error("`{text}` is no reference: an atom's id, `/`, and a ULID")]
    Form {
        /// The text, shortened.
        text: String,
    },
    /// No atom has this id.
    #[error(
        "no atom has the id `{id}`{}",
        nearest.as_ref().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
    )]
    UnknownAtom {
        /// The id, shortened.
        id: String,
        /// An id that is much like it.
        nearest: Option<String>,
    },
    /// What follows the `/` is no ULID.
    #[error("`{text}` is no ULID: 26 of 0-9 and A-Z without I, L, O and U, the first at most 7")]
    Ulid {
        /// The text, shortened.
        text: String,
    },
}

/// Returns the text of a reference, `atom:org.quixos.agent:thread/01ARZ3NDEKTSV4RRFFQ69G5FAV`. An
/// atom that the definitions do not have is shown by its tag, in a form that is not read back.
#[must_use]
pub fn reference_text(definitions: &Definitions, reference: ObjectRef) -> String {
    match definitions.atom_of_tag(reference.atom) {
        Some(atom) => format!("{}/{}", definitions.atom(atom).id, reference.id),
        None => format!("?{reference:?}"),
    }
}

/// Reads the text of a reference. Whether the object exists is another question.
///
/// # Errors
/// When it is not the text of a reference to an atom of these definitions.
pub fn parse_reference(definitions: &Definitions, text: &str) -> Result<ObjectRef, ReferenceError> {
    let (atom, id) =
        text.rsplit_once('/').ok_or_else(|| ReferenceError::Form { text: shortened(text) })?;
    let atom = definitions.atom_of_id(atom).ok_or_else(|| ReferenceError::UnknownAtom {
        id: shortened(atom),
        nearest: meant(atom, definitions.atoms.iter().map(|it| it.id.as_str())).map(Into::into),
    })?;
    // The parser takes small letters, and lets a number that is too large wrap around.
    let ulid = Ulid::from_string(id).ok().filter(|ulid| ulid.to_string() == id);
    let id = ulid.ok_or_else(|| ReferenceError::Ulid { text: shortened(id) })?;
    Ok(ObjectRef { atom: definitions.atom(atom).tag, id })
}

/// Returns at most 80 characters of a text that somebody sent, for a message.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
