//! The tree: what a list writes, and what a fork leaves behind.

use quixos_protocol::DraftMessage;
use serde_json::json;

use crate::support::{Talk, World, config, machine, refusal, retry, says, view};

/// Brings a conversation to the end of its first turn.
async fn one_turn(world: &World) -> Talk<'_> {
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    talk.reply(&says("Hi!")).await;
    talk.echo("llm.finished").await;
    talk
}

async fn drafts(talk: &Talk<'_>) -> Vec<DraftMessage> {
    talk.path().await.into_iter().map(DraftMessage::from).collect()
}

#[tokio::test]
async fn an_edited_message_forks_and_the_old_branch_stays() {
    let world = World::new().await;
    let talk = one_turn(&world).await;
    talk.submit(&view("t2", &[DraftMessage::user("Hello, you")])).await.unwrap();
    talk.echo("client.messages").await;
    talk.reply(&says("Hi, you!")).await;
    talk.echo("llm.finished").await;
    assert_eq!(talk.transcript().await, ["Hello, you", "Hi, you!"]);
    let nodes = talk.view().await["message_tree"]["nodes"].as_array().unwrap().len();
    assert_eq!(nodes, 4);
    world.verify().await;
}

#[tokio::test]
async fn a_shorter_view_is_answered_anew_beside_the_old_reply() {
    let world = World::new().await;
    let talk = one_turn(&world).await;
    let first = drafts(&talk).await.remove(0);
    talk.submit(&view("t2", &[first])).await.unwrap();
    talk.echo("client.messages").await;
    assert_eq!(talk.transcript().await, ["Hello"]);
    talk.reply(&says("Hey!")).await;
    talk.echo("llm.finished").await;
    assert_eq!(talk.transcript().await, ["Hello", "Hey!"]);
    assert_eq!(talk.events_of("head.moved").await.len(), 1);
    talk.replay("a head that moved").await;
}

#[tokio::test]
async fn a_recorded_branch_is_switched_to_and_nothing_is_written() {
    let world = World::new().await;
    let talk = one_turn(&world).await;
    let old = drafts(&talk).await;
    talk.submit(&view("t2", &[DraftMessage::user("Other")])).await.unwrap();
    talk.answer_next("client.messages", &json!({"messages": [{"role": "user", "content": "x"}]}))
        .await;
    talk.submit(&view("t3", &old)).await.unwrap();
    talk.answer_next("client.messages", &json!({ "messages": old })).await;
    assert_eq!(talk.transcript().await, ["Hello", "Hi!"]);
}

/// F55: an id that is repeated within a list names two messages.
#[tokio::test]
async fn a_repeated_new_id_is_given_once() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let one = DraftMessage::user("a").with_id("n");
    let two = DraftMessage::user("b").with_id("n");
    talk.answer_next("client.messages", &json!({"messages": [one, two]})).await;
    let path = talk.path().await;
    assert_eq!(path.len(), 2);
    assert_eq!(path[0].id, "n");
    assert_ne!(path[1].id, "n");
}

/// F46, F48: a fork calls off what was begun below it, and nothing else.
#[tokio::test]
async fn a_fork_strands_what_was_begun_below_it() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let tool = |id: &str| {
        json!({"type": "tool.call", "id": id, "name": id, "arguments": {},
            "retry": retry(None, 3, 2, 60)})
    };
    let first = json!({
        "messages": [{"id": "u1", "role": "user", "content": "Hello"}],
        "actions": [tool("kept")],
    });
    talk.answer_next("client.messages", &first).await;
    let second = json!({
        "messages": [{"id": "u1", "role": "user"}, {"id": "u2", "role": "user", "content": "More"}],
        "actions": [tool("stranded")],
    });
    talk.answer_next("tool.execute", &second).await;
    let failing = json!({"actions": [{"type": "tool.error", "error": "no", "retryable": true}]});
    talk.answer_next("tool.execute", &failing).await;
    assert_eq!(talk.view().await["calls"].as_array().unwrap().len(), 2);
    talk.settle_as(machine(), "kept", None, &json!("ok")).await.unwrap();
    let fork =
        json!({"messages": [{"id": "u1", "role": "user"}, {"role": "user", "content": "Else"}]});
    talk.answer_next("tool.finished", &fork).await;
    let voided = talk.events_of("call.voided").await;
    assert_eq!(voided.len(), 1);
    assert_eq!(voided[0].payload["call_id"], json!("stranded"));
    talk.wait(3600).await;
    assert_eq!(talk.asked().await, None);
    let late = json!("late");
    let late = talk.refused(talk.settle_as(machine(), "stranded", None, &late)).await;
    assert_eq!(refusal(&late).word(), "not-pending");
}

#[tokio::test]
async fn a_fork_at_the_root_strands_all_that_hangs_on_the_old_path() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    assert_eq!(talk.running().await.len(), 1);
    let (due, _) = talk.prompt().await;
    talk.reply_to(&due, &says("Hi")).await;
    let fresh = json!({
        "messages": [{"role": "user", "content": "New"}],
        "actions": [{"type": "llm.call"}],
    });
    talk.answer_next("llm.finished", &fresh).await;
    assert_eq!(talk.transcript().await, ["New"]);
    assert_eq!(talk.prompt().await.1.messages.len(), 2);
}
