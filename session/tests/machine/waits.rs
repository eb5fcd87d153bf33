//! What a turn waits for of its client is in the log once it waits for nobody else.

use serde_json::{Value, json};

use crate::support::{
    Talk, World, calls, config, config_with, frontend, machine, refusal, says, tool_result,
};

/// Brings a conversation that is followed to where calls are made.
async fn called<'w>(world: &'w World, made: &[(&str, &str)]) -> Talk<'w> {
    let talk = world.talk(&config_with(&[("c", "client"), ("w", "worker")])).await;
    talk.follow("t1").await.unwrap();
    talk.echo("client.messages").await;
    talk.reply(&calls(made)).await;
    talk.echo("llm.finished").await;
    talk
}

/// Returns what was waited for, each time that the log says so.
async fn asked(talk: &Talk<'_>) -> Vec<Vec<String>> {
    let events = talk.events_of("turn.waiting").await;
    let ids = |actions: &Value| {
        let actions = actions.as_array().unwrap().iter();
        actions.map(|it| it["action_id"].as_str().unwrap().to_owned()).collect()
    };
    events.iter().map(|event| ids(&event.payload["actions"])).collect()
}

#[tokio::test]
async fn a_call_and_a_question_are_asked_for_until_all_are_answered() {
    let world = World::new().await;
    let talk = called(&world, &[("c1", "c"), ("c2", "c")]).await;
    assert_eq!(asked(&talk).await, [["c1", "c2"]]);
    let event = talk.events_of("turn.waiting").await.remove(0);
    let action = json!({
        "action_id": "c1", "kind": "tool_call", "name": "c", "arguments": "{}", "attempt": 1,
    });
    assert_eq!((&event.payload["actions"][0], event.turn.as_deref()), (&action, Some("t1")));
    talk.respond(&[("c1", Ok(json!(1)))], &json!([])).await.unwrap();
    assert_eq!(asked(&talk).await.len(), 1, "the worker is told first");
    talk.echo("tool.finished").await;
    assert_eq!(asked(&talk).await[1..], [["c2"]]);
    talk.interrupt_as(frontend("anna"), "q").await.unwrap();
    assert_eq!(asked(&talk).await[2..], [["q", "c2"]]);
    // What an answer to one thing raises waits for the other.
    talk.respond(&[("c2", Ok(json!(2)))], &json!([])).await.unwrap();
    assert_eq!(asked(&talk).await[3..], [["q"]]);
    let data = talk.data().await.turn.unwrap();
    let last = talk.events_of("turn.waiting").await.len();
    assert_eq!((last, data.asked.is_some()), (4, true));
    talk.respond(&[("q", Ok(json!(1)))], &json!([])).await.unwrap();
    assert_eq!(talk.data().await.turn.unwrap().waiting, "[]");
    talk.answer_next("interrupt.resumed", &json!({})).await;
    talk.echo("tool.finished").await;
    talk.reply(&says("Done.")).await;
    talk.echo("llm.finished").await;
    assert_eq!(asked(&talk).await.len(), 4);
    world.verify().await;
}

#[tokio::test]
async fn nobody_is_asked_while_others_may_move_the_turn_on() {
    let world = World::new().await;
    let talk = called(&world, &[("c1", "c"), ("w1", "w")]).await;
    // The worker's own call: first it is asked to run it, then it does so in its own time.
    assert!(asked(&talk).await.is_empty());
    let running = talk.answer_next("tool.execute", &json!({})).await;
    assert!(asked(&talk).await.is_empty());
    drop(running);
    talk.settle_as(machine(), "w1", None, &json!("done")).await.unwrap();
    talk.echo("tool.finished").await;
    assert_eq!(asked(&talk).await, [["c1"]]);
    // An operator's question is not the client's to answer.
    talk.interrupt_as(machine(), "theirs").await.unwrap();
    assert_eq!(talk.data().await.turn.unwrap().waiting, "[]");
    assert_eq!(asked(&talk).await.len(), 1);
}

#[tokio::test]
async fn a_turn_that_is_followed_later_is_asked_for_then() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[("c", "client")])).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "c")])).await;
    talk.echo("llm.finished").await;
    assert!(asked(&talk).await.is_empty());
    talk.follow("t1").await.unwrap();
    assert_eq!(asked(&talk).await, [["c1"]]);
}

#[tokio::test]
async fn a_parent_waits_for_what_its_sub_agent_waits_for() {
    let world = World::new().await;
    let tools = json!([{"name": "c", "handler": "client"}]);
    let settings = json!({"session": {"agent": {"model": "small", "tools": tools}}}).to_string();
    world.agent("one", &settings).await;
    let config = json!({"model": "m", "tools": tools, "sub_agents": [{"id": "one"}]});
    let talk = world.talk(&config).await;
    talk.follow("t1").await.unwrap();
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "c"), ("s1", "one")])).await;
    talk.echo("llm.finished").await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.echo("session.start").await;
    child.echo("client.messages").await;
    child.reply(&calls(&[("k1", "c")])).await;
    assert!(asked(&talk).await.is_empty(), "the sub-agent is at work");
    child.echo("llm.finished").await;
    assert_eq!(asked(&talk).await, [["c1", "k1"]]);
    talk.respond(&[("k1", Ok(json!("kid")))], &json!([])).await.unwrap();
    assert_eq!(talk.data().await.turn.unwrap().waiting, "[]");
    child.echo("tool.finished").await;
    child.reply(&says("Done.")).await;
    child.echo("llm.finished").await;
    talk.echo("sub_agent.finished").await;
    assert_eq!(asked(&talk).await[1..], [["c1"]]);
    world.verify().await;
}

#[tokio::test]
async fn messages_without_an_answer_begin_a_turn() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let user = |text: &str| json!({"role": "user", "content": text});
    let more = json!([user("More"), user("And more")]);
    let error = talk.refused(talk.respond(&[], &more)).await;
    assert_eq!(refusal(&error).word(), "turn-already-active");
    talk.echo("client.messages").await;
    talk.reply(&says("Hi!")).await;
    talk.echo("llm.finished").await;
    let other = json!([{"role": "assistant", "content": "I said"}]);
    assert_eq!(refusal(&talk.refused(talk.respond(&[], &other)).await).word(), "role");
    let turn = talk.respond(&[], &more).await.unwrap().unwrap();
    assert_eq!(talk.data().await.turn.unwrap().id, turn);
    let asked = talk.echo("client.messages").await;
    assert_eq!(json!(asked.trigger)["client"]["forwarded_props"], json!({"mode": "test"}));
    assert_eq!(talk.transcript().await, ["Hello", "Hi!", "More", "And more"]);
    talk.interrupt_as(frontend("anna"), "q").await.unwrap();
    let error = talk.refused(talk.respond(&[], &more)).await;
    assert!(["turn-already-active", "interrupted"].contains(&refusal(&error).word()));
    talk.respond(&[("q", Ok(json!(1)))], &json!([])).await.unwrap();
    talk.answer_next("interrupt.resumed", &tool_result("nothing")).await;
    world.verify().await;
}
