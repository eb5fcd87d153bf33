//! Sub-agents: sessions of their own that answer a call.

use serde_json::{Value, json};

use crate::support::{Talk, World, calls, machine, says};

/// The config of a parent that may delegate to two agents.
fn parent() -> Value {
    json!({"model": "m", "sub_agents": [{"id": "one"}, {"id": "two"}],
        "tools": [{"name": "t"}]})
}

async fn world() -> World {
    let world = World::new().await;
    let settings = json!({"session": {"agent": {"model": "small"}}}).to_string();
    world.agent("one", &settings).await;
    world.agent("two", &settings).await;
    world
}

/// Brings a parent to where its model has delegated.
async fn delegated<'w>(world: &'w World, made: &[(&str, &str)]) -> Talk<'w> {
    let talk = world.talk(&parent()).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(made)).await;
    talk.echo("llm.finished").await;
    talk
}

/// Lets a child go through its turn by echoing, with one reply of its model.
async fn finish(child: &Talk<'_>, text: &str) {
    child.echo("session.start").await;
    child.echo("client.messages").await;
    child.reply(&says(text)).await;
    child.echo("llm.finished").await;
}

/// F1, F11: the parent is prompted when all of its children have answered.
#[tokio::test]
async fn a_parent_waits_for_all_its_children() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one"), ("c2", "two")]).await;
    talk.run_errands().await;
    let children = talk.children().await;
    assert_eq!(children.len(), 2);
    finish(&children[0], "first").await;
    assert_eq!(talk.echo("sub_agent.finished").await.pending_calls, 1);
    assert!(talk.running().await.is_empty());
    finish(&children[1], "second").await;
    assert_eq!(talk.echo("sub_agent.finished").await.pending_calls, 0);
    talk.reply(&says("Both.")).await;
    talk.echo("llm.finished").await;
    assert_eq!(talk.transcript().await, ["Hello", "one+two", "first", "second", "Both."]);
    world.verify().await;
}

/// F2: a tool that is ready does not prompt while a child works.
#[tokio::test]
async fn a_tool_waits_for_a_child() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "t"), ("c2", "one")]).await;
    talk.answer_next("tool.execute", &json!({"actions": [{"type": "tool.result", "result": "r"}]}))
        .await;
    assert_eq!(talk.echo("tool.finished").await.pending_calls, 1);
    talk.run_errands().await;
    let children = talk.children().await;
    finish(&children[0], "done").await;
    talk.echo("sub_agent.finished").await;
    assert_eq!(talk.prompt().await.1.messages.len(), 4);
}

/// F12: a child that cannot go on is a delegation that failed.
#[tokio::test]
async fn a_failed_child_is_told_to_its_parent() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.fail("session.start", "HTTP 400", false).await;
    child.fail("client.messages", "HTTP 400", false).await;
    let asked = talk.next("sub_agent.finished").await;
    let told = json!(asked.trigger);
    assert_eq!((&told["ok"], &told["error"]), (&json!(false), &json!("HTTP 400")));
}

#[tokio::test]
async fn a_child_of_no_agent_cannot_be_made() {
    let world = World::new().await;
    let talk = world.talk(&parent()).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "one")])).await;
    talk.echo("llm.finished").await;
    talk.run_errands().await;
    let told = json!(talk.next("sub_agent.finished").await.trigger);
    assert_eq!(told["ok"], json!(false));
    assert!(talk.client().live().await.unwrap().sends.is_empty());
}

/// F44: who is cancelled takes all below along.
#[tokio::test]
async fn cancelling_a_session_cancels_its_children() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.echo("session.start").await;
    let sub = json!({"agent": {"model": "m"}, "actions": [
        {"type": "sub_agent.spawn", "session_id": "grand", "agent_id": "two", "tool_call_id": "g"},
        {"type": "message.send", "session_id": "grand", "message": {"role": "user", "content": "x"}},
    ]});
    child.answer_next("client.messages", &sub).await;
    child.run_errands().await;
    let grandchild = world.session("grand").await.unwrap();
    talk.cancel_as(machine(), None).await.unwrap();
    for session in [&talk, child, &grandchild] {
        assert_eq!(session.view().await["status"], json!("cancelled"));
        assert!(session.agenda().await.due.is_empty());
    }
    world.verify().await;
}

