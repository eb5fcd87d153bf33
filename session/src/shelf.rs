//! The shelf of an owner: what a session is filed under, so that the newest come first.
//!
//! Keys are read in one direction only. So a key holds the session's id with all bits turned: what
//! is newer sorts before what is older. The owner stands before it as a digest, which is of one
//! length whatever people are called.

use quixos_runtime::{Ref, Ulid};

use crate::sessions::SessionObject;

/// What all keys of an owner begin with.
pub(crate) fn prefix(tenant: &str, owner: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    // The length keeps apart what would run together.
    hasher.update(&(tenant.len() as u64).to_be_bytes());
    hasher.update(tenant.as_bytes());
    hasher.update(owner.as_bytes());
    format!("{}/", hasher.finalize().to_hex())
}

/// Returns the part of a session's key that is behind the owner's.
pub(crate) fn place(session: Ref<SessionObject>) -> String {
    turned(session.id()).to_string()
}

/// Says whether a text is such a part.
pub(crate) fn is_place(text: &str) -> bool {
    Ulid::from_string(text).is_ok()
}

fn turned(id: Ulid) -> Ulid {
    Ulid::from_bytes(id.to_bytes().map(|byte| !byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_newer_comes_first_and_owners_are_apart() {
        let (old, new) = (Ulid::from_bytes([1; 16]), Ulid::from_bytes([2; 16]));
        assert!(turned(new).to_string() < turned(old).to_string());
        assert!(is_place(&turned(new).to_string()));
        assert!(!is_place("../"));
        assert_ne!(prefix("a", "bc"), prefix("ab", "c"));
        assert_eq!(prefix("a", "b").len(), prefix("a", &"b".repeat(99)).len());
    }
}
