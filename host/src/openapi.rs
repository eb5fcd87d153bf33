//! The routes as one OpenAPI document, made from the types that they read and write.

mod streams;

use std::collections::BTreeSet;

use quixos_protocol::agent::{AgentEvent, AgentRequest};
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::agent::Page;
use crate::error::ErrorBody;
use crate::routes::{agent, client, events, machine, threads};
use crate::{agui, ui_message};

/// Who may use a route.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Anybody,
    Client,
    Machine,
}

/// What a route is.
struct Route {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    who: Who,
    body: Option<Value>,
    query: Option<Value>,
    /// The status of what is good, in which form, and what it is.
    good: (u16, &'static str, Value),
    /// The statuses of what is not, as far as they are its own.
    bad: &'static [u16],
}

/// What a route's own work may come to; what any route of its kind may is in [`refusals`].
const READ: &[u16] = &[403, 404];
const WRITE: &[u16] = &[403, 404, 409];
const SUBMIT: &[u16] = &[403, 404, 409, 429];
const STREAM: &[u16] = &[403];
/// Under a key something else may have been sent before.
const ONCE: &[u16] = &[403, 404, 409, 422];
/// Of front ends: who may not see a thread of a name has another one.
const RESUME: &[u16] = &[404, 409];

const JSON: &str = "application/json";
const STREAMED: &str = "text/event-stream";
const LINES: &str = "application/x-ndjson";

/// Where turns begin.
const BEGINS: &str = "/v1/agents/{name}/stream";
/// What 422 means there.
const REUSED: &str = "Something else was sent under the same `Idempotency-Key` before.";
/// The id of an event of a turn.
const POSITION: &str = r"^([0-9]{1,15}\.[0-9]{1,9})?$";

const AG_UI: &str = "/v1/agents/{name}/ag-ui";
const UI_MESSAGES: &str = "/v1/agents/{name}/ui-message-stream";

/// Returns the document (OpenAPI 3.1).
#[must_use]
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let settings =
        settings.with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut types = settings.into_generator();
    let error = reference::<ErrorBody>(&mut types);
    // What is wrong is an event there, whose name is `error`.
    let event = reference::<AgentEvent>(&mut types);
    let mut paths: Map<String, Value> = Map::new();
    for route in routes(&mut types) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        let error = if route.is_agents() { &event } else { &error };
        path[route.method] = operation(&route, error);
    }
    paths.insert(streams::PATH.to_owned(), streams::item(&error));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Quixos",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Sessions over HTTP. Workers speak the decision protocol: \
                `/schemas/decision-protocol.json`. Clients below `/v1/` speak the agent event \
                protocol: `/schemas/agent-event-protocol.json`.",
        },
        "paths": paths,
        "components": {
            "schemas": types.take_definitions(true),
            "securitySchemes": {
                "client": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" },
                "machine": { "type": "http", "scheme": "bearer" },
            },
        },
    })
}

fn reference<T: JsonSchema>(types: &mut SchemaGenerator) -> Value {
    types.subschema_for::<T>().to_value()
}

fn operation(route: &Route, error: &Value) -> Value {
    let (status, form, good) = &route.good;
    let mut responses = Map::new();
    let schema = if *form == STREAMED { &event_of(good) } else { good };
    let mut content = json!({ *form: { "schema": schema } });
    if route.is_agents() && !route.is_fronts() && *form == STREAMED {
        content[LINES] = json!({ "schema": good });
    }
    responses.insert(status.to_string(), json!({ "description": "Done.", "content": content }));
    if route.is_fronts() && route.method == "get" {
        responses.insert("204".to_owned(), json!({ "description": "Nothing runs." }));
    }
    for status in route.refusals() {
        let mut refusal = refusal(status, error);
        if (route.path, status) == (BEGINS, 422) {
            refusal["description"] = REUSED.into();
        }
        responses.insert(status.to_string(), refusal);
    }
    let mut operation = json!({
        "summary": route.summary,
        "operationId": id(route),
        "parameters": parameters(route),
        "responses": responses,
    });
    match route.who {
        Who::Anybody => {}
        Who::Client => operation["security"] = json!([{ "client": [] }]),
        Who::Machine => operation["security"] = json!([{ "machine": [] }]),
    }
    if let Some(body) = &route.body {
        // Whoever leaves out all of it may leave out the body.
        let is_required = !(route.who == Who::Machine && route.path.ends_with("/cancel"));
        operation["requestBody"] =
            json!({ "required": is_required, "content": { JSON: { "schema": body } } });
    }
    operation
}

