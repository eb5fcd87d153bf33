//! Blocks of replies that are streamed: what the log has of them, whatever ends the attempt.

use quixos_session::sessions::BlockChange;
use serde_json::{Value, json};

use crate::support::{
    Talk, World, begins, calls, config, config_with, ended, machine, retry, says, tool_result,
};

/// Brings a conversation to where a model of the engine's runs.
async fn running<'w>(world: &'w World, config: &Value) -> Talk<'w> {
    let talk = world.talk(config).await;
    talk.echo("client.messages").await;
    talk
}

/// Returns what the log has from the first block on, each as its type and what matters of it.
async fn told(talk: &Talk<'_>) -> Vec<String> {
    let events = talk.events().await;
    let first = events.iter().position(|event| event.kind == "llm.block.started").unwrap();
    let line = |kind: &str, payload: &Value| match kind {
        "llm.block.started" => format!("+{} {}", payload["index"], payload["kind"]),
        "llm.block.stopped" => {
            let said = payload.get("text").or(payload.get("arguments"));
            format!("-{} {}", payload["index"], said.unwrap_or(&Value::Null))
        }
        kind => kind.to_owned(),
    };
    events[first..].iter().map(|event| line(&event.kind, &event.payload)).collect()
}

#[tokio::test]
async fn a_reply_is_told_block_by_block_and_all_are_stopped_before_its_end() {
    let world = World::new().await;
    let talk = running(&world, &config()).await;
    let (due, _) = talk.prompt().await;
    assert!(talk.speaks(&due, &[begins(0, "reasoning", 0, None)]).await.applied);
    let change = [ended(0, "Hm"), begins(1, "text", 0, None)];
    talk.speaks(&due, &change).await;
    // A report that is repeated changes nothing.
    talk.speaks(&due, &change).await;
    talk.reply_with(&due, &says("Hi!"), &[ended(1, "Hi!")]).await;
    let expected = ["+0 \"reasoning\"", "-0 \"Hm\"", "+1 \"text\"", "-1 \"Hi!\""];
    assert_eq!(told(&talk).await[..5], [&expected[..], &["llm.call.completed"]].concat());
    let started = &talk.events_of("llm.block.started").await[0];
    assert_eq!((started.turn.as_deref(), &started.payload["attempt"]), (Some("t1"), &json!(1)));
    // What comes late is of an attempt that is over.
    assert!(!talk.speaks(&due, &[begins(2, "text", 3, None)]).await.applied);
    assert_eq!(talk.events_of("llm.block.started").await.len(), 2);
    world.verify().await;
}

#[tokio::test]
async fn a_tool_call_keeps_the_id_under_which_it_began() {
    let world = World::new().await;
    let talk = running(&world, &config_with(&[("a", "worker")])).await;
    let (due, _) = talk.prompt().await;
    let call = |index| [begins(index, "tool_call", 0, Some(("c1", "a")))];
    talk.speaks(&due, &call(0)).await;
    talk.reply_with(&due, &calls(&[("c1", "a")]), &[ended(0, "{}")]).await;
    talk.echo("llm.finished").await;
    talk.answer_next("tool.execute", &tool_result("one")).await;
    talk.echo("tool.finished").await;
    let (due, _) = talk.prompt().await;
    talk.speaks(&due, &call(0)).await;
    talk.reply_with(&due, &calls(&[("c1", "a"), ("c1", "a")]), &[ended(0, "{}")]).await;
    let began = talk.events_of("llm.block.started").await;
    let ids: Vec<&Value> = began.iter().map(|event| &event.payload["tool_call_id"]).collect();
    assert_eq!((ids[0], &began[1].payload["name"]), (&json!("c1"), &json!("a")));
    assert_ne!(ids[1], "c1");
    let asked = json!(talk.echo("llm.finished").await.trigger);
    let made = &asked["message"]["tool_calls"];
    assert_eq!(&made[0]["id"], ids[1]);
    assert!(made[1]["id"] != made[0]["id"] && made[1]["id"] != "c1", "{made}");
}

/// Two replies at once may give their calls the same id.
#[tokio::test]
async fn an_id_that_another_reply_has_begun_is_not_given_twice() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let two = json!({"actions": [{"type": "llm.call"}, {"type": "llm.call"}]});
    talk.answer_next("client.messages", &two).await;
    let running = talk.running().await;
    for due in &running {
        talk.speaks(due, &[begins(0, "tool_call", 0, Some(("c1", "a")))]).await;
    }
    let began = talk.events_of("llm.block.started").await;
    assert_ne!(began[0].payload["tool_call_id"], began[1].payload["tool_call_id"]);
    // The one that did not stream gets none of theirs either.
    talk.reply_with(&running[1], &calls(&[("c1", "a")]), &[ended(0, "{}")]).await;
    let told = json!(talk.next("llm.finished").await.trigger);
    let id = &told["message"]["tool_calls"][0]["id"];
    assert_eq!(id, &began[1].payload["tool_call_id"]);
}

