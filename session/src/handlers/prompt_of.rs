//! `session_prompt_of`: what a model is sent for a call that is under way, and what it belongs to.

use quixos_runtime::CallError;
use serde_json::json;

use crate::Sessions;
use crate::model_request;
use crate::sessions::session_prompt_of::{Context, Handler, Input, Output};
use crate::status::{LLM_CALL, PENDING};
use crate::stored::{self, StoredCall};

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, id: Input) -> Result<Output, CallError> {
        let live = cx.live().read()?;
        let call = live
            .calls
            .iter()
            .find(|call| call.id == id && call.kind == LLM_CALL && call.status == PENDING)
            .ok_or_else(|| CallError::NotFound { what: format!("a running model call `{id}`") })?;
        let asked = stored::call_of(cx, call)?;
        let (StoredCall::LlmCall { stream, .. }, Some(request)) =
            (&asked, model_request::of(cx, &asked)?)
        else {
            let message = format!("model call `{id}` is recorded as something else");
            return Err(CallError::Corrupt { message });
        };
        stored::json_text(&json!({
            "request": stored::json(&request)?,
            "stream": stream,
            "session_id": cx.binding().read()?.session_id,
            "turn_id": call.turn,
        }))
    }
}
