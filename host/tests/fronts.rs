//! The doors of front ends: AG-UI and UI message streams, over real sockets.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::{Value, json};
use support::Running;
use tokio::time::timeout;

const AG_UI: &str = "/v1/agents/concierge/ag-ui";
const CHAT: &str = "/v1/agents/concierge/ui-message-stream";

/// Returns the data of a stream.
async fn data(response: Response) -> Vec<String> {
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await.unwrap();
    text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}

async fn run(host: &Running, token: &str, input: Value) -> Vec<Value> {
    let response = host.ask(Method::POST, AG_UI, Some(token), Some(input.to_string())).await;
    data(response).await.iter().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// Sends a conversation, and returns the chunks before the end of the stream.
async fn chat(host: &Running, token: &str, input: Value) -> Vec<Value> {
    let response = host.ask(Method::POST, CHAT, Some(token), Some(input.to_string())).await;
    assert_eq!(response.headers()["x-vercel-ai-ui-message-stream"], "v1");
    let mut data = data(response).await;
    assert_eq!(data.pop().unwrap(), "[DONE]");
    data.iter().map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "content": text, "parts": [{"type": "text", "text": text}]})
}

fn told() -> Value {
    json!({"id": "a", "role": "assistant", "parts": []})
}

fn input(thread: &str, run: &str, messages: Value) -> Value {
    json!({
        "threadId": thread, "runId": run, "messages": messages, "tools": [], "context": [],
        "state": {}, "forwardedProps": {},
    })
}

fn conversation(thread: &str, messages: Value) -> Value {
    json!({"id": thread, "messages": messages, "trigger": "submit-message"})
}

fn text_of(events: &[Value]) -> String {
    let is_text = |event: &&Value| {
        ["TEXT_MESSAGE_CONTENT", "text-delta"].iter().any(|it| event["type"] == *it)
    };
    events.iter().filter(is_text).filter_map(|event| event["delta"].as_str()).collect()
}

