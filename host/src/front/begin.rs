//! From what a front end asks to the stream of its turn.

use std::sync::Arc;

use quixos_engine::{Answered, Response, Submitted};
use quixos_package::agent_runtime::AgentRequestObject;
use quixos_protocol::agent::ErrorCode;
use quixos_protocol::input::{ClientMessage, ClientMessages};
use quixos_protocol::{ClientContext, ClientInput, DraftMessage};
use quixos_runtime::{CallError, Ref};
use quixos_session::sessions::{Once, Session, SessionObject, TurnData};
use serde_json::Value;

use super::chosen::thread_of;
use super::news::{Known, Said, waits};
use crate::agent::{Position, Problem, TurnStream};
use crate::state::{State, frontend, metadata};
use crate::tokens::Bearer;

/// What a front end asks of an agent.
pub(crate) struct Ask {
    /// The thread, by the name that the client has for it.
    pub(crate) thread: String,
    /// What a turn is known by: whoever asks under it again follows the same turn.
    pub(crate) key: Option<String>,
    /// What answers are known by: whoever gives them again follows the turn that took them.
    pub(crate) once: Option<Once>,
    /// The whole conversation, as the client knows it.
    pub(crate) conversation: Vec<Said>,
    /// Answers to questions.
    pub(crate) answers: Vec<Answered>,
    /// What is brought along.
    pub(crate) client: ClientContext,
    /// Whether what was said last is to be answered anew.
    pub(crate) again: bool,
}

/// A thread of the bearer's, which may not be there yet.
struct Place {
    id: String,
    session: Option<Ref<SessionObject>>,
}

/// Begins a turn with what is news, or goes on with one by answering what it waits for, and follows
/// it. What was begun under the same key is followed from its begin, what was answered from where the
/// client was asked. That is looked for first: of what is sent again nothing is news any more, and it
/// counted whatever became of the agent and the host since.
///
/// # Errors
///
/// What is wrong with it. Then nothing has changed.
pub(crate) async fn begin(
    state: &Arc<State>,
    bearer: &Bearer,
    agent: &str,
    ask: Ask,
) -> Result<TurnStream, Problem> {
    let place = Place::find(state, bearer, agent, &ask.thread).await?;
    let slot = state.limiter.open(bearer)?;
    let (key, once) = (ask.key.clone(), ask.once.clone());
    let taken = || place.taken(state, bearer, key.as_deref(), once.as_ref());
    let submitted = match taken().await? {
        Some(turn) => turn,
        None => {
            state.require_agent(agent).await?;
            if state.draining.is_cancelled() {
                return Err(Problem::stopping());
            }
            match place.ask(state, bearer, agent, ask).await {
                Ok(turn) => turn,
                // It may have come twice at once, and the other one was first.
                Err(problem) => taken().await?.ok_or(problem)?,
            }
        }
    };
    let after = submitted.asked.map(|asked| Position::before(asked.saturating_add(1)));
    let request = submitted.request.map(|request| request.id().to_string());
    let Some(request) = request else {
        return Err(Problem::conflict("there is no turn to follow"));
    };
    let Some(at) = state.engine.turn_of(&request).await? else {
        return Err(Problem::no_request(&request));
    };
    TurnStream::open(Arc::clone(state), frontend(bearer), request, &at, after, slot).await
}

/// Follows what runs in a thread, from behind where its client was last asked for something; nothing
/// if nothing runs, or if it is the client's turn.
///
/// # Errors
///
/// The owner follows too many already, or the thread is another agent's.
pub(crate) async fn running(
    state: &Arc<State>,
    bearer: &Bearer,
    agent: &str,
    thread: &str,
) -> Result<Option<TurnStream>, Problem> {
    let place = Place::find(state, bearer, agent, thread).await?;
    state.require_agent(agent).await?;
    let Some(turn) = place.turn(state).await? else { return Ok(None) };
    // One that nobody followed yet does not say what it waits for, and does not end.
    state.engine.follow_turn(frontend(bearer), &place.id, &turn.id).await?;
    if let Some(now) = place.turn(state).await?
        && waits(&now.waiting).map_err(corrupt)?
    {
        return Ok(None);
    }
    let slot = state.limiter.open(bearer)?;
    let Some(request) = place.request_of(state, &turn.id).await? else { return Ok(None) };
    let request = request.id().to_string();
    let Some(at) = state.engine.turn_of(&request).await? else { return Ok(None) };
    let after = turn.asked.map(|asked| Position::before(asked.saturating_add(1)));
    TurnStream::open(Arc::clone(state), frontend(bearer), request, &at, after, slot).await.map(Some)
}

impl Place {
    async fn find(
        state: &State,
        bearer: &Bearer,
        agent: &str,
        thread: &str,
    ) -> Result<Self, Problem> {
        if !bearer.may_use(agent) {
            return Err(Problem::no_agent(agent));
        }
        let id = thread_of(state, bearer, thread).await?;
        let session = state.engine.session(&id).await?;
        if let Some(session) = session
            && Session::on(state.door(), session).binding().await?.agent_id != agent
        {
            state.require_agent(agent).await?;
            return Err(Problem::conflict("the thread belongs to another agent"));
        }
        Ok(Self { id, session })
    }

