//! The routes of public streams. What is in them is of any type, and much is in headers, so they are
//! described here and not by types.

use serde_json::{Map, Value, json};

/// Where public streams are.
pub(super) const PATH: &str = "/v1/stream/{path}";

/// Headers: their names, the pattern of what they hold, and what they are.
type Headers = &'static [(&'static str, &'static str, &'static str)];

const ANY: &str = ".*";
const SOME: &str = "^.{1,256}$";
const NUMBER: &str = "^(0|[1-9][0-9]{0,14})$";

const CREATE: Headers = &[
    ("Stream-TTL", NUMBER, "Seconds without a read or a write after which the stream is over."),
    ("Stream-Expires-At", ANY, "From when on the stream is over, RFC 3339."),
    ("Stream-Closed", ANY, "`true`: nothing will be appended."),
    ("Stream-Forked-From", ANY, "The path of the stream to fork, `/v1/stream/…`."),
    ("Stream-Fork-Offset", ANY, "Where the fork begins. Omitted: at the end."),
    ("Stream-Fork-Sub-Offset", NUMBER, "Messages, or bytes, behind that."),
];
const APPEND: Headers = &[
    ("Stream-Seq", ANY, "Has to be behind the last one of the stream."),
    ("Stream-Closed", ANY, "`true`: this is the last."),
    ("Producer-Id", SOME, "Who appends; comes with the next two."),
    ("Producer-Epoch", NUMBER, "Fences those before it."),
    ("Producer-Seq", NUMBER, "0, 1, 2 … of an epoch: what comes again is not appended again."),
];
const READ: Headers = &[("If-None-Match", ANY, "The `ETag` of what is known.")];
const PLACE: Headers = &[
    ("Stream-Next-Offset", SOME, "Where to go on."),
    ("Stream-Closed", ANY, "`true`: nothing comes behind that."),
];

/// Returns the routes as a path item.
pub(super) fn item(error: &Value) -> Value {
    let path = json!({
        "name": "path",
        "in": "path",
        "required": true,
        "description": "What the stream is called: up to 512 bytes; it may have slashes.",
        "schema": { "type": "string", "pattern": r"^[^\u0000-\u001f\u007f-\u009f]{1,512}$" },
    });
    json!({
        "description": "A public stream: the Durable Streams protocol. Below `objects/`, streams of \
            the runtime's objects, for programs to read.",
        "parameters": [path, query("owner", "The owner for whom a program speaks.")],
        "put": operation("Makes a stream, or finds it as asked for.", CREATE, Some(false), &[
            (201, "It is made."), (200, "It was there."),
        ], &[404, 405, 409], error),
        "post": operation("Appends to a stream, closes it, or both.", APPEND, Some(true), &[
            (200, "It is appended, of a producer."), (204, "It is done, or was done before."),
        ], &[403, 404, 405, 409, 410], error),
        "get": get(error),
        "head": operation("Tells what can be told without reading.", &[], None, &[
            (200, "It is there."),
        ], &[404, 405, 410], error),
        "delete": operation("Deletes a stream.", &[], None, &[
            (204, "It is deleted."),
        ], &[404, 405, 410], error),
    })
}

fn get(error: &Value) -> Value {
    let mut get = operation(
        "Reads a stream from an offset on, and what comes.",
        READ,
        None,
        &[
            (200, "What there is: of JSON an array of messages."),
            (204, "Nothing came."),
            (304, "Nothing is new."),
        ],
        &[404, 405, 410],
        error,
    );
    let mut live = query("live", "Wait for what comes. Needs an `offset`.");
    live["schema"]["enum"] = json!(["long-poll", "sse"]);
    let parameters = [
        query("offset", "`-1` for the beginning, `now` for the end, or what was answered."),
        live,
        query("cursor", "The `Stream-Cursor` of the last answer."),
    ];
    if let Some(list) = get["parameters"].as_array_mut() {
        list.extend(parameters);
    }
    get["responses"]["200"]["content"] = json!({
        "*/*": {},
        "text/event-stream": { "schema": { "type": "string" } },
    });
    get
}

fn operation(
    summary: &str,
    headers: Headers,
    body_has_type: Option<bool>,
    good: &[(u16, &str)],
    bad: &[u16],
    error: &Value,
) -> Value {
    let mut responses = Map::new();
    for (status, meaning) in good {
        let headers: Map<String, Value> = PLACE
            .iter()
            .map(|(name, pattern, what)| {
                let schema = json!({ "type": "string", "pattern": pattern });
                let header = json!({ "description": what, "schema": schema });
                ((*name).to_owned(), header)
            })
            .collect();
        let response = json!({ "description": meaning, "headers": headers });
        responses.insert(status.to_string(), response);
    }
    let common = super::refusals(true, true, body_has_type.is_some());
    for status in common.iter().chain(bad) {
        responses.insert(status.to_string(), super::refusal(*status, error));
    }
    let parameters: Vec<Value> = headers
        .iter()
        .map(|(name, pattern, what)| {
            let schema = json!({ "type": "string", "pattern": pattern });
            json!({ "name": name, "in": "header", "description": what, "schema": schema })
        })
        .collect();
    let id = summary.split(' ').next().unwrap_or_default().to_lowercase();
    let mut operation = json!({
        "summary": summary,
        "operationId": format!("streams_{id}"),
        "parameters": parameters,
        "responses": responses,
        "security": [{ "client": [] }, { "machine": [] }],
    });
    if let Some(is_required) = body_has_type {
        operation["requestBody"] = json!({ "required": is_required, "content": { "*/*": {} } });
    }
    operation
}

fn query(name: &str, what: &str) -> Value {
    let schema = json!({ "type": "string" });
    json!({ "name": name, "in": "query", "description": what, "schema": schema })
}
