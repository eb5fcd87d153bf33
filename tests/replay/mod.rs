//! Calls that many make at once, and what they came to, replayed on the model of the package.
//!
//! A caller draws steps from a plan (`plan.rs`), decides which objects it means (`choose.rs`), and
//! calls from outside, by JSON (`outside.rs`). The history says in which order the calls were
//! committed; in that order the model does the same steps (`replayed.rs`) and must come to the same
//! answers and to the same state (`observed.rs`).

#![allow(dead_code, unused_imports, reason = "each test binary uses what it needs of this")]

mod choose;
mod observed;
mod outside;
mod plan;
mod random;
mod replayed;

pub(crate) use choose::{Board, Choice, Kind, Name, kind_of};
pub(crate) use observed::{Numbers, Observed};
pub(crate) use outside::{Call, answered, call, found, text};
pub(crate) use plan::plan;
pub(crate) use random::{Random, seeded, setting};
pub(crate) use replayed::{Replayed, minute_of, recalled};

use quixos_package::workspace::{DocumentData, Workspace};
use quixos_runtime::{ObjectRef, Session};
use serde_json::Value;

use crate::plain::{SUBJECTS, WORKSPACES};
use crate::step::Step;
use crate::support::World;

/// Makes what the model has from the beginning, and returns the newest commit then.
pub(crate) async fn lay_ground(world: &World) -> u64 {
    let mut workspaces = Vec::new();
    for _ in 0..WORKSPACES {
        workspaces.push(world.workspace().await);
    }
    for number in 0..SUBJECTS {
        let data =
            DocumentData { title: number.to_string(), body: String::new(), presentable: true };
        let home = Workspace::on(&world.session, workspaces[0]);
        home.create_document(&data).await.unwrap();
    }
    world.runtime.read(|snapshot| Ok(snapshot.commit())).await.unwrap()
}

/// Returns what came with an answer and is not named in it: the agent and the thread of an
/// installation.
pub(crate) async fn discovered(session: &Session, step: &Step, answer: &Value) -> Vec<ObjectRef> {
    let mut new = Vec::new();
    if matches!(step, Step::Install { .. }) {
        for edge in ["defaultAgent", "initialThread"] {
            let there = session.invoke_json(found(answer)[0], edge, &Value::Null).await.unwrap();
            new.extend(found(&there.value));
        }
    }
    new
}