#[tokio::test]
async fn a_failed_attempt_says_what_it_said_and_the_next_begins_anew() {
    let world = World::new().await;
    let mut config = config();
    config["retry"] = retry(Some(30), 3, 0, 0);
    let talk = running(&world, &config).await;
    let (due, _) = talk.prompt().await;
    talk.speaks(&due, &[begins(0, "text", 0, None)]).await;
    talk.speaks(&due, &[ended(0, "Half"), begins(1, "tool_call", 0, Some(("c1", "a")))]).await;
    talk.model_fails_with(&due, &[ended(1, "{\"x")]).await;
    talk.wait(0).await;
    let (due, _) = talk.prompt().await;
    talk.speaks(&due, &[begins(0, "text", 0, None)]).await;
    // Nobody reports how far this one came: its checkpoint does.
    talk.checkpoint(&due, "Other ha", "").await;
    talk.wait(30).await;
    talk.wait(0).await;
    let (due, _) = talk.prompt().await;
    talk.speaks(&due, &[begins(0, "text", 0, None)]).await;
    talk.take(true).await;
    let lines = told(&talk).await;
    let failed = ["+0 \"text\"", "-0 \"Half\"", "+1 \"tool_call\"", "-1 \"{\\\"x\""];
    assert_eq!(lines[..5], [&failed[..], &["llm.call.errored"]].concat());
    let expired = ["+0 \"text\"", "-0 \"Other ha\"", "llm.call.errored"];
    assert_eq!(lines[6..9], expired);
    // The checkpoint of another attempt says nothing of this one.
    assert_eq!(lines[10..13], ["+0 \"text\"", "-0 null", "llm.call.errored"]);
    world.verify().await;
}

#[tokio::test]
async fn what_was_said_is_noted_also_where_the_attempt_is_over_by_then() {
    let world = World::new().await;
    let mut config = config();
    config["retry"] = retry(Some(30), 0, 0, 0);
    let talk = running(&world, &config).await;
    let (due, _) = talk.prompt().await;
    world.wait(30);
    let whole: Vec<BlockChange> = vec![begins(0, "text", 0, None), ended(0, "All of it")];
    assert!(!talk.reply_with(&due, &says("All of it"), &whole).await.applied);
    let expected = ["+0 \"text\"", "-0 \"All of it\"", "llm.call.errored"];
    assert_eq!(told(&talk).await[..3], expected);
}

#[tokio::test]
async fn a_reply_that_is_called_off_is_stopped_where_its_checkpoint_is() {
    let world = World::new().await;
    let talk = running(&world, &config()).await;
    let (due, _) = talk.prompt().await;
    talk.speaks(&due, &[begins(0, "reasoning", 0, None)]).await;
    talk.checkpoint(&due, "", "Hm").await;
    talk.speaks(&due, &[ended(0, "Hmm"), begins(1, "text", 0, None)]).await;
    talk.speaks(&due, &[ended(1, "So"), begins(2, "reasoning", 3, None)]).await;
    talk.checkpoint(&due, "So", "Hmm, but").await;
    talk.cancel_as(machine(), Some("t1")).await.unwrap();
    let lines = told(&talk).await;
    assert_eq!(lines[5..8], ["-2 \", but\"", "call.voided", "turn.completed"]);
    world.verify().await;
}

#[tokio::test]
async fn a_worker_that_streams_is_told_of_in_the_same_way() {
    let world = World::new().await;
    let talk = running(&world, &json!({"model": "m", "handler": "worker", "stream": true})).await;
    let asked = talk.next("llm.execute").await;
    let call = json!(asked.trigger)["id"].as_str().unwrap().to_owned();
    talk.speaks_as(&call, 1, &[begins(0, "text", 0, None)]).await;
    let answer = json!({"actions": [{"type": "llm.result", "response": says("Hi!")}]});
    talk.answer_with(&asked, &answer, &[ended(0, "Hi!")]).await;
    let expected = ["+0 \"text\"", "-0 \"Hi!\"", "decision.completed", "llm.call.completed"];
    assert_eq!(told(&talk).await[..4], expected);
}

#[tokio::test]
async fn a_stale_engine_tells_nothing_and_a_malformed_report_is_refused() {
    let world = World::new().await;
    let talk = running(&world, &config()).await;
    let (due, _) = talk.prompt().await;
    for odd in [
        begins(1, "text", 0, None),
        begins(0, "song", 0, None),
        begins(0, "text", 0, Some(("c1", "a"))),
        begins(0, "tool_call", 0, None),
        BlockChange { index: 0, begins: None, ends: None },
    ] {
        let error = talk.refused(talk.try_speak(&due, std::slice::from_ref(&odd))).await;
        assert_eq!(error.code(), "invalid", "{odd:?}");
    }
    let stale = talk.fence().await;
    talk.take(true).await;
    let error = talk.refused(talk.try_speak_under(stale, &due)).await;
    assert_eq!(error.code(), "stale-fence");
}
