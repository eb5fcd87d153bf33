//! From a request to the stream of its turn: what is asked is checked, submitted, and followed.
//!
//! Checked in this order, so that no answer tells a stranger anything: who asks and the shape of the
//! request, in this order too (by the route that hands them on), then whether there is such a thread
//! and whose it is, whether it was taken under its key before, whether there is such an agent, and only
//! then what the thread is at. What was taken is answered, whatever became of the agent and the host.

use std::sync::Arc;

use quixos_engine::{Answered, Response, Submitted, TurnAt};
use quixos_protocol::agent::{ActionResult, AgentRequest, ErrorCode, InputMessage, ResultStatus};
use quixos_protocol::input::{ClientMessage, ClientMessages};
use quixos_protocol::{ClientContext, ClientInput, Content, ContentPart, DraftMessage};
use quixos_runtime::Ref;
use quixos_session::sessions::{Once, Session, SessionObject};
use serde_json::{Map, Value};
use ulid::Ulid;

use super::position::Position;
use super::problem::Problem;
use super::reader::TurnStream;
use crate::state::{Asker, State, frontend, metadata};
use crate::tokens::Bearer;

/// Begins a turn, or goes on with one by answering what it waits for, and follows it. What was taken
/// under a key before is followed from where it was followed then.
///
/// # Errors
///
/// What is wrong with it. Then nothing has changed.
pub(crate) async fn begin(
    state: &Arc<State>,
    bearer: &Bearer,
    agent: &str,
    request: AgentRequest,
    once: Option<Once>,
) -> Result<TurnStream, Problem> {
    let thread = match &request.thread_id {
        Some(thread) => Some((thread.clone(), owned(state, bearer, thread).await?)),
        None => None,
    };
    if !bearer.may_use(agent) {
        return Err(Problem::no_agent(agent));
    }
    let known = match &once {
        Some(once) => state.taken(bearer, once).await?,
        None => None,
    };
    if known.is_none() {
        may_ask(state, agent, thread.as_ref().map(|(_, session)| *session)).await?;
    }
    let slot = state.limiter.open(bearer)?;
    let submitted = match (known, &thread, request.action_results()) {
        (Some(known), _, _) => known,
        (None, None, [answer, ..]) => {
            let told = format!("`{}` is not waited for: no thread is named", answer.action_id);
            return Err(Problem::coded(ErrorCode::InvalidActionId, told));
        }
        (None, None, []) => new_thread(state, bearer, agent, &request, once).await?,
        (None, Some((thread, _)), []) => {
            next_turn(state, bearer, agent, thread, &request, once).await?
        }
        (None, Some((thread, _)), [_, ..]) => answer(state, bearer, thread, &request, once).await?,
    };
    let Some(request) = submitted.request.map(|request| request.id().to_string()) else {
        return Err(Problem::conflict("there is no turn that goes on"));
    };
    let Some(at) = state.engine.turn_of(&request).await? else {
        return Err(Problem::no_request(&request));
    };
    let after = submitted.asked.map(|asked| Position::before(asked.saturating_add(1)));
    TurnStream::open(Arc::clone(state), frontend(bearer), request, &at, after, slot).await
}

/// Refuses what is new where the agent is not the thread's, and once the host is told to stop.
async fn may_ask(
    state: &State,
    agent: &str,
    session: Option<Ref<SessionObject>>,
) -> Result<(), Problem> {
    if let Some(session) = session {
        let bound = Session::on(state.door(), session).binding().await?.agent_id;
        if bound != agent {
            state.require_agent(agent).await?;
            return Err(Problem::conflict("the thread belongs to another agent"));
        }
    }
    if state.draining.is_cancelled() { Err(Problem::stopping()) } else { Ok(()) }
}

/// Returns the turn that a request is, if it is in a thread of the bearer's.
///
/// # Errors
///
/// There is none, or it is another owner's.
pub(crate) async fn find(state: &State, bearer: &Bearer, request: &str) -> Result<TurnAt, Problem> {
    let Some(at) = state.engine.turn_of(request).await? else {
        return Err(Problem::no_request(request));
    };
    state.visible(&Asker::client(bearer), &at.session_id).await?;
    Ok(at)
}

