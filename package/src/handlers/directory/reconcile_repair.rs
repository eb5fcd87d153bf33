//! `directory_reconcileRepair`: records, once a key, a request that was begun outside.
//!
//! A key that is known answers its request when text, configuration and publication are the same;
//! the attempt may meanwhile be another, so neither it nor its generation is looked at. Of the
//! fields that have a form only the times are checked before that, as everywhere.
//!
//! Whether the thread is busy shows when it is asked to activate, which needs the request: the
//! error then takes with it what was created. The first item bears the time of creation, as that
//! of an admitted request does, and is placed in the thread at the time of confirmation.

use quixos_runtime::{CallError, Ref};

use crate::AgentRuntime;
use crate::agent_runtime::directory_reconcile_repair::{
    Context, CreateItem, CreateRequest, Handler, Input, Output,
};
use crate::agent_runtime::{
    AgentRequestObject, AgentThreadObject, RequestData, RequestState, thread_adjust_pending,
};
use crate::refusal::Refusal;
use crate::status::Status;
use crate::{configuration, fence, item, queue, request, timestamp};

/// The source of a request that was begun outside.
const REPAIR: &str = "repair";

/// Nobody sits and waits for a repair.
const INTERACTIVE: bool = false;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        timestamp::parse("createdAt", &input.created_at)?;
        timestamp::parse("confirmedAt", &input.confirmed_at)?;
        timestamp::parse("startedAt", &input.started_at)?;
        if let Some(known) = cx.repairs().get(&input.key)? {
            return same(cx, known, &input);
        }
        fence::check_attempt(&input.attempt)?;
        if input.generation == 0 {
            return Err(CallError::invalid("generation", "must be at least 1"));
        }
        record(cx, thread(cx)?, input)
    }
}

/// Returns the request of a known key, if it is the one that is described again.
fn same(
    cx: &Context<'_>,
    known: Ref<AgentRequestObject>,
    input: &Input,
) -> Result<Ref<AgentRequestObject>, CallError> {
    let admission = cx.request(known).admission()?;
    let is_same = admission.text == input.text
        && admission.configuration == input.configuration
        && admission.publication.as_ref() == Some(&input.publication);
    if is_same {
        Ok(known)
    } else {
        Err(CallError::conflict(format!("the repair `{}` is of another request", input.key)))
    }
}

/// Returns the thread that repairs go to.
fn thread(cx: &Context<'_>) -> Result<Ref<AgentThreadObject>, CallError> {
    let missing = |what: &str| CallError::Unavailable {
        message: format!("the directory has no {what} yet: initialize it"),
    };
    cx.default_agent().resolve()?.ok_or_else(|| missing("default agent"))?;
    let thread = cx.initial_thread().resolve()?.ok_or_else(|| missing("initial thread"))?;
    if cx.thread(thread).data()?.archived {
        return Err(Refusal::ThreadArchived.into());
    }
    Ok(thread)
}

/// Counts the request and creates it with its first item, as it runs already.
fn record(
    cx: &Context<'_>,
    thread: Ref<AgentThreadObject>,
    input: Input,
) -> Result<Ref<AgentRequestObject>, CallError> {
    let sequence = count(cx, thread, &input.confirmed_at)?;
    let place = cx.thread(thread).allocate_item(&input.confirmed_at)?;
    let prompt = item::prompt(&input.text, &input.created_at, place);
    let key = input.key.clone();
    let request = create(cx, thread, input, sequence)?;
    cx.create_item(&CreateItem {
        data: prompt,
        thread,
        request,
        subject: None,
        presentation_mount: None,
    })?;
    cx.repairs().connect(&key, request)?;
    cx.pending().connect(request)?;
    if cx.thread(thread).activate(request)? {
        Ok(request)
    } else {
        Err(CallError::Busy { message: "the initial thread runs another request".to_owned() })
    }
}

/// Counts a request that comes in, and returns its sequence.
fn count(
    cx: &Context<'_>,
    thread: Ref<AgentThreadObject>,
    confirmed_at: &str,
) -> Result<u64, CallError> {
    let mut data = cx.data().read()?;
    let sequence = queue::enter(&mut data, INTERACTIVE)?;
    cx.data().write(&data)?;
    let updated_at = confirmed_at.to_owned();
    cx.thread(thread).adjust_pending(&thread_adjust_pending::Input { delta: 1, updated_at })?;
    Ok(sequence)
}

fn create(
    cx: &Context<'_>,
    thread: Ref<AgentThreadObject>,
    input: Input,
    sequence: u64,
) -> Result<Ref<AgentRequestObject>, CallError> {
    cx.create_request(&CreateRequest {
        spawned: 0,
        contexts: Vec::new(),
        admission: RequestData {
            text: input.text,
            data: None,
            configuration_digest: configuration::digest(&input.configuration),
            configuration: input.configuration,
            response_kind: request::TEXT.to_owned(),
            sequence,
            created_at: input.created_at,
            source_kind: REPAIR.to_owned(),
            source_label: input.key,
            publication: Some(input.publication),
            causal_depth: 0,
            interactive: INTERACTIVE,
        },
        progress: RequestState {
            status: Status::Running.word().to_owned(),
            attempt: input.attempt,
            generation: input.generation,
            started_at: Some(input.started_at),
            ..request::queued()
        },
        directory: cx.receiver(),
        thread,
        related: None,
        retry_of: None,
        root: None,
    })
}