/// Describes how a route refuses with a status.
fn refusal(status: u16, error: &Value) -> Value {
    let content = json!({ JSON: { "schema": error } });
    let mut response = json!({ "description": meaning(status), "content": content });
    if [429, 503].contains(&status) {
        response["headers"] = json!({ "Retry-After": {
            "description": "Seconds after which it is worth trying again.",
            "required": true,
            "schema": { "type": "integer", "minimum": 1 },
        } });
    }
    response
}

/// Returns the statuses with which any route of a kind may refuse: what cannot be read, who asks, and
/// what the store says. Whoever has a token may ask too often, by any door.
fn refusals(clients: bool, reads: bool, body: bool) -> BTreeSet<u16> {
    let mut statuses = BTreeSet::from([401, 500, 503]);
    statuses.extend(clients.then_some(429));
    statuses.extend((reads || body).then_some(400));
    statuses.extend(body.then_some([408, 413]).into_iter().flatten());
    statuses
}

impl Route {
    /// Returns the statuses with which it refuses.
    fn refusals(&self) -> BTreeSet<u16> {
        let mut statuses = match self.who {
            Who::Anybody => BTreeSet::new(),
            Who::Client | Who::Machine => {
                let reads = self.query.is_some() || self.places().next().is_some();
                refusals(self.who == Who::Client, reads, self.body.is_some())
            }
        };
        // The agent event protocol has one status for whatever is wrong with a body.
        statuses.extend((self.body.is_some() && !self.is_agents()).then_some(422));
        statuses.extend(self.bad);
        statuses
    }

    /// Says whether it is of the agent event protocol.
    fn is_agents(&self) -> bool {
        self.path.starts_with("/v1/")
    }

    /// Says whether it is of a protocol of front ends.
    fn is_fronts(&self) -> bool {
        [AG_UI, UI_MESSAGES].iter().any(|path| self.path.starts_with(path))
    }

    /// Returns what of the path is to be filled in.
    fn places(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|word| word.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// Returns the schema of an event of a stream, whose data is JSON.
fn event_of(data: &Value) -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "id": text,
            "event": text,
            "data": {
                "type": "string",
                "contentMediaType": JSON,
                "contentSchema": data,
            },
        },
        "required": ["data"],
    })
}

/// Returns a name: the method, and the words of the path.
fn id(route: &Route) -> String {
    let words = route.path.split(['/', '.', '-']).filter(|word| !word.is_empty());
    let words = words.filter(|word| !word.starts_with('{') && *word != "api");
    let id = words.fold(route.method.to_owned(), |id, word| format!("{id}_{word}"));
    // One of many, where the many have a route of the same words.
    if route.is_agents() && route.path.ends_with('}') { format!("{id}_one") } else { id }
}

fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters = Vec::new();
    for name in route.places() {
        let schema = json!({ "type": "string" });
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    let properties = route.query.as_ref().and_then(|query| query.get("properties")?.as_object());
    for (name, schema) in properties.into_iter().flatten() {
        parameters.push(json!({ "name": name, "in": "query", "schema": schema }));
    }
    if route.query.is_some() && route.good.1 == STREAMED {
        let pattern = if route.is_agents() { POSITION } else { "^[0-9]{0,15}$" };
        let schema = json!({ "type": "string", "pattern": pattern });
        parameters.push(json!({ "name": "Last-Event-ID", "in": "header", "schema": schema }));
    }
    if route.path == BEGINS {
        let schema = json!({ "type": "string", "pattern": "^[!-~]{1,255}$" });
        let what =
            "Names what is asked. Whoever sends the same again under it follows the same turn.";
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "description": what, "schema": schema,
        }));
    }
    parameters
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => "The body, the path, a parameter or a header cannot be read.",
        401 => "There is no valid credential.",
        403 => "It is another's.",
        404 => "It is not there.",
        405 => "It is there to be read, and for nothing else.",
        408 => "The body took too long to come.",
        409 => "It cannot be now.",
        410 => "It is over.",
        413 => "It is too large.",
        422 => "It is JSON of a shape that is not asked for, or of values that cannot be.",
        429 => {
            "Too many requests in one minute, too many streams at once, or too much to do already."
        }
        500 => "The host failed; its log says how.",
        _ => "The host is busy, about to stop, or cannot write; or nobody works for the agent.",
    }
}

