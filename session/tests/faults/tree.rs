//! Faults of the tree: forks where none is meant, and forks that take too much or too little along.

use quixos_protocol::{DraftMessage, Role};
use serde_json::{Value, json};

use crate::scenes::{called, drafts, failure, one_turn, result, shape, speak, tool, trigger};
use crate::support::{World, action, config, machine, message, refusal, retry, view};

#[tokio::test]
async fn f17_a_clients_answer_beside_a_workers_makes_one_path() {
    let world = World::new().await;
    let tools = [("c", "client"), ("w", "worker")];
    let talk = called(&world, &tools, &[("c1", "c"), ("w1", "w")]).await;
    talk.answer_next("tool.execute", &result("theirs")).await;
    talk.next("tool.finished").await;
    // The client has seen the worker's result before the tree has it.
    let mut seen = drafts(&talk).await;
    seen.push(DraftMessage::tool("w1", "w", "theirs").with_id("mine-1"));
    seen.push(DraftMessage::tool("c1", "c", "mine").with_id("mine-2"));
    let outcome = talk.submit(&view("t1", &seen)).await.unwrap();
    assert_eq!(outcome.turn.as_deref(), Some("t1"));
    talk.echo("tool.finished").await;
    assert!(talk.running().await.is_empty());
    let asked = talk.echo("client.messages").await;
    assert_eq!(trigger(&asked)["new_from"], json!(3));
    speak(&talk, "Both.").await;
    assert_eq!(talk.transcript().await, ["Hello", "c+w", "theirs", "mine", "Both."]);
    assert_eq!(shape(&talk).await, (5, 0));
}

#[tokio::test]
async fn f18_an_answer_that_is_sent_again_is_not_written_again() {
    let world = World::new().await;
    let talk = called(&world, &[("c", "client")], &[("c1", "c")]).await;
    let answered = json!({"type": "tool.result", "id": "c1", "result": "mine"});
    talk.submit(&answered).await.unwrap();
    talk.echo("tool.finished").await;
    speak(&talk, "Thanks.").await;
    for (place, turn) in ["t2", "t3"].into_iter().enumerate() {
        // The client keeps its own answer under an id of its own.
        let mut kept = drafts(&talk).await;
        for draft in kept.iter_mut().filter(|draft| draft.role == Role::Tool) {
            draft.id = Some("local".to_owned());
        }
        kept.push(DraftMessage::user("More"));
        talk.submit(&view(turn, &kept)).await.unwrap();
        talk.echo("client.messages").await;
        speak(&talk, "Yes.").await;
        assert_eq!(shape(&talk).await, (4 + 2 * (place + 1), 0));
    }
}

/// Returns an answer that records messages and acts.
fn writes(messages: Value, actions: Value) -> Value {
    json!({ "messages": messages, "actions": actions })
}

#[tokio::test]
async fn f46_what_a_fork_called_off_is_not_tried_again() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let policy = retry(None, 3, 2, 60);
    let first = writes(
        json!([{"id": "u1", "role": "user", "content": "Hello"}]),
        json!([tool("c1", &policy), tool("c2", &policy)]),
    );
    talk.answer_next("client.messages", &first).await;
    talk.answer_next("tool.execute", &failure(true)).await;
    let waits = talk.view().await["calls"][0].take();
    assert_eq!((&waits["id"], &waits["status"]), (&json!("c1"), &json!("retry_scheduled")));
    let fresh = writes(json!([{"role": "user", "content": "New"}]), json!([]));
    talk.answer_next("tool.execute", &fresh).await;
    assert_eq!(talk.transcript().await, ["New"]);
    talk.wait(3600).await;
    assert!(talk.agenda().await.due.is_empty());
    let voided = talk.events_of("call.voided").await;
    assert_eq!(voided.len(), 2);
    assert_eq!(talk.events_of("tool.call.dispatched").await.len(), 2);
    let late = json!("late");
    let late = talk.settle_as(machine(), "c1", None, &late);
    assert_eq!(refusal(&talk.refused(late).await).status(), 409);
}

