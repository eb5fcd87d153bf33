//! What an engine does for a session: a delivery, a model call, a spawn, a message to another
//! session. Each ends in a step of the session, under the engine's fence.
//!
//! Any of them may be given up at any moment. What it had done is then done again, or is no longer
//! wanted: the session knows.

use std::sync::Arc;
use std::time::Duration;

use quixos_protocol::{DecisionRequest, LlmRequest, LlmResponse, Trigger};
use quixos_runtime::{CallError, Ref};
use quixos_session::sessions::{
    Answer, Authority, BlockChange, CallFailure, DeliveryFailure, Due, Fence, Progress, Session,
    SessionObject, SessionRegistry, SessionRegistrySendInput, SessionRegistrySpawnInput, Settle,
};
use serde::Deserialize;
use serde_json::Value;
use tracing::{Instrument as _, Span, debug, info_span, warn};

use crate::attend::Speaker;
use crate::engine::Shared;
use crate::live::Sink;
use crate::observer::{Kind, Observed, Outcome};
use crate::provider::ProviderError;
use crate::trace::{self, TraceContext};
use crate::worker::{Delivery, DeliveryError};

/// How long to wait before a step is tried again that the store could not take.
const PAUSE: Duration = Duration::from_millis(500);
/// Tries of a step that the store could not take.
const TRIES: u32 = 20;

/// Something to do for a session.
pub(crate) struct Errand {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: Ref<SessionObject>,
    pub(crate) agent_id: String,
    pub(crate) fence: Fence,
    /// The trace of the turn that it is for.
    pub(crate) trace: TraceContext,
    pub(crate) due: Due,
}

/// A model call as it is to be made.
#[derive(Deserialize)]
struct Prompt {
    request: LlmRequest,
    stream: bool,
    session_id: String,
    turn_id: Option<String>,
}