fn routes(types: &mut SchemaGenerator) -> Vec<Route> {
    use Who::{Anybody, Client, Machine};
    let object = json!({ "type": "object" });
    let text = json!({ "type": "string" });
    let accepted = reference::<client::Accepted>(types);
    let interrupt = reference::<client::InterruptBody>(types);
    let interrupted = reference::<client::Interrupted>(types);
    let done = reference::<client::Done>(types);
    let event = reference::<events::EventBody>(types);
    let delta = reference::<events::DeltaBody>(types);
    let event = json!({ "anyOf": [event, delta], "description": "The `data` of each event." });
    let query = query_of::<events::EventsQuery>();
    let route = |method, path, summary, who, body, good, bad| Route {
        method,
        path,
        summary,
        who,
        body,
        query: None,
        good,
        bad,
    };
    let stream = |path, who| {
        let summary = "Follows the events of a session.";
        let good = (200, STREAMED, event.clone());
        Route { query: Some(query.clone()), ..route("get", path, summary, who, None, good, STREAM) }
    };
    let mut routes = vec![
        route(
            "post",
            "/api/client/sessions/input",
            "Submits an input.",
            Client,
            Some(reference::<client::InputBody>(types)),
            (202, JSON, accepted.clone()),
            SUBMIT,
        ),
        route(
            "get",
            "/api/client/sessions/{id}",
            "Shows a session.",
            Client,
            None,
            (200, JSON, object.clone()),
            READ,
        ),
        stream("/api/client/sessions/{id}/events/stream", Client),
        route(
            "post",
            "/api/client/sessions/{id}/interrupt",
            "Pauses a session.",
            Client,
            Some(interrupt.clone()),
            (200, JSON, interrupted.clone()),
            WRITE,
        ),
        route(
            "post",
            "/api/client/sessions/{id}/cancel",
            "Cancels a turn.",
            Client,
            Some(reference::<client::CancelTurnBody>(types)),
            (200, JSON, done.clone()),
            READ,
        ),
        route(
            "post",
            "/api/machine/client-tokens",
            "Issues a token.",
            Machine,
            Some(reference::<machine::TokenBody>(types)),
            (200, JSON, reference::<machine::Issued>(types)),
            &[],
        ),
        route(
            "post",
            "/api/machine/sessions/submit",
            "Submits an input for an owner.",
            Machine,
            Some(reference::<machine::SubmitBody>(types)),
            (202, JSON, accepted),
            SUBMIT,
        ),
        route(
            "get",
            "/api/machine/sessions/{id}",
            "Shows a session.",
            Machine,
            None,
            (200, JSON, object.clone()),
            READ,
        ),
        stream("/api/machine/sessions/{id}/events/stream", Machine),
        route(
            "post",
            "/api/machine/sessions/{id}/calls/settle",
            "Settles a call.",
            Machine,
            Some(reference::<machine::SettleBody>(types)),
            (200, JSON, done.clone()),
            WRITE,
        ),
        route(
            "post",
            "/api/machine/sessions/{id}/interrupt",
            "Pauses a session.",
            Machine,
            Some(interrupt),
            (200, JSON, interrupted),
            WRITE,
        ),
        route(
            "post",
            "/api/machine/sessions/{id}/cancel",
            "Cancels a session, or a turn.",
            Machine,
            Some(reference::<machine::CancelBody>(types)),
            (200, JSON, done.clone()),
            READ,
        ),
        route(
            "post",
            "/api/machine/workers/submit",
            "Answers a decision.",
            Machine,
            Some(reference::<machine::AnswerBody>(types)),
            (200, JSON, done),
            WRITE,
        ),
        route(
            "get",
            "/health",
            "Says that the host lives.",
            Anybody,
            None,
            (200, "text/plain", text.clone()),
            &[],
        ),
        route(
            "get",
            "/ready",
            "Says that the host can be used.",
            Anybody,
            None,
            (200, "text/plain", text),
            &[500, 503],
        ),
        route(
            "get",
            "/openapi.json",
            "This document.",
            Anybody,
            None,
            (200, JSON, object.clone()),
            &[],
        ),
        route(
            "get",
            "/schemas/agent-event-protocol.json",
            "The protocol of clients, as JSON Schema.",
            Anybody,
            None,
            (200, JSON, object.clone()),
            &[],
        ),
        route(
            "get",
            "/schemas/decision-protocol.json",
            "The protocol of workers, as JSON Schema.",
            Anybody,
            None,
            (200, JSON, object),
            &[],
        ),
    ];
    routes.extend(of_agents(types));
    routes.extend(of_fronts(types));
    routes
}

