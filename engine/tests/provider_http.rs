//! Calls of models over HTTP, against servers that behave as providers do.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod wire;

use std::time::Duration;

use quixos_engine::http::{HttpClient, Limits};
use quixos_engine::price::{Price, PriceTable};
use quixos_engine::provider::anthropic::Anthropic;
use quixos_engine::provider::openai::OpenAi;
use quixos_engine::provider::{Api, Provider, ProviderError};
use quixos_protocol::{DraftMessage, ErrorCode, LlmRequest, LlmResponse};
use serde_json::{Value, json};
use wire::{Listener, Server, Step, answer, send, stream_head};

fn client() -> HttpClient {
    HttpClient::new(HttpClient::CONNECT_TIMEOUT).unwrap()
}

fn api(server: &Server) -> Api {
    let limits = Limits { idle: Duration::from_millis(400), ..Limits::PROVIDER };
    Api::new(&server.url).unwrap().key("sk-secret".into()).unwrap().limits(limits)
}

fn openai(server: &Server) -> OpenAi {
    OpenAi::new(client(), api(server))
}

fn anthropic(server: &Server) -> Anthropic {
    Anthropic::new(client(), api(server))
}

fn request() -> LlmRequest {
    let messages = vec![DraftMessage::user("Grüße.").with_id("msg_1")];
    LlmRequest { model: "m".to_owned(), messages, ..LlmRequest::default() }
}

async fn complete(provider: &dyn Provider, stream: bool) -> Result<LlmResponse, ProviderError> {
    provider.complete(&request(), stream, &Listener::new(1).sink).await
}

fn completion(content: &str, reason: &str) -> String {
    let message = json!({"role": "assistant", "content": content});
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 10});
    json!({"model": "m", "choices": [{"message": message, "finish_reason": reason}], "usage": usage})
        .to_string()
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

#[tokio::test]
async fn chat_completions_are_asked_for_as_they_want_to_be() {
    let mut server = Server::answering("200 OK", "", &completion("Hi.", "stop")).await;
    let api = api(&server).header("OpenAI-Organization", "org").unwrap();
    let provider = OpenAi::new(client(), api);
    assert_eq!(complete(&provider, false).await.unwrap().content.as_deref(), Some("Hi."));
    let received = server.received().unwrap();
    assert!(received.head.starts_with("POST /chat/completions "), "{}", received.head);
    assert_eq!(received.header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(received.header("openai-organization"), Some("org"));
    let body: Value = serde_json::from_slice(&received.body).unwrap();
    let messages = json!([{"role": "user", "content": "Grüße."}]);
    assert_eq!(body, json!({"model": "m", "messages": messages}));

    complete(&provider, true).await.unwrap();
    let body: Value = serde_json::from_slice(&server.received().unwrap().body).unwrap();
    assert_eq!(body["stream"], json!(true));
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn messages_are_asked_for_as_they_want_to_be() {
    let reply = json!({"model": "m", "content": [{"type": "text", "text": "Hi."}],
        "stop_reason": "max_tokens", "usage": {"input_tokens": 3}});
    let mut server = Server::answering("200 OK", "", &reply.to_string()).await;
    let reply = complete(&anthropic(&server), false).await.unwrap();
    assert_eq!(reply.finish_reason.as_deref(), Some("length"));
    let received = server.received().unwrap();
    assert!(received.head.starts_with("POST /v1/messages "), "{}", received.head);
    assert_eq!(received.header("x-api-key"), Some("sk-secret"));
    assert_eq!(received.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(received.header("authorization"), None);
    let body: Value = serde_json::from_slice(&received.body).unwrap();
    assert!(body["max_tokens"].is_u64() && body.get("stream").is_none(), "{body}");
}

#[tokio::test]
async fn chat_completions_are_streamed() {
    let chunk = |delta: Value, reason: Value| {
        format!(
            "data:{}\n\n",
            json!({"model": "m", "choices": [{"delta": delta, "finish_reason": reason}]})
        )
    };
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5}});
    let server = Server::streaming([
        chunk(json!({"role": "assistant", "content": "Grü"}), Value::Null),
        chunk(json!({"content": "ße"}), Value::Null),
        chunk(json!({}), json!("stop")),
        format!("data: {usage}\n\ndata: [DONE]\n\n"),
    ])
    .await;
    let mut listener = Listener::new(1);
    let reply = openai(&server).complete(&request(), true, &listener.sink).await.unwrap();
    assert_eq!(reply.content.as_deref(), Some("Grüße"));
    assert_eq!(reply.usage, Some(json!({"prompt_tokens": 5})));
    assert_eq!(listener.text(), "Grüße");
    assert_eq!(listener.deltas().len(), 3);
}

