//! Strings that have a meaning, and where they are expected.
//!
//! The definitions call these fields strings; which words they take is said in the documents of
//! the operations. They are suggested, never enforced: the operation decides.

/// Fields, by what their input belongs to, and the words that they take.
const WORDS: &[(&str, &str, &[&str])] = &[
    ("directory_advertise", "availability", &["online", "degraded", "offline"]),
    ("request_transition", "status", &["running", "waiting"]),
    ("request_finish", "status", &["completed", "failed", "cancelled"]),
    ("directory_createThread", "kind", &["main", "request"]),
    ("agent_createThread", "kind", &["main", "request"]),
    ("request_upsertItem", "kind", &["output", "tool", "steer"]),
    ("request_upsertItem", "phase", &["draft", "final"]),
    ("item_checkpoint", "phase", &["draft", "final"]),
    ("", "sourceKind", &["user", "agent", "schedule"]),
    ("", "response", &["text", "json"]),
];

/// Returns the words for a field of an operation's input.
pub(super) fn of(operation: Option<&str>, field: &str) -> &'static [&'static str] {
    let fits = |owner: &str| owner.is_empty() || operation == Some(owner);
    WORDS
        .iter()
        .find(|(owner, name, _)| fits(owner) && *name == field)
        .map_or(&[], |(_, _, words)| words)
}
