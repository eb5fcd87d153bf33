//! What a model is sent for a call: the prompt and the rest as they were recorded, for each attempt
//! the same.

use quixos_protocol::LlmRequest;
use quixos_runtime::CallError;

use crate::past::Past;
use crate::stored::StoredCall;
use crate::{messages, tools};

/// Returns the request of a recorded model call, or none of a call that is none to a model.
pub(crate) fn of(past: &impl Past, call: &StoredCall) -> Result<Option<LlmRequest>, CallError> {
    let StoredCall::LlmCall {
        model,
        prompt,
        tools,
        temperature,
        max_completion_tokens,
        reasoning,
        stream: _,
        format: _,
        retry: _,
    } = call
    else {
        return Ok(None);
    };
    let tools = tools.as_deref().map(|digest| tools::kept_tools(past, digest)).transpose()?;
    Ok(Some(LlmRequest {
        model: model.clone(),
        messages: messages::well_formed(messages::decode(past, prompt)?),
        tools: tools.unwrap_or_default(),
        temperature: *temperature,
        max_completion_tokens: *max_completion_tokens,
        reasoning: *reasoning,
    }))
}