#[tokio::test]
async fn messages_are_streamed_and_thoughts_are_shown() {
    let grown = |index: u64, delta: Value| {
        let kind = "content_block_delta";
        event(kind, &json!({"type": kind, "index": index, "delta": delta}))
    };
    let begun = |index: u64, block: Value| {
        let kind = "content_block_start";
        event(kind, &json!({"type": kind, "index": index, "content_block": block}))
    };
    let server = Server::streaming([
        event("message_start", &json!({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 2}}})),
        event("ping", &json!({"type": "ping"})),
        begun(0, json!({"type": "thinking", "thinking": ""})),
        grown(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        begun(1, json!({"type": "text", "text": ""})),
        grown(1, json!({"type": "text_delta", "text": "Hi."})),
        event("message_delta", &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}})),
        event("message_stop", &json!({"type": "message_stop"})),
    ])
    .await;
    let listener = Listener::new(1);
    let reply = anthropic(&server).complete(&request(), true, &listener.sink).await.unwrap();
    assert_eq!(reply.content.as_deref(), Some("Hi."));
    assert_eq!(reply.usage, Some(json!({"input_tokens": 2, "output_tokens": 4})));
    assert_eq!(listener.spoken.borrow().reasoning, "Hm.");
}

#[tokio::test]
async fn a_reply_that_is_not_whole_may_be_whole_later() {
    let half = "data: {\"choices\": [{\"delta\": {\"content\": \"x\"}}]}\n\n";
    let silent = vec![stream_head(), send(half), Step::Wait(Duration::from_secs(30))];
    let unended = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:";
    for steps in [
        vec![stream_head(), send(half)],
        vec![stream_head()],
        silent,
        vec![send(unended)],
        vec![send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{")],
        vec![send(answer("200 OK", "", b"<html>"))],
        vec![send(answer("200 OK", "", b"{}"))],
        vec![send(answer("500 Oops", "", b"<html>"))],
        vec![send("")],
    ] {
        let server = Server::start(steps).await;
        for provider in [&openai(&server) as &dyn Provider, &anthropic(&server)] {
            let error = complete(provider, true).await.unwrap_err();
            assert_eq!((error.code, error.retryable), (ErrorCode::ProviderError, true), "{error}");
        }
    }
    let gone = OpenAi::new(client(), Api::new("http://127.0.0.1:1/").unwrap());
    assert!(complete(&gone, false).await.unwrap_err().retryable);
}

#[tokio::test]
async fn a_refusal_is_final() {
    let server = Server::answering("200 OK", "", &completion("", "content_filter")).await;
    let error = complete(&openai(&server), false).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::Refused, false));
    let body = json!({"content": [], "stop_reason": "refusal"}).to_string();
    let server = Server::answering("200 OK", "", &body).await;
    let error = complete(&anthropic(&server), false).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::Refused, false));
}

#[tokio::test]
async fn a_provider_that_is_asked_too_often_says_when_to_come_back() {
    let body = json!({"error": {"message": "slow down, sk-secret", "type": "rate_limit_error"}});
    for (headers, seconds) in [
        ("retry-after: 7\r\n", Some(7)),
        (
            "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:50:07 GMT\r\n",
            Some(30),
        ),
        ("", None),
    ] {
        let server = Server::answering("429 Too Many Requests", headers, &body.to_string()).await;
        let error = complete(&openai(&server), false).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::RateLimited, true));
        assert_eq!(error.retry_after, seconds, "{headers}");
        let told = format!("{error} {:?}", error.detail);
        assert!(told.contains("slow down") && !told.contains("sk-secret"), "{told}");
    }
}

