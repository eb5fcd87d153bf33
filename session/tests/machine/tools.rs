//! Calls of tools: who runs them, when they count as over, how they are tried again.

use quixos_protocol::{Trigger, trigger};
use serde_json::{Value, json};

use crate::support::{
    Talk, World, calls, config_with, frontend, machine, message, refusal, retry, says,
};

/// Brings a conversation to where the model has called tools and the worker has seen it.
async fn called<'w>(world: &'w World, tools: &[(&str, &str)], made: &[(&str, &str)]) -> Talk<'w> {
    let talk = world.talk(&config_with(tools)).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(made)).await;
    talk.echo("llm.finished").await;
    talk
}

fn result(value: &str) -> Value {
    json!({"actions": [{"type": "tool.result", "result": value}]})
}

fn finished(trigger: &Trigger) -> &trigger::ToolFinished {
    let Trigger::ToolFinished(finished) = trigger else { panic!("{trigger:?}") };
    finished
}

fn executed(trigger: &Trigger) -> &trigger::ToolExecute {
    let Trigger::ToolExecute(execute) = trigger else { panic!("{trigger:?}") };
    execute
}

/// F3: the model is prompted once, with both results.
#[tokio::test]
async fn parallel_calls_are_told_one_by_one_and_prompt_once() {
    let world = World::new().await;
    let tools = [("a", "worker"), ("b", "worker")];
    let talk = called(&world, &tools, &[("c1", "a"), ("c2", "b")]).await;
    talk.answer_next("tool.execute", &result("one")).await;
    talk.answer_next("tool.execute", &result("two")).await;
    assert_eq!(talk.echo("tool.finished").await.pending_calls, 1);
    assert!(talk.running().await.is_empty());
    assert_eq!(talk.echo("tool.finished").await.pending_calls, 0);
    let (_, prompt) = talk.prompt().await;
    assert_eq!(prompt.messages.len(), 4);
    world.verify().await;
}

/// F6: a call that was put off keeps the model from being prompted.
#[tokio::test]
async fn a_deferred_call_holds_the_turn_until_it_is_settled() {
    let world = World::new().await;
    let tools = [("fast", "worker"), ("slow", "worker")];
    let talk = called(&world, &tools, &[("c1", "slow"), ("c2", "fast")]).await;
    talk.answer_next("tool.execute", &json!({})).await;
    talk.answer_next("tool.execute", &result("quick")).await;
    assert_eq!(talk.echo("tool.finished").await.pending_calls, 1);
    assert!(talk.running().await.is_empty());
    talk.wait(100_000).await;
    talk.settle_as(machine(), "c1", None, &json!("at last")).await.unwrap();
    talk.echo("tool.finished").await;
    assert_eq!(talk.prompt().await.1.messages.len(), 4);
}

/// F32: a call that waits behind another has all its time once it runs.
#[tokio::test]
async fn the_time_of_a_call_counts_from_when_it_starts() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[])).await;
    let call = |id: &str| {
        json!({"type": "tool.call", "id": id, "name": id, "arguments": {},
            "retry": retry(Some(5), 0, 1, 1)})
    };
    let asked = talk.next("client.messages").await;
    talk.answer(&asked, &json!({"actions": [call("c1"), call("c2")]})).await;
    talk.next("tool.execute").await;
    talk.wait(6).await;
    // The first has timed out; its decision is gone, and the second starts now.
    let second = talk.next("tool.execute").await;
    let deadline = executed(&second.trigger).deadline.clone();
    assert_eq!(deadline.as_deref(), Some("2026-01-31T12:00:11Z"));
    talk.world.wait(4);
    talk.answer(&second, &result("in time")).await;
    let told = talk.next("tool.finished").await;
    let told = finished(&told.trigger);
    assert_eq!((told.ok, told.error.as_deref()), (false, Some("deadline exceeded")));
}

/// F15, F77, F78, F80: attempts are counted, waited for, and fenced.
#[tokio::test]
async fn attempts_are_counted_and_what_is_late_is_dropped() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[])).await;
    let call = json!({"actions": [{"type": "tool.call", "id": "c1", "name": "a",
        "arguments": {"x": 1}, "retry": retry(Some(10), 3, 2, 3600)}]});
    talk.answer_next("client.messages", &call).await;
    let late = talk.next("tool.execute").await;
    for (attempt, delay) in [(1, 2), (2, 4), (3, 8)] {
        let asked = talk.next("tool.execute").await;
        assert_eq!(executed(&asked.trigger).attempt, attempt);
        assert_eq!(executed(&asked.trigger).arguments, r#"{"x":1}"#);
        talk.wait(10).await;
        talk.wait(delay - 1).await;
        assert_eq!(talk.asked().await, None, "before attempt {}", attempt + 1);
        talk.wait(1).await;
    }
    assert!(!talk.answer(&late, &result("late")).await.applied);
    let fenced = json!({"actions": [
        {"type": "tool.result", "id": "c1", "attempt": 2, "result": "late"}]});
    talk.answer_next("tool.execute", &fenced).await;
    assert_eq!(talk.events_of("action.dropped").await.len(), 1);
    talk.wait(10).await;
    let told = talk.next("tool.finished").await;
    assert_eq!(finished(&told.trigger).error.as_deref(), Some("deadline exceeded"));
    assert_eq!(talk.events_of("tool.call.errored").await.len(), 4);
}