/// Returns the routes that front ends of others connect to.
fn of_fronts(types: &mut SchemaGenerator) -> Vec<Route> {
    let told = |event: Value| (200, STREAMED, event);
    let chunk = reference::<ui_message::Chunk>(types);
    let route = |method, path, summary, body, good, bad| Route {
        method,
        path,
        summary,
        who: Who::Client,
        body,
        query: None,
        good,
        bad,
    };
    vec![
        route(
            "post",
            AG_UI,
            "AG-UI: runs an agent.",
            Some(reference::<agui::RunInput>(types)),
            told(reference::<agui::Event>(types)),
            WRITE,
        ),
        route(
            "post",
            UI_MESSAGES,
            "The AI SDK: answers what is new in a conversation. The last `data` is `[DONE]`.",
            Some(reference::<ui_message::ChatInput>(types)),
            told(chunk.clone()),
            WRITE,
        ),
        route(
            "get",
            "/v1/agents/{name}/ui-message-stream/{thread}/stream",
            "The AI SDK: takes up a stream that was broken off.",
            None,
            told(chunk),
            RESUME,
        ),
    ]
}

/// Returns the routes of the agent event protocol.
fn of_agents(types: &mut SchemaGenerator) -> Vec<Route> {
    let mut event = reference::<AgentEvent>(types);
    event["description"] = "The `data` of each event, or each line.".into();
    let page = reference::<Page>(types);
    let route = |method, path, summary, body, query, good: (&'static str, Value), bad| Route {
        method,
        path,
        summary,
        who: Who::Client,
        body,
        query,
        good: (200, good.0, good.1),
        bad,
    };
    vec![
        route(
            "post",
            BEGINS,
            "Begins a turn, or goes on with one, and follows it.",
            Some(reference::<AgentRequest>(types)),
            None,
            (STREAMED, event.clone()),
            ONCE,
        ),
        route(
            "get",
            "/v1/requests/{id}/stream",
            "Follows a turn, or replays one that has ended.",
            None,
            Some(query_of::<agent::StreamQuery>()),
            (STREAMED, event),
            READ,
        ),
        route(
            "post",
            "/v1/requests/{id}/abort",
            "Aborts a turn.",
            None,
            None,
            (JSON, reference::<agent::Aborted>(types)),
            READ,
        ),
        route(
            "get",
            "/v1/threads",
            "Lists threads.",
            None,
            Some(query_of::<threads::ListQuery>()),
            (JSON, reference::<threads::Threads>(types)),
            &[],
        ),
        route(
            "get",
            "/v1/threads/{id}",
            "Shows a thread.",
            None,
            Some(query_of::<threads::ShowQuery>()),
            (JSON, page.clone()),
            READ,
        ),
        route(
            "patch",
            "/v1/threads/{id}",
            "Names a thread, or puts it away.",
            Some(reference::<threads::ChangeBody>(types)),
            None,
            (JSON, page),
            WRITE,
        ),
    ]
}

fn query_of<T: JsonSchema>() -> Value {
    SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}
