//! Turns that a client follows, and where a request's turn is.

use serde_json::{Value, json};

use crate::support::{
    Happened, OWNER, Talk, World, calls, config, config_with, frontend, machine, message, refusal,
    says,
};

async fn ends(talk: &Talk<'_>) -> Vec<Happened> {
    talk.events_of("turn.completed").await
}

#[tokio::test]
async fn a_turn_with_nothing_left_to_do_ends_once_it_is_followed() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.answer_next("client.messages", &json!({})).await;
    assert!(ends(&talk).await.is_empty());
    assert!(talk.follow("t1").await.unwrap().applied);
    let ended = ends(&talk).await;
    assert_eq!((ended.len(), &ended[0].payload["data"]), (1, &Value::Null));
    assert!(ended[0].payload.get("error").is_none());
    // Again, or of another one, it does nothing.
    assert!(!talk.follow("t1").await.unwrap().applied);
    assert_eq!(ends(&talk).await.len(), 1);
    let unknown = talk.refused(talk.follow("t9")).await;
    assert_eq!(unknown.code(), "not-found");
    let stranger = talk.refused(talk.follow_as(frontend("eve"), "t1")).await;
    assert_eq!(refusal(&stranger).word(), "not-owner");
    world.verify().await;
}

#[tokio::test]
async fn a_turn_that_is_followed_ends_when_nothing_is_left_and_not_before() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[("c", "client")])).await;
    talk.follow("t1").await.unwrap();
    assert!(ends(&talk).await.is_empty(), "a decision is live");
    talk.echo("client.messages").await;
    assert!(ends(&talk).await.is_empty(), "a model runs");
    talk.reply(&calls(&[("c1", "c")])).await;
    talk.echo("llm.finished").await;
    assert!(ends(&talk).await.is_empty(), "a call waits for the client");
    talk.interrupt_as(frontend("anna"), "q").await.unwrap();
    talk.respond(&[("c1", Ok(json!(1)))], &json!([])).await.unwrap();
    talk.take(true).await;
    assert!(ends(&talk).await.is_empty(), "a question is open, and an answer waits behind it");
    talk.respond(&[("q", Ok(json!(1)))], &json!([])).await.unwrap();
    talk.answer_next("interrupt.resumed", &json!({})).await;
    talk.answer_next("tool.finished", &json!({})).await;
    assert_eq!(ends(&talk).await.len(), 1);
    assert_eq!(talk.data().await.turn, None);
}

#[tokio::test]
async fn the_next_turn_is_not_followed_because_the_last_one_was() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.submit_followed(&message("t1", "Hello")).await.unwrap();
    talk.answer_next("client.messages", &json!({})).await;
    assert_eq!(ends(&talk).await.len(), 1);
    talk.submit(&message("t2", "More")).await.unwrap();
    talk.answer_next("client.messages", &json!({})).await;
    assert_eq!(ends(&talk).await.len(), 1);
}

#[tokio::test]
async fn a_request_leads_to_its_turn_also_when_it_has_ended() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    talk.reply(&says("Hi!")).await;
    talk.echo("llm.finished").await;
    talk.submit(&message("t2", "More")).await.unwrap();
    let events = talk.events().await;
    for turn in ["t1", "t2"] {
        let request = talk.client().turns_at(turn).await.unwrap()[0];
        let found = talk.client().turn_of(request).await.unwrap().unwrap();
        let event = &events[usize::try_from(found.began).unwrap()];
        assert_eq!((found.id.as_str(), event.kind.as_str()), (turn, "turn.started"));
        assert_eq!(event.turn.as_deref(), Some(turn));
    }
    let other = world.open("s2", &message("t1", "Hello")).await;
    let request = other.client().turns_at("t1").await.unwrap()[0];
    assert_eq!(talk.client().turn_of(request).await.unwrap(), None);
}

#[tokio::test]
async fn a_turn_that_waits_is_found_under_the_id_that_it_will_have() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let other = world.open("s2", &message("t1", "Hello")).await;
    other.echo("session.start").await;
    let send = json!({"actions": [{"type": "message.send", "session_id": "s1",
        "message": {"role": "user", "content": "x"}}]});
    other.answer_next("client.messages", &send).await;
    other.run_errands().await;
    let waiting = talk.client().waiting().await.unwrap()[0];
    let found = talk.client().turn_of(waiting).await.unwrap().unwrap();
    assert_eq!(found.began, talk.agenda().await.events);
    talk.answer_next("client.messages", &json!({})).await;
    let began = talk.client().turn_of(waiting).await.unwrap().unwrap();
    assert_eq!(began.id, found.id);
    assert!(began.began >= found.began);
    let event = &talk.events().await[usize::try_from(began.began).unwrap()];
    assert_eq!((event.kind.as_str(), event.turn.as_ref()), ("turn.started", Some(&began.id)));
}

#[tokio::test]
async fn a_turn_that_is_cancelled_while_it_waits_is_over_and_stays_known() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let other = world.open("s2", &message("t1", "Hello")).await;
    other.echo("session.start").await;
    let say = |text: &str| {
        json!({"type": "message.send", "session_id": "s1",
            "message": {"role": "user", "content": text}})
    };
    other.answer_next("client.messages", &json!({"actions": [say("x"), say("y")]})).await;
    other.run_errands().await;
    let requests = talk.client().waiting().await.unwrap();
    assert_eq!(requests.len(), 2);
    let mut turns = Vec::new();
    for &request in &requests {
        turns.push(talk.client().turn_of(request).await.unwrap().unwrap().id);
    }
    assert!(talk.cancel_as(frontend(OWNER), Some(&turns[0])).await.unwrap().applied);
    assert!(!talk.cancel_as(frontend(OWNER), Some(&turns[0])).await.unwrap().applied);
    // The other one is cancelled with the session, behind the turn that runs.
    talk.cancel_as(machine(), None).await.unwrap();
    let ended = ends(&talk).await;
    let told: Vec<_> = ended.iter().map(|event| event.turn.as_deref().unwrap()).collect();
    assert_eq!(told, [&turns[0], "t1", &turns[1]]);
    assert!(ended.iter().all(|event| event.payload["error"] == "cancelled"));
    for (request, turn) in requests.into_iter().zip(&turns) {
        let known = talk.client().turn_of(request).await.unwrap().unwrap();
        assert_eq!(&known.id, turn);
        let event = &talk.events().await[usize::try_from(known.began).unwrap()];
        assert_eq!((event.kind.as_str(), event.turn.as_ref()), ("turn.completed", Some(turn)));
    }
    world.verify().await;
}
