//! `request_correct`: asks once more, with what was wrong, when the output of a request failed a
//! check.
//!
//! A request has at most one correction, and a correction can be corrected in turn: how many stand
//! in a row is counted back over `retryOf`, as far as it matters. A request that calls itself a
//! correction and retries none breaks the row. Without errors there is no text to send, and the
//! correction is refused as `empty`.

use quixos_runtime::{CallError, Ref};

use crate::AgentRuntime;
use crate::agent_runtime::request_correct::{Context, Handler, Input, Output};
use crate::agent_runtime::{AgentRequestObject, AgentSubmission};
use crate::status::Status;
use crate::{configuration, timestamp};

/// The source of a request that corrects another.
const CORRECTION: &str = "correction";

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        timestamp::parse("createdAt", &input.created_at)?;
        let progress = cx.request(cx.receiver()).progress()?;
        if !Status::of(&progress)?.is_terminal() {
            let message =
                format!("the request is `{}`: only one that ended is corrected", progress.status);
            return Err(CallError::conflict(message));
        }
        if let Some(correction) = cx.correction().resolve()? {
            return Ok(Some(correction));
        }
        if ends_a_row_of(cx, input.max_corrections)? {
            return Ok(None);
        }
        let thread = cx.request(cx.receiver()).thread()?;
        let correction = cx.thread(thread).send(&submission(cx, input)?)?;
        cx.correction().connect(correction)?;
        Ok(Some(correction))
    }
}

/// Says whether this request is the last of so many corrections in a row.
fn ends_a_row_of(cx: &Context<'_>, corrections: u32) -> Result<bool, CallError> {
    let mut request: Ref<AgentRequestObject> = cx.receiver();
    for _ in 0..corrections {
        if cx.request(request).admission()?.source_kind != CORRECTION {
            return Ok(false);
        }
        let Some(corrected) = cx.request(request).retry_of()? else { return Ok(false) };
        request = corrected;
    }
    Ok(true)
}

/// Asks for the same again, with the errors as its text.
fn submission(cx: &Context<'_>, input: Input) -> Result<AgentSubmission, CallError> {
    let this = cx.receiver();
    let request = cx.request(this);
    let admission = request.admission()?;
    Ok(AgentSubmission {
        text: input.errors.join("\n"),
        data: admission.data,
        profile: configuration::profile(&admission.configuration),
        response: Some(admission.response_kind),
        source_kind: CORRECTION.to_owned(),
        source_label: String::new(),
        publication: admission.publication,
        created_at: input.created_at,
        contexts: request.contexts()?.into_iter().map(|(_, subject)| subject).collect(),
        related: Some(this),
        retry_of: Some(this),
        root: Some(request.root()?.unwrap_or(this)),
        causal_depth: admission.causal_depth,
    })
}
