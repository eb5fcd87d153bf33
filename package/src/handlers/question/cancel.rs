//! `question_cancel`: takes back a question that is still open; one that is not stays as it is.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::QuestionData;
use crate::agent_runtime::question_cancel::{Context, Handler, Input, Output};
use crate::question;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, (): Input) -> Result<Output, CallError> {
        let data = cx.data().read()?;
        if data.status != question::OPEN {
            return Ok(());
        }
        let status = question::CANCELLED.to_owned();
        cx.data().write(&QuestionData { status, ..data })
    }
}
