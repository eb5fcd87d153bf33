//! An event of a session's log as a line that a person reads.

use quixos_protocol::Message;
use quixos_session::Logged;
use quixos_session::replay::Happened;
use serde_json::{Value, json};

use super::words;
use crate::output::Paint;
use crate::scope::instant_text;

/// How many letters of a value are shown.
const LETTERS: usize = 60;

/// Returns an event for people.
pub(super) fn pieces(logged: &Logged) -> Vec<(Paint, String)> {
    let (paint, text) = said(&logged.event);
    vec![
        (Paint::Faint, format!("{:>4}  {}  ", logged.offset, instant_text(logged.instant))),
        (paint, text),
    ]
}

/// Returns an event for programs.
pub(super) fn json(logged: &Logged) -> Value {
    json!({
        "offset": logged.offset,
        "instant": instant_text(logged.instant),
        "commit": logged.commit,
        "type": logged.event.kind,
        "turn": logged.event.turn,
        "payload": logged.event.payload,
    })
}

/// Returns what an event says.
pub(super) fn said(event: &Happened) -> (Paint, String) {
    let text = |field: &str| event.text(field).unwrap_or_default();
    let turn = event.turn.as_deref().unwrap_or_default();
    match event.kind.as_str() {
        "session.created" => {
            let owner = event.payload["identity"]["id"].as_str().unwrap_or_default();
            (Paint::Strong, format!("the session begins: {owner} with {}", text("agent_id")))
        }
        "session.done" => (Paint::Good, format!("done{}", behind(&event.payload["data"]))),
        "session.cancelled" => (Paint::Bad, "the session is cancelled, for good".to_owned()),
        "session.interrupted" => {
            let payload = behind(&event.payload["payload"]);
            let reason = words::quoted(text("reason"), LETTERS);
            (Paint::Open, format!("paused by {}: {reason}{payload}", text("interrupt_id")))
        }
        "session.interrupt_resumed" => {
            let payload = behind(&event.payload["payload"]);
            (Paint::Good, format!("{} is answered{payload}", text("interrupt_id")))
        }
        "session.message_requested" => {
            (Paint::Plain, format!("a message to {} ({})", text("session_id"), text("id")))
        }
        "session.message_sent" => {
            (Paint::Plain, format!("the message to {} is there", text("session_id")))
        }
        "session.message_failed" => {
            let error = words::quoted(text("error"), LETTERS);
            (Paint::Bad, format!("the message to {} is lost: {error}", text("session_id")))
        }
        "message.new" => (Paint::Plain, message(&event.payload["message"])),
        "head.moved" => (Paint::Plain, format!("back to {}", text("head_id"))),
        "turn.started" => (Paint::Strong, format!("turn {turn} begins: {}", text("input"))),
        "turn.completed" => turn_completed(event, turn),
        "turn.waiting" => {
            let actions = event.payload["actions"].as_array().into_iter().flatten();
            let ids: Vec<&str> = actions.filter_map(|it| it["action_id"].as_str()).collect();
            (Paint::Open, format!("turn {turn} waits for its client: {}", ids.join(", ")))
        }
        "llm.block.started" | "llm.block.stopped" => block(event),
        "worker.state.updated" => (Paint::Faint, "the worker's state is set".to_owned()),
        "agent.updated" => (Paint::Faint, "the agent's config is set".to_owned()),
        kind => decision(event, kind)
            .or_else(|| call(event, kind))
            .unwrap_or_else(|| (Paint::Faint, format!("{kind}{}", behind(&event.payload)))),
    }
}

/// A value behind a text, unless it says nothing.
fn behind(value: &Value) -> String {
    if value.is_null() { String::new() } else { format!(" {}", words::value(value, LETTERS)) }
}

fn message(json: &Value) -> String {
    match serde_json::from_value::<Message>(json.clone()) {
        Ok(message) => {
            let role = json["role"].as_str().unwrap_or_default();
            format!("{role}: {}  {}", words::said(&message), message.id)
        }
        Err(_) => format!("message{}", behind(json)),
    }
}

/// A run of text, of reasoning, or a tool's call in a reply that is streamed.
fn block(event: &Happened) -> (Paint, String) {
    let (call, index) = (event.text("call_id").unwrap_or_default(), event.number("index"));
    let index = index.unwrap_or_default();
    let said = match (event.text("kind"), event.text("text").or(event.text("arguments"))) {
        (Some(kind), _) => format!("begins: {kind}"),
        (None, Some(said)) => format!("ends: {}", words::quoted(said, LETTERS)),
        (None, None) => "ends".to_owned(),
    };
    (Paint::Faint, format!("block {index} of {call} {said}"))
}

