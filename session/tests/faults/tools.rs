//! Faults of tool calls: prompts with half of the results, arguments and results that are read
//! wrongly, and who may settle what.

use serde_json::{Value, json};

use crate::scenes::{called, called_with, result, speak, trigger};
use crate::support::{World, calls, config_with, frontend, machine, refusal, says};

const TWO: [(&str, &str); 2] = [("a", "worker"), ("b", "worker")];
const BOTH: [(&str, &str); 2] = [("c1", "a"), ("c2", "b")];

#[tokio::test]
async fn f03_parallel_finishes_prompt_once() {
    let world = World::new().await;
    let talk = called(&world, &TWO, &BOTH).await;
    talk.answer_next("tool.execute", &result("one")).await;
    talk.answer_next("tool.execute", &result("two")).await;
    assert_eq!(talk.echo("tool.finished").await.pending_calls, 1);
    assert!(talk.running().await.is_empty());
    assert_eq!(talk.echo("tool.finished").await.pending_calls, 0);
    assert_eq!(talk.events_of("llm.call.requested").await.len(), 2);
    speak(&talk, "Both.").await;
    assert_eq!(talk.transcript().await, ["Hello", "a+b", "one", "two", "Both."]);
}

#[tokio::test]
async fn f04_no_wake_makes_a_second_decision_live() {
    let world = World::new().await;
    let talk = called(&world, &TWO, &BOTH).await;
    let first = talk.next("tool.execute").await;
    for _ in 0..3 {
        talk.wait(5).await;
        // `next` sees that one decision is live.
        assert_eq!(talk.next("tool.execute").await.decision_id, first.decision_id);
    }
    talk.answer(&first, &result("one")).await;
    talk.wait(5).await;
    assert_eq!(trigger(&talk.next("tool.execute").await)["id"], json!("c2"));
}

#[tokio::test]
async fn f06_a_deferred_sibling_holds_the_prompt_back() {
    let world = World::new().await;
    let tools = [("fast", "worker"), ("deferred", "worker")];
    let talk = called(&world, &tools, &[("c1", "fast"), ("c2", "deferred")]).await;
    talk.answer_next("tool.execute", &result("quick")).await;
    talk.answer_next("tool.execute", &json!({})).await;
    let asked = talk.echo("tool.finished").await;
    assert_eq!((asked.pending_calls, asked.proposed.actions.len()), (1, 0));
    assert!(talk.running().await.is_empty());
    assert_eq!(talk.transcript().await, ["Hello", "fast+deferred", "quick"]);
    talk.settle_as(machine(), "c2", None, &json!("at last")).await.unwrap();
    talk.echo("tool.finished").await;
    assert_eq!(talk.running().await.len(), 1);
}

#[tokio::test]
async fn f27_an_answer_has_the_name_of_its_tool() {
    let world = World::new().await;
    let talk = called(&world, &[("find", "worker")], &[("c1", "find")]).await;
    talk.answer_next("tool.execute", &result("42")).await;
    talk.echo("tool.finished").await;
    let (_, prompt) = talk.prompt().await;
    assert_eq!(prompt.messages.last().unwrap().name.as_deref(), Some("find"));
    assert_eq!(talk.path().await.last().unwrap().name.as_deref(), Some("find"));
}

#[tokio::test]
async fn f30_a_new_config_counts_for_the_calls_of_its_own_answer() {
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
async fn f58_a_text_that_reads_as_a_number_is_a_text_too() {
    for (schema, value, is_ok) in [
        ("string", json!("42"), true),
        ("integer", json!("42"), true),
        ("integer", json!(42), true),
        ("string", json!(42), false),
        ("integer", json!("x"), false),
    ] {
        let world = World::new().await;
        let tool = json!({"name": "a", "output": {"type": schema}});
        let talk = called_with(&world, &json!({"model": "m", "tools": [tool]}), "{}").await;
        let answer = json!({"actions": [{"type": "tool.result", "result": value}]});
        talk.answer_next("tool.execute", &answer).await;
        let told = trigger(&talk.next("tool.finished").await);
        assert_eq!(told["ok"], json!(is_ok), "{value} as {schema}: {told}");
        if is_ok {
            assert_eq!(told["result"], json!("42"));
        }
    }
}

#[tokio::test]
async fn f59_a_client_cannot_settle_what_the_worker_runs() {
    let world = World::new().await;
    let talk = called(&world, &[("w", "worker")], &[("c1", "w")]).await;
    for input in [
        json!({"type": "tool.result", "id": "c1", "result": "mine"}),
        json!({"type": "tool.error", "id": "c1", "error": "no", "retryable": false}),
    ] {
        let refused = refusal(&talk.refused(talk.submit(&input)).await);
        assert_eq!((refused.word(), refused.status()), ("wrong-handler", 403));
    }
    let mine = json!("mine");
    let settle = talk.settle_as(frontend("anna"), "c1", None, &mine);
    assert_eq!(refusal(&talk.refused(settle).await).status(), 403);
    assert_eq!(talk.view().await["calls"][0]["status"], json!("pending"));
    talk.answer_next("tool.execute", &result("theirs")).await;
    assert_eq!(trigger(&talk.next("tool.finished").await)["result"], json!("theirs"));
}

#[tokio::test]
async fn f63_blank_arguments_are_an_empty_object() {
    for blank in ["", "  "] {
        let world = World::new().await;
        let talk = called_with(&world, &config_with(&[("a", "worker")]), blank).await;
        let asked = talk.next("tool.execute").await;
        let told = trigger(&asked);
        assert_eq!(told["input"], json!({"status": "valid", "value": {}}));
        assert_eq!(told["arguments"], json!(blank));
        assert!(asked.proposed.is_empty());
        talk.answer(&asked, &result("ok")).await;
        talk.echo("tool.finished").await;
        assert_eq!(talk.running().await.len(), 1);
    }
}

#[tokio::test]
async fn f64_malformed_arguments_do_not_run_the_tool() {
    let world = World::new().await;
    let talk = called_with(&world, &config_with(&[("a", "worker")]), r#"{"a":"#).await;
    let asked = talk.echo("tool.execute").await;
    let told = trigger(&asked);
    assert_eq!(told["input"]["status"], json!("malformed"));
    assert_eq!(told["input"].get("value"), None);
    let proposed = json!(asked.proposed);
    assert_eq!(proposed["actions"][0]["type"], json!("tool.error"));
    assert_ne!(proposed["actions"][0]["retryable"], json!(true));
    let error = proposed["actions"][0]["error"].as_str().unwrap();
    assert!(error.contains(told["input"]["error"].as_str().unwrap()), "{error}");
    // The model reads what was wrong, and may do better.
    let told = trigger(&talk.echo("tool.finished").await);
    assert_eq!((&told["ok"], &told["error"]), (&json!(false), &json!(error)));
    let (_, prompt) = talk.prompt().await;
    let read: Value = json!(prompt.messages.last().unwrap());
    assert_eq!((&read["role"], &read["content"]), (&json!("tool"), &json!(error)));
    talk.reply(&says("Sorry.")).await;
    talk.echo("llm.finished").await;
}
