//! Turns, one way each: what is told of them, in which order, and that it is what was recorded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quixos_runtime::store::MemoryStore;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Conversation, answers, says};
use crate::setting::{AGENT, QUIET, host, paced};

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_and_text_are_blocks_of_one_message() {
    let host = host().await;
    let turn = host.told(AGENT, &says("Think of it")).await;
    let content = json!([
        { "type": "thinking", "text": "Let me see what this is." },
        { "type": "text", "text": "It is clear." },
    ]);
    assert_eq!(json!(turn.content), content);
    assert_eq!(turn.put_together(), turn.content);
    let end = turn.end.unwrap();
    assert_eq!(end["finishReason"], "stop");
    assert_eq!(end["threadId"], json!(turn.thread));
    assert!(end["usage"]["promptTokens"].is_u64() && end["usage"]["completionTokens"].is_u64());
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_stream_by_itself_is_asked_to() {
    let host = host().await;
    let turn = host.told(QUIET, &says("Hello")).await;
    assert_eq!(json!(turn.content), json!([{ "type": "text", "text": "You said: Hello" }]));
    // The next turn of the thread, with more than one message, and something for the worker.
    let more = json!({
        "messages": [
            { "content": [{ "type": "text", "text": "So" }] },
            { "content": [{ "type": "text", "text": "And " }, { "type": "text", "text": "so" }] },
        ],
        "threadId": turn.thread,
        "context": { "page": "/" },
    });
    let next = host.told(QUIET, &more).await;
    assert_eq!(next.thread, turn.thread);
    assert_ne!(next.request, turn.request);
    assert_eq!(json!(next.content), json!([{ "type": "text", "text": "You said: And so" }]));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_called_and_its_result_is_told_without_the_payload() {
    let host = host().await;
    let turn = host.told(AGENT, &says("The weather?")).await;
    let kinds: Vec<_> = turn.content.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_result", "text"]);
    assert_eq!(turn.put_together(), turn.content);
    assert_eq!(turn.content[2]["args"], json!({ "city": "Oslo" }));
    assert_eq!(turn.content[3]["status"], "success");
    assert_eq!(turn.content[3]["toolCallId"], turn.content[2]["toolCallId"]);
    assert!(!turn.content[3].to_string().contains("rain"), "{}", turn.content[3]);
    let failed = host.told(AGENT, &says("Something wrong")).await;
    let result = failed.content.iter().find(|it| it["type"] == "tool_result").unwrap();
    assert_eq!((&result["status"], &result["summary"]), (&json!("error"), &json!("it failed")));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_is_gone_on_with_by_the_answer() {
    let host = host().await;
    let mut turn = host.told(AGENT, &says("Please book it")).await;
    assert_eq!(turn.reason(), "action_required");
    let first = turn.request.clone();
    let asked = turn.asked();
    assert_eq!((asked.len(), &asked[0]["kind"]), (1, &json!("tool")));
    let payload = json!({
        "reason": "approve",
        "payload": {
            "toolCallId": asked[0]["actionId"], "tool": "approve", "args": { "question": "Really?" },
        },
    });
    assert_eq!(asked[0]["payload"], payload);
    let shown = host.get(&format!("/v1/threads/{}", turn.thread)).await.1;
    assert_eq!((&shown["state"], &shown["requestId"]), (&json!("waiting"), &json!(first)));
    assert_eq!(shown["waitingFor"][0]["actionId"], asked[0]["actionId"]);
    let answer = answers(&turn.thread, &asked, &json!("yes"));
    let reading = host.read(AGENT, &answer).await;
    host.to_end(reading, &mut turn).await;
    assert_eq!((turn.reason(), &turn.request), ("stop", &first));
    assert_eq!(turn.all_put_together(), turn.content);
    assert_eq!(turn.content.last().unwrap()["text"], "You said: yes");
    // It is not waited for any longer.
    let late = host.begin(AGENT, &answer).await;
    assert_eq!(late.status(), 400);
    let error: Value = serde_json::from_str(&late.text().await.unwrap()).unwrap();
    assert_eq!(error["code"], "invalid_action_id");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_to_answer_is_asked_again() {
    let host = host().await;
    let mut turn = host.told(AGENT, &says("Do both")).await;
    let asked = turn.asked();
    assert_eq!(asked.len(), 2);
    // Half of an answer that names an unknown thing is not taken either.
    let mut bad = answers(&turn.thread, &asked[..1], &json!("yes"));
    let unknown = json!({ "actionId": "x", "kind": "tool", "status": "success" });
    bad["context"]["actionResults"].as_array_mut().unwrap().push(unknown);
    assert_eq!(host.begin(AGENT, &bad).await.status(), 400);
    let reading = host.read(AGENT, &answers(&turn.thread, &asked[..1], &json!("yes"))).await;
    host.to_end(reading, &mut turn).await;
    assert_eq!(turn.reason(), "action_required");
    let left = turn.asked();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["actionId"], asked[1]["actionId"]);
    let mut last = answers(&turn.thread, &left, &json!(null));
    last["context"]["actionResults"][0]["status"] = json!("error");
    last["context"]["actionResults"][0]["error"] = json!("I cannot");
    let reading = host.read(AGENT, &last).await;
    host.to_end(reading, &mut turn).await;
    assert_eq!(turn.reason(), "stop");
    assert_eq!(turn.all_put_together(), turn.content);
    let results: Vec<_> = turn
        .content
        .iter()
        .filter(|it| it["type"] == "tool_result")
        .map(|it| &it["status"])
        .collect();
    assert_eq!(results, ["success", "error"]);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_sub_agent_waits_for_is_asked_in_the_stream_above_it() {
    let host = host().await;
    let mut turn = host.told(AGENT, &says("Please delegate")).await;
    assert_eq!(turn.reason(), "action_required");
    let asked = turn.asked();
    assert_eq!(asked[0]["payload"]["payload"]["tool"], "approve", "{asked:?}");
    let reading = host.read(AGENT, &answers(&turn.thread, &asked, &json!("yes"))).await;
    host.to_end(reading, &mut turn).await;
    assert_eq!(turn.reason(), "stop");
    assert_eq!(turn.all_put_together(), turn.content);
    assert_eq!(turn.content.last().unwrap()["text"], "The helper says: You said: yes");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_attempt_is_told_and_left_out() {
    let host = host().await;
    let turn = host.told(AGENT, &says("Something flaky")).await;
    let content = json!([
        { "type": "thinking", "text": "Hm, hm." },
        { "type": "text", "text": "This comes at the second try." },
    ]);
    assert_eq!(json!(turn.content), content);
    let all = turn.all_put_together();
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(all[2..], turn.content[..]);
    assert_eq!(all[1]["text"], "This comes ");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_for_good_is_a_question_without_its_secrets() {
    let host = host().await;
    let mut turn = host.told(AGENT, &says("It is broken")).await;
    assert_eq!(turn.reason(), "action_required");
    let asked = turn.asked();
    assert_eq!(asked[0]["kind"], "input");
    assert!(!json!(asked).to_string().contains("secret"), "{asked:?}");
    assert_eq!(turn.content, [] as [Value; 0]);
    // Beside the answer to a question there are no new messages.
    let mut both = answers(&turn.thread, &asked, &json!("again"));
    both["messages"] = says("Hello")["messages"].clone();
    assert_eq!(host.begin(AGENT, &both).await.status(), 409);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_turn_says_where_it_was() {
    let host = paced(40, Arc::new(MemoryStore::new())).await;
    let mut turn = Conversation::default();
    let mut reading = host.read(AGENT, &says("Something long")).await;
    turn.connect();
    while !turn.has_open_block() {
        turn.take(&reading.next().await.unwrap());
    }
    let abort = format!("/v1/requests/{}/abort", turn.request);
    let (status, aborted) = host.post(&abort, &json!({})).await;
    assert_eq!((status, &aborted["aborted"]), (200, &json!(true)));
    while let Some(came) = reading.next().await {
        turn.take(&came);
    }
    let end = turn.end.clone().unwrap();
    assert_eq!(end["event"], "aborted");
    assert!(end["messageId"].is_string(), "{end}");
    let (_, again) = host.post(&abort, &json!({})).await;
    assert_eq!(again["aborted"], json!(false));
    // It is told the same to whoever comes later.
    let mut later = Conversation::default();
    let reading = host.follow(&turn.request, None).await;
    host.to_end(reading, &mut later).await;
    assert_eq!(later.end, Some(end));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_readers_see_the_same_and_the_slower_one_loses_nothing() {
    let host = paced(10, Arc::new(MemoryStore::new())).await;
    let (mut one, mut two) = (Conversation::default(), Conversation::default());
    let mut first = host.read(AGENT, &says("Something long")).await;
    one.connect();
    one.take(&first.next().await.unwrap());
    two.connect();
    let mut second = host.follow(&one.request, None).await;
    while let Some(came) = first.next().await {
        one.take(&came);
    }
    while let Some(came) = second.next().await {
        two.take(&came);
    }
    assert_eq!(one.end, two.end);
    assert_eq!(one.put_together(), two.put_together());
    assert_eq!(one.put_together(), one.content);
    // The cursor at the end of a turn that is over is told the end again.
    let mut after = host.follow(&one.request, one.last.as_deref()).await;
    let kinds: Vec<_> = [after.next().await.unwrap(), after.next().await.unwrap()]
        .iter()
        .map(|came| came.kind().to_owned())
        .collect();
    assert_eq!(kinds, ["metadata", "done"]);
    host.stop().await;
}

/// As one has it who kept the cursor of a store that was restored since.
#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_is_ahead_of_the_log_misses_no_end() {
    let host = paced(40, Arc::new(MemoryStore::new())).await;
    let mut turn = Conversation::default();
    let mut reading = host.read(AGENT, &says("Something long")).await;
    turn.connect();
    while !turn.has_open_block() {
        turn.take(&reading.next().await.unwrap());
    }
    let mut ahead = host.follow(&turn.request, Some("999999.0")).await;
    while let Some(came) = reading.next().await {
        turn.take(&came);
    }
    let mut last = None;
    while let Some(came) = ahead.next().await {
        last = Some(came.event);
    }
    assert_eq!(last, turn.end);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_come_one_by_one() {
    let host = paced(30, Arc::new(MemoryStore::new())).await;
    let mut reading = host.read(AGENT, &says("Something long")).await;
    let mut deltas = Vec::new();
    while let Some(came) = reading.next().await {
        if came.event["stage"] == "delta" {
            deltas.push(Instant::now());
        }
    }
    assert!(deltas.len() > 10, "{}", deltas.len());
    assert!(reading.pieces > 10, "{}", reading.pieces);
    let between = deltas.last().unwrap().duration_since(deltas[0]);
    assert!(between > Duration::from_millis(300), "{between:?}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_outlives_its_host() {
    let store = Arc::new(MemoryStore::new());
    let mut config = crate::setting::config(40);
    config.grace = Duration::ZERO;
    let host = crate::support::Running::with(config, store.clone()).await;
    let mut turn = Conversation::default();
    let mut reading = host.read(AGENT, &says("Something long")).await;
    turn.connect();
    for _ in 0..6 {
        turn.take(&reading.next().await.unwrap());
    }
    drop(reading);
    host.stop().await;
    let host = paced(0, store).await;
    let reading = host.follow(&turn.request, turn.last.as_deref()).await;
    host.to_end(reading, &mut turn).await;
    assert_eq!(turn.reason(), "stop");
    let told = turn.content[0]["text"].as_str().unwrap();
    assert!(told.starts_with("one two") && told.ends_with("twenty"), "{told}");
    assert_eq!(turn.all_put_together().last(), turn.content.last());
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_say_the_same_as_events() {
    let host = host().await;
    let turn = host.told(AGENT, &says("The weather?")).await;
    let response = host
        .client
        .request(Method::GET, format!("{}/v1/requests/{}/stream", host.url, turn.request))
        .bearer_auth(host.token())
        .header("Accept", "application/x-ndjson")
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let text = response.text().await.unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "metadata");
    assert_eq!(events.last(), turn.end.as_ref());
    host.stop().await;
}
