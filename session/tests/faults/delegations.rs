//! Faults between a session and the sessions below it.

use serde_json::{Value, json};

use crate::scenes::{result, speak, trigger};
use crate::support::{Talk, World, calls, machine};

/// A world with two agents to delegate to.
async fn world() -> World {
    let world = World::new().await;
    let settings = json!({"session": {"agent": {"model": "small"}}}).to_string();
    world.agent("one", &settings).await;
    world.agent("two", &settings).await;
    world
}

/// Brings a parent to where its model has delegated.
async fn delegated<'w>(world: &'w World, made: &[(&str, &str)]) -> Talk<'w> {
    let config = json!({"model": "m", "sub_agents": [{"id": "one"}, {"id": "two"}],
        "tools": [{"name": "t"}]});
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(made)).await;
    talk.echo("llm.finished").await;
    talk
}

/// Lets a child go through its turn.
async fn finish(child: &Talk<'_>, text: &str) {
    child.echo("session.start").await;
    child.echo("client.messages").await;
    speak(child, text).await;
}

#[tokio::test]
async fn f01_two_delegations_prompt_once() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one"), ("c2", "two")]).await;
    talk.run_errands().await;
    let children = talk.children().await;
    finish(&children[0], "first").await;
    let asked = talk.echo("sub_agent.finished").await;
    assert_eq!((asked.pending_calls, asked.proposed.actions.len()), (1, 0));
    assert!(talk.running().await.is_empty());
    finish(&children[1], "second").await;
    assert_eq!(talk.echo("sub_agent.finished").await.pending_calls, 0);
    assert_eq!(talk.running().await.len(), 1);
}

#[tokio::test]
async fn f02_a_tool_and_a_delegation_prompt_once() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "t"), ("c2", "one")]).await;
    talk.run_errands().await;
    talk.answer_next("tool.execute", &result("r")).await;
    assert_eq!(talk.echo("tool.finished").await.pending_calls, 1);
    assert!(talk.running().await.is_empty());
    finish(&talk.children().await[0], "done").await;
    assert_eq!(talk.echo("sub_agent.finished").await.pending_calls, 0);
    assert_eq!(talk.events_of("llm.call.requested").await.len(), 2);
    assert_eq!(talk.prompt().await.1.messages.len(), 4);
}

#[tokio::test]
async fn f11_an_opening_message_waits_for_the_child() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    assert_eq!(talk.due("spawn").await.len(), 1);
    for _ in 0..3 {
        talk.wait(30).await;
        assert!(talk.due("send").await.is_empty(), "sent to a session that is not there");
    }
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.echo("session.start").await;
    assert_eq!(trigger(&child.next("client.messages").await)["new_from"], json!(0));
    assert_eq!(talk.events_of("session.message_sent").await.len(), 1);
    assert!(talk.agenda().await.due.is_empty());
}

#[tokio::test]
async fn f12_a_childs_failure_reaches_its_parent() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.fail("session.start", "HTTP 400", false).await;
    child.fail("client.messages", "HTTP 400", false).await;
    let told = trigger(&talk.next("sub_agent.finished").await);
    assert_eq!((&told["ok"], &told["error"]), (&json!(false), &json!("HTTP 400")));
    assert_eq!((&told["id"], &told["agent_id"]), (&json!("c1"), &json!("one")));
}

#[tokio::test]
async fn f41_each_session_counts_its_own_events() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    let seen = talk.events().await.len();
    assert!(seen > 5);
    child.echo("session.start").await;
    // What the child says is the first in its own log, and nothing in the parent's.
    assert_eq!(child.kinds().await[0], "session.created");
    assert_eq!(talk.events().await.len(), seen);
    assert_eq!(talk.kinds().await.iter().filter(|kind| *kind == "session.created").count(), 1);
    child.echo("client.messages").await;
    speak(child, "done").await;
    let after = talk.client().events(seen as u64, usize::MAX).await.unwrap();
    assert_eq!(after[0].r#type, "sub_agent.turn_completed");
}

#[tokio::test]
async fn f44_cancelling_takes_all_below_along() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.echo("session.start").await;
    let send = json!({"role": "user", "content": "x"});
    let delegate = json!({"agent": {"model": "m"}, "actions": [
        {"type": "sub_agent.spawn", "session_id": "grand", "agent_id": "two", "tool_call_id": "g"},
        {"type": "message.send", "session_id": "grand", "message": send},
        {"type": "llm.call"},
    ]});
    child.answer_next("client.messages", &delegate).await;
    child.run_errands().await;
    let grandchild = &child.children().await[0];
    grandchild.echo("session.start").await;
    grandchild.echo("client.messages").await;
    assert_eq!((child.running().await.len(), grandchild.running().await.len()), (1, 1));
    let (late, _) = grandchild.prompt().await;
    talk.cancel_as(machine(), None).await.unwrap();
    for session in [&talk, child, grandchild] {
        assert_eq!(session.view().await["status"], json!("cancelled"));
        assert!(session.agenda().await.due.is_empty());
        assert_eq!(session.events_of("session.cancelled").await.len(), 1);
    }
    let lost = grandchild.model_fails(&late, "aborted", true).await;
    assert!(!lost.applied);
    world.verify().await;
}

#[tokio::test]
async fn f81_a_result_waits_for_a_parent_that_is_away() {
    let mut world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    child.echo("session.start").await;
    child.echo("client.messages").await;
    world.reopen();
    // Nobody looks after the parent while its child comes to its end.
    let parent = world.session("s1").await.unwrap();
    speak(&parent.children().await[0], "done").await;
    world.reopen();
    let parent = world.session("s1").await.unwrap();
    parent.take(true).await;
    let told = trigger(&parent.echo("sub_agent.finished").await);
    assert_eq!((&told["ok"], &told["result"]), (&json!(true), &json!("done")));
    assert_eq!(parent.events_of("sub_agent.turn_completed").await.len(), 1);
    parent.take(true).await;
    assert_eq!(parent.asked().await, None);
    speak(&parent, "Told.").await;
    world.verify().await;
}

#[tokio::test]
async fn f92_a_child_answers_once() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    finish(child, "first").await;
    let asked = talk.next("sub_agent.finished").await;
    let id: Value = trigger(&asked)["session_id"].take();
    let more = json!({"actions": [{"type": "message.send", "session_id": id,
        "message": {"role": "user", "content": "more"}}]});
    talk.answer(&asked, &more).await;
    talk.run_errands().await;
    child.echo("client.messages").await;
    speak(child, "second").await;
    assert_eq!(child.events_of("turn.completed").await.len(), 2);
    assert_eq!(talk.events_of("sub_agent.turn_completed").await.len(), 1);
    assert_eq!(talk.asked().await, None);
}

#[tokio::test]
async fn f44_a_child_that_has_answered_goes_too() {
    let world = world().await;
    let talk = delegated(&world, &[("c1", "one")]).await;
    talk.run_errands().await;
    let child = &talk.children().await[0];
    finish(child, "first").await;
    // Nothing of the parent's waits for it any longer; it works all the same.
    let id = child.client().binding().await.unwrap().session_id;
    let more = json!({"actions": [{"type": "message.send", "session_id": id,
        "message": {"role": "user", "content": "more"}}]});
    talk.answer_next("sub_agent.finished", &more).await;
    talk.run_errands().await;
    child.echo("client.messages").await;
    assert_eq!(child.running().await.len(), 1);
    talk.cancel_as(machine(), None).await.unwrap();
    assert_eq!(child.view().await["status"], json!("cancelled"));
    assert!(child.agenda().await.due.is_empty());
}
