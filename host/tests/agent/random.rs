//! Whatever turn it is, and wherever its stream is cut: what a client has put together in the end is
//! what `done` says, what a later reader sees, and what the thread's history has.

use std::sync::Arc;

use quixos_runtime::store::MemoryStore;
use serde_json::{Value, json};

use crate::client::{Conversation, Reading, answers, is_part, says};
use crate::setting::{AGENT, paced};
use crate::support::Running;

/// How many turns.
const TURNS: u64 = 24;

/// What may be said, and whether all that is streamed counts.
const SAID: [(&str, bool); 8] = [
    ("Think of it", true),
    ("The weather?", true),
    ("Please book it", true),
    ("Do both", true),
    ("Something flaky", false),
    ("Something wrong", true),
    ("Please delegate", true),
    ("Hello", true),
];

/// Numbers by chance, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Reads a stream to its end, and loses the connection now and then.
async fn read(host: &Running, mut reading: Reading, turn: &mut Conversation, dice: &mut Dice) {
    turn.connect();
    let mut left = 1 + dice.below(9);
    loop {
        match reading.next().await {
            Some(came) => turn.take(&came),
            None if turn.end.is_some() => return,
            None => panic!("the stream has no end"),
        }
        left -= 1;
        if left == 0 && turn.end.is_none() {
            left = 1 + dice.below(9);
            reading = host.follow(&turn.request, turn.last.as_deref()).await;
            turn.connect();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_the_same_wherever_it_was_cut() {
    let host = paced(1, Arc::new(MemoryStore::new())).await;
    let mut dice = Dice(7);
    let mut thread = None::<String>;
    let mut told: Vec<Value> = Vec::new();
    for number in 0..TURNS {
        let (text, counts) = SAID[usize::try_from(dice.below(8)).unwrap()];
        let mut request = says(text);
        if let Some(thread) = &thread {
            request["threadId"] = json!(thread);
        }
        let place = format!("turn {number}: {text}");
        let mut turn = Conversation::default();
        let reading = host.read(AGENT, &request).await;
        read(&host, reading, &mut turn, &mut dice).await;
        let mut ends = vec![turn.last.clone()];
        while turn.reason() == "action_required" {
            let asked = turn.asked();
            let some = 1 + usize::try_from(dice.below(asked.len() as u64)).unwrap();
            let answer = answers(&turn.thread, &asked[..some], &json!("yes"));
            let reading = host.read(AGENT, &answer).await;
            read(&host, reading, &mut turn, &mut dice).await;
            ends.push(turn.last.clone());
        }
        assert_eq!(turn.reason(), "stop", "{place}");
        let all = turn.all_put_together();
        if counts {
            assert_eq!(all, turn.content, "{place}");
        } else {
            assert!(is_part(&turn.content, &all), "{place}: {all:?} {:?}", turn.content);
        }
        // Whoever comes later sees the same, segment by segment.
        let mut later = Conversation::default();
        for end in std::iter::once(None).chain(ends.iter().take(ends.len() - 1).cloned()) {
            let reading = host.follow(&turn.request, end.as_deref()).await;
            host.to_end(reading, &mut later).await;
        }
        assert_eq!(later.content, turn.content, "{place}");
        assert_eq!(later.all_put_together(), all, "{place}");
        assert_eq!(later.end, turn.end, "{place}");
        told.extend(turn.content.iter().cloned());
        if dice.below(4) == 0 || number + 1 == TURNS {
            let (_, shown) = host.get(&format!("/v1/threads/{}?limit=200", turn.thread)).await;
            let messages = shown["messages"].as_array().unwrap().iter();
            let agents = messages.filter(|it| it["role"] == "assistant");
            let said: Vec<_> =
                agents.flat_map(|it| it["content"].as_array().unwrap().clone()).collect();
            assert_eq!(said, told, "{place}");
            thread = None;
            told.clear();
        } else {
            thread = Some(turn.thread.clone());
        }
    }
    host.stop().await;
}