/// Returns a thread of the bearer's.
async fn owned(
    state: &State,
    bearer: &Bearer,
    thread: &str,
) -> Result<Ref<SessionObject>, Problem> {
    let session = state.visible(&Asker::client(bearer), thread).await?;
    session.ok_or_else(|| Problem::no_thread(thread))
}

async fn new_thread(
    state: &State,
    bearer: &Bearer,
    agent: &str,
    request: &AgentRequest,
    once: Option<Once>,
) -> Result<Submitted, Problem> {
    state.require_agent(agent).await?;
    let thread = Ulid::generate().to_string().to_lowercase();
    submit(state, bearer, thread, agent, request, once).await
}

async fn next_turn(
    state: &State,
    bearer: &Bearer,
    agent: &str,
    thread: &str,
    request: &AgentRequest,
    once: Option<Once>,
) -> Result<Submitted, Problem> {
    state.require_agent(agent).await?;
    let forwarded_props = forwarded(request);
    if request.messages.len() == 1 && forwarded_props.is_none() {
        return submit(state, bearer, thread.to_owned(), agent, request, once).await;
    }
    let messages = request.messages.iter().map(message).collect();
    let response =
        Response { messages, forwarded_props, stream: Some(true), once, ..Response::default() };
    respond(state, bearer, thread, response).await
}

async fn submit(
    state: &State,
    bearer: &Bearer,
    thread: String,
    agent: &str,
    request: &AgentRequest,
    once: Option<Once>,
) -> Result<Submitted, Problem> {
    let (agent_id, turn_id, stream) = (agent.to_owned(), None, Some(true));
    let props = forwarded(request);
    let mut messages: Vec<_> = request.messages.iter().map(message).collect();
    let input = match (props, messages.pop()) {
        (None, Some(message)) if messages.is_empty() => {
            ClientInput::ClientMessage(ClientMessage { agent_id, turn_id, message, stream })
        }
        (forwarded_props, last) => {
            messages.extend(last);
            let client = Some(ClientContext { forwarded_props, ..ClientContext::default() });
            let view = ClientMessages { agent_id, turn_id, messages, stream, client };
            ClientInput::ClientMessages(view)
        }
    };
    let input = serde_json::to_string(&input).map_err(|it| Problem::invalid(it.to_string()))?;
    let metadata = metadata(&bearer.identity)?;
    Ok(state.engine.submit_followed(frontend(bearer), thread, metadata, input, once).await?)
}

/// Answers what a thread waits for. The stream goes on behind where the client was asked.
async fn answer(
    state: &State,
    bearer: &Bearer,
    thread: &str,
    request: &AgentRequest,
    once: Option<Once>,
) -> Result<Submitted, Problem> {
    let response = Response {
        answers: request.action_results().iter().map(answered).collect(),
        messages: request.messages.iter().map(message).collect(),
        forwarded_props: forwarded(request),
        stream: Some(true),
        once,
    };
    respond(state, bearer, thread, response).await
}

async fn respond(
    state: &State,
    bearer: &Bearer,
    thread: &str,
    response: Response,
) -> Result<Submitted, Problem> {
    let by = frontend(bearer);
    let submitted = state.engine.respond(by.clone(), thread, response).await?;
    if let Some(turn) = &submitted.turn_id {
        state.engine.follow_turn(by, thread, turn).await?;
    }
    Ok(submitted)
}

fn answered(result: &ActionResult) -> Answered {
    let outcome = match result.status {
        ResultStatus::Success => Ok(result.data.clone().unwrap_or_default()),
        ResultStatus::Error => {
            Err(result.error.clone().unwrap_or_else(|| "the client could not do it".to_owned()))
        }
    };
    Answered { action_id: result.action_id.clone(), outcome }
}

/// Returns what is for the worker, if there is something.
fn forwarded(request: &AgentRequest) -> Option<Value> {
    let context = request.context.as_ref()?;
    let forwarded: &Map<String, Value> = &context.forwarded;
    (!forwarded.is_empty()).then(|| Value::Object(forwarded.clone()))
}

fn message(message: &InputMessage) -> DraftMessage {
    match message.content.as_slice() {
        [text] => DraftMessage::user(text.as_text()),
        texts => {
            let texts =
                texts.iter().map(|text| ContentPart::Text { text: text.as_text().to_owned() });
            let content = Some(Content::Parts(texts.collect()));
            DraftMessage { content, ..DraftMessage::user("") }
        }
    }
}
