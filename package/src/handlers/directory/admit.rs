//! `directory_admit`: the one door into the queue.
//!
//! The gates stand in a fixed order and the first that is shut answers; nothing was written by
//! then, for the last of them, `reserveChild`, writes only when it says yes. A refusal names
//! neither thread nor request, since none was made. `related`, `retryOf` and `root` are taken as
//! they are given: whoever has a reference may build on it.

use quixos_runtime::{CallError, Ref};

use crate::AgentRuntime;
use crate::agent_runtime::directory_admit::{
    Context, CreateItem, CreateRequest, CreateRequestContexts, Handler, Input, Output,
};
use crate::agent_runtime::{
    AgentAdmission, AgentObject, AgentRequestObject, AgentSubmission, AgentThreadObject,
    RequestData, directory_create_thread, thread_adjust_pending,
};
use crate::configuration::{self, Configuration};
use crate::contexts::Contexts;
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::{admission, item, json, queue, request, submission};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        submission::check("submission.", &input.submission)?;
        if let Some(refusal) = refusal(cx, &input)? {
            return Ok(refused(refusal));
        }
        let Input { agent, thread, submission, .. } = input;
        let thread = match thread {
            Some(thread) => thread,
            None => begin_thread(cx, agent, &submission)?,
        };
        let request = enqueue(cx, agent, thread, submission)?;
        Ok(AgentAdmission {
            accepted: true,
            reason: None,
            thread: Some(thread),
            request: Some(request),
        })
    }
}

fn refused(refusal: Refusal) -> AgentAdmission {
    let reason = Some(refusal.reason().to_owned());
    AgentAdmission { accepted: false, reason, thread: None, request: None }
}

/// Returns the first gate that is shut. Reserves a child at the root if none is.
fn refusal(cx: &Context<'_>, input: &Input) -> Result<Option<Refusal>, CallError> {
    let agent = cx.agent(input.agent);
    if agent.directory()? != cx.receiver() {
        return Ok(Some(Refusal::UnknownAgent));
    }
    let agent = agent.data()?;
    if !agent.enabled {
        return Ok(Some(Refusal::AgentDisabled));
    }
    if let Some(thread) = input.thread.map(|thread| cx.thread(thread)) {
        if thread.agent()? != input.agent {
            return Ok(Some(Refusal::WrongThread));
        }
        if thread.data()?.archived {
            return Ok(Some(Refusal::ThreadArchived));
        }
    }
    let Input { submission, optional_work, .. } = input;
    let limits = Settings::stored(&agent.settings)?.limits;
    let shut = admission::gates(&cx.data().read()?, &limits, submission, *optional_work)?;
    if shut.is_some() {
        return Ok(shut);
    }
    match submission.root {
        Some(root) if !cx.root(root).reserve_child()? => Ok(Some(Refusal::ChildLimit)),
        _ => Ok(None),
    }
}

fn begin_thread(
    cx: &Context<'_>,
    agent: Ref<AgentObject>,
    submission: &AgentSubmission,
) -> Result<Ref<AgentThreadObject>, CallError> {
    cx.directory(cx.receiver()).create_thread(&directory_create_thread::Input {
        agent,
        title: submission::title(&submission.text),
        kind: "request".to_owned(),
        created_at: submission.created_at.clone(),
        contexts: submission.contexts.clone(),
    })
}

/// Counts the request and creates it with its first item.
fn enqueue(
    cx: &Context<'_>,
    agent: Ref<AgentObject>,
    thread: Ref<AgentThreadObject>,
    submission: AgentSubmission,
) -> Result<Ref<AgentRequestObject>, CallError> {
    let sequence = count(cx, thread, &submission)?;
    let configuration = configuration(cx, agent, submission.profile.as_deref())?;
    let (text, created_at) = (submission.text.clone(), submission.created_at.clone());
    let request = create(cx, thread, submission, configuration, sequence)?;
    let place = cx.thread(thread).allocate_item(&created_at)?;
    cx.create_item(&CreateItem {
        data: item::prompt(&text, &created_at, place),
        thread,
        request,
        subject: None,
        presentation_mount: None,
    })?;
    cx.pending().connect(request)?;
    Ok(request)
}

/// Counts a request that comes in, and returns its sequence.
fn count(
    cx: &Context<'_>,
    thread: Ref<AgentThreadObject>,
    submission: &AgentSubmission,
) -> Result<u64, CallError> {
    let mut data = cx.data().read()?;
    let sequence = queue::enter(&mut data, submission::is_interactive(submission))?;
    cx.data().write(&data)?;
    let updated_at = submission.created_at.clone();
    cx.thread(thread).adjust_pending(&thread_adjust_pending::Input { delta: 1, updated_at })?;
    Ok(sequence)
}

fn create(
    cx: &Context<'_>,
    thread: Ref<AgentThreadObject>,
    submission: AgentSubmission,
    configuration: String,
    sequence: u64,
) -> Result<Ref<AgentRequestObject>, CallError> {
    let interactive = submission::is_interactive(&submission);
    let mut contexts: Contexts = cx.thread(thread).contexts()?.into_iter().collect();
    contexts.add(submission.contexts, |subject| cx.reference_text(subject));
    cx.create_request(&CreateRequest {
        spawned: 0,
        contexts: contexts.map(|key, target| CreateRequestContexts { key, target }),
        admission: RequestData {
            text: submission.text,
            data: submission.data,
            configuration_digest: configuration::digest(&configuration),
            configuration,
            response_kind: submission.response.unwrap_or_else(|| request::TEXT.to_owned()),
            sequence,
            created_at: submission.created_at,
            source_kind: submission.source_kind,
            source_label: submission.source_label,
            publication: submission.publication,
            causal_depth: submission.causal_depth,
            interactive,
        },
        progress: request::queued(),
        directory: cx.receiver(),
        thread,
        related: submission.related,
        retry_of: submission.retry_of,
        root: submission.root,
    })
}

/// Freezes what the request is to be run with, so that a later update of the agent changes
/// nothing in the queue.
fn configuration(
    cx: &Context<'_>,
    agent: Ref<AgentObject>,
    profile: Option<&str>,
) -> Result<String, CallError> {
    let data = cx.agent(agent).data()?;
    Configuration {
        agent: cx.reference_text(agent),
        instructions: &cx.agent(agent).instructions()?,
        profile,
        settings: json::parse("settings", &data.settings)?,
    }
    .text()
}
