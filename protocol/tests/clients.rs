//! The types of the clients are those of the schema: they are printed from it, and are here.
//!
//! `UPDATE_EXPECT=1 cargo test -p quixos-protocol --test clients` prints them anew.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "clients/python.rs"]
mod python;
#[path = "clients/types.rs"]
mod types;
#[path = "clients/typescript.rs"]
mod typescript;

use expect_test::expect_file;
use types::Types;

#[test]
fn those_of_typescript_are_those_of_the_schema() {
    let types = Types::read(&quixos_protocol::schema::agent_document());
    expect_file!["../../clients/typescript/src/protocol.ts"].assert_eq(&typescript::print(&types));
}

#[test]
fn those_of_python_are_those_of_the_schema() {
    let types = Types::read(&quixos_protocol::schema::agent_document());
    let file = expect_file!["../../clients/python/quixos_client/protocol.py"];
    file.assert_eq(&python::print(&types));
}

#[test]
fn all_events_have_names() {
    let types = Types::read(&quixos_protocol::schema::agent_document());
    let names: Vec<&str> = types.all.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["MetadataEvent", "DoneEvent", "ContinuationEvent", "AgentEvent", "AgentRequest"] {
        assert!(names.contains(&name), "{names:?}");
    }
}
