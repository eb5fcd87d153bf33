//! What answers are known by, so that they count once however often they are sent.
//!
//! A front end has no key for what it sends. What it says is one: the names of its thread and its run, or
//! what it answers. So the key follows from that, and always follows again. What is sent beside it is not
//! looked at: a client that lost the line has heard a part, and sends that part along the next time.

use quixos_session::sessions::Once;

use super::hash;

/// What the keys are for, so that no other hash of the same texts is one of them.
const CONTEXT: &str = "quixos host 2026 answers of front ends";

/// Returns what is known by these parts at a door.
pub(crate) fn once<'p>(door: &str, parts: impl IntoIterator<Item = &'p str>) -> Once {
    let digest = hash(CONTEXT, parts);
    Once { key: format!("{door}:{digest}"), digest }
}
