//! A step costs the same early in a session and late, as long as it is not about the whole
//! conversation.
//!
//! What it costs is counted, not timed: how many values it asks the store for, how many entries the
//! store hands it, and how many bytes it leaves there.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::Arc;

use quixos_protocol::DraftMessage;
use quixos_runtime::store::MemoryStore;
use quixos_runtime::store::tapped::{ReadCount, Tapped};
use quixos_session::sessions::SessionRegistrySendInput;
use serde_json::json;

use crate::support::{Talk, World, action, config, config_with, machine, message, view};

/// A world in a store that counts.
struct Counted {
    world: World,
    read: Arc<ReadCount>,
}

impl Counted {
    async fn new() -> Self {
        let read = Arc::new(ReadCount::default());
        let store = Tapped::new(Arc::new(MemoryStore::new()), Arc::clone(&read));
        Self { world: World::over(Arc::new(store), "{}").await, read }
    }

    /// Returns how much a call reads.
    async fn cost(&self, call: impl Future) -> usize {
        self.read.of(call).await
    }

    /// Returns the bytes of all keys and values that are stored.
    async fn stored(&self) -> usize {
        let counted = self.world.runtime.read(|snapshot| {
            let (mut bytes, mut after) = (0, None);
            loop {
                let page = snapshot.entries(after.as_deref(), 1_000)?;
                let Some((last, _)) = page.last().cloned() else { return Ok(bytes) };
                bytes += page.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
                after = Some(last);
            }
        });
        counted.await.unwrap()
    }
}

/// Has a turn that says something, and answers it; the conversation grows by two messages.
async fn said(talk: &Talk<'_>, turn: &str) {
    talk.submit(&message(turn, "Well?")).await.unwrap();
    answer_to_last(talk, turn).await;
}

/// Records what was said and an answer to it, and ends the turn.
async fn answer_to_last(talk: &Talk<'_>, turn: &str) {
    let asked = talk.next("client.messages").await;
    let mut list = json!(asked.proposed)["messages"].take();
    let reply = DraftMessage::assistant("Yes.").with_id(format!("reply to {turn}"));
    list.as_array_mut().unwrap().push(json!(reply));
    let done = json!({"messages": list, "actions": [{"type": "done"}]});
    talk.answer(&asked, &done).await;
}

#[tokio::test]
async fn a_pause_that_was_left_behind_costs_no_more_with_every_turn() {
    let counted = Counted::new().await;
    let talk = counted.world.talk(&config()).await;
    answer_to_last(&talk, "t1").await;
    said(&talk, "t2").await;
    talk.interrupt_as(machine(), "i1").await.unwrap();
    let base: Vec<DraftMessage> =
        talk.path().await.into_iter().take(1).map(|message| message.into_draft()).collect();
    let other = [base, vec![DraftMessage::user("Another way.")]].concat();
    talk.submit(&view("t3", &other)).await.unwrap();
    answer_to_last(&talk, "t3").await;
    let mut costs = Vec::new();
    for turn in 4..40 {
        said(&talk, &format!("t{turn}")).await;
        costs.push(counted.cost(talk.client().wake()).await);
    }
    assert_eq!(talk.view().await["interrupts"].as_array().unwrap().len(), 1);
    assert_eq!(costs.first(), costs.last(), "{costs:?}");
}

#[tokio::test]
async fn a_view_leaves_no_more_behind_than_what_is_new_in_it() {
    let counted = Counted::new().await;
    let talk = counted.world.talk(&config()).await;
    answer_to_last(&talk, "t1").await;
    let mut left = Vec::new();
    for turn in 10..50 {
        let turn = format!("t{turn}");
        let path = talk.path().await.into_iter().map(|message| message.into_draft());
        let said = DraftMessage::user("And further, at some length?");
        let list: Vec<DraftMessage> = path.chain([said]).collect();
        let before = counted.stored().await;
        talk.submit(&view(&turn, &list)).await.unwrap();
        left.push(counted.stored().await - before);
        answer_to_last(&talk, &turn).await;
    }
    // Numbers and offsets get longer, messages do not come again. The first view of a session leaves
    // what is kept once.
    let (first, last) = (left[1], left[left.len() - 1]);
    assert!(last.abs_diff(first) < 100, "{left:?}");
}