impl Errand {
    /// Does it, and tells the session what it came to.
    pub(crate) async fn run(self) {
        let span = info_span!(
            parent: None,
            "errand",
            otel.name = %format_args!("{} {}", self.due.kind, self.agent_id),
            otel.kind = "client",
            kind = %self.due.kind,
            id = %self.due.id,
            attempt = self.due.attempt,
            agent = %self.agent_id,
        );
        let place = self.place(&span);
        let _under_way = self.shared.under_way.begin();
        let done = async {
            let done = match self.due.kind.as_str() {
                "deliver" => self.deliver(place).await,
                "model" => self.call_model(place).await,
                "spawn" => self.spawn().await,
                "send" => self.send().await,
                other => {
                    warn!(kind = other, "nobody knows how to do this");
                    Ok(())
                }
            };
            match done {
                Ok(()) => {}
                // Whoever drives the session now, or a newer state of it, sees to it.
                Err(CallError::StaleFence { .. } | CallError::NotFound { .. }) => {
                    debug!("no longer wanted");
                }
                Err(error) => {
                    warn!(%error, "could not be done");
                    // The driver looks again when this ends: not at once.
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        trace::within(Some(place), done).instrument(span).await;
    }

    /// Returns where in its trace the errand is: its span, or without one what its names decide.
    fn place(&self, span: &Span) -> TraceContext {
        let below = || self.trace.below(&format!("{}#{}", self.due.id, self.due.attempt));
        let Some(tracer) = &self.shared.options.tracer else { return below() };
        tracer.adopt(span, self.trace);
        tracer.place(span).unwrap_or_else(below)
    }

    pub(crate) fn client(&self) -> quixos_session::sessions::SessionClient<'_> {
        Session::on(&self.shared.caller, self.session)
    }

    fn observe<'e>(&'e self, kind: Kind<'e>) -> Observed<'e> {
        Observed::begin(self.shared.options.observer.as_deref(), kind, self.due.attempt)
    }

    fn system(&self) -> Authority {
        Authority { class: "system".to_owned(), tenant: String::new(), owner_id: String::new() }
    }

    /// Asks the agent's worker.
    async fn deliver(&self, place: TraceContext) -> Result<(), CallError> {
        let body = match self.client().request_of(&self.due.id).await {
            // It will be no smaller the next time.
            Err(error @ CallError::Limit { .. }) => {
                return self.fail_delivery(&error.to_string(), false, Vec::new()).await;
            }
            body => body?,
        };
        let request: DecisionRequest = serde_json::from_str(&body).map_err(|error| {
            CallError::Corrupt { message: format!("a decision cannot be read: {error}") }
        })?;
        let model_call =
            if let Trigger::LlmExecute(call) = &request.trigger { Some(call) } else { None };
        let (call, attempt) = model_call
            .map_or((request.decision_id.as_str(), request.attempts), |it| (&it.id, it.attempt));
        let turn = request.turn_id.as_deref();
        let streams = model_call.is_some_and(|call| call.stream);
        let live = &self.shared.live;
        let (sink, spoken) =
            Sink::in_session(live, &request.session_id, call, attempt, turn, streams);
        let sink = sink.traced(place);
        let observed = self.observe(Kind::Delivery { agent: &self.agent_id });
        let speaker = Speaker { call, attempt, sink: &sink, spoken, streams };
        let decide = self.decide(&request, &body, &sink, place);
        let decided = self.attend(decide, speaker, true).await;
        observed.end(Outcome::of(decided.as_ref(), |error| error.retryable));
        let blocks = sink.end();
        match decided {
            Some(Ok(answer)) => {
                let answer = Answer {
                    fence: Some(self.fence.clone()),
                    decision: self.due.id.clone(),
                    answer: answer.to_string(),
                    blocks,
                };
                match self.persist(&Step::Answer(answer)).await {
                    Err(error) if is_for_good(&error) => {
                        self.fail_delivery(&error.to_string(), false, Vec::new()).await
                    }
                    answered => answered.map(drop),
                }
            }
            Some(Err(error)) => self.fail_delivery(&error.message, error.retryable, blocks).await,
            None => self.fail_delivery("deadline exceeded", true, blocks).await,
        }
    }

    async fn decide(
        &self,
        request: &DecisionRequest,
        body: &str,
        sink: &Sink,
        place: TraceContext,
    ) -> Result<Value, DeliveryError> {
        let Some(worker) = self.shared.roster.worker_of(&self.agent_id) else {
            let message = format!("nobody decides for the agent `{}`", self.agent_id);
            return Err(DeliveryError { message, retryable: false });
        };
        let _place = self.shared.places.acquire().await;
        let traceparent = place.to_string();
        worker.decide(Delivery { request, body, traceparent: &traceparent }, sink).await
    }

    async fn fail_delivery(
        &self,
        error: &str,
        retryable: bool,
        blocks: Vec<BlockChange>,
    ) -> Result<(), CallError> {
        let failure = DeliveryFailure {
            fence: self.fence.clone(),
            decision: self.due.id.clone(),
            attempts: self.due.attempt,
            error: error.to_owned(),
            retryable,
            blocks,
        };
        self.persist(&Step::Fail(failure)).await.map(drop)
    }

    /// Makes a model call.
    async fn call_model(&self, place: TraceContext) -> Result<(), CallError> {
        let prompt = self.client().prompt_of(&self.due.id).await?;
        let prompt: Prompt = serde_json::from_str(&prompt).map_err(|error| CallError::Corrupt {
            message: format!("a prompt cannot be read: {error}"),
        })?;
        let Prompt { request, stream, session_id, turn_id } = prompt;
        let (call, attempt) = (&self.due.id, self.due.attempt);
        let (live, turn) = (&self.shared.live, turn_id.as_deref());
        let (sink, spoken) = Sink::in_session(live, &session_id, call, attempt, turn, stream);
        let sink = sink.traced(place);
        let models = self.shared.roster.prefix_of(&request.model).unwrap_or_default();
        let observed = self.observe(Kind::Model { models });
        let speaker = Speaker { call, attempt, sink: &sink, spoken, streams: stream };
        let completed = self.attend(self.complete(&request, stream, &sink), speaker, false).await;
        observed.end(Outcome::of(completed.as_ref(), |error| error.retryable));
        let blocks = sink.end();
        let (result, error) = match completed {
            Some(Ok(response)) => (Some(response), None),
            Some(Err(error)) => (None, Some(failure(error))),
            // The session's own deadline is the same instant: the step that it takes says so.
            None if blocks.is_empty() => return self.persist(&Step::Wake).await.map(drop),
            None => return self.persist(&self.progress(call, attempt, blocks)).await.map(drop),
        };
        let result = result.as_ref().map(serde_json::to_string).transpose();
        let result = result.map_err(|error| CallError::Corrupt {
            message: format!("a reply cannot be written: {error}"),
        })?;
        let settle = Settle {
            by: self.system(),
            fence: Some(self.fence.clone()),
            call: call.clone(),
            attempt: Some(attempt),
            result,
            error,
            blocks,
        };
        match self.persist(&Step::Settle(settle)).await {
            // Made again, the call would be paid again, and come to the same.
            Err(error) if is_for_good(&error) => {
                let error = failure(ProviderError {
                    message: format!("the reply cannot be kept: {error}"),
                    code: quixos_protocol::ErrorCode::ProviderError,
                    retryable: false,
                    retry_after: None,
                    detail: None,
                });
                let settle = Settle {
                    by: self.system(),
                    fence: Some(self.fence.clone()),
                    call: call.clone(),
                    attempt: Some(attempt),
                    result: None,
                    error: Some(error),
                    blocks: Vec::new(),
                };
                self.persist(&Step::Settle(settle)).await.map(drop)
            }
            settled => settled.map(drop),
        }
    }

    async fn complete(
        &self,
        request: &LlmRequest,
        stream: bool,
        sink: &Sink,
    ) -> Result<LlmResponse, ProviderError> {
        let Some(provider) = self.shared.roster.provider_of(&request.model) else {
            return Err(ProviderError {
                message: format!("no provider runs the model `{}`", request.model),
                code: quixos_protocol::ErrorCode::ProviderError,
                retryable: false,
                retry_after: None,
                detail: None,
            });
        };
        let _place = self.shared.places.acquire().await;
        provider.complete(request, stream, sink).await
    }

    async fn spawn(&self) -> Result<(), CallError> {
        let spawn = SessionRegistrySpawnInput {
            parent: self.session,
            fence: self.fence.clone(),
            call: self.due.id.clone(),
        };
        self.persist(&Step::Spawn(spawn)).await.map(drop)
    }

    async fn send(&self) -> Result<(), CallError> {
        let send = SessionRegistrySendInput {
            sender: self.session,
            fence: self.fence.clone(),
            id: self.due.id.clone(),
        };
        self.persist(&Step::Send(send)).await.map(drop)
    }

    /// Returns the step that tells of blocks.
    pub(crate) fn progress(&self, call: &str, attempt: u32, blocks: Vec<BlockChange>) -> Step {
        Step::Progress(Progress {
            fence: self.fence.clone(),
            call: call.to_owned(),
            attempt,
            text: String::new(),
            reasoning: String::new(),
            blocks,
        })
    }

    /// Takes a step, again while the store cannot take it: what was done is not to be lost to a
    /// moment's congestion. Returns whether there was something to do.
    pub(crate) async fn persist(&self, step: &Step) -> Result<bool, CallError> {
        let mut tries = 0;
        loop {
            match self.take(step).await {
                Err(CallError::Busy { .. } | CallError::Unavailable { .. }) if tries < TRIES => {
                    tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                done => return done,
            }
        }
    }

    async fn take(&self, step: &Step) -> Result<bool, CallError> {
        let session = self.client();
        let registry = SessionRegistry::on(&self.shared.caller, self.shared.registry);
        let outcome = match step {
            Step::Answer(answer) => session.answer(answer).await,
            Step::Fail(failure) => session.fail(failure).await,
            Step::Settle(settle) => session.settle(settle).await,
            Step::Progress(progress) => session.progress(progress).await,
            Step::Wake => session.wake().await,
            Step::Spawn(spawn) => registry.spawn(spawn).await,
            Step::Send(send) => registry.send(send).await,
        };
        Ok(outcome?.applied)
    }
}

/// What an errand ends in, and what it tells on the way.
pub(crate) enum Step {
    Answer(Answer),
    Fail(DeliveryFailure),
    Settle(Settle),
    Progress(Progress),
    Wake,
    Spawn(SessionRegistrySpawnInput),
    Send(SessionRegistrySendInput),
}

/// Tells whether a step fails however often it is taken. The session is told so: else it would have
/// the same done again.
fn is_for_good(error: &CallError) -> bool {
    matches!(error, CallError::Limit { .. } | CallError::Invalid { .. })
}

fn failure(error: ProviderError) -> CallFailure {
    let code = serde_json::to_value(error.code).ok();
    CallFailure {
        message: error.message,
        retryable: error.retryable,
        code: code.and_then(|code| code.as_str().map(str::to_owned)),
        detail: error.detail.map(|detail| detail.to_string()),
        retry_after: error.retry_after,
    }
}
