//! Threads as a page that loads wants them.

use serde_json::{Value, json};

use crate::client::says;
use crate::setting::{AGENT, host};

#[tokio::test(flavor = "multi_thread")]
async fn a_threads_history_is_what_its_streams_told() {
    let host = host().await;
    let first = host.told(AGENT, &says("The weather?")).await;
    let mut more = says("Think of it");
    more["threadId"] = json!(first.thread);
    let second = host.told(AGENT, &more).await;
    let path = format!("/v1/threads/{}", first.thread);
    let (status, shown) = host.get(&path).await;
    assert_eq!((status, &shown["state"]), (200, &json!("idle")), "{shown}");
    assert_eq!(shown["agentName"], AGENT);
    let told: Vec<Value> = first.content.iter().chain(&second.content).cloned().collect();
    assert_eq!(said(&shown), told);
    let users: Vec<_> = shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["role"] == "user")
        .map(|it| it["content"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(users, ["The weather?", "Think of it"]);
    // The same, a message at a time.
    let (mut pages, mut before) = (Vec::new(), None::<String>);
    loop {
        let cursor = before.as_ref().map(|before| format!("&before={before}")).unwrap_or_default();
        let (_, page) = host.get(&format!("{path}?limit=1{cursor}")).await;
        pages.splice(0..0, page["messages"].as_array().unwrap().iter().cloned());
        match page["before"].as_str() {
            Some(next) => before = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(json!(pages), shown["messages"]);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_long_messages_has_few_of_them() {
    let host = host().await;
    let long = format!("Think of it {}", "so ".repeat(90_000));
    let thread = host.told(AGENT, &says(&long)).await.thread;
    let mut more = says(&long);
    more["threadId"] = json!(thread);
    host.told(AGENT, &more).await;
    host.told(AGENT, &more).await;
    let path = format!("/v1/threads/{thread}");
    let (_, last) = host.get(&path).await;
    assert_eq!(last["messages"].as_array().unwrap().len(), 4);
    let (_, first) = host.get(&format!("{path}?before={}", last["before"].as_str().unwrap())).await;
    assert_eq!(first["messages"].as_array().unwrap().len(), 2);
    assert_eq!(first["messages"][0]["content"][0]["text"], json!(long));
    assert_eq!(first["before"], Value::Null);
    host.stop().await;
}

/// Returns all that the agent said in a thread.
fn said(shown: &Value) -> Vec<Value> {
    let messages = shown["messages"].as_array().unwrap().iter();
    let agents = messages.filter(|it| it["role"] == "assistant");
    agents.flat_map(|it| it["content"].as_array().unwrap().clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_are_listed_named_and_put_away() {
    let host = host().await;
    let mut made = Vec::new();
    for text in ["One", "Two", "Three"] {
        made.push(host.told(AGENT, &says(text)).await.thread);
    }
    let (status, page) = host.get("/v1/threads?limit=2").await;
    let ids = |page: &Value| -> Vec<String> {
        let threads = page["threads"].as_array().unwrap().iter();
        threads.map(|it| it["threadId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((status, ids(&page)), (200, vec![made[2].clone(), made[1].clone()]));
    let next = page["next"].as_str().unwrap();
    let (_, rest) = host.get(&format!("/v1/threads?after={next}")).await;
    assert_eq!((ids(&rest), &rest["next"]), (vec![made[0].clone()], &Value::Null));
    let path = format!("/v1/threads/{}", made[0]);
    let (status, changed) = host.patch(&path, &json!({ "title": "First", "archived": true })).await;
    assert_eq!((status, &changed["title"]), (200, &json!("First")), "{changed}");
    assert_eq!(changed["archived"], json!(true));
    let mut more = says("More");
    more["threadId"] = json!(made[0]);
    assert_eq!(host.begin(AGENT, &more).await.status(), 409);
    host.patch(&path, &json!({ "archived": false })).await;
    assert_eq!(host.begin(AGENT, &more).await.status(), 200);
    host.stop().await;
}