/// Returns what a thread has recorded of its user.
async fn said(host: &Running, thread: &str) -> Vec<String> {
    let path = format!("/api/machine/sessions/{thread}");
    let response = host.ask(Method::GET, &path, Some(support::KEY), None).await;
    let (status, view) = support::answer(response).await;
    assert_eq!(status, 200, "{view}");
    let messages = view["messages"].as_array().unwrap().iter();
    let messages = messages.filter(|message| message["role"] == "user");
    messages.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn thread_of(events: &[Value]) -> String {
    let ids = events.iter().find(|event| event["type"] == "CUSTOM").map(|event| &event["value"]);
    let ids = ids.unwrap_or_else(|| &events[0]["messageMetadata"]);
    ids["threadId"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_repeated_is_said_once() {
    let host = Running::demo().await;
    let token = host.token().to_owned();
    let first = run(&host, &token, input("th", "r1", json!([user("u1", "Hi!")]))).await;
    assert!(text_of(&first).starts_with("Hello! Ask me"), "{first:?}");
    let second = json!([user("u1", "Hi!"), told(), user("u2", "How is the weather?")]);
    let events = run(&host, &token, input("th", "r2", second.clone())).await;
    assert_eq!(text_of(&events), "I looked it up: 12 degrees and light rain in Oslo");
    // The same run again is the same turn, told again, if in longer pieces.
    let again = run(&host, &token, input("th", "r2", second)).await;
    assert_eq!((&again[1], text_of(&again)), (&events[1], text_of(&events)));
    assert_eq!(said(&host, &thread_of(&events)).await, ["Hi!", "How is the weather?"]);

    let first = chat(&host, &token, conversation("th", json!([user("u3", "Hi!")]))).await;
    // The same name is the same thread, by whichever door.
    assert_eq!(thread_of(&first), thread_of(&events));
    assert_eq!(said(&host, &thread_of(&first)).await.len(), 3);
    let again = chat(&host, &token, conversation("th", json!([user("u3", "Hi!")]))).await;
    assert_eq!((&again[0], text_of(&again)), (&first[0], text_of(&first)));
    assert_eq!(said(&host, &thread_of(&first)).await.len(), 3);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_its_owners() {
    let host = Running::demo().await;
    let ann = host.token().to_owned();
    let (_, issued) = host
        .post_as_machine("/api/machine/client-tokens", &json!({"identity": {"id": "bob"}}))
        .await;
    let bob = issued["token"].as_str().unwrap().to_owned();
    let anns = run(&host, &ann, input("th", "r1", json!([user("u1", "Hi!")]))).await;
    let bobs = run(&host, &bob, input("th", "r1", json!([user("u1", "Hi, I am Bob!")]))).await;
    let (anns, bobs) = (thread_of(&anns), thread_of(&bobs));
    assert_ne!(anns, bobs);
    // Who uses the id of another's thread as a name has a thread of their own.
    let other = run(&host, &bob, input(&anns, "r2", json!([user("u2", "Hi!")]))).await;
    assert_ne!(thread_of(&other), anns);
    assert_eq!(said(&host, &anns).await, ["Hi!"]);
    // Its owner may use it.
    let own = run(&host, &ann, input(&anns, "r2", json!([told(), user("u2", "And?")]))).await;
    assert_eq!(thread_of(&own), anns);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_in_the_next_run() {
    let host = Running::demo().await;
    let token = host.token().to_owned();
    let asked = run(&host, &token, input("th", "r1", json!([user("u1", "Sign it.")]))).await;
    let outcome = &asked.last().unwrap()["outcome"];
    assert_eq!(outcome["type"], "interrupt", "{asked:?}");
    let id = outcome["interrupts"][0]["id"].clone();
    let refused = run(&host, &token, input("th", "r2", json!([user("u2", "Hi!")]))).await;
    assert_eq!(refused.last().unwrap()["type"], "RUN_ERROR", "{refused:?}");
    let mut answer = input("th", "r3", json!([user("u1", "Sign it.")]));
    answer["resume"] =
        json!([{"interruptId": id, "status": "resolved", "payload": {"approved": true}}]);
    let events = run(&host, &token, answer.clone()).await;
    assert_eq!(text_of(&events), "It is signed.");
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");
    // The same run again is what it was. Another one comes late.
    let again = run(&host, &token, answer.clone()).await;
    assert_eq!((&again[1], text_of(&again)), (&events[1], text_of(&events)));
    answer["runId"] = "r4".into();
    let events = run(&host, &token, answer).await;
    assert_eq!(events.last().unwrap()["code"], "invalid_action_id", "{events:?}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_and_results_come_back_as_parts() {
    let host = Running::demo().await;
    let token = host.token().to_owned();
    let asked = chat(&host, &token, conversation("th", json!([user("u1", "Sign it.")]))).await;
    let request = asked.iter().find(|it| it["type"] == "tool-approval-request").unwrap();
    let id = &request["approvalId"];
    let part = json!({
        "type": "dynamic-tool", "toolName": "approval", "toolCallId": id,
        "state": "approval-responded", "input": {}, "approval": {"id": id, "approved": false},
    });
    let answered =
        json!([user("u1", "Sign it."), {"id": "a", "role": "assistant", "parts": [part]}]);
    let chunks = chat(&host, &token, conversation("th", answered)).await;
    assert_eq!(text_of(&chunks), "Then it stays unsigned.");
    assert_eq!(chunks[0]["messageId"], asked[0]["messageId"]);
    assert_eq!(chunks[1], json!({"type": "tool-output-denied", "toolCallId": id}));

    let asked = chat(&host, &token, conversation("th2", json!([user("u1", "Book it.")]))).await;
    let call = asked.iter().find(|it| it["type"] == "tool-input-available").unwrap();
    let part = json!({
        "type": "tool-approve", "toolCallId": call["toolCallId"], "state": "output-available",
        "input": {}, "output": "yes",
    });
    let answered =
        json!([user("u1", "Book it."), {"id": "a", "role": "assistant", "parts": [part]}]);
    let chunks = chat(&host, &token, conversation("th2", answered.clone())).await;
    assert_eq!(text_of(&chunks), "It is booked.");
    // It is not told again what it has told.
    assert!(chunks.iter().all(|it| it["type"] != "tool-output-available"), "{chunks:?}");
    // Again, with what has been heard of it, it is the same answer.
    let mut heard = answered.clone();
    let ran = json!({
        "type": "tool-weather", "toolCallId": "w", "state": "output-available", "input": {},
        "output": "rain", "providerExecuted": true,
    });
    heard[1]["parts"].as_array_mut().unwrap().push(ran);
    for again in [answered.clone(), heard] {
        let again = chat(&host, &token, conversation("th2", again)).await;
        assert_eq!((&again[0], text_of(&again)), (&chunks[0], text_of(&chunks)));
    }
    // Another answer comes late: it is no news.
    let mut other = answered;
    other[1]["parts"][0]["output"] = "no".into();
    let other = conversation("th2", other).to_string();
    let response = host.ask(Method::POST, CHAT, Some(&token), Some(other)).await;
    assert_eq!(response.status(), 400);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_sent_again_counts_once() {
    let host = Running::demo().await;
    let token = host.token().to_owned();
    let asked = run(&host, &token, input("th", "r1", json!([user("u1", "Book it.")]))).await;
    let call = &asked.last().unwrap()["outcome"]["pendingToolCallIds"][0];
    assert!(call.is_string(), "{asked:?}");
    let result = json!({"id": "t", "role": "tool", "toolCallId": call, "content": "yes"});
    let answer = json!([user("u1", "Book it."), told(), result]);
    // At once, as of a client that does not know whether the first came through.
    let answered = || run(&host, &token, input("th", "r2", answer.clone()));
    let (one, two) = tokio::join!(answered(), answered());
    assert_eq!((text_of(&one), text_of(&two)), ("It is booked.".into(), "It is booked.".into()));
    // And later, with what has been heard of it.
    let mut heard = answer.clone();
    heard.as_array_mut().unwrap().push(json!({"id": "b", "role": "assistant", "content": "It"}));
    let late = run(&host, &token, input("th", "r2", heard)).await;
    assert_eq!((&late[1], text_of(&late)), (&one[1], text_of(&one)));
    assert_eq!(two[1], one[1]);
    // As another run it answers nothing, and nothing is done anew.
    let other = run(&host, &token, input("th", "r3", answer.clone())).await;
    assert_eq!(other.last().unwrap()["code"], "invalid_message_format", "{other:?}");
    // The run of another thread is another one, whatever it is called.
    let asked = run(&host, &token, input("th2", "r1", json!([user("u1", "Book it.")]))).await;
    let call = &asked.last().unwrap()["outcome"]["pendingToolCallIds"][0];
    let mut answer = answer;
    answer[2]["toolCallId"] = call.clone();
    let elsewhere = run(&host, &token, input("th2", "r2", answer)).await;
    assert_eq!(text_of(&elsewhere), "It is booked.");
    assert_ne!(thread_of(&elsewhere), thread_of(&one));
    host.stop().await;
}

/// A turn of the older protocol is followed by nobody until a front end comes to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_nobody_follows_is_taken_up() {
    let host = Running::demo().await;
    let token = host.token().to_owned();
    let resumed = async |session: &str| {
        let path = format!("{CHAT}/{session}/stream");
        let asked = host.ask(Method::GET, &path, Some(&token), None);
        let within = Duration::from_secs(10);
        let response = timeout(within, asked).await.unwrap();
        if response.status() == 204 {
            return None;
        }
        Some(timeout(within, data(response)).await.expect("the stream does not end"))
    };
    for (session, text) in [("asks", "Sign it."), ("tells", "Tell me a story.")] {
        assert_eq!(host.say(session, "t1", text).await.0, 202);
    }
    let told = resumed("tells").await;
    assert!(told.is_none_or(|told| told.last().unwrap() == "[DONE]"));
    settled(&host, "asks").await;
    assert_eq!(resumed("asks").await, None);
    assert_eq!(host.say("known", "t1", "Sign it.").await.0, 202);
    settled(&host, "known").await;
    let again = run(&host, &token, input("known", "t1", json!([user("u1", "Sign it.")])));
    let again = timeout(Duration::from_secs(10), again).await.expect("the run does not end");
    assert_eq!(again.last().unwrap()["outcome"]["type"], "interrupt", "{again:?}");
    host.stop().await;
}

/// Waits until a session asks for something.
async fn settled(host: &Running, session: &str) {
    for _ in 0..500 {
        let (_, view) = host.get(&format!("/api/client/sessions/{session}")).await;
        if !view["interrupts"].as_array().unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{session} asks for nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_taken_up_again_while_it_runs() {
    let host = Running::demo().await;
    let token = host.token().to_owned();
    let resume = format!("{CHAT}/th/stream");
    let status =
        async || host.ask(Method::GET, &resume, Some(&token), None).await.status().as_u16();
    assert_eq!(status().await, 204);
    let body = conversation("th", json!([user("u1", "Tell me a story.")])).to_string();
    let mut broken = host.ask(Method::POST, CHAT, Some(&token), Some(body)).await;
    broken.chunk().await.unwrap();
    drop(broken);
    let response = host.ask(Method::GET, &resume, Some(&token), None).await;
    let told = data(response).await;
    assert_eq!(told.last().unwrap(), "[DONE]");
    let chunks: Vec<Value> =
        told[..told.len() - 1].iter().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert!(text_of(&chunks).starts_with("A courier was sent"), "{chunks:?}");
    assert!(text_of(&chunks).ends_with("it had been there before me."), "{chunks:?}");
    assert_eq!(status().await, 204);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_last_is_answered_anew() {
    let host = Running::demo().await;
    let token = host.token().to_owned();
    let said_once = json!([user("u1", "How is the weather?")]);
    let first = chat(&host, &token, conversation("th", said_once.clone())).await;
    let mut again = conversation("th", said_once.clone());
    again["trigger"] = "regenerate-message".into();
    let second = chat(&host, &token, again).await;
    assert_eq!(text_of(&second), text_of(&first));
    assert_ne!(second[0]["messageId"], first[0]["messageId"]);
    let third = run(&host, &token, input("th", "r1", said_once)).await;
    assert_eq!(text_of(&third), text_of(&first));
    assert_eq!(said(&host, &thread_of(&first)).await, ["How is the weather?"]);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_told_by_a_status() {
    let host = Running::demo().await;
    let token = host.token().to_owned();
    let good = input("th", "r1", json!([user("u1", "Hi!")]));
    let picture = json!([{"id": "u1", "role": "user", "content": [{"type": "image"}]}]);
    for (path, credential, body, expected) in [
        (AG_UI, None, good.to_string(), (401, "auth_failed")),
        (AG_UI, Some(&token), "{".to_owned(), (400, "invalid_message_format")),
        (AG_UI, Some(&token), "{}".to_owned(), (400, "invalid_message_format")),
        (
            AG_UI,
            Some(&token),
            input("th", "r1", picture).to_string(),
            (400, "invalid_message_format"),
        ),
        ("/v1/agents/nobody/ag-ui", Some(&token), good.to_string(), (404, "thread_not_found")),
        (CHAT, None, conversation("th", json!([])).to_string(), (401, "auth_failed")),
        (CHAT, Some(&token), "[]".to_owned(), (400, "invalid_message_format")),
    ] {
        let response =
            host.ask(Method::POST, path, credential.map(String::as_str), Some(body)).await;
        let (status, error) = support::answer(response).await;
        assert_eq!((status, error["code"].as_str().unwrap()), expected, "{path} {error}");
    }
    host.stop().await;
}
