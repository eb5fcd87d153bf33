//! One session, with the test in the place of its engine, its worker, its models and its client.

use std::future::Future;

use quixos_protocol::{DecisionRequest, LlmRequest, Message};
use quixos_runtime::{CallError, Ref};
use quixos_session::Reader;
use quixos_session::replay::{Happened, Replay};
use quixos_session::sessions::{
    ActionAnswer, Agenda, Answer, Authority, BlockBegin, BlockBeginToolCall, BlockChange,
    CallFailure, Cancel, Claim, Delivery, DeliveryFailure, Due, Fence, Follow, Interrupt, Outcome,
    Progress, Respond, Session, SessionClient, SessionData, SessionObject,
    SessionRegistryRespondInput, SessionRegistrySendInput, SessionRegistrySpawnInput, Settle,
    Submit, Take,
};
use serde_json::{Value, json};

use super::inputs::{ENGINE, OWNER, frontend, system};
use super::world::World;

/// One session.
pub(crate) struct Talk<'w> {
    pub(crate) world: &'w World,
    pub(crate) session: Ref<SessionObject>,
}

fn progress(fence: Fence, due: &Due, blocks: &[BlockChange]) -> Progress {
    Progress {
        fence,
        call: due.id.clone(),
        attempt: due.attempt,
        text: String::new(),
        reasoning: String::new(),
        blocks: blocks.to_vec(),
    }
}

/// Returns that a block begins, of a tool's call if it has an id and a name.
pub(crate) fn begins(index: u32, kind: &str, at: u64, tool: Option<(&str, &str)>) -> BlockChange {
    let tool_call =
        tool.map(|(id, name)| BlockBeginToolCall { id: id.to_owned(), name: name.to_owned() });
    let begins = Some(BlockBegin { kind: kind.to_owned(), at, tool_call });
    BlockChange { index, begins, ends: None }
}

/// Returns that a block has ended.
pub(crate) fn ended(index: u32, said: &str) -> BlockChange {
    BlockChange { index, begins: None, ends: Some(said.to_owned()) }
}

/// An answer of a client to something, by its id.
pub(crate) type Answered<'a> = (&'a str, std::result::Result<Value, &'a str>);

impl<'w> Talk<'w> {
    pub(crate) fn on(world: &'w World, session: Ref<SessionObject>) -> Self {
        Self { world, session }
    }