#[tokio::test]
async fn only_a_retryable_error_is_tried_again() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[])).await;
    let call = json!({"actions": [{"type": "tool.call", "id": "c1", "name": "a",
        "arguments": null, "retry": retry(None, 1, 0, 0)}]});
    talk.answer_next("client.messages", &call).await;
    let error = |retryable: bool| json!({"actions": [{"type": "tool.error", "error": "no", "retryable": retryable}]});
    talk.answer_next("tool.execute", &error(true)).await;
    talk.wait(0).await;
    talk.answer_next("tool.execute", &error(false)).await;
    let told = talk.next("tool.finished").await;
    assert_eq!(finished(&told.trigger).error.as_deref(), Some("no"));
}

/// F59: a client settles what is the client's, and nothing else.
#[tokio::test]
async fn a_client_settles_its_own_calls_only() {
    let world = World::new().await;
    let tools = [("w", "worker"), ("c", "client")];
    let talk = called(&world, &tools, &[("c1", "w"), ("c2", "c")]).await;
    let settle = |by, call: &'static str, attempt| {
        let talk = &talk;
        async move { talk.settle_as(by, call, attempt, &json!("x")).await }
    };
    for (by, call, attempt, word) in [
        (frontend("anna"), "c1", None, "wrong-handler"),
        (frontend("eve"), "c2", None, "not-owner"),
        (frontend("anna"), "c3", None, "unknown-call"),
        (frontend("anna"), "c2", Some(2), "attempt-mismatch"),
    ] {
        let error = talk.refused(settle(by, call, attempt)).await;
        assert_eq!(refusal(&error).word(), word);
    }
    talk.settle_as(frontend("anna"), "c2", Some(1), &json!("done")).await.unwrap();
    let again = talk.refused(settle(frontend("anna"), "c2", None)).await;
    assert_eq!(refusal(&again).word(), "not-pending");
}

/// F30: an answer's own config decides about its own calls.
#[tokio::test]
async fn a_new_config_counts_for_the_calls_of_its_own_answer() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[])).await;
    let answer = json!({
        "agent": {"model": "m2", "tools": [{"name": "c", "handler": "client"}]},
        "messages": [{"role": "user", "content": "Hello"}],
        "actions": [{"type": "llm.call"}],
    });
    talk.answer_next("client.messages", &answer).await;
    let (_, prompt) = talk.prompt().await;
    assert_eq!((prompt.model.as_str(), prompt.tools.len()), ("m2", 1));
    talk.reply(&calls(&[("c1", "c")])).await;
    talk.echo("llm.finished").await;
    assert_eq!(talk.asked().await, None);
    assert_eq!(talk.view().await["calls"][0]["handler"], json!("client"));
}

#[tokio::test]
async fn ids_of_tool_calls_that_repeat_between_replies_are_told_apart() {
    let world = World::new().await;
    let talk = called(&world, &[("a", "worker")], &[("c1", "a")]).await;
    talk.answer_next("tool.execute", &result("one")).await;
    talk.echo("tool.finished").await;
    talk.reply(&calls(&[("c1", "a")])).await;
    talk.echo("llm.finished").await;
    let asked = talk.next("tool.execute").await;
    assert_ne!(executed(&asked.trigger).id, "c1");
    talk.answer(&asked, &result("two")).await;
    talk.echo("tool.finished").await;
    talk.reply(&says("Done.")).await;
    talk.echo("llm.finished").await;
    assert_eq!(talk.transcript().await, ["Hello", "a", "one", "a", "two", "Done."]);
}

/// Ids of tool calls come from providers, who promise nothing about them.
#[tokio::test]
async fn no_two_tool_calls_of_a_session_have_one_id() {
    let world = World::new().await;
    let talk = world.open("s1", &message("t1", "Hello")).await;
    let config = config_with(&[("a", "worker"), ("c", "client")]);
    talk.answer_next("session.start", &json!({ "agent": config })).await;
    // A conversation that began elsewhere brings answers along, to calls that were none of ours.
    let history = json!({
        "messages": [
            {"id": "u1", "role": "user", "content": "Hello"},
            {"id": "a1", "role": "assistant", "tool_calls": [
                {"id": "old", "type": "function", "function": {"name": "a", "arguments": "{}"}}]},
            {"id": "r1", "role": "tool", "tool_call_id": "old", "content": "1"},
        ],
        "actions": [
            {"type": "tool.call", "id": "open", "name": "c", "arguments": {}, "handler": "client"},
            {"type": "tool.call", "id": "ended", "name": "c", "arguments": {}, "handler": "client"},
            {"type": "llm.call"},
        ],
    });
    talk.answer_next("client.messages", &history).await;
    talk.settle_as(machine(), "ended", None, &json!("2")).await.unwrap();
    talk.answer_next("tool.finished", &json!({})).await;
    let given = ["new", "new", "", "old", "open", "ended"];
    talk.reply(&calls(&given.map(|id| (id, "a")))).await;
    let told = json!(talk.echo("llm.finished").await.trigger);
    let made = told["message"]["tool_calls"].as_array().unwrap();
    let ids: Vec<&str> = made.iter().map(|call| call["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids[0]), (6, "new"));
    for (place, id) in ids.iter().enumerate().skip(1) {
        assert!(!given.contains(id) && !ids[..place].contains(id), "{ids:?}");
    }
    // Each of them is run.
    for id in &ids {
        let asked = talk.answer_next("tool.execute", &result("done")).await;
        assert_eq!(executed(&asked.trigger).id, *id);
    }
}
