//! What a client answers of what a session waits for: all of it at once, or nothing.

use quixos_session::Refusal;
use serde_json::{Value, json};

use crate::support::{Talk, World, calls, config_with, frontend, machine, refusal, tool_result};

/// Brings a conversation to where its client has calls to run.
async fn called<'w>(world: &'w World, made: &[(&str, &str)]) -> Talk<'w> {
    let talk = world.talk(&config_with(&[("c", "client"), ("w", "worker")])).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(made)).await;
    talk.echo("llm.finished").await;
    talk
}

fn user(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

#[tokio::test]
async fn answers_to_a_question_and_to_a_call_go_together() {
    let world = World::new().await;
    let talk = called(&world, &[("c1", "c"), ("c2", "c")]).await;
    talk.interrupt_as(frontend("anna"), "q").await.unwrap();
    let answers = [("c1", Ok(json!({"n": 1}))), ("q", Err("no")), ("c2", Err("broken"))];
    let turn = talk.respond(&answers, &json!([])).await.unwrap();
    assert_eq!(turn.as_deref(), Some("t1"));
    let resumed = talk.answer_next("interrupt.resumed", &json!({})).await;
    assert_eq!(json!(resumed.trigger)["payload"], json!({"error": "no"}));
    let told = talk.echo("tool.finished").await;
    assert_eq!(json!(told.trigger)["result"], json!(r#"{"n":1}"#));
    let told = talk.echo("tool.finished").await;
    assert_eq!(json!(told.trigger)["error"], json!("broken"));
    assert_eq!(talk.transcript().await, ["Hello", "c+c", r#"{"n":1}"#, "broken"]);
    world.verify().await;
}

#[tokio::test]
async fn one_answer_to_nothing_takes_all_others_with_it() {
    let world = World::new().await;
    let talk = called(&world, &[("c1", "c"), ("w1", "w")]).await;
    talk.interrupt_as(machine(), "theirs").await.unwrap();
    for (name, unknown) in [
        ("nothing", vec![("c1", Ok(json!(1))), ("none", Ok(json!(2)))]),
        ("answered in the same breath", vec![("c1", Ok(json!(1))), ("c1", Ok(json!(2)))]),
        ("the worker's", vec![("c1", Ok(json!(1))), ("w1", Ok(json!(2)))]),
        ("an operator's", vec![("c1", Ok(json!(1))), ("theirs", Ok(json!(2)))]),
    ] {
        let id = unknown[1].0.to_owned();
        let error = talk.refused(talk.respond(&unknown, &json!([]))).await;
        assert_eq!(refusal(&error), Refusal::UnknownAction(id), "{name}");
    }
    let live = talk.client().live().await.unwrap();
    assert!(live.calls.iter().any(|call| call.id == "c1" && call.status == "pending"));
    talk.respond(&[("c1", Ok(json!(1)))], &json!([])).await.unwrap();
    let late = talk.refused(talk.respond(&[("c1", Ok(json!(1)))], &json!([]))).await;
    assert_eq!(refusal(&late), Refusal::UnknownAction("c1".to_owned()));
}

#[tokio::test]
async fn nobody_answers_for_another_owner() {
    let world = World::new().await;
    let talk = called(&world, &[("c1", "c")]).await;
    let answers = [("c1", Ok(json!(1)))];
    let error = talk.refused(talk.respond_as(frontend("eve"), &answers, &json!([]))).await;
    assert_eq!(refusal(&error), Refusal::NotOwner);
    let error = talk.refused(talk.respond(&[], &json!([]))).await;
    assert_eq!(error.code(), "invalid");
}

#[tokio::test]
async fn messages_beside_results_are_one_view() {
    let world = World::new().await;
    let talk = called(&world, &[("c1", "c"), ("w1", "w")]).await;
    // While the client answers, the worker's own call is told and recorded.
    talk.answer_next("tool.execute", &tool_result("theirs")).await;
    let told = talk.next("tool.finished").await;
    talk.respond(&[("c1", Ok(json!("mine")))], &user("And now?")).await.unwrap();
    talk.answer(&told, &json!(told.proposed)).await;
    let asked = talk.next("client.messages").await;
    let trigger = json!(asked.trigger);
    assert_eq!(trigger["new_from"], json!(3));
    assert_eq!(trigger["client"]["forwarded_props"], json!({"mode": "test"}));
    talk.answer(&asked, &json!(asked.proposed)).await;
    assert_eq!(talk.transcript().await, ["Hello", "c+w", "theirs", "mine", "And now?"]);
    assert_eq!(talk.asked().await, None);
    let (_, prompt) = talk.prompt().await;
    assert_eq!(prompt.messages.len(), 5);
    assert_eq!(talk.events_of("turn.started").await.len(), 1);
    world.verify().await;
}

#[tokio::test]
async fn messages_wait_for_all_calls_and_go_along_with_no_question() {
    let world = World::new().await;
    let talk = called(&world, &[("c1", "c"), ("c2", "c")]).await;
    let error = talk.refused(talk.respond(&[("c1", Ok(json!(1)))], &user("More"))).await;
    assert_eq!(refusal(&error), Refusal::TurnAlreadyActive("t1".to_owned()));
    talk.interrupt_as(frontend("anna"), "q").await.unwrap();
    let error = talk.refused(talk.respond(&[("q", Ok(json!(1)))], &user("More"))).await;
    assert_eq!(refusal(&error), Refusal::Interrupted);
    // Beside an open question they are taken, and wait for its answer.
    let both = [("c1", Ok(json!(1))), ("c2", Ok(json!(2)))];
    talk.respond(&both, &user("More")).await.unwrap();
    assert_eq!(talk.asked().await, None);
    talk.respond(&[("q", Ok(json!(1)))], &json!([])).await.unwrap();
    talk.answer_next("interrupt.resumed", &json!({})).await;
    talk.echo("client.messages").await;
    assert_eq!(talk.transcript().await, ["Hello", "c+c", "1", "2", "More"]);
}

#[tokio::test]
async fn what_a_sub_agent_waits_for_is_answered_above_it() {
    let world = World::new().await;
    let tools = json!([{"name": "c", "handler": "client"}]);
    let settings = json!({"session": {"agent": {"model": "small", "tools": tools}}}).to_string();
    world.agent("one", &settings).await;
    let config = json!({"model": "m", "tools": tools, "sub_agents": [{"id": "one"}]});
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "c"), ("s1", "one")])).await;
    talk.echo("llm.finished").await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.echo("session.start").await;
    child.echo("client.messages").await;
    child.reply(&calls(&[("k1", "c")])).await;
    child.echo("llm.finished").await;
    let both = [("k1", Ok(json!("kid"))), ("c1", Ok(json!("own")))];
    let unknown = [both[0].clone(), ("none", Ok(json!(1)))];
    let error = talk.refused(talk.respond(&unknown, &json!([]))).await;
    assert_eq!(refusal(&error), Refusal::UnknownAction("none".to_owned()));
    assert_eq!(child.asked().await, None, "half of it was taken");
    let error = talk.refused(talk.respond(&both, &user("More"))).await;
    assert_eq!(refusal(&error), Refusal::TurnAlreadyActive("t1".to_owned()));
    talk.respond(&both, &json!([])).await.unwrap();
    assert_eq!(json!(child.echo("tool.finished").await.trigger)["result"], json!("kid"));
    assert_eq!(json!(talk.echo("tool.finished").await.trigger)["result"], json!("own"));
    world.verify().await;
}

#[tokio::test]
async fn the_wish_to_stream_counts_for_what_is_proposed_from_then_on() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[])).await;
    let asked = talk.next("client.messages").await;
    talk.interrupt_as(frontend("anna"), "q").await.unwrap();
    talk.respond_streaming(&[("q", Ok(json!("go")))], true).await;
    // What is live already says the same again.
    talk.take(true).await;
    let again = talk.next("client.messages").await;
    assert_eq!((again.attempts, &again.proposed), (2, &asked.proposed));
    talk.answer(&again, &json!({})).await;
    let resumed = talk.echo("interrupt.resumed").await;
    assert_eq!(json!(resumed.proposed)["actions"][0]["stream"], json!(true));
}