    pub(crate) fn client(&self) -> SessionClient<'_> {
        Session::on(&self.world.session, self.session)
    }

    /// Lets the engine take the session.
    pub(crate) async fn take(&self, recover: bool) -> Outcome {
        self.client().take(&Take { engine: ENGINE.to_owned(), recover }).await.unwrap()
    }

    pub(crate) async fn data(&self) -> SessionData {
        self.client().data().await.unwrap()
    }

    pub(crate) async fn agenda(&self) -> Agenda {
        self.client().agenda().await.unwrap()
    }

    /// Returns what the engine has to do, of one kind.
    pub(crate) async fn due(&self, kind: &str) -> Vec<Due> {
        let agenda = self.agenda().await;
        agenda.due.into_iter().filter(|due| due.kind == kind).collect()
    }

    pub(crate) async fn fence(&self) -> Fence {
        let Claim { engine, generation } = self.data().await.claim;
        Fence { engine, generation }
    }

    // The worker.

    /// Returns what the worker is asked, if it is asked something.
    pub(crate) async fn asked(&self) -> Option<DecisionRequest> {
        let due = self.due("deliver").await;
        assert!(due.len() < 2, "two decisions are live: {due:?}");
        let due = due.first()?;
        let request = self.client().request_of(&due.id).await.unwrap();
        Some(serde_json::from_str(&request).unwrap())
    }

    /// Returns what the worker is asked, having seen that it is for this trigger.
    pub(crate) async fn next(&self, trigger: &str) -> DecisionRequest {
        let Some(asked) = self.asked().await else {
            panic!("the worker is not asked, where `{trigger}` was due: {:?}", self.kinds().await);
        };
        assert_eq!(asked.trigger.kind(), trigger, "{asked:?}");
        asked
    }

    /// Answers a decision.
    pub(crate) async fn answer(&self, asked: &DecisionRequest, answer: &Value) -> Outcome {
        self.answer_to(&asked.decision_id, answer).await.unwrap()
    }

    /// Answers a decision by its id.
    pub(crate) async fn answer_to(&self, id: &str, answer: &Value) -> Result<Outcome, CallError> {
        let input = Answer {
            fence: None,
            decision: id.to_owned(),
            answer: answer.to_string(),
            blocks: Vec::new(),
        };
        self.client().answer(&input).await
    }

    /// Answers what the worker is asked next, which is for this trigger.
    pub(crate) async fn answer_next(&self, trigger: &str, answer: &Value) -> DecisionRequest {
        let asked = self.next(trigger).await;
        self.answer(&asked, answer).await;
        asked
    }

    /// Answers what the worker is asked next with what is proposed.
    pub(crate) async fn echo(&self, trigger: &str) -> DecisionRequest {
        let asked = self.next(trigger).await;
        self.answer(&asked, &json!(asked.proposed)).await;
        asked
    }

    /// Lets the delivery of what the worker is asked fail.
    pub(crate) async fn fail(&self, trigger: &str, error: &str, retryable: bool) -> Outcome {
        let asked = self.next(trigger).await;
        let failure = DeliveryFailure {
            fence: self.fence().await,
            decision: asked.decision_id,
            attempts: asked.attempts,
            error: error.to_owned(),
            retryable,
            blocks: Vec::new(),
        };
        self.client().fail(&failure).await.unwrap()
    }

    /// Says that the delivery was lost, or that its answer has begun to come in.
    pub(crate) async fn delivery(&self, asked: &DecisionRequest) -> Delivery {
        Delivery {
            fence: self.fence().await,
            decision: asked.decision_id.clone(),
            attempts: asked.attempts,
        }
    }

    // Models.

    /// Returns the model calls that the engine is to run.
    pub(crate) async fn running(&self) -> Vec<Due> {
        self.due("model").await
    }

    /// Returns the one model call that the engine is to run, and its prompt.
    pub(crate) async fn prompt(&self) -> (Due, LlmRequest) {
        let due = self.running().await;
        assert_eq!(due.len(), 1, "one model call was due: {due:?}");
        let due = due.into_iter().next().unwrap();
        let prompt = self.client().prompt_of(&due.id).await.unwrap();
        let mut prompt: Value = serde_json::from_str(&prompt).unwrap();
        (due, serde_json::from_value(prompt["request"].take()).unwrap())
    }

    /// Lets the one model call that runs end with a reply.
    pub(crate) async fn reply(&self, reply: &Value) -> Outcome {
        let (due, _) = self.prompt().await;
        self.reply_to(&due, reply).await
    }

    /// Lets a model call end with a reply.
    pub(crate) async fn reply_to(&self, due: &Due, reply: &Value) -> Outcome {
        self.settle_model(due, Some(reply.to_string()), None).await
    }

    /// Lets a model call end with a failure.
    pub(crate) async fn model_fails(&self, due: &Due, error: &str, retryable: bool) -> Outcome {
        let error = CallFailure {
            message: error.to_owned(),
            retryable,
            code: Some("provider_error".to_owned()),
            detail: None,
            retry_after: None,
        };
        self.settle_model(due, None, Some(error)).await
    }

    /// Lets a model call say something, as its engine tells it.
    pub(crate) async fn speaks(&self, due: &Due, blocks: &[BlockChange]) -> Outcome {
        self.progress(due, "", "", blocks).await
    }

    /// Puts into the store what a model call said so far.
    pub(crate) async fn checkpoint(&self, due: &Due, text: &str, reasoning: &str) -> Outcome {
        self.progress(due, text, reasoning, &[]).await
    }

    /// Lets an attempt of a model call say something, whoever runs it.
    pub(crate) async fn speaks_as(&self, call: &str, attempt: u32, blocks: &[BlockChange]) {
        let due = Due { kind: String::new(), id: call.to_owned(), attempt, deadline: None };
        assert!(self.speaks(&due, blocks).await.applied);
    }

    pub(crate) async fn try_speak(
        &self,
        due: &Due,
        blocks: &[BlockChange],
    ) -> Result<Outcome, CallError> {
        self.client().progress(&progress(self.fence().await, due, blocks)).await
    }

    pub(crate) async fn try_speak_under(
        &self,
        fence: Fence,
        due: &Due,
    ) -> Result<Outcome, CallError> {
        self.client().progress(&progress(fence, due, &[begins(0, "text", 0, None)])).await
    }

    async fn progress(
        &self,
        due: &Due,
        text: &str,
        reasoning: &str,
        blocks: &[BlockChange],
    ) -> Outcome {
        let progress = Progress {
            text: text.to_owned(),
            reasoning: reasoning.to_owned(),
            ..progress(self.fence().await, due, blocks)
        };
        self.client().progress(&progress).await.unwrap()
    }

    /// Answers a decision, and tells what changed last of what was streamed.
    pub(crate) async fn answer_with(
        &self,
        asked: &DecisionRequest,
        answer: &Value,
        blocks: &[BlockChange],
    ) -> Outcome {
        let answer = Answer {
            fence: Some(self.fence().await),
            decision: asked.decision_id.clone(),
            answer: answer.to_string(),
            blocks: blocks.to_vec(),
        };
        self.client().answer(&answer).await.unwrap()
    }

    /// Lets a model call that streamed fail retryably, and tells what changed last.
    pub(crate) async fn model_fails_with(&self, due: &Due, blocks: &[BlockChange]) -> Outcome {
        let error = CallFailure {
            message: "broken".to_owned(),
            retryable: true,
            code: None,
            detail: None,
            retry_after: None,
        };
        self.settle_with(due, None, Some(error), blocks).await
    }

    /// Lets a model call that streamed end with a reply, and with what changed last.
    pub(crate) async fn reply_with(
        &self,
        due: &Due,
        reply: &Value,
        blocks: &[BlockChange],
    ) -> Outcome {
        self.settle_with(due, Some(reply.to_string()), None, blocks).await
    }

    async fn settle_model(
        &self,
        due: &Due,
        result: Option<String>,
        error: Option<CallFailure>,
    ) -> Outcome {
        self.settle_with(due, result, error, &[]).await
    }

    async fn settle_with(
        &self,
        due: &Due,
        result: Option<String>,
        error: Option<CallFailure>,
        blocks: &[BlockChange],
    ) -> Outcome {
        let settle = Settle {
            by: system(),
            fence: Some(self.fence().await),
            call: due.id.clone(),
            attempt: Some(due.attempt),
            result,
            error,
            blocks: blocks.to_vec(),
        };
        self.client().settle(&settle).await.unwrap()
    }

    // Clients and operators.

    /// Submits as the owner.
    pub(crate) async fn submit(&self, input: &Value) -> Result<Outcome, CallError> {
        self.submit_as(frontend(OWNER), input).await
    }

    pub(crate) async fn submit_as(
        &self,
        by: Authority,
        input: &Value,
    ) -> Result<Outcome, CallError> {
        let input = input.to_string();
        self.client().submit(&Submit { by, input, followed: false, trace: None }).await
    }

    /// Submits as the owner, who follows the turn.
    pub(crate) async fn submit_followed(&self, input: &Value) -> Result<Outcome, CallError> {
        let (by, input) = (frontend(OWNER), input.to_string());
        self.client().submit(&Submit { by, input, followed: true, trace: None }).await
    }

    /// Answers, as the owner, what the session waits for; each with what was asked for or with a
    /// failure. Returns the turn.
    pub(crate) async fn respond(
        &self,
        answers: &[Answered<'_>],
        messages: &Value,
    ) -> Result<Option<String>, CallError> {
        self.respond_as(frontend(OWNER), answers, messages).await
    }

    pub(crate) async fn respond_as(
        &self,
        by: Authority,
        answers: &[Answered<'_>],
        messages: &Value,
    ) -> Result<Option<String>, CallError> {
        self.respond_with(by, answers, messages, None).await
    }

    /// Answers, and wishes that models stream, or that they do not.
    pub(crate) async fn respond_streaming(&self, answers: &[Answered<'_>], stream: bool) {
        let by = frontend(OWNER);
        self.respond_with(by, answers, &json!([]), Some(stream)).await.unwrap();
    }

    async fn respond_with(
        &self,
        by: Authority,
        answers: &[Answered<'_>],
        messages: &Value,
        stream: Option<bool>,
    ) -> Result<Option<String>, CallError> {
        let answer = |(action, outcome): &Answered<'_>| ActionAnswer {
            action: (*action).to_owned(),
            data: outcome.as_ref().ok().map(Value::to_string),
            error: outcome.as_ref().err().map(|error| (*error).to_owned()),
        };
        let respond = Respond {
            by,
            answers: answers.iter().map(answer).collect(),
            messages: messages.to_string(),
            client: json!({"forwarded_props": {"mode": "test"}}).to_string(),
            stream,
            trace: None,
        };
        let session_id = self.client().binding().await?.session_id;
        let input = SessionRegistryRespondInput { session_id, respond, once: None };
        Ok(self.world.registry().respond(&input).await?.turn)
    }

    /// Says, as the owner, that a turn is followed.
    pub(crate) async fn follow(&self, turn: &str) -> Result<Outcome, CallError> {
        self.follow_as(frontend(OWNER), turn).await
    }

    pub(crate) async fn follow_as(&self, by: Authority, turn: &str) -> Result<Outcome, CallError> {
        self.client().follow(&Follow { by, turn: turn.to_owned() }).await
    }

    /// Settles a call from outside with a result.
    pub(crate) async fn settle_as(
        &self,
        by: Authority,
        call: &str,
        attempt: Option<u32>,
        result: &Value,
    ) -> Result<Outcome, CallError> {
        let settle = Settle {
            by,
            fence: None,
            call: call.to_owned(),
            attempt,
            result: Some(result.to_string()),
            error: None,
            blocks: Vec::new(),
        };
        self.client().settle(&settle).await
    }

    pub(crate) async fn interrupt_as(&self, by: Authority, id: &str) -> Result<Outcome, CallError> {
        let interrupt = Interrupt {
            by,
            id: Some(id.to_owned()),
            reason: "wait".to_owned(),
            payload: "null".to_owned(),
        };
        self.client().interrupt(&interrupt).await
    }

    pub(crate) async fn cancel_as(
        &self,
        by: Authority,
        turn: Option<&str>,
    ) -> Result<Outcome, CallError> {
        self.client().cancel(&Cancel { by, turn: turn.map(str::to_owned) }).await
    }

    // Time and children.

    /// Lets time pass, and what it makes due happen.
    pub(crate) async fn wait(&self, seconds: u64) -> Outcome {
        self.world.wait(seconds);
        self.client().wake().await.unwrap()
    }

    /// Makes the children that are asked for, and delivers the messages to other sessions.
    pub(crate) async fn run_errands(&self) {
        for due in self.due("spawn").await {
            let (parent, fence) = (self.session, self.fence().await);
            let spawn = SessionRegistrySpawnInput { parent, fence, call: due.id };
            self.world.registry().spawn(&spawn).await.unwrap();
        }
        for due in self.due("send").await {
            let (sender, fence) = (self.session, self.fence().await);
            let send = SessionRegistrySendInput { sender, fence, id: due.id };
            self.world.registry().send(&send).await.unwrap();
        }
    }

    /// Returns the children, each with an engine that drives it.
    pub(crate) async fn children(&self) -> Vec<Talk<'w>> {
        let mut children = Vec::new();
        for session in self.client().children().await.unwrap() {
            let child = Talk::on(self.world, session);
            child.take(false).await;
            children.push(child);
        }
        children
    }

    // What is to be seen.

    pub(crate) async fn events(&self) -> Vec<Happened> {
        let events = self.client().events(0, usize::MAX).await.unwrap();
        events.iter().map(|event| Happened::read(event).unwrap()).collect()
    }

    /// Checks that the log, folded anew, comes to what is stored.
    pub(crate) async fn replay(&self, place: &str) {
        let folded = Replay::of(&self.events().await).unwrap();
        let session = self.session;
        let stored =
            self.world.runtime.read(|snapshot| Replay::stored(&Reader::on(snapshot, session)));
        let differs = folded.difference(&stored.await.unwrap());
        assert_eq!(differs, None, "{place}");
    }

    /// Returns the events of a type.
    pub(crate) async fn events_of(&self, kind: &str) -> Vec<Happened> {
        self.events().await.into_iter().filter(|event| event.kind == kind).collect()
    }

    /// Returns the types of all events.
    pub(crate) async fn kinds(&self) -> Vec<String> {
        self.events().await.into_iter().map(|event| event.kind).collect()
    }

    pub(crate) async fn view(&self) -> Value {
        serde_json::from_str(&self.client().view().await.unwrap()).unwrap()
    }

    /// Returns the conversation on the active path.
    pub(crate) async fn path(&self) -> Vec<Message> {
        serde_json::from_value(self.view().await["messages"].take()).unwrap()
    }

    /// Returns the conversation on the active path as texts; a call of tools as their names.
    pub(crate) async fn transcript(&self) -> Vec<String> {
        self.path().await.iter().map(spoken).collect()
    }

    /// Returns the error of a call that is refused, having seen that it left no event.
    pub(crate) async fn refused<T>(
        &self,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> CallError {
        let before = self.events().await.len();
        let Err(error) = call.await else { panic!("it was not refused") };
        assert_eq!(before, self.events().await.len(), "a refused input left a trace");
        error
    }
}

fn spoken(message: &Message) -> String {
    match &message.content {
        Some(content) => content.text().into_owned(),
        None => {
            let names = message.tool_calls.iter().map(|call| call.function.name.as_str());
            names.collect::<Vec<_>>().join("+")
        }
    }
}
