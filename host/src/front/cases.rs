//! Turns on which both doors are tried: `tests/turns/NAME.ndjson`, an event a line.
#![allow(clippy::unwrap_used, reason = "a helper of tests")]

use std::fs;
use std::path::PathBuf;

use quixos_protocol::agent::AgentEvent;
use serde_json::Value;

/// A turn.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) events: Vec<AgentEvent>,
}

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/turns")
}

pub(crate) fn all() -> Vec<Case> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = files.filter_map(|file| {
        let name = file.to_str()?.strip_suffix(".ndjson")?.to_owned();
        // What is told of a turn has a second word.
        (!name.contains('.')).then_some(name)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    names.iter().map(|name| named(name)).collect()
}

pub(crate) fn named(name: &str) -> Case {
    let text = fs::read_to_string(folder().join(format!("{name}.ndjson"))).unwrap();
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Case { name: name.to_owned(), events }
}

/// Returns values as lines.
pub(crate) fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}