/// A child that is cancelled by itself has failed its parent.
#[tokio::test]
async fn a_cancelled_child_is_told_to_its_parent() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    talk.children().await[0].cancel_as(machine(), None).await.unwrap();
    let told = json!(talk.next("sub_agent.finished").await.trigger);
    assert_eq!(told["error"], json!("cancelled"));
}

/// A child that has nothing left to do is done: its parent waits for it.
#[tokio::test]
async fn a_child_with_nothing_left_to_do_has_answered() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.echo("session.start").await;
    child.answer_next("client.messages", &json!({})).await;
    let told = json!(talk.next("sub_agent.finished").await.trigger);
    assert_eq!((&told["ok"], &told["result"]), (&json!(true), &json!("null")));
}

/// F92: only a child's first turn answers the delegation.
#[tokio::test]
async fn a_child_answers_once() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    finish(child, "first").await;
    let id = child.client().binding().await.unwrap().session_id;
    let more = json!({"actions": [{"type": "message.send", "session_id": id,
        "message": {"role": "user", "content": "more"}}]});
    talk.answer_next("sub_agent.finished", &more).await;
    talk.run_errands().await;
    child.echo("client.messages").await;
    child.reply(&says("second")).await;
    child.echo("llm.finished").await;
    assert_eq!(talk.events_of("sub_agent.turn_completed").await.len(), 1);
    assert_eq!(talk.asked().await, None);
}

#[tokio::test]
async fn the_deadline_of_a_delegation_cancels_its_child() {
    let world = world().await;
    let talk = world.talk(&parent()).await;
    let spawn = json!({"actions": [
        {"type": "sub_agent.spawn", "session_id": "kid", "agent_id": "one", "tool_call_id": "c1",
            "retry": crate::support::retry(Some(60), 3, 1, 1)},
        {"type": "message.send", "session_id": "kid", "message": {"role": "user", "content": "x"}},
    ]});
    talk.answer_next("client.messages", &spawn).await;
    talk.run_errands().await;
    talk.wait(60).await;
    let told = json!(talk.next("sub_agent.finished").await.trigger);
    assert_eq!(told["error"], json!("deadline exceeded"));
    let child = world.session("kid").await.unwrap();
    assert_eq!(child.view().await["status"], json!("cancelled"));
}

/// A parent that stops its child knows of the end: to be told of it in the middle of its own step
/// would be to enter that step twice.
#[tokio::test]
async fn a_parent_is_not_told_of_an_end_that_it_brings_about() {
    for what in ["its turn is cancelled", "it is cancelled", "time is over", "a fork"] {
        let world = world().await;
        let talk = world.talk(&parent()).await;
        let spawn = json!({
            "messages": [{"id": "u1", "role": "user", "content": "Go"}],
            "actions": [
                {"type": "sub_agent.spawn", "session_id": "kid", "agent_id": "one",
                    "tool_call_id": "c1", "retry": crate::support::retry(Some(60), 0, 1, 1)},
                {"type": "message.send", "session_id": "kid",
                    "message": {"role": "user", "content": "x"}},
                {"type": "tool.call", "id": "w1", "name": "t", "arguments": {}},
            ],
        });
        talk.answer_next("client.messages", &spawn).await;
        talk.run_errands().await;
        let child = &talk.children().await[0];
        child.echo("session.start").await;
        child.echo("client.messages").await;
        let mut reply = says("Half");
        reply["cost"] = json!("0.5");
        child.reply(&reply).await;
        match what {
            "its turn is cancelled" => drop(talk.cancel_as(machine(), Some("t1")).await.unwrap()),
            "it is cancelled" => drop(talk.cancel_as(machine(), None).await.unwrap()),
            "time is over" => drop(talk.wait(60).await),
            _ => {
                let anew = json!({"messages": [{"role": "user", "content": "Anew"}]});
                talk.answer_next("tool.execute", &anew).await;
            }
        }
        assert_eq!(child.view().await["status"], json!("cancelled"), "{what}");
        let told = talk.events_of("sub_agent.errored").await;
        assert_eq!(told.len(), usize::from(what == "time is over"), "{what}: {told:?}");
        assert!(talk.events_of("sub_agent.turn_completed").await.is_empty(), "{what}");
        talk.replay(what).await;
        let log = talk.events().await;
        let asked = log.iter().filter(|event| event.kind == "decision.queued");
        let told = asked.filter(|it| it.payload["trigger"]["type"] == "sub_agent.finished");
        assert_eq!(told.count(), usize::from(what == "time is over"), "{what}");
    }
}