fn turn_completed(event: &Happened, turn: &str) -> (Paint, String) {
    let usage = &event.payload["usage"];
    let cost = usage["cost"].as_str().unwrap_or_default();
    let spent = words::spent(&usage["usage"], cost).map(|spent| format!("; {spent}"));
    let spent = spent.unwrap_or_default();
    match event.text("error") {
        Some("cancelled") => (Paint::Bad, format!("turn {turn} is cancelled{spent}")),
        Some(error) => (Paint::Bad, format!("turn {turn} has failed: {error}{spent}")),
        None => (Paint::Good, format!("turn {turn} is over{spent}")),
    }
}

fn decision(event: &Happened, kind: &str) -> Option<(Paint, String)> {
    let id = event.text("decision_id").unwrap_or_default();
    let attempts = event.number("attempts").unwrap_or_default();
    Some(match kind {
        "decision.queued" => {
            let trigger = event.payload["trigger"]["type"].as_str().unwrap_or_default();
            let about = event.text("call_id").map(|call| format!(" of {call}"));
            let about = about.unwrap_or_default();
            (Paint::Faint, format!("{id} waits to be asked: {trigger}{about}"))
        }
        "decision.dispatched" => {
            let until = event.text("deadline").map(|until| format!(", until {until}"));
            let until = until.unwrap_or_default();
            (Paint::Plain, format!("the worker is asked {id}, delivery {attempts}{until}"))
        }
        "decision.completed" => (Paint::Plain, format!("the worker has answered {id}")),
        "decision.errored" => {
            let error = words::quoted(event.text("error").unwrap_or_default(), LETTERS);
            (Paint::Bad, format!("delivery {attempts} of {id} failed: {error}{}", again(event)))
        }
        "decision.dropped" => {
            let reason = event.text("reason").unwrap_or_default();
            (Paint::Faint, format!("{id} is dropped: {reason}"))
        }
        "action.dropped" => {
            let (action, reason) = (event.text("action"), event.text("reason"));
            let (action, reason) = (action.unwrap_or_default(), reason.unwrap_or_default());
            (Paint::Bad, format!("an action of {id} comes to nothing: {action}: {reason}"))
        }
        _ => return None,
    })
}

/// When the next try is made.
fn again(event: &Happened) -> String {
    match event.text("retry_at") {
        Some(at) => format!("; again at {at}"),
        None => ", for good".to_owned(),
    }
}

fn call(event: &Happened, kind: &str) -> Option<(Paint, String)> {
    let text = |field: &str| event.text(field).unwrap_or_default();
    let (id, attempt) = (text("call_id"), event.number("attempt").unwrap_or_default());
    let (what, happened) = match kind.rsplit_once('.') {
        Some(("llm.call", happened)) => ("model call", happened),
        Some(("tool.call", happened)) => ("tool call", happened),
        Some(("sub_agent", happened)) => ("delegation", happened),
        Some(("call", happened)) => ("call", happened),
        _ => return None,
    };
    Some(match happened {
        "requested" => {
            let name = match what {
                "model call" => text("model").to_owned(),
                "delegation" => format!("{} in {}", text("agent_id"), text("session_id")),
                _ => format!("{} {}", text("name"), words::cut(text("arguments"), LETTERS)),
            };
            (Paint::Plain, format!("{what} {id}: {name}, by the {}", text("handler")))
        }
        "dispatched" => {
            let until = event.text("deadline").map(|until| format!(", until {until}"));
            let until = until.unwrap_or_default();
            (Paint::Plain, format!("{what} {id} runs, attempt {attempt}{until}"))
        }
        "started" => (Paint::Plain, format!("{what} {id}: {} has begun", text("session_id"))),
        "completed" | "turn_completed" => {
            let outcome = match event.text("result") {
                Some(result) => words::quoted(result, LETTERS),
                None => message(&event.payload["message"]),
            };
            (Paint::Good, format!("{what} {id} is done: {outcome}"))
        }
        "errored" => {
            let error = words::quoted(text("error"), LETTERS);
            (Paint::Bad, format!("{what} {id} failed, attempt {attempt}: {error}{}", again(event)))
        }
        "voided" => (Paint::Faint, format!("{what} {id} is called off: {}", text("reason"))),
        _ => return None,
    })
}
