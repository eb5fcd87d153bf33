//! `request_ask`: whoever holds the request asks somebody, and waits.
//!
//! An answer outlives the attempt that asked for it: an attempt that has taken over asks under the
//! same key and finds it. A question of an earlier fence that nobody answered is left alone and a
//! new one asked, since its answer would be refused. The reason of the request stays as it is.

use chrono::{DateTime, Utc};
use quixos_runtime::{CallError, Fence, Ref};

use crate::AgentRuntime;
use crate::agent_runtime::request_ask::{Context, CreateQuestion, Handler, Input, Output};
use crate::agent_runtime::{AgentQuestionObject, QuestionData, RequestState};
use crate::status::Status;
use crate::{fence, json, question, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        json::strings("options", &input.options)?;
        let now = timestamp::parse("createdAt", &input.created_at)?;
        if timestamp::parse("expiresAt", &input.expires_at)? <= now {
            return Err(CallError::invalid("expiresAt", "must be after createdAt"));
        }
        let fence = Fence { attempt: input.attempt.clone(), generation: input.generation };
        let progress = cx.progress().read()?;
        fence::require(&progress, &fence)?;

        let (answered, open) = known(cx, &input.key, &fence, now)?;
        if let Some(answered) = answered {
            return Ok(answered);
        }
        let question = match open {
            Some(open) => open,
            None => create(cx, input)?,
        };
        let status = Status::Waiting.word().to_owned();
        cx.progress().write(&RequestState { status, ..progress })?;
        Ok(question)
    }
}

type Question = Option<Ref<AgentQuestionObject>>;

/// Returns the first question of a key that was answered, and the first that this fence has open.
fn known(
    cx: &Context<'_>,
    key: &str,
    fence: &Fence,
    now: DateTime<Utc>,
) -> Result<(Question, Question), CallError> {
    let mut open = None;
    for candidate in cx.request(cx.receiver()).questions_at(key)? {
        let data = cx.question(candidate).data()?;
        if data.status == question::ANSWERED {
            return Ok((Some(candidate), open));
        }
        let is_open = data.status == question::OPEN
            && question::fence(&data) == *fence
            && timestamp::stored(&data.expires_at)? > now;
        open = open.or(is_open.then_some(candidate));
    }
    Ok((None, open))
}

fn create(cx: &Context<'_>, input: Input) -> Result<Ref<AgentQuestionObject>, CallError> {
    cx.create_question(&CreateQuestion {
        data: QuestionData {
            key: input.key,
            title: input.title,
            options: input.options,
            status: question::OPEN.to_owned(),
            answer: None,
            created_at: input.created_at,
            expires_at: input.expires_at,
            attempt: input.attempt,
            generation: input.generation,
        },
        request: cx.receiver(),
    })
}
