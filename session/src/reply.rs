//! What is recorded of a model's reply, whatever form it came in.

use quixos_protocol::native::{self, NativeError};
use quixos_protocol::{
    Content, ContentPart, DraftMessage, ErrorCode, Format, LlmResponse, Role, parse_value,
};
use serde_json::Value;

use crate::usage::Decimal;

/// What is recorded of a reply.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Reply {
    /// The message, under the id of the call.
    pub(crate) message: DraftMessage,
    /// Whether it was cut off for its length.
    pub(crate) truncated: bool,
}

/// The reasons of replies in which the model, or a filter before it, refuses.
const REFUSALS: [&str; 2] = ["content_filter", "refusal"];
/// The reason of a reply that was cut off.
const LENGTH: &str = "length";
/// What is said of a refusal that gives no reason.
const REFUSED: &str = "the model refused";

/// Reads a neutral reply. The text says what is wrong with one that is none.
pub(crate) fn neutral(body: &Value) -> Result<LlmResponse, String> {
    let reply: LlmResponse = parse_value(body.clone()).map_err(|error| error.to_string())?;
    match reply.cost.as_ref().filter(|cost| cost.parse::<Decimal>().is_err()) {
        Some(cost) => Err(format!("`/cost`: `{cost}` is no amount in dollars")),
        None => Ok(reply),
    }
}

/// Reads the reply of a provider in the provider's own form.
pub(crate) fn native(format: Format, body: &Value) -> Result<LlmResponse, (String, ErrorCode)> {
    native::response(format, body).map_err(|error| {
        let code = match error {
            NativeError::Refused(_) => ErrorCode::Refused,
            NativeError::Failed { .. } | NativeError::Unreadable(_) | NativeError::Cut => {
                ErrorCode::ProviderError
            }
        };
        (error.to_string(), code)
    })
}

/// Returns what is recorded of a reply; of a refusal, in which words.
pub(crate) fn recorded(call: &str, reply: LlmResponse) -> Result<Reply, String> {
    let reason = reply.finish_reason.as_deref();
    if reason.is_some_and(|reason| REFUSALS.contains(&reason)) {
        let text = reply.content.filter(|text| !text.trim().is_empty());
        return Err(text.unwrap_or_else(|| REFUSED.to_owned()));
    }
    let truncated = reason == Some(LENGTH);
    let text = reply.content.filter(|text| !text.is_empty());
    let content = if reply.images.is_empty() {
        text.map(Content::Text)
    } else {
        let text = text.map(|text| ContentPart::Text { text });
        let images = reply.images.into_iter().map(|image_url| ContentPart::ImageUrl { image_url });
        Some(Content::Parts(text.into_iter().chain(images).collect()))
    };
    let message = DraftMessage {
        id: Some(call.to_owned()),
        role: Role::Assistant,
        content,
        tool_calls: reply.tool_calls,
        tool_call_id: None,
        name: None,
    };
    Ok(Reply { message, truncated })
}

#[cfg(test)]
mod tests {
    use quixos_protocol::MediaUrl;
    use serde_json::json;

    use super::*;

    fn ended(reason: &str, text: &str) -> LlmResponse {
        let (content, finish_reason) = (Some(text.to_owned()), Some(reason.to_owned()));
        LlmResponse { content, finish_reason, ..LlmResponse::default() }
    }

    #[test]
    fn a_refusal_is_no_reply() {
        for reason in REFUSALS {
            assert_eq!(recorded("call", ended(reason, "No.")), Err("No.".to_owned()));
            assert_eq!(recorded("call", ended(reason, " ")), Err(REFUSED.to_owned()));
        }
        assert!(!recorded("call", ended("stop", "Yes.")).unwrap().truncated);
        assert!(recorded("call", ended("length", "Ye")).unwrap().truncated);
    }

    #[test]
    fn what_a_provider_says_that_is_no_reply_is_its_error() {
        for body in [json!({"error": {"message": "overloaded"}}), json!("nothing"), Value::Null] {
            for format in [Format::Openai, Format::Anthropic] {
                let (_, code) = native(format, &body).unwrap_err();
                assert_eq!(code, ErrorCode::ProviderError, "{body}");
            }
        }
    }

    #[test]
    fn pictures_come_behind_the_text() {
        let images = vec![MediaUrl { url: "data:,x".to_owned() }];
        let picture = LlmResponse { images, ..LlmResponse::default() };
        let both = LlmResponse { content: Some("See.".to_owned()), ..picture.clone() };
        let parts = |reply| match recorded("call", reply).unwrap().message.content {
            Some(Content::Parts(parts)) => parts.len(),
            Some(Content::Text(_)) | None => 0,
        };
        assert_eq!((parts(both), parts(picture)), (2, 1));
        let empty = recorded("call", LlmResponse::default()).unwrap().message;
        assert_eq!((empty.content, empty.id.as_deref()), (None, Some("call")));
    }

    #[test]
    fn a_cost_that_is_no_amount_is_no_reply() {
        assert!(neutral(&json!({"model": "m", "cost": "0.002"})).is_ok());
        for body in [json!({"model": "m", "cost": "cheap"}), json!({"content": "x"})] {
            assert!(neutral(&body).is_err(), "{body}");
        }
    }
}
