//! `request_steer`: says something to a request while it runs.
//!
//! It goes into the thread as an item of its own, once a key. The gates stand before that key is
//! looked up, so they also refuse a repetition that comes when they are shut.

use quixos_runtime::{CallError, Fence};
use serde_json::json;

use crate::AgentRuntime;
use crate::agent_runtime::request_steer::{Context, Handler, Input, Output};
use crate::agent_runtime::{ItemData, request_upsert_item};
use crate::refusal::Refusal;
use crate::status::Status;
use crate::{fence, item, profiles, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        timestamp::parse("createdAt", &input.created_at)?;
        let fence = Fence { attempt: input.attempt, generation: input.generation };
        let progress = cx.progress().read()?;
        fence::require(&progress, &fence)?;
        if Status::of(&progress)? != Status::Running {
            return Err(Refusal::NotRunning.into());
        }
        if let Some(profile) = &input.profile {
            require_profile(cx, profile)?;
        }
        let activity = input.profile.map(|profile| json!({ "profile": profile }).to_string());
        let steer = item::complete(&input.key, item::STEER, &input.text, &input.created_at);
        cx.request(cx.receiver()).upsert_item(&request_upsert_item::Input {
            attempt: fence.attempt,
            generation: fence.generation,
            data: ItemData { activity, ..steer },
            subject: None,
        })
    }
}

fn require_profile(cx: &Context<'_>, profile: &str) -> Result<(), CallError> {
    let directory = cx.request(cx.receiver()).directory()?;
    if profiles::offers(&cx.directory(directory).data()?, profile)? {
        Ok(())
    } else {
        Err(Refusal::UnknownProfile.into())
    }
}
