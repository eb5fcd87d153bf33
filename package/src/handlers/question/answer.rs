//! `question_answer`: answers a question that is still open, in time, for the attempt that asked.
//!
//! It leaves the request waiting: the attempt sees the answer and goes on when it does. The time
//! that counts is the later of the one that the answer bears and the transaction's, so that
//! neither a slow clock nor a slow way gets past the end.

use quixos_runtime::{CallError, Fence};

use crate::AgentRuntime;
use crate::agent_runtime::QuestionData;
use crate::agent_runtime::question_answer::{Context, Handler, Input, Output};
use crate::{fence, question, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let answered_at = timestamp::parse("answeredAt", &input.answered_at)?;
        let Input { answer, attempt, generation, .. } = input;
        let fence = Fence { attempt, generation };
        let data = cx.data().read()?;
        if data.status != question::OPEN || question::fence(&data) != fence {
            return Ok(false);
        }
        let request = cx.question(cx.receiver()).request()?;
        if !fence::holds(&cx.request(request).progress()?, &fence)? {
            return Ok(false);
        }
        if answered_at.max(cx.instant()) >= timestamp::stored(&data.expires_at)? {
            return Ok(false);
        }
        if !question::allows(&data, &answer)? {
            let message = format!("is none of the options {}", data.options);
            return Err(CallError::invalid("answer", message));
        }
        let status = question::ANSWERED.to_owned();
        cx.data().write(&QuestionData { status, answer: Some(answer), ..data })?;
        Ok(true)
    }
}
