//! Values that come in, from outside or from a handler: of their type, references to the right
//! atoms, and whatever else is asked of each reference.

use crate::error::CallError;
use crate::reference::ObjectRef;
use crate::value::{Expected, Layout, Path, ValueError};

/// Walks over a value that comes in: it must be of its type, its references to the right atoms.
pub(crate) fn admit(
    layout: &Layout,
    bytes: &[u8],
    mut visit: impl FnMut(&Path<'_>, ObjectRef) -> Result<(), CallError>,
) -> Result<(), CallError> {
    let walked = layout.walk(bytes, |path, reference, expected: &Expected| {
        if !expected.accepts(reference) {
            let message = format!("must lead to {}, leads to {reference:?}", expected.noun());
            return Err(Found::Refused(CallError::invalid(path.to_string(), message)));
        }
        visit(path, reference).map_err(Found::Refused)
    });
    walked.map_err(|found| match found {
        Found::Malformed(error) => error.invalid(),
        Found::Refused(error) => error,
    })
}

/// What a walk over a value's references can end with.
enum Found {
    Malformed(ValueError),
    Refused(CallError),
}

impl From<ValueError> for Found {
    fn from(error: ValueError) -> Self {
        Self::Malformed(error)
    }
}

impl From<CallError> for Found {
    fn from(error: CallError) -> Self {
        Self::Refused(error)
    }
}