#[tokio::test]
async fn a_delegation_costs_the_same_after_many() {
    let counted = Counted::new().await;
    let world = &counted.world;
    world.agent("one", "{}").await;
    let talk = world.talk(&config()).await;
    answer_to_last(&talk, "t1").await;
    let mut costs = Vec::new();
    for number in 10..40 {
        talk.submit(&action(&format!("t{number}"), "delegate")).await.unwrap();
        let asked = talk.next("client.action").await;
        let spawn = json!({
            "type": "sub_agent.spawn",
            "session_id": format!("child {number}"),
            "agent_id": "one",
            "tool_call_id": format!("c{number}"),
        });
        let answer = json!({ "actions": [spawn] });
        let asks = counted.cost(talk.answer(&asked, &answer)).await;
        talk.run_errands().await;
        let turn = format!("t{number}");
        let stops = counted.cost(talk.cancel_as(machine(), Some(&turn))).await;
        costs.push((asks, stops));
    }
    assert_eq!(talk.client().children().await.unwrap().len(), 30);
    assert_eq!(costs[1], costs[29], "{costs:?}");
}

#[tokio::test]
async fn a_state_costs_the_same_after_many() {
    let counted = Counted::new().await;
    let talk = counted.world.talk(&config()).await;
    answer_to_last(&talk, "t1").await;
    let mut costs = Vec::new();
    for number in 10..60 {
        talk.submit(&action(&format!("t{number}"), "count")).await.unwrap();
        let asked = talk.next("client.action").await;
        let done = json!({"state": {"number": number}, "actions": [{"type": "done"}]});
        costs.push(counted.cost(talk.answer(&asked, &done)).await);
        assert_eq!(asked.state, json!((number > 10).then(|| json!({"number": number - 1}))));
    }
    assert_eq!(costs[1], costs[49], "{costs:?}");
}

#[tokio::test]
async fn a_message_from_no_turn_costs_the_same_after_many() {
    let counted = Counted::new().await;
    let world = &counted.world;
    let gone = world.open("gone", &message("t1", "Hello")).await;
    gone.cancel_as(machine(), None).await.unwrap();
    let talk = world.talk(&config_with(&[("w", "worker")])).await;
    answer_to_last(&talk, "t1").await;
    let mut costs = Vec::new();
    for number in 10..40 {
        talk.submit(&action(&format!("t{number}"), "send")).await.unwrap();
        let call = format!("c{number}");
        // The call outlives its turn, and what it leads to belongs to none.
        let answer = json!({"actions": [
            {"type": "tool.call", "id": call, "name": "w", "arguments": {}, "handler": "client"},
            {"type": "done"},
        ]});
        talk.answer_next("client.action", &answer).await;
        talk.settle_as(machine(), &call, None, &json!("r")).await.unwrap();
        let message = json!({"role": "user", "content": "You there?"});
        let send = json!({"type": "message.send", "session_id": "gone", "message": message});
        talk.answer_next("tool.finished", &json!({ "actions": [send] })).await;
        let due = talk.due("send").await;
        let input = SessionRegistrySendInput {
            sender: talk.session,
            fence: talk.fence().await,
            id: due[0].id.clone(),
        };
        costs.push(counted.cost(world.registry().send(&input)).await);
    }
    assert_eq!(talk.events_of("session.message_failed").await.len(), 30);
    assert_eq!(costs[1], costs[29], "{costs:?}");
}

#[tokio::test]
async fn whether_a_message_is_there_is_asked_of_its_key_alone() {
    let counted = Counted::new().await;
    let talk = counted.world.talk(&config()).await;
    answer_to_last(&talk, "t1").await;
    let mut costs = Vec::new();
    for turn in 10..40 {
        let turn = format!("t{turn}");
        talk.submit(&message(&turn, "Well?")).await.unwrap();
        let asked = talk.next("client.messages").await;
        let list = json!(asked.proposed)["messages"].take();
        let done = json!({"messages": list, "actions": [{"type": "done"}]});
        costs.push(counted.cost(talk.answer(&asked, &done)).await);
    }
    let first = costs[1];
    // One scan a message, which finds one entry.
    for (more, cost) in costs[1..].iter().enumerate() {
        assert_eq!(*cost, first + 2 * more, "{costs:?}");
    }
}
