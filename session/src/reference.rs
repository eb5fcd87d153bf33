//! References as text.

/// Returns the object's id in the canonical text of a reference, `atom-id/ULID`: what is behind the
/// last slash, since no ULID has one.
pub(crate) fn object_id(reference: &str) -> &str {
    reference.rsplit_once('/').map_or(reference, |(_, id)| id)
}
