//! What models say while they say it: blocks are in the log before they are heard, a reader misses
//! nothing however slow it is, and what was said is in the log when it is heard no longer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use async_trait::async_trait;
use quixos_engine::live::Sink;
use quixos_engine::provider::{Provider, ProviderError};
use quixos_engine::worker::{Delivery, DeliveryError, Local, Worker};
use quixos_engine::{Engine, Options, Roster};
use quixos_protocol::{
    ErrorCode, LlmRequest, LlmResponse, StreamDelta, ToolCall, ToolCallDelta, Trigger,
};
use quixos_session::sessions::Session;
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};

mod support;

use support::{AGENT, PATIENCE, client, is_done, memory, open, set_up, wait_for};

/// What a puppet is told to do.
enum Cue {
    Say(StreamDelta),
    Reply(Box<LlmResponse>),
    Fail,
}

/// A model, or a worker with a model of its own, that does what a test says.
struct Puppet(Mutex<mpsc::UnboundedReceiver<Cue>>);

impl Puppet {
    async fn play(&self, sink: &Sink) -> Option<LlmResponse> {
        let mut cues = self.0.lock().await;
        loop {
            match cues.recv().await.unwrap() {
                Cue::Say(delta) => sink.delta(delta),
                Cue::Reply(reply) => return Some(*reply),
                Cue::Fail => return None,
            }
        }
    }
}

#[async_trait]
impl Provider for Puppet {
    async fn complete(
        &self,
        _request: &LlmRequest,
        _stream: bool,
        sink: &Sink,
    ) -> Result<LlmResponse, ProviderError> {
        self.play(sink).await.ok_or_else(|| ProviderError {
            message: "broken".to_owned(),
            code: ErrorCode::ProviderError,
            retryable: true,
            retry_after: None,
            detail: None,
        })
    }
}

/// A worker that echoes, and runs models itself.
struct OwnModel(Puppet, Local);

#[async_trait]
impl Worker for OwnModel {
    async fn decide(&self, delivery: Delivery<'_>, sink: &Sink) -> Result<Value, DeliveryError> {
        let trigger = &delivery.request.trigger;
        if let Trigger::LlmExecute(_) = trigger {
            let reply = self.0.play(sink).await;
            let broken = DeliveryError { message: "broken".to_owned(), retryable: false };
            let action = json!({"type": "llm.result", "response": reply.ok_or(broken)?});
            return Ok(json!({ "actions": [action] }));
        }
        let mut answer = self.1.decide(delivery, sink).await?;
        if let Trigger::SessionStart = trigger {
            answer = json!({"agent": {"model": "own", "handler": "worker"}});
        }
        Ok(answer)
    }
}

type Cues = mpsc::UnboundedSender<Cue>;

/// Starts an engine whose model, or whose worker's, is told what to do.
async fn stage(is_worker: bool) -> (Engine, Cues) {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let (cues, told) = mpsc::unbounded_channel();
    let puppet = Puppet(Mutex::new(told));
    let roster = if is_worker {
        Roster::new().worker(AGENT, Arc::new(OwnModel(puppet, Local::new())))
    } else {
        let roster = Roster::new().worker(AGENT, Arc::new(Local::new()));
        roster.provider("", Arc::new(puppet))
    };
    let options = Options { id: "one".to_owned(), ..Options::default() };
    (Engine::start(runtime, registry, roster, options).await.unwrap(), cues)
}

async fn ask(engine: &Engine, stream: bool) {
    let input = json!({
        "type": "client.message",
        "agent_id": AGENT,
        "turn_id": "t1",
        "message": {"role": "user", "content": "Hello"},
        "stream": stream,
    });
    let (session, metadata) = ("s".to_owned(), "{}".to_owned());
    engine.submit(client(), session, metadata, input.to_string()).await.unwrap();
}

fn say(cues: &Cues, text: &str) {
    cue(cues, StreamDelta { text: Some(text.to_owned()), ..StreamDelta::default() });
}

fn cue(cues: &Cues, delta: StreamDelta) {
    assert!(cues.send(Cue::Say(delta)).is_ok());
}

