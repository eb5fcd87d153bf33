//! Faults of model calls: ends that are not told, and prompts and replies that lose something.

use quixos_protocol::{DraftMessage, Role};
use serde_json::{Value, json};

use crate::scenes::{called, drafts, result, speak, tool, trigger};
use crate::support::{Talk, World, config, message, retry, says, view};

#[tokio::test]
async fn f07_a_call_that_times_out_for_the_last_time_is_told() {
    let world = World::new().await;
    let mut config = config();
    config["retry"] = retry(Some(1), 0, 1, 1);
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    talk.wait(2).await;
    let told = trigger(&talk.echo("llm.finished").await);
    assert_eq!((&told["ok"], &told["code"]), (&json!(false), &json!("deadline_exceeded")));
    assert_eq!(talk.view().await["status"], json!("interrupted"));
}

/// Brings a conversation to where a model of the worker's own runs, in a provider's format.
async fn worker_runs<'w>(world: &'w World, format: Option<&str>) -> Talk<'w> {
    let mut config = json!({"model": "m", "handler": "worker"});
    if let Some(format) = format {
        config["format"] = json!(format);
    }
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    talk
}

fn response(response: &Value) -> Value {
    json!({"actions": [{"type": "llm.result", "response": response}]})
}

#[tokio::test]
async fn f28_pictures_come_behind_the_text() {
    let world = World::new().await;
    let talk = worker_runs(&world, None).await;
    let images = json!([{"url": "data:image/png;base64,AA=="}, {"url": "https://example.org/b"}]);
    let reply = json!({"model": "m", "content": "See.", "images": images});
    talk.answer_next("llm.execute", &response(&reply)).await;
    talk.echo("llm.finished").await;
    let content = json!(talk.path().await.last().unwrap().content);
    assert_eq!(content[0], json!({"type": "text", "text": "See."}));
    for (place, url) in [(1, "data:image/png;base64,AA=="), (2, "https://example.org/b")] {
        assert_eq!(content[place], json!({"type": "image_url", "image_url": {"url": url}}));
    }
}

#[tokio::test]
async fn f36_a_refusal_is_no_reply() {
    let filtered = json!({"model": "m", "content": "", "finish_reason": "content_filter"});
    let openai = json!({"choices": [{"message": {"role": "assistant", "content": null,
        "refusal": "I will not."}, "finish_reason": "stop"}]});
    let anthropic = json!({"role": "assistant", "content": [], "stop_reason": "refusal"});
    for (format, reply) in
        [(None, filtered), (Some("openai"), openai), (Some("anthropic"), anthropic)]
    {
        let world = World::new().await;
        let talk = worker_runs(&world, format).await;
        talk.answer_next("llm.execute", &response(&reply)).await;
        let told = trigger(&talk.echo("llm.finished").await);
        assert_eq!((&told["ok"], &told["code"]), (&json!(false), &json!("refused")), "{told}");
        assert_eq!(talk.view().await["status"], json!("interrupted"));
        assert!(talk.events_of("turn.completed").await.is_empty());
    }
}

/// Says whether a text stands anywhere in a value.
fn is_in(text: &str, value: &Value) -> bool {
    match value {
        Value::String(found) => found == text,
        Value::Array(all) => all.iter().any(|value| is_in(text, value)),
        Value::Object(all) => all.values().any(|value| is_in(text, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[tokio::test]
async fn f38_a_provider_reads_no_ids_of_messages() {
    let openai = json!({"choices": [{"message": {"role": "assistant", "content": "Hi!"},
        "finish_reason": "stop"}]});
    let anthropic = json!({"role": "assistant", "content": [{"type": "text", "text": "Hi!"}],
        "stop_reason": "end_turn"});
    for (format, reply) in [("openai", openai), ("anthropic", anthropic)] {
        let world = World::new().await;
        let talk = worker_runs(&world, Some(format)).await;
        talk.answer_next("llm.execute", &response(&reply)).await;
        talk.echo("llm.finished").await;
        talk.submit(&message("t2", "More")).await.unwrap();
        talk.echo("client.messages").await;
        let body = trigger(&talk.next("llm.execute").await)["request"].take();
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 3, "{body}");
        assert!(messages.iter().all(|message| message.get("id").is_none()), "{body}");
        for recorded in talk.path().await {
            assert!(!is_in(&recorded.id, &body), "{body}");
        }
    }
}

#[tokio::test]
async fn f52_a_retry_sends_what_was_sent() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let answer = json!({
        "messages": [{"id": "u1", "role": "user", "content": "Hello"}],
        "actions": [
            {"type": "llm.call", "retry": retry(None, 2, 2, 60)},
            tool("c1", &retry(None, 0, 1, 1)),
        ],
    });
    talk.answer_next("client.messages", &answer).await;
    let (first, prompt) = talk.prompt().await;
    talk.model_fails(&first, "broken stream", true).await;
    // The tree grows, state and config change, before the next attempt.
    let mut meanwhile = result("r");
    meanwhile["messages"] =
        json!([{"id": "u1", "role": "user"}, {"role": "user", "content": "A note"}]);
    meanwhile["agent"] = json!({"model": "other", "system": "Be curt."});
    meanwhile["state"] = json!({"n": 1});
    talk.answer_next("tool.execute", &meanwhile).await;
    talk.answer_next("tool.finished", &json!({})).await;
    assert_eq!(talk.transcript().await, ["Hello", "A note"]);
    assert!(talk.running().await.is_empty());
    talk.wait(2).await;
    let (second, again) = talk.prompt().await;
    assert_eq!((second.attempt, &second.id), (2, &first.id));
    assert_eq!(again, prompt);
}

#[tokio::test]
async fn f86_a_prompt_has_an_answer_to_each_call() {
    let world = World::new().await;
    let talk = called(&world, &[("a", "worker")], &[("c1", "a")]).await;
    talk.answer_next("tool.execute", &result("42")).await;
    talk.echo("tool.finished").await;
    speak(&talk, "It is 42.").await;
    let mut kept = drafts(&talk).await;
    kept.retain(|message| message.role != Role::Tool);
    kept.push(DraftMessage::user("And now?"));
    talk.submit(&view("t2", &kept)).await.unwrap();
    talk.echo("client.messages").await;
    let (due, prompt) = talk.prompt().await;
    let roles: Vec<Role> = prompt.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant, Role::User]);
    assert_eq!(prompt.messages[2].tool_call_id.as_deref(), Some("c1"));
    assert_eq!(prompt.messages[2].name.as_deref(), Some("a"));
    talk.reply_to(&due, &says("Now too.")).await;
    talk.echo("llm.finished").await;
}