#[tokio::test]
async fn what_will_not_do_is_not_tried_again() {
    let mut elsewhere = Server::answering("200 OK", "", &completion("Hi.", "stop")).await;
    let location = format!("location: {}\r\n", elsewhere.url);
    for (status, headers) in [
        ("400 Bad Request", ""),
        ("401 Unauthorized", ""),
        ("404 Not Found", ""),
        ("307 Temporary Redirect", location.as_str()),
    ] {
        let server = Server::answering(status, headers, "{}").await;
        let error = complete(&openai(&server), false).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::ProviderError, false), "{status}");
    }
    assert!(elsewhere.received().is_none());
}

#[tokio::test]
async fn a_failure_in_the_midst_of_a_stream_goes_by_its_word() {
    for (kind, code, retryable) in [
        ("overloaded_error", ErrorCode::ProviderError, true),
        ("rate_limit_error", ErrorCode::RateLimited, true),
        ("invalid_request_error", ErrorCode::ProviderError, false),
    ] {
        let failure = json!({"type": "error", "error": {"type": kind, "message": "so it is"}});
        let server = Server::streaming([event("error", &failure)]).await;
        let error = complete(&anthropic(&server), true).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (code, retryable), "{kind}");
    }
}

#[tokio::test]
async fn a_reply_costs_what_the_provider_says_else_what_the_table_says() {
    let dollars = |text: &str| text.parse().unwrap();
    let (input, output) = (dollars("2.50"), dollars("10"));
    let price = Price { input, output, cached_input: None, cache_write: None };
    let prices = PriceTable::new().with("m", price);
    let server = Server::answering("200 OK", "", &completion("Hi.", "stop")).await;
    let provider = OpenAi::new(client(), api(&server).prices(prices.clone()));
    assert_eq!(complete(&provider, false).await.unwrap().cost.as_deref(), Some("0.0026"));
    let message = json!({"message": {"content": "Hi."}, "finish_reason": "stop"});
    let body = json!({"choices": [message], "usage": {"cost": 0.25, "prompt_tokens": 1}});
    let server = Server::answering("200 OK", "", &body.to_string()).await;
    let provider = OpenAi::new(client(), api(&server).prices(prices));
    assert_eq!(complete(&provider, false).await.unwrap().cost.as_deref(), Some("0.25"));
}

#[tokio::test]
async fn no_key_is_shown() {
    let server = Server::answering("200 OK", "", "{}").await;
    let shown = format!("{:?} {:?}", openai(&server), anthropic(&server));
    assert!(!shown.contains("sk-secret"), "{shown}");
    for key in ["", "sk secret", "sk-\n"] {
        assert!(Api::new(&server.url).unwrap().key(key.into()).is_err());
    }
}

/// A real server of both forms, if one is named: `MODELS_URL`, with the models `mock`, `loop`,
/// `limited` and `broken` and the key `sk-test`. See `litellm.sh`.
#[tokio::test]
#[ignore = "wants a server, see litellm.sh"]
async fn a_server_that_others_made() {
    let url = std::env::var("MODELS_URL").unwrap();
    let api =
        |path: &str| Api::new(&format!("{url}{path}")).unwrap().key("sk-test".into()).unwrap();
    let openai = OpenAi::new(client(), api("/v1"));
    let anthropic = Anthropic::new(client(), api(""));
    let asked = |model: &str| LlmRequest { model: model.to_owned(), ..request() };
    for (provider, model) in
        [(&openai as &dyn Provider, "mock"), (&openai, "loop"), (&anthropic, "loop")]
    {
        for stream in [false, true] {
            let listener = Listener::new(1);
            let reply = provider.complete(&asked(model), stream, &listener.sink).await.unwrap();
            let content = reply.content.unwrap();
            assert!(content.starts_with("Hello from the mock"), "{content}");
            assert_eq!(reply.finish_reason.as_deref(), Some("stop"));
            assert!(!stream || listener.text() == content, "{model}: {}", listener.text());
        }
    }
    let limited =
        openai.complete(&asked("limited"), false, &Listener::new(1).sink).await.unwrap_err();
    assert_eq!((limited.code, limited.retryable), (ErrorCode::RateLimited, true));
    let broken =
        openai.complete(&asked("broken"), false, &Listener::new(1).sink).await.unwrap_err();
    assert_eq!((broken.code, broken.retryable), (ErrorCode::ProviderError, true));
}
