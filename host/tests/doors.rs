//! Who is let in, and what each is told who is not.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use quixos_host::Config;
use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Clock, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};
use support::{KEY, Running, SECRET, answer, message};

const INPUT: &str = "/api/client/sessions/input";

/// Returns the claims of a good token of Ann's.
fn claims() -> Value {
    let now = SystemClock.now().timestamp();
    json!({
        "iss": "quixos", "aud": "quixos", "exp": now + 60, "iat": now, "jti": "1",
        "tenant_id": "demo", "sub": "ann",
    })
}

fn signed(algorithm: Algorithm, claims: &Value, secret: &str) -> String {
    let key = EncodingKey::from_secret(secret.as_bytes()).unwrap();
    encode(&Header::new(algorithm), claims, &key).unwrap()
}

fn with(field: &str, value: Value) -> String {
    let mut claims = claims();
    claims[field] = value;
    signed(Algorithm::HS256, &claims, SECRET)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_demo_has_a_page() {
    let page = async |host: &Running| {
        let response = host.ask(Method::GET, "/", None, None).await;
        (response.status().as_u16(), response.text().await.unwrap().contains("<!doctype html>"))
    };
    let demo = Running::demo().await;
    assert_eq!(page(&demo).await, (200, true));
    demo.stop().await;
    let config = Config { page: false, ..Config::demo(KEY, SECRET.to_owned().into()) };
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    assert_eq!(page(&host).await, (404, false));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_good_token_opens() {
    let host = Running::demo().await;
    host.say("s", "t1", "Hi!").await;
    let status = async |token: Option<&str>| {
        host.ask(Method::GET, "/api/client/sessions/s", token, None).await.status().as_u16()
    };
    let good = signed(Algorithm::HS256, &claims(), SECRET);
    assert_eq!(status(Some(&good)).await, 200);
    let without_exp = {
        let mut claims = claims();
        claims.as_object_mut().unwrap().remove("exp");
        signed(Algorithm::HS256, &claims, SECRET)
    };
    let unsigned = {
        // The header `{"alg":"none","typ":"JWT"}`, the payload of a good token, no signature.
        let payload = good.split('.').nth(1).unwrap();
        format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}.")
    };
    let bad = [
        ("another secret", signed(Algorithm::HS256, &claims(), "another secret, also long enough")),
        ("another algorithm", signed(Algorithm::HS512, &claims(), SECRET)),
        ("no algorithm", unsigned),
        ("over", with("exp", json!(1))),
        ("no end", without_exp),
        ("another issuer", with("iss", json!("other"))),
        ("another audience", with("aud", json!("other"))),
        ("nobody", with("sub", json!("  "))),
        ("no such tenant", with("tenant_id", json!("other"))),
        ("a key", KEY.to_owned()),
        ("nonsense", "nonsense".to_owned()),
    ];
    for (what, token) in &bad {
        assert_eq!(status(Some(token)).await, 401, "{what}");
    }
    assert_eq!(status(None).await, 401);
    assert_eq!(status(Some(&with("sub", json!("bob")))).await, 403);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_its_owners() {
    let host = Running::demo().await;
    host.say("s", "t1", "Please book it.").await;
    let bob = with("sub", json!("bob"));
    let session = "/api/client/sessions/s";
    let input = message("s", "t2", "Hi!").to_string();
    let pause = json!({ "reason": "mine now" }).to_string();
    let cancel = json!({ "turn_id": "t1" }).to_string();
    let settle = json!({
        "session_id": "s", "input": { "type": "tool.result", "id": "call_1", "result": "yes" },
    });
    let asked = [
        (Method::GET, session.to_owned(), None),
        (Method::GET, format!("{session}/events/stream?after_seq=0"), None),
        (Method::POST, INPUT.to_owned(), Some(input)),
        (Method::POST, INPUT.to_owned(), Some(settle.to_string())),
        (Method::POST, format!("{session}/interrupt"), Some(pause)),
        (Method::POST, format!("{session}/cancel"), Some(cancel)),
    ];
    for (method, path, body) in asked {
        let (status, error) = answer(host.ask(method, &path, Some(&bob), body).await).await;
        assert_eq!((status, &error["code"]), (403, &json!("not-owner")), "{path}: {error}");
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_an_input_is_told() {
    let host = Running::demo().await;
    let post = async |token: Option<&str>, body: &str| {
        answer(host.ask(Method::POST, INPUT, token, Some(body.to_owned())).await).await
    };
    let token = Some(host.token());
    let big = format!("\"{}\"", "x".repeat(5 << 20));
    let mut role = message("s", "t1", "Hi!");
    role["input"]["message"]["role"] = json!("assistant");
    let mut agent = message("s", "t1", "Hi!");
    agent["input"]["agent_id"] = json!("nobody");
    let resume = json!({
        "session_id": "none", "input": { "type": "interrupt.resume", "interrupt_id": "i" },
    });
    let good = message("s", "t1", "Hi!").to_string();
    // Who asks comes before what is wrong.
    for (token, body, expected, code) in [
        (None, "{", 401, "unauthenticated"),
        (None, good.as_str(), 401, "unauthenticated"),
        (token, "{", 400, "malformed"),
        (token, "{}", 422, "invalid"),
        (token, "[\"s\"]", 422, "invalid"),
        (token, "{\"input\":{\"type\":\"other\"}}", 422, "invalid"),
        (token, big.as_str(), 413, "too-large"),
        (token, &role.to_string(), 422, "role"),
        (token, &agent.to_string(), 404, "unknown-agent"),
        (token, &resume.to_string(), 404, "not-found"),
    ] {
        let (status, error) = post(token, body).await;
        let start: String = body.chars().take(80).collect();
        assert_eq!((status, &error["code"]), (expected, &json!(code)), "{start}: {error}");
    }
    // Nothing of it was kept.
    assert_eq!(host.get("/api/client/sessions/s").await.0, 404);
    host.say("s", "t1", "Please book it.").await;
    let (status, error) = host.say("s", "t2", "Hi!").await;
    assert_eq!((status, &error["turn_id"]), (409, &json!("t1")), "{error}");
    assert_eq!(error["code"], "turn-already-active");
    // To say it again is to have said it.
    assert_eq!(host.say("s", "t1", "Please book it.").await.0, 202);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_acts_for_its_tenant() {
    let host = Running::demo().await;
    let identity = json!({ "id": "ann", "metadata": { "plan": "gold" } });
    let tokens = "/api/machine/client-tokens";
    let (status, issued) = host.post_as_machine(tokens, &json!({ "identity": identity })).await;
    assert_eq!(status, 200, "{issued}");
    assert!(issued["expires_at"].is_i64(), "{issued}");
    // Some languages write a whole number with a point.
    for holds in [json!(900), json!(900.0), json!(null)] {
        let asked = json!({ "identity": identity, "ttl_seconds": holds });
        let (status, issued) = host.post_as_machine(tokens, &asked).await;
        assert_eq!(status, 200, "{holds}: {issued}");
    }
    for bad in [
        json!({ "identity": { "id": " " } }),
        json!({ "identity": ["ann", { "plan": "gold" }] }),
        json!({ "identity": identity, "ttl_seconds": 0 }),
        json!({ "identity": identity, "ttl_seconds": 0.5 }),
        json!({ "identity": identity, "ttl_seconds": 1e300 }),
        json!({ "identity": identity, "ttl_seconds": -1 }),
        json!({ "identity": identity, "ttl_seconds": i64::MAX }),
    ] {
        assert_eq!(host.post_as_machine(tokens, &bad).await.0, 422, "{bad}");
    }
    assert_eq!(host.post(tokens, &json!({ "identity": identity })).await.0, 401);
    let submit = json!({
        "agent_id": "concierge", "identity": identity, "session_id": "s", "turn_id": "t1",
        "payload": { "type": "client.message", "message": { "role": "user", "content": "Hi!" } },
    });
    let (status, accepted) = host.post_as_machine("/api/machine/sessions/submit", &submit).await;
    assert_eq!((status, &accepted["turn_id"]), (202, &json!("t1")), "{accepted}");
    host.turn("s", "t1").await;
    let (status, paused) =
        host.post_as_machine("/api/machine/sessions/s/interrupt", &json!({ "reason": "x" })).await;
    assert_eq!(status, 200, "{paused}");
    let (status, error) = host.say("s", "t2", "Hi!").await;
    assert_eq!((status, &error["code"]), (409, &json!("interrupted")), "{error}");
    let unknown = json!({ "call_id": "none", "result": 1 });
    let (status, error) =
        host.post_as_machine("/api/machine/sessions/s/calls/settle", &unknown).await;
    assert_eq!((status, &error["code"]), (404, &json!("unknown-call")), "{error}");
    let submit = "/api/machine/workers/submit";
    let mut answer = json!({ "session_id": "s", "decision_id": "none", "actions": [] });
    let (status, error) = host.post_as_machine(submit, &answer).await;
    assert_eq!((status, &error["code"]), (404, &json!("not-found")), "{error}");
    let listed = json!({ "session_id": "s", "decision_id": "none", "agent": ["m"] });
    let (status, error) = host.post_as_machine(submit, &listed).await;
    let told = "`/agent`: a list where an object is expected";
    assert_eq!((status, &error["error"]), (422, &json!(told)), "{error}");
    // What answers no delivery says all that one would say for it.
    for action in [
        json!({ "type": "tool.result", "result": 1 }),
        json!({ "type": "llm.call", "id": "c" }),
        json!({ "type": "llm.call", "model": "demo" }),
    ] {
        answer["actions"] = json!([action]);
        let (status, error) = host.post_as_machine(submit, &answer).await;
        assert_eq!((status, &error["code"]), (422, &json!("invalid")), "{error}");
    }
    let seen = host.ask(Method::GET, "/api/machine/sessions/s", Some(KEY), None).await;
    assert_eq!(seen.status(), 200);
    let (status, done) = host.post_as_machine("/api/machine/sessions/s/cancel", &json!({})).await;
    assert_eq!((status, &done["applied"]), (200, &json!(true)), "{done}");
    let (status, error) = host.say("s", "t2", "Hi!").await;
    assert_eq!((status, &error["code"]), (409, &json!("cancelled")), "{error}");
    host.stop().await;
}

/// Says whether a header lists all of these.
fn names(response: &reqwest::Response, list: &str, wanted: &[&str]) -> bool {
    let list = response.headers().get(list).map(|it| it.to_str().unwrap().to_lowercase());
    let list: Vec<_> = list.iter().flat_map(|it| it.split(',')).map(str::trim).collect();
    wanted.iter().all(|name| list.contains(name))
}

/// Every route of the document, as a browser asks for it: first whether it may, then the thing itself.
#[tokio::test(flavor = "multi_thread")]
async fn pages_may_use_what_is_for_clients_and_nothing_else() {
    let host = Running::demo().await;
    let document = quixos_host::openapi::document();
    let mut open = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(security) = operation.get("responses").map(|_| &operation["security"]) else {
                continue;
            };
            let is_open = security.as_array().is_some_and(|it| it[0].get("client").is_some());
            let method = method.to_uppercase();
            let at = path.replace(['{', '}'], "");
            let url = format!("{}{at}", host.url);
            let wanted = if path.starts_with("/v1/stream/") {
                ["authorization", "content-type", "if-none-match", "traceparent", "tracestate"]
            } else {
                ["authorization", "last-event-id", "idempotency-key", "traceparent", "tracestate"]
            };
            let asks = host.client.request(Method::OPTIONS, &url);
            let asks = asks.header("Origin", "https://page.example");
            let asks = asks.header("Access-Control-Request-Method", &method);
            let asks = asks.header("Access-Control-Request-Headers", wanted.join(","));
            let told = asks.send().await.unwrap();
            let allows = |response: &reqwest::Response| {
                let origin = response.headers().get("access-control-allow-origin");
                origin.map(|it| it.to_str().unwrap().to_owned())
            };
            let what = format!("{method} {path}: {:?}", told.headers());
            let any = is_open.then(|| "*".to_owned());
            assert_eq!(allows(&told), any, "{what}");
            if is_open {
                open += 1;
                assert_eq!(told.status(), 200, "{what}");
                assert!(names(&told, "access-control-allow-headers", &wanted), "{what}");
                let method = method.to_lowercase();
                assert!(names(&told, "access-control-allow-methods", &[&method]), "{what}");
            }
            // The thing itself, from whichever page, with a token and without.
            for (origin, token) in [("https://other.example", true), ("null", false)] {
                let mut asks = host.client.request(method.parse().unwrap(), &url);
                asks = asks.header("Last-Event-ID", "0.0").header("Origin", origin).body("{}");
                if token {
                    asks = asks.bearer_auth(host.token());
                }
                let told = asks.send().await.unwrap();
                let what = format!("{method} {path}: {} {:?}", told.status(), told.headers());
                assert_eq!(allows(&told), any, "{what}");
                // No cookie goes along, and a page sees when to come again.
                assert!(!told.headers().contains_key("access-control-allow-credentials"), "{what}");
                let exposed = "access-control-expose-headers";
                assert_eq!(names(&told, exposed, &["retry-after"]), is_open, "{what}");
            }
        }
    }
    assert!(open > 15, "{open}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_an_address_is_told_as_all_else_is() {
    let host = Running::demo().await;
    for (path, code) in [
        ("/v1/threads?limit=many", "invalid_message_format"),
        ("/v1/threads?limit=0", "invalid_message_format"),
        ("/v1/threads/%ff", "invalid_message_format"),
        ("/v1/requests/r/stream?after=x", "invalid_message_format"),
        ("/api/client/sessions/%ff", "malformed"),
        ("/api/client/sessions/s/events/stream?after_seq=x", "malformed"),
        ("/v1/stream/%ff", "malformed"),
        ("/v1/stream/s?live=x&offset=-1", "malformed"),
    ] {
        let (status, error) = host.get(path).await;
        assert_eq!((status, &error["code"]), (400, &json!(code)), "{path}: {error}");
        let stranger = host.ask(Method::GET, path, None, None).await.status().as_u16();
        assert_eq!(stranger, 401, "{path}");
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_doors_of_a_client_count_together() {
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    config.limits.requests = 8;
    config.limits.streams = 2;
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let open = async |path: &str| host.ask(Method::GET, path, Some(host.token()), None).await;
    let put = async |path: &str| {
        let response = host.ask(Method::PUT, path, Some(host.token()), Some(String::new())).await;
        response.status().as_u16()
    };
    assert_eq!(put("/v1/stream/a").await, 201);
    let one = open("/api/client/sessions/none/events/stream").await;
    let two = open("/v1/stream/a?offset=now&live=sse").await;
    assert_eq!((one.status().as_u16(), two.status().as_u16()), (200, 200));
    for (path, code) in [
        ("/api/client/sessions/none/events/stream", "streams"),
        ("/v1/stream/a?offset=now&live=sse", "streams"),
    ] {
        let refused = open(path).await;
        assert!(refused.headers().contains_key("retry-after"), "{path}");
        let (status, error) = answer(refused).await;
        assert_eq!((status, &error["code"]), (429, &json!(code)), "{path}");
    }
    // Five were asked. What is refused counts as well, and reading of a stream that does not wait.
    assert_eq!(host.get("/v1/threads").await.0, 200);
    assert_eq!(open("/v1/stream/a").await.status(), 200);
    assert_eq!(host.get("/api/client/sessions/none").await.0, 404);
    let (status, error) = host.get("/api/client/sessions/none").await;
    assert_eq!((status, &error["code"]), (429, &json!("requests")));
    let (status, error) = host.get("/v1/threads").await;
    assert_eq!((status, &error["code"]), (429, &json!("rate_limit_exceeded")));
    assert_eq!(put("/v1/stream/b").await, 429);
    drop((one, two));
    host.stop().await;
}

/// Returns an input of so many bytes.
fn of_bytes(bytes: usize) -> String {
    let around = message("s", "t", "").to_string().len();
    message("s", "t", &"x".repeat(bytes - around)).to_string()
}

/// What is just within a bound is taken for what it is, and what is just beyond it is refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_bound_is_where_the_page_says() {
    let host = Running::demo().await;
    let post = async |path: &str, body: String| {
        let (status, told) =
            answer(host.ask(Method::POST, path, Some(host.token()), Some(body)).await).await;
        (status, told["code"].as_str().map(str::to_owned))
    };
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let code = |code: &str| Some(code.to_owned());
    assert_eq!(post(INPUT, nested(127)).await, (422, code("invalid")));
    assert_eq!(post(INPUT, nested(128)).await, (400, code("malformed")));
    let most = 3 << 20;
    assert_eq!(post(INPUT, of_bytes(most + 4096)).await, (422, code("invalid")));
    assert_eq!(post(INPUT, of_bytes(most - 4096)).await.0, 202);
    host.stop().await;
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    (config.limits.body, config.limits.text) = (4096, 1000);
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let ask = async |path: &str, body: String| {
        let response = host.ask(Method::POST, path, Some(host.token()), Some(body)).await;
        response.status().as_u16()
    };
    for path in [
        INPUT,
        "/v1/agents/concierge/stream",
        "/v1/agents/concierge/ag-ui",
        "/v1/agents/concierge/ui-message-stream",
    ] {
        assert_eq!(ask(path, " ".repeat(4096)).await, 400, "{path}");
        assert_eq!(ask(path, " ".repeat(4097)).await, 413, "{path}");
    }
    let says = |bytes: usize| {
        let text = json!({ "type": "text", "text": "x".repeat(bytes) });
        json!({ "messages": [{ "content": [text] }] })
    };
    let begin = "/v1/agents/concierge/stream";
    assert_eq!(ask(begin, says(1000).to_string()).await, 200);
    assert_eq!(ask(begin, says(1001).to_string()).await, 413);
    host.stop().await;
}
