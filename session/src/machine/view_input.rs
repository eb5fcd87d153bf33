//! A client's full view of the conversation: news, answers to calls that the client runs, or both.
//!
//! A view that says nothing but one answer is that answer. Any other is for the worker, who records
//! of it what it echoes; the answers in it are settled at once, and the worker is not told of each.

use quixos_protocol::input::ClientMessages;
use quixos_protocol::{ClientInput, DraftMessage, Role};
use quixos_runtime::CallError;
use serde::Serialize;
use serde_json::Value;

use super::turn::{NewTurn, kept};
use super::{Ending, Machine, Tell};
use crate::messages;
use crate::reconcile::{self, Plan};
use crate::refusal::Refusal;
use crate::status::{CLIENT, PENDING};
use crate::stored::StoredTrigger;

/// What a request keeps of a view: the news in it. The rest is in the tree.
#[derive(Serialize)]
struct News {
    #[serde(flatten)]
    input: ClientInput,
    /// The message of the tree that the news come after.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl News {
    fn of(input: ClientMessages, plan: Plan) -> Self {
        let input = ClientMessages { messages: plan.writes, ..input };
        Self { input: ClientInput::ClientMessages(input), after: plan.base }
    }
}

/// An answer in a view to a call that the client runs.
struct Answer {
    call: String,
    result: Value,
}

impl Machine<'_, '_> {
    pub(super) fn on_view(&mut self, mut input: ClientMessages) -> Result<(), CallError> {
        let head = self.data.head.clone();
        let list = std::mem::take(&mut input.messages);
        let view = reconcile::fold(self.cx, head.as_deref(), list)?;
        let answers = self.answers(&view);
        // What is answered is open, so a view with answers was not taken before.
        if answers.is_empty() && self.is_repeated(input.turn_id.as_deref())? {
            return Ok(());
        }
        let plan = reconcile::plan(self.cx, view.clone())?;
        if let ([answer], [written]) = (answers.as_slice(), plan.writes.as_slice())
            && is_answer_to(written, &answer.call)
        {
            self.report.turn = self.data.turn.as_ref().map(|turn| turn.id.clone());
            return self.answer_call(answer, Tell::Worker);
        }
        let joins = self.joins(&answers, &plan)?;
        for answer in &answers {
            self.answer_call(answer, Tell::Nobody)?;
        }
        let encoded = messages::encode(self.cx, &view)?;
        self.keep(encoded.texts)?;
        let client = input.client.clone().unwrap_or_default();
        let trigger = StoredTrigger::ClientMessages { messages: encoded.messages, client };
        if let Some(turn) = joins {
            self.report.turn = Some(turn.clone());
            self.raise(&trigger, None, Some(turn))?;
            return Ok(());
        }
        let turn = NewTurn {
            id: input.turn_id.clone(),
            input: "client.messages",
            text: last_said(&plan),
            stream: input.stream,
            data: kept(&News::of(input, plan))?,
        };
        self.begin(turn, trigger)
    }

    /// Returns the active turn if the view goes on with it, and none if it begins one.
    ///
    /// # Errors
    ///
    /// `refused` where it may do neither: its branch is paused, or a turn runs that it does not
    /// answer to.
    fn joins(&self, answers: &[Answer], plan: &Plan) -> Result<Option<String>, CallError> {
        let lands_paused = self.is_paused_at(plan.base.as_deref())?;
        if answers.is_empty() && lands_paused {
            return Err(Refusal::Interrupted.into());
        }
        let Some(turn) = &self.data.turn else { return Ok(None) };
        if !answers.is_empty() || self.is_paused() {
            return Ok(Some(turn.id.clone()));
        }
        if self.is_quiescent()? {
            return Ok(None);
        }
        Err(Refusal::TurnAlreadyActive(turn.id.clone()).into())
    }

    /// Returns the answers of a view to open calls that the client runs, the first for each.
    fn answers(&self, view: &[DraftMessage]) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::new();
        for message in view.iter().filter(|message| message.role == Role::Tool) {
            let Some(id) = &message.tool_call_id else { continue };
            let is_open =
                self.call(id).is_some_and(|it| it.handler == CLIENT && it.status == PENDING);
            if is_open && answers.iter().all(|answer| answer.call != *id) {
                let text = message.content.as_ref().map(|content| content.text().into_owned());
                let result = Value::String(text.unwrap_or_default());
                answers.push(Answer { call: id.clone(), result });
            }
        }
        answers
    }

    fn answer_call(&mut self, answer: &Answer, tell: Tell) -> Result<(), CallError> {
        let ending = Ending::Result(answer.result.clone());
        self.settle(&answer.call, None, ending, tell)?.map_err(|why| Refusal::from(why).into())
    }
}

fn is_answer_to(message: &DraftMessage, call: &str) -> bool {
    message.role == Role::Tool && message.tool_call_id.as_deref() == Some(call)
}

/// Returns what a user says last among the news.
fn last_said(plan: &Plan) -> String {
    let said = plan.writes.iter().rev().find(|message| message.role == Role::User);
    let content = said.and_then(|message| message.content.as_ref());
    content.map(|content| content.text().into_owned()).unwrap_or_default()
}
