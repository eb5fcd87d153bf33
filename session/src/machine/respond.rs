//! What a client answers of what a session waits for, and new messages beside it or without it:
//! taken as a whole.
//!
//! A session waits for its client where an interrupt is open that the client may resume, and where
//! a call is pending that the client runs. Messages go along with results of calls: the worker gets
//! both in one view, and is not told of each result. They do not go along with the answer to a
//! question, which is the worker's to read first.

use quixos_protocol::input::ClientMessages;
use quixos_protocol::{ClientContext, ClientInput, DraftMessage, Role, parse, text_of};
use quixos_runtime::CallError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::interrupt::rank;
use super::submit::{INPUT_BYTES, traced};
use super::turn::{NewTurn, kept};
use super::{Ending, Failure, Machine, Tell};
use crate::messages;
use crate::refusal::Refusal;
use crate::sessions::{ActionAnswer, Authority, Respond};
use crate::status::{CLIENT, PENDING};
use crate::stored::{self, StoredCall, StoredTrigger};

impl Machine<'_, '_> {
    /// Takes answers, and what is new beside them.
    pub(super) fn respond(&mut self, respond: Respond) -> Result<(), CallError> {
        let Respond { by, answers, messages, client, stream, trace } = respond;
        self.trace = traced(trace)?;
        self.require_owner(&by)?;
        if self.data.cancelled {
            return Err(Refusal::Cancelled.into());
        }
        let messages: Vec<DraftMessage> = read("messages", &messages)?;
        let client: ClientContext = read("client", &client)?;
        if answers.is_empty() {
            return self.append(messages, client, stream);
        }
        self.report.turn = self.data.turn.as_ref().map(|turn| turn.id.clone());
        if messages.is_empty() {
            answers.iter().try_for_each(|answer| self.take_answer(&by, answer))?;
        } else {
            self.take_news(&answers, messages, client)?;
        }
        if let (Some(turn), Some(_)) = (&mut self.data.turn, stream) {
            turn.stream = stream;
        }
        self.answered = true;
        Ok(())
    }

    /// Begins a turn with messages that go on at the head.
    fn append(
        &mut self,
        messages: Vec<DraftMessage>,
        client: ClientContext,
        stream: Option<bool>,
    ) -> Result<(), CallError> {
        let Some(last) = messages.last() else {
            return Err(CallError::invalid("answers", "there are none, and no messages either"));
        };
        if messages.iter().any(|message| message.role != Role::User) {
            return Err(Refusal::Role.into());
        }
        self.refuse_if_paused()?;
        let text = last.content.as_ref().map(|content| content.text().into_owned());
        let data = ClientInput::ClientMessages(ClientMessages {
            agent_id: self.binding.agent_id.clone(),
            turn_id: None,
            messages: messages.clone(),
            stream,
            client: Some(client.clone()),
        });
        let turn = NewTurn {
            id: None,
            input: "client.messages",
            text: text.unwrap_or_default(),
            data: kept(&data)?,
            stream,
        };
        let encoded = messages::encode(self.cx, &messages)?;
        self.keep(encoded.texts)?;
        let messages = encoded.messages;
        self.begin(turn, StoredTrigger::ClientAppended { messages, client })
    }

    fn take_answer(&mut self, by: &Authority, answer: &ActionAnswer) -> Result<(), CallError> {
        let id = &answer.action;
        let given = given(answer)?;
        if self.is_question(by, id) {
            let payload = given.unwrap_or_else(|error| json!({ "error": error }));
            return self.resume(by, id, payload);
        }
        if !self.is_for_client(id) {
            return Err(Refusal::UnknownAction(id.clone()).into());
        }
        if self.data.turn.is_none() {
            return Err(Refusal::NoActiveTurn.into());
        }
        self.take_result(id, given, Tell::Worker)
    }

    /// Takes results of calls, and messages behind them.
    fn take_news(
        &mut self,
        answers: &[ActionAnswer],
        news: Vec<DraftMessage>,
        client: ClientContext,
    ) -> Result<(), CallError> {
        let mut list = Vec::with_capacity(answers.len() + news.len());
        for answer in answers {
            let id = &answer.action;
            if !self.is_for_client(id) {
                let is_open = self.live.interrupts.iter().any(|open| open.id == *id);
                let unknown = Refusal::UnknownAction(id.clone());
                return Err(if is_open { Refusal::Interrupted } else { unknown }.into());
            }
            let given = given(answer)?;
            list.push(self.told(id, &given)?);
            self.take_result(id, given, Tell::Nobody)?;
        }
        let Some(turn) = self.report.turn.clone() else {
            return Err(Refusal::NoActiveTurn.into());
        };
        let still_waits =
            self.live.calls.iter().any(|call| call.handler == CLIENT && call.status == PENDING);
        if still_waits {
            return Err(Refusal::TurnAlreadyActive(turn).into());
        }
        list.extend(news);
        let encoded = messages::encode(self.cx, &list)?;
        self.keep(encoded.texts)?;
        let trigger = StoredTrigger::ClientAppended { messages: encoded.messages, client };
        self.raise(&trigger, None, Some(turn)).map(drop)
    }

    /// Settles a call that the client runs. A failure that a person reports is final.
    fn take_result(
        &mut self,
        id: &str,
        given: Result<Value, String>,
        tell: Tell,
    ) -> Result<(), CallError> {
        let ending = match given {
            Ok(result) => Ending::Result(result),
            Err(error) => Ending::Failure(Failure::fatal(error, None)),
        };
        self.settle(id, None, ending, tell)?.map_err(|why| Refusal::from(why).into())
    }

    /// Returns the message that says how a call ended.
    fn told(&self, id: &str, given: &Result<Value, String>) -> Result<DraftMessage, CallError> {
        let call = self.call(id).map(|call| stored::call_of(self.cx, call)).transpose()?;
        let name = match call {
            Some(StoredCall::ToolCall { name, .. }) => name,
            Some(StoredCall::LlmCall { .. } | StoredCall::SubAgent { .. }) | None => String::new(),
        };
        let text = match given {
            Ok(result) => text_of(result),
            Err(error) => error.clone(),
        };
        Ok(DraftMessage::tool(id, name, text))
    }

    /// Says whether an interrupt is open that somebody may resume. To all others it is none.
    fn is_question(&self, by: &Authority, id: &str) -> bool {
        let mut open = self.live.interrupts.iter();
        open.any(|open| open.id == id && rank(&by.class) >= rank(&open.origin))
    }

    /// Says whether a call waits for the client that runs it.
    fn is_for_client(&self, id: &str) -> bool {
        self.call(id).is_some_and(|call| call.handler == CLIENT && call.status == PENDING)
    }
}

fn given(answer: &ActionAnswer) -> Result<Result<Value, String>, CallError> {
    match (&answer.data, &answer.error) {
        (Some(_), Some(_)) => {
            Err(CallError::invalid("answers", "one has both `data` and an `error`"))
        }
        (_, Some(error)) => Ok(Err(error.clone())),
        (Some(data), None) => read("answers", data).map(Ok),
        (None, None) => Ok(Ok(Value::Null)),
    }
}

fn read<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, CallError> {
    parse(text.as_bytes(), INPUT_BYTES).map_err(|error| CallError::invalid(path, error.to_string()))
}
