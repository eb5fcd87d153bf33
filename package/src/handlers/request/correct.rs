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
        if corrections_in_a_row(cx, input.max_corrections)? >= input.max_corrections {
            return Ok(None);
        }
        let thread = cx.request(cx.receiver()).thread()?;
        let correction = cx.thread(thread).send(&submission(cx, input)?)?;
        cx.correction().connect(correction)?;
        Ok(Some(correction))
    }
}

/// Counts the corrections that led to this request, this one included, up to `most`.
fn corrections_in_a_row(cx: &Context<'_>, most: u32) -> Result<u32, CallError> {
    let mut request: Ref<AgentRequestObject> = cx.receiver();
    let mut count = 0;
    while count < most && cx.request(request).admission()?.source_kind == CORRECTION {
        let Some(corrected) = cx.request(request).retry_of()? else { break };
        request = corrected;
        count += 1;
    }
    Ok(count)
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