#[tokio::test]
async fn f48_a_fork_leaves_the_shared_prefix_alone() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let policy = retry(None, 0, 1, 1);
    let first = writes(
        json!([{"id": "u1", "role": "user", "content": "Hello"}]),
        json!([tool("kept", &policy), tool("c2", &policy)]),
    );
    talk.answer_next("client.messages", &first).await;
    talk.answer_next("tool.execute", &json!({})).await;
    let mut second = result("two");
    second["messages"] =
        json!([{"id": "u1", "role": "user"}, {"id": "u2", "role": "user", "content": "More"}]);
    talk.answer_next("tool.execute", &second).await;
    let fork = writes(
        json!([{"id": "u1", "role": "user"}, {"role": "user", "content": "Else"}]),
        json!([]),
    );
    talk.answer_next("tool.finished", &fork).await;
    assert_eq!(talk.transcript().await, ["Hello", "Else"]);
    assert!(talk.events_of("call.voided").await.is_empty());
    talk.settle_as(machine(), "kept", None, &json!("fine")).await.unwrap();
    let told = trigger(&talk.next("tool.finished").await);
    assert_eq!((&told["id"], &told["result"]), (&json!("kept"), &json!("fine")));
}

#[tokio::test]
async fn f50_a_fork_sees_the_state_of_its_fork_point() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    for (turn, id, version) in [("t2", "u1", 1), ("t3", "u2", 2)] {
        let asked = talk.next("client.messages").await;
        let mut path = json!(asked.messages);
        path.as_array_mut().unwrap().push(json!({"id": id, "role": "user", "content": id}));
        let answer = json!({"messages": path, "state": {"v": version},
            "agent": {"model": format!("m{version}")}});
        talk.answer(&asked, &answer).await;
        talk.submit(&message(turn, "More")).await.unwrap();
    }
    let asked = talk.next("client.messages").await;
    assert_eq!(
        (&asked.state, asked.agent.as_ref().unwrap().model.as_str()),
        (&json!({"v": 2}), "m2")
    );
    let fork =
        json!({"messages": [{"id": "u1", "role": "user"}, {"role": "user", "content": "Else"}]});
    talk.answer(&asked, &fork).await;
    talk.submit(&action("t4", "look")).await.unwrap();
    let asked = talk.next("client.action").await;
    assert_eq!(
        (&asked.state, asked.agent.as_ref().unwrap().model.as_str()),
        (&json!({"v": 1}), "m1")
    );
}

#[tokio::test]
async fn f51_what_is_left_out_of_an_answer_stays() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.answer_next("client.messages", &json!({"state": {"n": 1}})).await;
    for (turn, answer) in
        [("t2", json!({})), ("t3", json!(null)), ("t4", json!({"state": null, "agent": null}))]
    {
        talk.submit(&action(turn, "look")).await.unwrap();
        let asked = talk.answer_next("client.action", &answer).await;
        assert_eq!(asked.state, json!({"n": 1}), "before {turn}");
        assert!(asked.agent.is_some());
    }
    talk.submit(&action("t5", "look")).await.unwrap();
    let asked = talk.answer_next("client.action", &json!({"state": {}})).await;
    assert_eq!(asked.state, json!({"n": 1}));
    talk.submit(&action("t6", "look")).await.unwrap();
    assert_eq!(talk.next("client.action").await.state, json!({}));
}

#[tokio::test]
async fn f55_a_repeated_new_id_names_one_message() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let list = [DraftMessage::user("a").with_id("n"), DraftMessage::user("b").with_id("n")];
    talk.answer_next("client.messages", &json!({ "messages": list })).await;
    let path = talk.path().await;
    assert_eq!(talk.transcript().await, ["a", "b"]);
    assert_eq!(path[0].id, "n");
    assert!(path[1].id != "n" && !path[1].id.is_empty());
    world.verify().await;
}

/// The scenes count as they should: a fork is seen.
#[tokio::test]
async fn a_fork_shows_in_the_shape_of_the_tree() {
    let world = World::new().await;
    let talk = one_turn(&world).await;
    assert_eq!(shape(&talk).await, (2, 0));
    talk.submit(&view("t2", &[DraftMessage::user("Other")])).await.unwrap();
    talk.echo("client.messages").await;
    assert_eq!(shape(&talk).await, (3, 1));
}
