//! A directory that nobody has initialized. Ours always are: a host of another kind makes one.

use std::sync::Arc;

use quixos_package::agent_runtime::{AgentDirectoryObject, DirectoryData};
use quixos_runtime::dispatch::encode_output;
use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Call, CallError, PackageCode, Ref, parse_reference};
use quixos_schema::{Sources, check};
use serde::Serialize;
use serde_json::Value;

use super::World;

const SOURCE: (&str, &str) = ("bare.quixos", include_str!("bare.quixos"));

#[derive(Serialize)]
struct CreateDirectory {
    data: DirectoryData,
}

fn create(call: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    let data = DirectoryData {
        sequence: 0,
        pending: 0,
        ordinary_pending: 0,
        notification_pending: 0,
        profiles: "[]".to_owned(),
        availability: "offline".to_owned(),
    };
    encode_output(&call.create(0, &CreateDirectory { data })?)
}

/// Returns the package with the digest that it has beside ours.
fn package() -> PackageCode {
    let id = "package:test:bare";
    let mut sources = Sources::new();
    for (name, text) in quixos_package::packages().iter().flat_map(|package| package.sources) {
        sources.add(*name, *text);
    }
    sources.add(SOURCE.0, SOURCE.1);
    let definitions = check(sources).definitions.unwrap();
    let found = definitions.packages.iter().find(|package| package.id == id).unwrap();
    PackageCode {
        id,
        revision: "package:test:bare@1",
        digest: found.digest.clone().leak(),
        sources: &[SOURCE],
        handlers: vec![("test:bare_create", create)],
        invariants: Vec::new(),
    }
}

/// Opens a world with a directory in it that has nothing.
pub(crate) async fn bare_directory() -> (World, Ref<AgentDirectoryObject>) {
    let packages = quixos_package::packages().into_iter().chain([package()]);
    let world = World::with(Arc::new(MemoryStore::new()), packages);
    let bare = world.session.create_json("BareObject", &Value::Null).await.unwrap().value;
    let bare = parse_reference(world.runtime.definitions(), bare.as_str().unwrap()).unwrap();
    let directory = world.outside(bare, "create", Value::Null).await.unwrap();
    let directory =
        parse_reference(world.runtime.definitions(), directory.as_str().unwrap()).unwrap();
    (world, Ref::from_object(directory).unwrap())
}