    /// Returns the turn that the thread is at, if it is at one.
    async fn turn(&self, state: &State) -> Result<Option<TurnData>, Problem> {
        let Some(session) = self.session else { return Ok(None) };
        Ok(Session::on(state.door(), session).data().await?.turn)
    }

    /// Returns what the thread knows.
    async fn known(&self, state: &State) -> Result<Known, Problem> {
        if self.session.is_none() {
            return Ok(Known::default());
        }
        let waiting = self.turn(state).await?.map(|turn| turn.waiting);
        let view = state.engine.view(&self.id).await?;
        Known::read(&view, waiting.as_deref()).map_err(corrupt)
    }

    /// Returns the request that a turn of the thread is, if there is such a turn.
    async fn request_of(
        &self,
        state: &State,
        turn: &str,
    ) -> Result<Option<Ref<AgentRequestObject>>, Problem> {
        let Some(session) = self.session else { return Ok(None) };
        Ok(Session::on(state.door(), session).turns_at(turn).await?.first().copied())
    }

    /// Returns the turn that was begun with what is asked, or that it answered, if one was.
    async fn taken(
        &self,
        state: &State,
        bearer: &Bearer,
        key: Option<&str>,
        once: Option<&Once>,
    ) -> Result<Option<Submitted>, Problem> {
        if let Some(key) = key
            && let Some(request) = self.request_of(state, key).await?
        {
            state.engine.follow_turn(frontend(bearer), &self.id, key).await?;
            return Ok(Some(Submitted {
                session_id: self.id.clone(),
                turn_id: Some(key.to_owned()),
                request: Some(request),
                asked: None,
                applied: false,
            }));
        }
        let Some(once) = once else { return Ok(None) };
        Ok(state.taken(bearer, once).await?)
    }

    async fn ask(
        &self,
        state: &State,
        bearer: &Bearer,
        agent: &str,
        ask: Ask,
    ) -> Result<Submitted, Problem> {
        let Ask { key, once, conversation, mut answers, client, again, .. } = ask;
        let known = self.known(state).await?;
        let news = known.news_in(conversation);
        let results = news.results.into_iter();
        answers.extend(results.map(|(action_id, outcome)| Answered { action_id, outcome }));
        if let Some((_, text)) = news.messages.iter().find(|(_, text)| text.len() > state.text) {
            let told =
                format!("{} bytes of text, where at most {} are taken", text.len(), state.text);
            return Err(Problem::coded(ErrorCode::MessageTooLarge, told));
        }
        let messages = news.messages.into_iter().map(|(id, text)| DraftMessage {
            id: id.filter(|id| !id.is_empty()),
            ..DraftMessage::user(text)
        });
        let messages: Vec<DraftMessage> = messages.collect();
        if !answers.is_empty() {
            return self.answer(state, bearer, answers, messages, client, once).await;
        }
        let agent_id = agent.to_owned();
        let (turn_id, stream) = (key, Some(true));
        let input = match <[DraftMessage; 1]>::try_from(messages) {
            Ok([message]) if client == ClientContext::default() => {
                ClientInput::ClientMessage(ClientMessage { agent_id, turn_id, message, stream })
            }
            news => {
                let news = news.map_or_else(|messages| messages, Vec::from);
                let view = match (news.is_empty(), again) {
                    (true, true) => known.up_to_user(),
                    (true, false) => None,
                    (false, _) => Some(known.path().chain(news).collect()),
                };
                let Some(messages) = view else {
                    return Err(Problem::coded(
                        ErrorCode::InvalidMessageFormat,
                        "`/messages`: nothing in it is new, and nothing answers what is waited for",
                    ));
                };
                let client = Some(client);
                let view = ClientMessages { agent_id, turn_id, messages, stream, client };
                ClientInput::ClientMessages(view)
            }
        };
        let input = serde_json::to_string(&input).map_err(|it| Problem::invalid(it.to_string()))?;
        let metadata = metadata(&bearer.identity)?;
        let by = frontend(bearer);
        Ok(state.engine.submit_followed(by, self.id.clone(), metadata, input, None).await?)
    }

    async fn answer(
        &self,
        state: &State,
        bearer: &Bearer,
        answers: Vec<Answered>,
        messages: Vec<DraftMessage>,
        client: ClientContext,
        once: Option<Once>,
    ) -> Result<Submitted, Problem> {
        if self.session.is_none() {
            return Err(Problem::coded(ErrorCode::InvalidActionId, "nothing is waited for"));
        }
        let forwarded_props: Option<Value> = client.forwarded_props;
        let stream = Some(true);
        let response = Response { answers, messages, forwarded_props, stream, once };
        let submitted = state.engine.respond(frontend(bearer), &self.id, response).await?;
        if let Some(turn) = &submitted.turn_id {
            state.engine.follow_turn(frontend(bearer), &self.id, turn).await?;
        }
        Ok(submitted)
    }
}

fn corrupt(error: serde_json::Error) -> Problem {
    CallError::Corrupt { message: error.to_string() }.into()
}
