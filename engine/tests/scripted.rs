//! The scripted model: what it replies, how it fails, and the demo.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod wire;

use quixos_engine::provider::Provider;
use quixos_engine::provider::scripted::{Script, Scripted};
use quixos_protocol::{
    AgentConfig, DraftMessage, ErrorCode, LlmRequest, LlmResponse, LlmTool, ToolCall,
};
use serde_json::json;
use wire::Listener;

fn script() -> Scripted {
    let script: Script = serde_json::from_value(json!({"lines": [
        {"when": {"says": "Weather"}, "call": [{"tool": "weather", "arguments": {"city": "{message}"}}]},
        {"when": {"answered": "weather"}, "think": "Hm.", "say": "It is {message}."},
        {"when": {"says": "flaky"}, "say": "At last.",
         "fail": {"times": 2, "error": "busy", "code": "rate_limited", "retry_after": 3}},
        {"when": {"says": "cut"}, "say": "So", "finish_reason": "length"},
        {"when": {"says": "help"}, "say": "Yes?"},
    ]}))
    .unwrap();
    Scripted::new(script)
}

fn request(messages: Vec<DraftMessage>) -> LlmRequest {
    LlmRequest { model: "demo".to_owned(), messages, ..LlmRequest::default() }
}

async fn say(model: &Scripted, text: &str) -> LlmResponse {
    let request = request(vec![DraftMessage::user(text)]);
    model.complete(&request, false, &Listener::new(1).sink).await.unwrap()
}

#[tokio::test]
async fn the_first_line_that_fits_replies_and_says_the_same_again() {
    let reply = say(&script(), "the weather in Oslo").await;
    let call = ToolCall::function("call_1", "weather", r#"{"city":"the weather in Oslo"}"#);
    assert_eq!(reply.tool_calls, [call]);
    assert_eq!(reply.finish_reason.as_deref(), Some("tool_calls"));
    assert_eq!(say(&script(), "the weather in Oslo").await, reply);
    assert_eq!(say(&script(), "cut").await.finish_reason.as_deref(), Some("length"));
}

#[tokio::test]
async fn a_reply_is_streamed_word_by_word() {
    let mut listener = Listener::new(1);
    let request = request(vec![DraftMessage::tool("call_1", "weather", "fair and mild")]);
    let reply = script().complete(&request, true, &listener.sink).await.unwrap();
    assert_eq!(reply.content.as_deref(), Some("It is fair and mild."));
    assert_eq!(listener.text(), "It is fair and mild.");
    assert_eq!(listener.spoken.borrow().reasoning, "Hm.");
    assert_eq!(listener.deltas().len(), 1 + 5 + 1);
}

#[tokio::test]
async fn a_line_fails_as_often_as_it_says() {
    let request = request(vec![DraftMessage::user("flaky")]);
    for attempt in [1, 2] {
        let error =
            script().complete(&request, false, &Listener::new(attempt).sink).await.unwrap_err();
        assert_eq!((error.message.as_str(), error.code), ("busy", ErrorCode::RateLimited));
        assert_eq!((error.retryable, error.retry_after), (true, Some(3)));
    }
    assert!(script().complete(&request, false, &Listener::new(3).sink).await.is_ok());
}

#[tokio::test]
async fn where_no_line_fits_the_call_fails_for_good() {
    let request = request(vec![DraftMessage::user("what?")]);
    let error = script().complete(&request, false, &Listener::new(1).sink).await.unwrap_err();
    assert!(!error.retryable);
}

/// Plays the demo to the point where a model has replied to an answer of a tool.
async fn play(says: &str, answer: &str) -> (ToolCall, String) {
    let demo = Scripted::demo();
    let config: AgentConfig = Scripted::demo_agent();
    let own = config.tools().iter().map(|tool| tool.name.clone());
    let names = own.chain(config.sub_agents().iter().map(|agent| agent.id.clone()));
    let tools = names
        .map(|name| LlmTool { name, description: String::new(), input: None, output: None })
        .collect();
    let mut request =
        LlmRequest { tools, model: config.model, ..request(vec![DraftMessage::user(says)]) };
    let reply = demo.complete(&request, false, &Listener::new(1).sink).await.unwrap();
    let call = reply.tool_calls.first().unwrap().clone();
    let calls = DraftMessage { tool_calls: reply.tool_calls, ..DraftMessage::assistant("") };
    request.messages.extend([calls, DraftMessage::tool(&call.id, &call.function.name, answer)]);
    let end = demo.complete(&request, false, &Listener::new(1).sink).await.unwrap();
    (call, end.content.unwrap())
}

#[tokio::test]
async fn the_demo_calls_a_tool_asks_the_user_and_delegates() {
    let (call, end) = play("What is the weather?", "mild").await;
    assert_eq!((call.function.name.as_str(), end.as_str()), ("weather", "I looked it up: mild"));
    let (call, end) = play("Book it.", "Yes.").await;
    assert_eq!((call.function.name.as_str(), end.as_str()), ("approve", "It is booked."));
    let (_, end) = play("Book it.", "no").await;
    assert_eq!(end, "Then I leave it.");
    let (call, _) = play("Please research tides.", "They turn.").await;
    assert_eq!(call.function.arguments, r#"{"message":"Please research tides."}"#);
    let researcher = LlmRequest {
        model: Scripted::demo_researcher().model,
        ..request(vec![DraftMessage::user("tides")])
    };
    let reply =
        Scripted::demo().complete(&researcher, false, &Listener::new(1).sink).await.unwrap();
    assert!(reply.content.unwrap().contains("tides"));
    assert!(say(&Scripted::demo(), "Hi").await.content.unwrap().starts_with("Hello!"));
}
