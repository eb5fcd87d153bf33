//! Whole conversations, by an engine with the demo's worker and model: over a store, in real time.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "what was tried is told to who asked for more")]

use std::env;
use std::time::Duration;

use quixos_engine::{Engine, EngineError};
use quixos_package::agent_runtime::{
    Agent, AgentDirectory, AgentQuestion, AgentQuestionAnswerInput, AgentRequest,
    AgentRequestObject, AgentSubmission,
};
use quixos_runtime::{Caller, Ref};
use quixos_session::Refusal;
use quixos_session::sessions::{Session, SessionRegistry};
use serde_json::{Value, json};

mod support;

use support::{
    AGENT, PATIENCE, client, folder, is_done, memory, open, said, say, set_up, start, wait_for,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_calls_a_tool_and_answers() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    let submitted = say(&engine, "s", "t1", "How is the weather?").await.unwrap();
    assert_eq!(submitted.turn_id.as_deref(), Some("t1"));
    let view = wait_for(&engine, "s", "done", is_done).await;
    assert_eq!(
        said(&view),
        [
            "user: How is the weather?",
            "assistant: ",
            "tool: rain in Oslo",
            "assistant: I looked it up: rain in Oslo",
        ]
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agent_works_in_a_session_of_its_own() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    say(&engine, "s", "t1", "research moss").await.unwrap();
    let view = wait_for(&engine, "s", "done", is_done).await;
    let said = said(&view);
    let last = said.last().unwrap();
    assert!(last.starts_with("assistant: My researcher reports: Three sources"), "{said:?}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_waits_for_its_client_and_goes_on() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    say(&engine, "s", "t1", "book me a trip").await.unwrap();
    let waiting = wait_for(&engine, "s", "waiting for its client", |view| {
        view["calls"][0]["handler"] == "client" && view["calls"][0]["status"] == "pending"
    })
    .await;
    let busy = say(&engine, "s", "t2", "hello?").await.unwrap_err();
    assert_eq!(busy, EngineError::Refused(Refusal::TurnAlreadyActive("t1".to_owned())));
    let input = json!({
        "type": "tool.result",
        "id": waiting["calls"][0]["id"],
        "result": "yes",
    });
    let (session, metadata) = ("s".to_owned(), "{}".to_owned());
    engine.submit(client(), session, metadata, input.to_string()).await.unwrap();
    let view = wait_for(&engine, "s", "done", is_done).await;
    assert_eq!(said(&view).last().unwrap(), "assistant: It is booked.");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_engine_leaves_the_next_one_ends() {
    let home = tempfile::tempdir().unwrap();
    let runtime = open(folder(home.path()));
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    say(&engine, "s", "t1", "How is the weather?").await.unwrap();
    engine.stop().await;
    drop(engine);
    runtime.close();
    let runtime = open(folder(home.path()));
    let engine = start(&runtime, registry, "one").await;
    let view = wait_for(&engine, "s", "done", is_done).await;
    assert_eq!(said(&view).len(), 4, "{view:#}");
    engine.stop().await;
    runtime.close();
}

/// `QUIXOS_CLIENTS` says how many; 64 if it does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn none_of_many_clients_at_once_is_left_behind() {
    let clients = env::var("QUIXOS_CLIENTS").map_or(64, |clients| clients.parse().unwrap());
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    let submits = (0..clients).map(|n| {
        let engine = engine.clone();
        tokio::spawn(async move { say(&engine, &format!("s{n}"), "t", "hello").await })
    });
    let (mut taken, mut refused) = (Vec::new(), 0);
    for (n, submit) in submits.collect::<Vec<_>>().into_iter().enumerate() {
        match submit.await.unwrap() {
            Ok(_) => taken.push(format!("s{n}")),
            // A directory has room for so many at once, and says so.
            Err(error) => {
                let full = Refusal::NotAdmitted("capacity".to_owned());
                assert_eq!(error, EngineError::Refused(full));
                refused += 1;
            }
        }
    }
    // In the middle of it all, another engine goes on.
    engine.stop().await;
    let engine = start(&runtime, registry, "one").await;
    for session in &taken {
        wait_for(&engine, session, "done", is_done).await;
    }
    println!("{clients} clients at once: {} turns at their end, {refused} refused", taken.len());
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_engines_never_drive_one_turn() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let (one, two) =
        (start(&runtime, registry, "one").await, start(&runtime, registry, "two").await);
    for n in 0..16 {
        let engine = if n % 2 == 0 { &one } else { &two };
        say(engine, &format!("s{n}"), "t", "How is the weather?").await.unwrap();
    }
    for n in 0..16 {
        let session = format!("s{n}");
        let view = wait_for(&one, &session, "done", is_done).await;
        assert_eq!(said(&view).len(), 4, "{view:#}");
        assert_eq!(view["message_tree"]["nodes"].as_array().unwrap().len(), 4, "{view:#}");
    }
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_there_is_refused_and_leaves_no_session() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    let input = json!({
        "type": "client.message",
        "agent_id": format!("{AGENT}s"),
        "message": {"role": "user", "content": "hello"},
    });
    let submit = engine.submit(client(), "s".to_owned(), "{}".to_owned(), input.to_string());
    assert_eq!(submit.await.unwrap_err(), EngineError::Refused(Refusal::UnknownAgent));
    assert!(engine.session("s").await.unwrap().is_none());
    assert!(matches!(engine.view("s").await, Err(EngineError::NotFound(_))));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_at_the_door_of_agent_runtime_is_heard() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    let operator = runtime.session(Caller::operator("operator"));
    for session in ["answered", "cancelled"] {
        say(&engine, session, "t", "book me a trip").await.unwrap();
        wait_for(&engine, session, "waiting for its client", waits).await;
    }
    let request = request_of(&engine, "answered").await;
    let questions = AgentRequest::on(&operator, request).questions().await.unwrap();
    let (_, question) = questions.into_iter().next().unwrap();
    let question = AgentQuestion::on(&operator, question);
    let asked = question.data().await.unwrap();
    let answer = AgentQuestionAnswerInput {
        answer: "yes".to_owned(),
        attempt: asked.attempt,
        generation: asked.generation,
        answered_at: asked.created_at,
    };
    assert!(question.answer(&answer).await.unwrap());
    let view = wait_for(&engine, "answered", "done", is_done).await;
    assert_eq!(said(&view).last().unwrap(), "assistant: It is booked.");

    let request = request_of(&engine, "cancelled").await;
    assert!(AgentRequest::on(&operator, request).cancel().await.unwrap());
    wait_for(&engine, "cancelled", "without a turn", |view| view["turn_id"].is_null()).await;
    let progress = AgentRequest::on(&operator, request).progress().await.unwrap();
    assert_eq!(progress.status, "cancelled");
    engine.stop().await;
}

/// Says whether a session waits for a call that its client runs.
fn waits(view: &Value) -> bool {
    view["calls"][0]["handler"] == "client" && view["calls"][0]["status"] == "pending"
}

async fn request_of(engine: &Engine, session: &str) -> Ref<AgentRequestObject> {
    let session = engine.session(session).await.unwrap().unwrap();
    Session::on(engine.caller(), session).request().await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_came_by_another_door_gets_a_session() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    let operator = runtime.session(Caller::operator("operator"));
    let directory = SessionRegistry::on(&operator, registry).directory().await.unwrap();
    let mut agent = None;
    for candidate in AgentDirectory::on(&operator, directory).agents().await.unwrap() {
        if Agent::on(&operator, candidate).data().await.unwrap().name == AGENT {
            agent = Some(candidate);
        }
    }
    let submission = AgentSubmission {
        text: "How is the weather?".to_owned(),
        data: None,
        profile: None,
        response: None,
        source_kind: "user".to_owned(),
        source_label: String::new(),
        publication: None,
        created_at: "2026-01-31T12:00:00Z".to_owned(),
        contexts: Vec::new(),
        related: None,
        retry_of: None,
        root: None,
        causal_depth: 0,
    };
    let admission = Agent::on(&operator, agent.unwrap()).request(&submission).await.unwrap();
    let session = admission.thread.unwrap().id().to_string();
    let started = tokio::time::Instant::now();
    while engine.session(&session).await.unwrap().is_none() {
        assert!(started.elapsed() < PATIENCE, "nobody took it up");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let view = wait_for(&engine, &session, "done", is_done).await;
    assert_eq!(said(&view).len(), 4, "{view:#}");
    let request = admission.request.unwrap();
    let progress = AgentRequest::on(&operator, request).progress().await.unwrap();
    assert_eq!(progress.status, "completed");
    engine.stop().await;
}