fn reply(cues: &Cues, text: &str) {
    let reply = LlmResponse {
        model: "m".to_owned(),
        content: Some(text.to_owned()),
        finish_reason: Some("stop".to_owned()),
        ..LlmResponse::default()
    };
    assert!(cues.send(Cue::Reply(Box::new(reply))).is_ok());
}

/// Returns the events of the log so far, of some family.
async fn events(engine: &Engine, family: &str) -> Vec<(String, Value)> {
    let Some(session) = engine.session("s").await.unwrap() else { return Vec::new() };
    let events = Session::on(engine.caller(), session).events(0, usize::MAX).await.unwrap();
    let events = events.into_iter().filter(|event| event.r#type.starts_with(family));
    events.map(|event| (event.r#type, serde_json::from_str(&event.payload).unwrap())).collect()
}

/// Waits for an event of the log, and returns its payload.
async fn event(engine: &Engine, kind: &str) -> Value {
    let started = tokio::time::Instant::now();
    loop {
        if let Some((_, payload)) = events(engine, kind).await.pop() {
            return payload;
        }
        assert!(started.elapsed() < PATIENCE, "never {kind}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// Reads a block until it has as much of it as is wanted.
async fn read(engine: &Engine, call: &str, block: u32, wanted: usize) -> (String, usize) {
    let mut speech = engine.speech("s");
    let (mut text, mut pieces) = (String::new(), 0);
    while text.len() < wanted {
        if let Some(more) = speech.text(call, 1, block, text.len()).filter(|it| !it.is_empty()) {
            text.push_str(&more);
            pieces += 1;
        } else {
            tokio::time::timeout(PATIENCE, speech.changed()).await.unwrap();
        }
    }
    (text, pieces)
}

/// A reply that is longer than a value may be cannot be kept. Made again, the call would be paid
/// again; the model here has nothing more to say.
#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_is_too_long_to_keep_is_a_failure_and_not_asked_for_again() {
    let (engine, cues) = stage(false).await;
    ask(&engine, false).await;
    reply(&cues, &"x".repeat(5 << 20));
    let failed = event(&engine, "llm.call.errored").await;
    assert_eq!(failed["retryable"], false, "{failed}");
    assert!(failed["error"].as_str().unwrap().contains("cannot be kept"), "{failed}");
    wait_for(&engine, "s", "paused", |view| view["status"] == "interrupted").await;
    assert_eq!(events(&engine, "llm.call.requested").await.len(), 1);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_are_in_the_log_before_they_are_heard_and_whole_when_they_end() {
    for is_worker in [false, true] {
        let (engine, cues) = stage(is_worker).await;
        ask(&engine, true).await;
        let asked = event(&engine, "llm.call.dispatched").await;
        let call = asked["call_id"].as_str().unwrap();
        let (mut deltas, mut speech) = (engine.listen("s"), engine.speech("s"));
        let thought = Some("Hm".to_owned());
        cue(&cues, StreamDelta { reasoning: thought, ..StreamDelta::default() });
        while speech.text(call, 1, 0, 0).is_none() {
            tokio::time::timeout(PATIENCE, speech.changed()).await.unwrap();
        }
        // It is heard, so it is in the log.
        let told = events(&engine, "llm.block").await;
        assert_eq!((told.len(), &told[0].1["kind"]), (1, &json!("reasoning")));
        assert_eq!(told[0].1["call_id"], call);
        // Whoever comes late, or sleeps, reads all of it; in longer pieces.
        for word in ["a ", "bc ", "def "] {
            say(&cues, word);
        }
        for _ in 0..4 {
            deltas.recv().await.unwrap();
        }
        let (text, pieces) = read(&engine, call, 1, 9).await;
        assert_eq!((text.as_str(), pieces), ("a bc def ", 1));
        say(&cues, "ghij");
        assert_eq!(read(&engine, call, 1, 13).await.0, "a bc def ghij");
        reply(&cues, "a bc def ghij");
        wait_for(&engine, "s", "done", is_done).await;
        let told = events(&engine, "llm.").await;
        let kinds: Vec<&str> = told.iter().skip(2).map(|(kind, _)| kind.as_str()).collect();
        let expected = ["llm.block.started", "llm.block.stopped"];
        assert_eq!(kinds, [&expected[..], &expected, &["llm.call.completed"]].concat());
        assert_eq!(told[3].1["text"], "Hm");
        assert_eq!(told[5].1["text"], "a bc def ghij");
        assert_eq!(engine.speech("s").text(call, 1, 1, 0), None);
        assert_eq!(deltas.recv().await.unwrap().seq, 4);
        engine.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_comes_at_once_is_told_and_heard_before_it_ends() {
    let (engine, cues) = stage(false).await;
    let mut deltas = engine.listen("s");
    let call = |name: Option<&str>, arguments: &str| StreamDelta {
        tool_calls: vec![ToolCallDelta {
            id: "x1".to_owned(),
            name: name.map(str::to_owned),
            arguments: Some(arguments.to_owned()),
        }],
        ..StreamDelta::default()
    };
    say(&cues, "So");
    cue(&cues, call(Some("weather"), "{\"city\""));
    cue(&cues, call(None, ":\"Oslo\"}"));
    let reply = LlmResponse {
        model: "m".to_owned(),
        content: Some("So".to_owned()),
        tool_calls: vec![ToolCall::function("x1", "weather", "{\"city\":\"Oslo\"}")],
        finish_reason: Some("tool_calls".to_owned()),
        ..LlmResponse::default()
    };
    assert!(cues.send(Cue::Reply(Box::new(reply))).is_ok());
    ask(&engine, true).await;
    for seq in 0..3 {
        let delta = tokio::time::timeout(PATIENCE, deltas.recv()).await.unwrap().unwrap();
        assert_eq!(delta.seq, seq);
    }
    let ended = event(&engine, "llm.call.completed").await;
    let told = events(&engine, "llm.block").await;
    assert_eq!(told.len(), 4, "{told:?}");
    let (started, stopped) = (&told[2].1, &told[3].1);
    assert_eq!((&started["kind"], &started["name"]), (&json!("tool_call"), &json!("weather")));
    assert_eq!(stopped["arguments"], "{\"city\":\"Oslo\"}");
    assert_eq!(started["tool_call_id"], ended["message"]["tool_calls"][0]["id"]);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_attempt_has_said_what_it_said() {
    let (engine, cues) = stage(false).await;
    ask(&engine, true).await;
    say(&cues, "Half of");
    assert!(cues.send(Cue::Fail).is_ok());
    reply(&cues, "The whole.");
    wait_for(&engine, "s", "done", is_done).await;
    let told = events(&engine, "llm.").await;
    let kinds: Vec<&str> = told.iter().map(|(kind, _)| kind.as_str()).collect();
    let stopped = kinds.iter().position(|kind| *kind == "llm.block.stopped").unwrap();
    assert_eq!(
        (kinds[stopped + 1], &told[stopped].1["text"]),
        ("llm.call.errored", &json!("Half of"))
    );
    // The second attempt came in one piece: it has no blocks.
    assert_eq!(kinds.iter().filter(|kind| kind.starts_with("llm.block")).count(), 2);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_nobody_asked_to_stream_has_no_blocks() {
    let (engine, cues) = stage(false).await;
    ask(&engine, false).await;
    // A model that streams all the same is none that was asked to.
    say(&cues, "Hi!");
    reply(&cues, "Hi!");
    wait_for(&engine, "s", "done", is_done).await;
    assert_eq!(events(&engine, "llm.block").await, []);
    engine.stop().await;
}

/// What was heard of a reply that is called off is what the log has of it.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_heard_before_a_cancel_is_in_the_log() {
    let (engine, cues) = stage(false).await;
    ask(&engine, true).await;
    let call = event(&engine, "llm.call.dispatched").await["call_id"].clone();
    let call = call.as_str().unwrap();
    say(&cues, "Half of ");
    assert_eq!(read(&engine, call, 0, 8).await.0, "Half of ");
    let unknown = engine.cancel(client(), "s", Some("t9".to_owned())).await.unwrap_err();
    assert_eq!(unknown.code(), "not-found");
    // A cancel that came to nothing held nothing back.
    say(&cues, "it");
    assert_eq!(read(&engine, call, 0, 10).await.0, "Half of it");
    engine.cancel(client(), "s", Some("t1".to_owned())).await.unwrap();
    let stopped = event(&engine, "llm.block.stopped").await;
    assert_eq!(stopped["text"], "Half of it");
    engine.stop().await;
}
