//! Where the faults begin: conversations that were brought to the point at which one may show.

use quixos_protocol::{DecisionRequest, DraftMessage};
use serde_json::{Value, json};

use crate::support::{Talk, World, calls, config, config_with, message, says};

/// Brings a conversation to where the model has called tools, each under an id, and the worker has
/// taken them up.
pub(crate) async fn called<'w>(
    world: &'w World,
    tools: &[(&str, &str)],
    made: &[(&str, &str)],
) -> Talk<'w> {
    let talk = world.talk(&config_with(tools)).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(made)).await;
    talk.echo("llm.finished").await;
    talk
}

/// Brings a conversation to where the model has called the tool `a` with these arguments, as `c1`.
pub(crate) async fn called_with<'w>(world: &'w World, config: &Value, arguments: &str) -> Talk<'w> {
    let talk = world.talk(config).await;
    talk.echo("client.messages").await;
    let mut reply = calls(&[("c1", "a")]);
    reply["tool_calls"][0]["function"]["arguments"] = json!(arguments);
    talk.reply(&reply).await;
    talk.echo("llm.finished").await;
    talk
}

/// Brings a conversation to the end of its first turn: "Hello", "Hi!".
pub(crate) async fn one_turn(world: &World) -> Talk<'_> {
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    speak(&talk, "Hi!").await;
    talk
}

/// Goes through one more turn by echoing.
pub(crate) async fn turn(talk: &Talk<'_>, turn: &str, text: &str, reply: &str) {
    talk.submit(&message(turn, text)).await.unwrap();
    talk.echo("client.messages").await;
    speak(talk, reply).await;
}

/// Lets the model say its last word of a turn.
pub(crate) async fn speak(talk: &Talk<'_>, reply: &str) {
    talk.reply(&says(reply)).await;
    talk.echo("llm.finished").await;
}

/// Returns an answer that settles the call that it is asked to run.
pub(crate) fn result(value: &str) -> Value {
    json!({"actions": [{"type": "tool.result", "result": value}]})
}

/// Returns an answer that lets the call fail that it is asked to run.
pub(crate) fn failure(retryable: bool) -> Value {
    json!({"actions": [{"type": "tool.error", "error": "no", "retryable": retryable}]})
}

/// Returns an action that calls a tool of the worker's.
pub(crate) fn tool(id: &str, retry: &Value) -> Value {
    json!({"type": "tool.call", "id": id, "name": id, "arguments": {}, "retry": retry})
}

/// Returns settings under which decisions are tried by a policy.
pub(crate) fn decisions_by(policy: &Value) -> String {
    json!({"session": {"decisionRetry": policy}}).to_string()
}

/// Returns the trigger of what the worker is asked, as it reads it.
pub(crate) fn trigger(asked: &DecisionRequest) -> Value {
    json!(asked.trigger)
}

/// Returns the conversation as a client that keeps it sends it back.
pub(crate) async fn drafts(talk: &Talk<'_>) -> Vec<DraftMessage> {
    talk.path().await.into_iter().map(DraftMessage::from).collect()
}

/// Returns how many messages were recorded, and how often a message stands below another's parent.
pub(crate) async fn shape(talk: &Talk<'_>) -> (usize, usize) {
    let view = talk.view().await;
    let nodes = view["message_tree"]["nodes"].as_array().unwrap();
    let parents: Vec<&Value> = nodes.iter().map(|node| &node["parent_id"]).collect();
    let repeated = parents.iter().enumerate().filter(|(place, it)| parents[..*place].contains(it));
    (nodes.len(), repeated.count())
}
