//! The texts that operations read again have the form in which they were taken.
//!
//! A state slot that is whole may hold any text. Where one is a time, a list or settings, and an
//! operation reads it as that later, it must be one, or that operation ends as `corrupt`. The
//! status of a request is read by the other checks.

use quixos_runtime::verify::Finding;
use quixos_runtime::{Atom, CallError, Snapshot};
use serde::de::DeserializeOwned;

use super::reading::{each, place, state};
use crate::agent_runtime::{
    AgentData, AgentDirectoryObject, AgentObject, AgentQuestionObject, AgentThreadObject,
    DirectoryData, QuestionData, ThreadData,
};
use crate::settings::Settings;
use crate::{profiles, question, timestamp};

/// Checks each object that has such texts.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    each_data::<AgentDirectoryObject, DirectoryData>(snapshot, found, |directory| {
        vec![profiles::stored(directory).map(drop)]
    })?;
    each_data::<AgentObject, AgentData>(snapshot, found, |agent| {
        vec![Settings::stored(&agent.settings).map(drop)]
    })?;
    each_data::<AgentThreadObject, ThreadData>(snapshot, found, |thread| {
        vec![timestamp::stored(&thread.updated_at).map(drop)]
    })?;
    each_data::<AgentQuestionObject, QuestionData>(snapshot, found, |question| {
        vec![
            question::options(question).map(drop),
            timestamp::stored(&question.expires_at).map(drop),
        ]
    })
}

/// Reads the texts in the data of each object of an atom.
fn each_data<A: Atom, D: DeserializeOwned>(
    snapshot: &Snapshot<'_>,
    found: &mut dyn FnMut(Finding),
    read: impl Fn(&D) -> Vec<Result<(), CallError>>,
) -> Result<(), CallError> {
    each::<A>(snapshot, |object| {
        let data: D = state(snapshot, object, "data")?;
        for error in read(&data).into_iter().filter_map(Result::err) {
            found(Finding::breach(place(snapshot, object), error.to_string()));
        }
        Ok(())
    })
}
