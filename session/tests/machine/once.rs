//! What is sent under a key counts once, however often it comes and by which step.

use quixos_runtime::CallError;
use quixos_session::Refusal;
use quixos_session::sessions::{
    ActionAnswer, Authority, Once, Respond, Responded, SessionRegistryRespondInput,
    SessionRegistrySubmitInput, SessionRegistrySubmitOutput,
};

use crate::support::{Talk, World, calls, config_with, frontend, message, refusal};

fn once(key: &str, digest: &str) -> Option<Once> {
    Some(Once { key: key.to_owned(), digest: digest.to_owned() })
}

async fn submit(
    world: &World,
    by: Authority,
    session: &str,
    turn: &str,
    once: Option<Once>,
) -> Result<SessionRegistrySubmitOutput, CallError> {
    let input = SessionRegistrySubmitInput {
        by,
        session_id: session.to_owned(),
        metadata: "{}".to_owned(),
        input: message(turn, "Hello").to_string(),
        followed: false,
        trace: None,
        once,
    };
    world.registry().submit(&input).await
}

/// Answers the call `c1`.
async fn respond(talk: &Talk<'_>, once: Option<Once>) -> Result<Responded, CallError> {
    let answer = ActionAnswer { action: "c1".to_owned(), data: Some("1".to_owned()), error: None };
    let respond = Respond {
        by: frontend("anna"),
        answers: vec![answer],
        messages: "[]".to_owned(),
        client: "{}".to_owned(),
        stream: None,
        trace: None,
    };
    let session_id = talk.client().binding().await.unwrap().session_id;
    let input = SessionRegistryRespondInput { session_id, respond, once };
    talk.world.registry().respond(&input).await
}

async fn events(world: &World, id: &str) -> usize {
    world.session(id).await.unwrap().events().await.len()
}

#[tokio::test]
async fn an_input_that_comes_again_is_told_what_came_of_it() {
    let world = World::new().await;
    let anna = || frontend("anna");
    let first = submit(&world, anna(), "s1", "t1", once("k", "a")).await.unwrap();
    let before = events(&world, "s1").await;
    // Wherever it is sent now, and under whatever name of a turn.
    for (session, turn) in [("s1", "t1"), ("s1", "t2"), ("other", "t3")] {
        let again = submit(&world, anna(), session, turn, once("k", "a")).await.unwrap();
        assert_eq!((again.session, again.outcome.turn.as_deref()), (first.session, Some("t1")));
        assert!(!again.outcome.applied, "{session} {turn}");
    }
    assert_eq!(events(&world, "s1").await, before);
    assert!(world.session("other").await.is_none());
    let error = submit(&world, anna(), "s1", "t1", once("k", "b")).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::KeyReused);
    // The key of another owner, or of another tenant, is another one.
    for (by, session) in [
        (frontend("eve"), "hers"),
        (Authority { tenant: "elsewhere".to_owned(), ..anna() }, "theirs"),
    ] {
        let other = submit(&world, by, session, "t1", once("k", "b")).await.unwrap();
        assert!(other.outcome.applied && other.session != first.session, "{session}");
    }
    world.verify().await;
}

#[tokio::test]
async fn what_is_refused_takes_no_key() {
    let world = World::new().await;
    world.talk(&config_with(&[])).await;
    let error = submit(&world, frontend("eve"), "s1", "t2", once("k", "a")).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::NotOwner);
    let taken = submit(&world, frontend("eve"), "hers", "t1", once("k", "b")).await.unwrap();
    assert!(taken.outcome.applied);
    let long = "k".repeat(256);
    for (key, digest) in [(" ", "a"), (&long, "a"), ("k", ""), ("k", &long)] {
        let error = submit(&world, frontend("eve"), "more", "t1", once(key, digest)).await;
        assert_eq!(error.unwrap_err().code(), "invalid", "{key} {digest}");
    }
    assert!(world.session("more").await.is_none());
}

#[tokio::test]
async fn answers_that_come_again_are_known_by_where_they_were_asked_for() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[("c", "client")])).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "c")])).await;
    talk.echo("llm.finished").await;
    let taken = respond(&talk, once("k", "a")).await.unwrap();
    assert_eq!((taken.turn.as_deref(), taken.applied), (Some("t1"), true));
    let before = talk.events().await.len();
    let again = respond(&talk, once("k", "a")).await.unwrap();
    assert_eq!(again, Responded { applied: false, ..taken });
    assert_eq!(talk.events().await.len(), before);
    let error = respond(&talk, once("k", "b")).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::KeyReused);
    let error = respond(&talk, None).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::UnknownAction("c1".to_owned()));
    // A key is one for all that an owner sends.
    let error = submit(&world, frontend("anna"), "s1", "t2", once("k", "b")).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::KeyReused);
    world.verify().await;
}
