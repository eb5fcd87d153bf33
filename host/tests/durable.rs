//! Public streams over real sockets: what is kept, who is let in, and who waits for what.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use quixos_host::Config;
use quixos_host::KeyHash;
use quixos_host::config::{Durable, Tenant};
use quixos_package::agent_runtime::AgentCompletionStreamObject;
use quixos_runtime::Atom as _;
use quixos_runtime::store::MemoryStore;
use quixos_session::sessions::SessionObject;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use support::{KEY, Running, SECRET, promise};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);
const JSON: (&str, &str) = ("content-type", "application/json");
const TEXT: (&str, &str) = ("content-type", "text/plain");
const CLOSED: (&str, &str) = ("stream-closed", "true");

type Headers<'h> = &'h [(&'h str, &'h str)];

/// Asks for a stream as Ann.
async fn ask(
    host: &Running,
    method: Method,
    path: &str,
    headers: Headers<'_>,
    body: &str,
) -> Response {
    let token = host.token().to_owned();
    ask_as(host, Some(&token), method, path, headers, body).await
}

async fn ask_as(
    host: &Running,
    credential: Option<&str>,
    method: Method,
    path: &str,
    headers: Headers<'_>,
    body: &str,
) -> Response {
    let path = format!("/v1/stream/{path}");
    let mut request = host.client.request(method.clone(), format!("{}{path}", host.url));
    if let Some(credential) = credential {
        request = request.bearer_auth(credential);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.body(body.to_owned()).send().await.unwrap();
    promise::kept(&method, &path, &response);
    response
}

async fn status(
    host: &Running,
    method: Method,
    path: &str,
    headers: Headers<'_>,
    body: &str,
) -> u16 {
    ask(host, method, path, headers, body).await.status().as_u16()
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
}

fn next(response: &Response) -> String {
    header(response, "stream-next-offset").unwrap()
}

/// Returns the status, the word, and a header.
async fn refusal(response: Response, name: &str) -> (u16, String, Option<String>) {
    let (status, value) = (response.status().as_u16(), header(&response, name));
    let body: Value = response.json().await.unwrap();
    (status, body["code"].as_str().unwrap().to_owned(), value)
}

async fn text(host: &Running, path: &str) -> String {
    let response = ask(host, Method::GET, path, &[], "").await;
    assert_eq!(response.status(), 200, "{path}");
    response.text().await.unwrap()
}

fn config() -> Config {
    Config::demo(KEY, SECRET.to_owned().into())
}

async fn with(durable: Durable) -> Running {
    Running::with(Config { durable, ..config() }, Arc::new(MemoryStore::new())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_appended_is_read_from_any_place() {
    let host = Running::demo().await;
    let made = ask(&host, Method::PUT, "a/b", &[TEXT], "one").await;
    assert_eq!(made.status(), 201);
    assert_eq!(header(&made, "location").unwrap(), format!("{}/v1/stream/a/b", host.url));
    let middle = next(&made);
    assert_eq!(status(&host, Method::PUT, "a/b", &[("content-type", "TEXT/plain")], "").await, 200);
    assert_eq!(status(&host, Method::PUT, "a/b", &[JSON], "").await, 409);
    let appended = ask(&host, Method::POST, "a/b", &[TEXT], "two").await;
    assert_eq!(appended.status(), 204);
    assert!(next(&appended) > middle);

    let all = ask(&host, Method::GET, "a/b", &[], "").await;
    assert_eq!(header(&all, "content-type").unwrap(), "text/plain");
    assert_eq!(header(&all, "stream-up-to-date").as_deref(), Some("true"));
    assert_eq!(header(&all, "x-content-type-options").as_deref(), Some("nosniff"));
    assert_eq!(next(&all), next(&appended));
    let tag = header(&all, "etag").unwrap();
    assert_eq!(all.text().await.unwrap(), "onetwo");
    assert_eq!(text(&host, &format!("a/b?offset={middle}")).await, "two");
    assert_eq!(text(&host, "a/b?offset=now").await, "");
    let known = [("if-none-match", tag.as_str())];
    assert_eq!(status(&host, Method::GET, "a/b", &known, "").await, 304);
    assert_eq!(status(&host, Method::POST, "a/b", &[TEXT], "!").await, 204);
    assert_eq!(status(&host, Method::GET, "a/b", &known, "").await, 200);

    let looked = ask(&host, Method::HEAD, "a/b", &[], "").await;
    assert_eq!(header(&looked, "cache-control").as_deref(), Some("no-store"));
    assert!(next(&looked) > next(&appended));
    for wrong in ["offset=", "offset=0,1", "offset=1&offset=2", "live=sse", "offset=-1&live=no"] {
        assert_eq!(
            status(&host, Method::GET, &format!("a/b?{wrong}"), &[], "").await,
            400,
            "{wrong}"
        );
    }
    let behind = "a/b?offset=0000000000000009_0000000000000009";
    assert_eq!(status(&host, Method::GET, behind, &[], "").await, 400);
    for (body, headers) in [("", &[TEXT][..]), ("x", &[]), ("x", &[("content-type", "text")])] {
        assert_eq!(status(&host, Method::POST, "a/b", headers, body).await, 400, "{body}");
    }
    assert_eq!(status(&host, Method::DELETE, "a/b", &[], "").await, 204);
    assert_eq!(status(&host, Method::GET, "a/b", &[], "").await, 404);
    assert_eq!(status(&host, Method::PUT, "a/b", &[JSON], "[]").await, 201);
    assert_eq!(text(&host, "a/b").await, "[]");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_stay_messages() {
    let durable = Durable { page: 1024, ..Durable::default() };
    let host = with(durable).await;
    ask(&host, Method::PUT, "j", &[JSON], "[1, [2], \"]\"]").await;
    for (body, expected) in
        [("{\"a\":\n 1}", 204), ("[[]]", 204), ("[]", 400), ("{", 400), ("1 2", 400)]
    {
        assert_eq!(status(&host, Method::POST, "j", &[JSON], body).await, expected, "{body}");
    }
    let read: Value = serde_json::from_str(&text(&host, "j").await).unwrap();
    assert_eq!(read, json!([1, [2], "]", { "a": 1 }, []]));

    // More than a page: what is read in pages is what was written.
    let long = "x".repeat(700);
    for n in 0..5 {
        let body = json!({ "n": n, "long": long }).to_string();
        assert_eq!(status(&host, Method::POST, "j", &[JSON], &body).await, 204);
    }
    let (mut offset, mut messages, mut pages) = ("-1".to_owned(), Vec::new(), 0);
    loop {
        let page = ask(&host, Method::GET, &format!("j?offset={offset}"), &[], "").await;
        offset = next(&page);
        pages += 1;
        let is_last = header(&page, "stream-up-to-date").is_some();
        messages.extend(page.json::<Vec<Value>>().await.unwrap());
        if is_last {
            break;
        }
    }
    assert!(pages > 3, "{pages}");
    assert_eq!(messages.len(), 10);
    assert_eq!(messages[9]["n"], 4);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_producer_sends_counts_once_and_a_newer_epoch_fences_it() {
    let store = Arc::new(MemoryStore::new());
    let host = Running::over(store.clone()).await;
    ask(&host, Method::PUT, "p", &[TEXT], "").await;
    let send = async |host: &Running, epoch: &str, number: &str, body: &str| {
        let headers =
            [TEXT, ("producer-id", "w"), ("producer-epoch", epoch), ("producer-seq", number)];
        ask(host, Method::POST, "p", &headers, body).await
    };
    assert_eq!(send(&host, "0", "0", "a").await.status(), 200);
    assert_eq!(send(&host, "0", "1", "b").await.status(), 200);
    let again = send(&host, "0", "0", "a").await;
    assert_eq!(
        (again.status().as_u16(), header(&again, "producer-seq").as_deref()),
        (204, Some("1"))
    );
    let gap = refusal(send(&host, "0", "5", "f").await, "producer-expected-seq").await;
    assert_eq!(gap, (409, "gap".to_owned(), Some("2".to_owned())));
    let start = refusal(send(&host, "3", "1", "x").await, "producer-epoch").await;
    assert_eq!(start, (400, "epoch-start".to_owned(), None));
    host.stop().await;

    // What is known of a producer is kept with what it wrote.
    let host = Running::over(store).await;
    assert_eq!(send(&host, "0", "1", "b").await.status(), 204);
    assert_eq!(send(&host, "1", "0", "c").await.status(), 200);
    let fenced = refusal(send(&host, "0", "2", "late").await, "producer-epoch").await;
    assert_eq!(fenced, (403, "stale-epoch".to_owned(), Some("1".to_owned())));
    assert_eq!(text(&host, "p").await, "abc");
    for headers in [
        &[TEXT, ("producer-id", "w")][..],
        &[TEXT, ("producer-id", "w"), ("producer-epoch", "1"), ("producer-seq", "01")],
        &[TEXT, ("producer-id", ""), ("producer-epoch", "1"), ("producer-seq", "1")],
        &[
            TEXT,
            ("producer-id", "w"),
            ("producer-epoch", "9007199254740992"),
            ("producer-seq", "0"),
        ],
    ] {
        assert_eq!(status(&host, Method::POST, "p", headers, "x").await, 400, "{headers:?}");
    }
    for (sequence, expected) in [("2", 204), ("10", 409), ("2", 409), ("20", 204)] {
        let headers = [TEXT, ("stream-seq", sequence)];
        assert_eq!(status(&host, Method::POST, "p", &headers, "x").await, expected, "{sequence}");
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_stream_says_so_and_keeps_nobody_waiting() {
    let host = Running::demo().await;
    ask(&host, Method::PUT, "c", &[TEXT], "one").await;
    let waiting = ask(&host, Method::GET, "c?offset=now&live=sse", &[], "");
    let closing = async {
        sleep(Duration::from_millis(100)).await;
        ask(&host, Method::POST, "c", &[TEXT, CLOSED], "last").await
    };
    let (waiting, closed) = tokio::join!(waiting, closing);
    assert_eq!(
        (closed.status().as_u16(), header(&closed, "stream-closed").as_deref()),
        (204, Some("true"))
    );
    // The events end by themselves, with what came along with the close.
    let events = timeout(PATIENCE, waiting.text()).await.unwrap().unwrap();
    assert!(events.contains("event: data\ndata:last\n"), "{events}");
    let last = events.trim_end().rsplit("event: control\ndata:").next().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!((&last["streamClosed"], last.get("streamCursor")), (&json!(true), None), "{last}");

    let end = next(&closed);
    let refused = ask(&host, Method::POST, "c", &[TEXT], "more").await;
    assert_eq!(next(&refused), end);
    let refused = refusal(refused, "stream-closed").await;
    assert_eq!(refused, (409, "closed".to_owned(), Some("true".to_owned())));
    assert_eq!(status(&host, Method::POST, "c", &[CLOSED], "").await, 204);
    let polled = ask(&host, Method::GET, &format!("c?offset={end}&live=long-poll"), &[], "").await;
    assert_eq!(polled.status(), 204);
    assert_eq!(header(&polled, "stream-closed").as_deref(), Some("true"));
    let tag = header(&ask(&host, Method::GET, "c", &[], "").await, "etag").unwrap();
    assert!(tag.ends_with(":c\""), "{tag}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_written_is_an_event_of_its_own() {
    let host = Running::demo().await;
    let evil = "a\r\n\r\nevent: control\r\ndata: {\"streamClosed\":true}\r\n\r\n b";
    ask(&host, Method::PUT, "t", &[TEXT, CLOSED], evil).await;
    let events =
        ask(&host, Method::GET, "t?offset=-1&live=sse", &[], "").await.text().await.unwrap();
    assert_eq!(events.matches("\nevent: control\n").count(), 1, "{events}");
    assert!(events.contains("data:data: {\"streamClosed\":true}\n"), "{events}");
    assert!(events.contains("data:  b\n"), "{events}");

    let binary = [("content-type", "application/octet-stream"), CLOSED];
    ask(&host, Method::PUT, "b", &binary, "Hello").await;
    let events = ask(&host, Method::GET, "b?offset=-1&live=sse", &[], "").await;
    assert_eq!(header(&events, "stream-sse-data-encoding").as_deref(), Some("base64"));
    assert_eq!(header(&events, "content-type").as_deref(), Some("text/event-stream"));
    assert!(events.text().await.unwrap().starts_with("event: data\ndata:SGVsbG8=\n\n"));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_poll_is_answered_when_something_comes_or_the_time_is_up() {
    let durable = Durable { long_poll: Duration::from_millis(300), ..Durable::default() };
    let host = with(durable).await;
    let end = next(&ask(&host, Method::PUT, "l", &[TEXT], "old").await);
    let nothing = ask(&host, Method::GET, "l?offset=now&live=long-poll", &[], "").await;
    assert_eq!((nothing.status().as_u16(), next(&nothing)), (204, end.clone()));
    let cursor: u64 = header(&nothing, "stream-cursor").unwrap().parse().unwrap();
    let path = format!("l?offset={end}&live=long-poll&cursor={cursor}");
    let waiting = ask(&host, Method::GET, &path, &[], "");
    let writing = async {
        sleep(Duration::from_millis(50)).await;
        ask(&host, Method::POST, "l", &[TEXT], "new").await
    };
    let (came, _) = tokio::join!(waiting, writing);
    assert_eq!(came.status(), 200);
    assert!(header(&came, "stream-cursor").unwrap().parse::<u64>().unwrap() > cursor);
    assert_eq!(came.text().await.unwrap(), "new");
    // A reader of what is deleted is told.
    let waiting = ask(&host, Method::GET, "l?offset=now&live=long-poll", &[], "");
    let deleting = async {
        sleep(Duration::from_millis(50)).await;
        ask(&host, Method::DELETE, "l", &[], "").await
    };
    assert_eq!(tokio::join!(waiting, deleting).0.status(), 404);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_has_what_its_source_had_and_keeps_it() {
    let host = Running::demo().await;
    let from = |path: &'static str| ("stream-forked-from", path);
    let middle = next(&ask(&host, Method::PUT, "s", &[TEXT], "abc").await);
    ask(&host, Method::POST, "s", &[TEXT], "def").await;
    let at = ("stream-fork-offset", middle.as_str());
    let fork = [from("/v1/stream/s"), at, ("stream-fork-sub-offset", "2")];
    assert_eq!(status(&host, Method::PUT, "f", &fork, "!").await, 201);
    assert_eq!(status(&host, Method::PUT, "f", &fork, "!").await, 200);
    assert_eq!(status(&host, Method::PUT, "g", &[from("/v1/stream/f")], "").await, 201);
    ask(&host, Method::POST, "s", &[TEXT], "ghi").await;
    ask(&host, Method::POST, "f", &[TEXT], "f").await;
    ask(&host, Method::POST, "g", &[TEXT], "g").await;
    for (path, content) in [("s", "abcdefghi"), ("f", "abcde!f"), ("g", "abcde!g")] {
        assert_eq!(text(&host, path).await, content);
    }
    assert_eq!(status(&host, Method::PUT, "x", &[from("/v1/stream/none")], "").await, 404);
    assert_eq!(status(&host, Method::PUT, "x", &[from("/v1/stream/s"), JSON], "").await, 409);
    let far = ("stream-fork-offset", "0000000000000001_0000000000000002");
    assert_eq!(status(&host, Method::PUT, "x", &[from("/v1/stream/s"), far], "").await, 400);
    assert_eq!(status(&host, Method::PUT, "x", &[at, TEXT], "").await, 400);

    for path in ["s", "f"] {
        assert_eq!(status(&host, Method::DELETE, path, &[], "").await, 204);
        assert_eq!(status(&host, Method::GET, path, &[], "").await, 410);
        assert_eq!(status(&host, Method::PUT, path, &[TEXT], "").await, 409);
    }
    assert_eq!(status(&host, Method::PUT, "x", &[from("/v1/stream/f")], "").await, 409);
    assert_eq!(text(&host, "g").await, "abcde!g");
    assert_eq!(status(&host, Method::DELETE, "g", &[], "").await, 204);
    for path in ["s", "f", "g"] {
        assert_eq!(status(&host, Method::GET, path, &[], "").await, 404);
        assert_eq!(status(&host, Method::PUT, path, &[TEXT], "").await, 201);
    }
    host.stop().await;
}

/// Whether a stream is still needed is asked down its forks: also where they have nothing of their
/// own, there is an end to how many lie one below the other, and a key can be had again.
#[tokio::test(flavor = "multi_thread")]
async fn forks_of_forks_that_share_nothing_come_to_an_end_too() {
    let host = Running::demo().await;
    ask(&host, Method::PUT, "f0", &[TEXT], "").await;
    for fork in 1..=16 {
        let (path, source) = (format!("f{fork}"), format!("/v1/stream/f{}", fork - 1));
        let from = [("stream-forked-from", source.as_str())];
        assert_eq!(status(&host, Method::PUT, &path, &from, "").await, 201, "{path}");
    }
    let deepest = [("stream-forked-from", "/v1/stream/f16")];
    let refused = refusal(ask(&host, Method::PUT, "f17", &deepest, "").await, "retry-after").await;
    assert_eq!(refused, (409, "lineage".to_owned(), None));
    for fork in 0..=16 {
        assert_eq!(status(&host, Method::DELETE, &format!("f{fork}"), &[], "").await, 204);
    }
    assert_eq!(status(&host, Method::PUT, "f0", &[TEXT], "").await, 201);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_nobody_uses_is_over() {
    let host = Running::demo().await;
    for (headers, expected) in [
        (&[("stream-ttl", "01")][..], 400),
        (&[("stream-ttl", "1e1")], 400),
        (&[("stream-expires-at", "soon")], 400),
        (&[("stream-ttl", "1"), ("stream-expires-at", "2099-01-01T00:00:00Z")], 400),
        (&[("stream-ttl", "1")], 201),
        (&[("stream-ttl", "1")], 200),
        (&[("stream-ttl", "2")], 409),
    ] {
        assert_eq!(status(&host, Method::PUT, "e", headers, "").await, expected, "{headers:?}");
    }
    assert_eq!(
        header(&ask(&host, Method::HEAD, "e", &[], "").await, "stream-ttl").as_deref(),
        Some("1")
    );
    // Somebody waits meanwhile, which keeps it from nothing.
    let waiting = ask(&host, Method::GET, "e?offset=now&live=sse", &[], "").await;
    let events = timeout(PATIENCE, waiting.text()).await.unwrap().unwrap();
    assert_eq!(events.matches("event: control").count(), 1, "{events}");
    assert_eq!(status(&host, Method::GET, "e", &[], "").await, 404);
    assert_eq!(status(&host, Method::POST, "e", &[TEXT], "x").await, 404);
    assert_eq!(status(&host, Method::PUT, "e", &[TEXT], "x").await, 201);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_has_anothers_streams() {
    let tenant = |name: &str, key| Tenant { name: name.to_owned(), keys: vec![KeyHash::of(key)] };
    let other_key = "the key of another tenant";
    let config = Config {
        tenants: vec![tenant(Config::DEMO_TENANT, KEY), tenant("other", other_key)],
        ..config()
    };
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    ask(&host, Method::PUT, "mine", &[TEXT], "secret").await;
    let get = async |credential: Option<&str>, path: &str| {
        let response = ask_as(&host, credential, Method::GET, path, &[], "").await;
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let ann = Some(host.token());
    assert_eq!(get(ann, "mine").await, (200, "secret".to_owned()));
    assert_eq!(get(Some(KEY), "mine?owner=ann").await, (200, "secret".to_owned()));
    assert_eq!(get(None, "mine").await.0, 401);
    assert_eq!(get(Some("nonsense"), "mine").await.0, 401);
    for (credential, path) in [
        (Some(KEY), "mine"),
        (Some(KEY), "mine?owner=bob"),
        (Some(other_key), "mine"),
        (Some(other_key), "mine?owner=ann"),
        (ann, "mine?owner=bob&x"),
    ] {
        let (status, body) = get(credential, path).await;
        let is_own = credential == ann;
        assert_eq!(status, if is_own { 200 } else { 404 }, "{path} {body}");
    }
    for (method, path, expected) in [
        (Method::PUT, "__ds/subscriptions/a", 404),
        (Method::PUT, "objects/a/b", 405),
        (Method::GET, "objects/a/b", 401),
        (Method::PATCH, "mine", 405),
    ] {
        assert_eq!(
            status(&host, method.clone(), path, &[TEXT], "").await,
            expected,
            "{method} {path}"
        );
    }

    // The log of a session, and the completions of agents.
    host.say("s", "t1", "Hi!").await;
    host.turn("s", "t1").await;
    let runtime = host.engine.runtime();
    let first = async |atom| runtime.read(|it| it.objects(atom, None, 9)).await.unwrap();
    let log = format!("objects/{}/events", first(SessionObject::TAG).await[0].id);
    let (code, body) = get(Some(KEY), &log).await;
    let events: Vec<Value> = serde_json::from_str(&body).unwrap();
    assert_eq!((code, &events[0]["type"]), (200, &json!("session.created")));
    assert_eq!(get(Some(other_key), &log).await.0, 404);
    assert_eq!(get(ann, &log).await.0, 401);
    let mut completions = (0, 0);
    for stream in first(AgentCompletionStreamObject::TAG).await {
        let path = format!("objects/{}/events", stream.id);
        let count = async |key| {
            let messages: Vec<Value> =
                serde_json::from_str(&get(Some(key), &path).await.1).unwrap();
            messages.len()
        };
        completions.0 += count(KEY).await;
        completions.1 += count(other_key).await;
    }
    assert_eq!(completions, (1, 0));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_credential_is_let_in_only_where_that_is_said() {
    let host = with(Durable { open: true, ..Durable::default() }).await;
    let as_nobody = async |method, path: &str| {
        ask_as(&host, None, method, path, &[TEXT], "").await.status().as_u16()
    };
    assert_eq!(as_nobody(Method::PUT, "o").await, 201);
    assert_eq!(as_nobody(Method::GET, "o").await, 200);
    assert_eq!(as_nobody(Method::GET, "o?owner=ann").await, 200);
    assert_eq!(as_nobody(Method::GET, "objects/a/events").await, 401);
    // Who has one has streams of its own, as ever.
    assert_eq!(status(&host, Method::GET, "o", &[], "").await, 404);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_host_may_ask() {
    let host = Running::demo().await;
    for (path, method, names) in [
        ("/v1/stream/a", "DELETE", "producer-id,if-none-match,authorization"),
        ("/api/client/sessions/input", "POST", "authorization,content-type"),
    ] {
        let asked = host
            .client
            .request(Method::OPTIONS, format!("{}{path}", host.url))
            .header("origin", "https://example.com")
            .header("access-control-request-method", method)
            .header("access-control-request-headers", names)
            .send()
            .await
            .unwrap();
        assert_eq!(asked.status(), 200, "{path}");
        assert!(header(&asked, "access-control-allow-methods").unwrap().contains(method));
        let allowed = header(&asked, "access-control-allow-headers").unwrap();
        assert!(names.split(',').all(|name| allowed.contains(name)), "{allowed}");
    }
    let headers = [TEXT, ("origin", "https://example.com")];
    let made = ask(&host, Method::PUT, "a", &headers, "").await;
    assert_eq!(header(&made, "access-control-allow-origin").as_deref(), Some("*"));
    assert!(header(&made, "access-control-expose-headers").unwrap().contains("stream-next-offset"));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cache_keeps_a_refusal() {
    let mut config = config();
    config.limits.requests = 3;
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let ann = Some(host.token());
    for (credential, method, path, expected) in [
        (None, Method::GET, "s", 401),
        (Some("nonsense"), Method::DELETE, "s", 401),
        (ann, Method::GET, "%ff", 400),
        (ann, Method::GET, "s?live=x&offset=-1", 400),
        (ann, Method::GET, "s", 404),
        (ann, Method::HEAD, "s", 429),
        (ann, Method::PUT, "s", 429),
    ] {
        let told = ask_as(&host, credential, method.clone(), path, &[TEXT], "").await;
        assert_eq!(told.status(), expected, "{method} {path}");
        assert_eq!(header(&told, "cache-control").as_deref(), Some("no-store"), "{method} {path}");
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_an_end_to_what_is_taken() {
    let durable = Durable { append: 1024, readers: 1, ..Durable::default() };
    let host = with(durable).await;
    ask(&host, Method::PUT, "m", &[TEXT], "").await;
    assert_eq!(status(&host, Method::POST, "m", &[TEXT], &"x".repeat(1024)).await, 204);
    let large = "x".repeat(3 << 20);
    let refused =
        refusal(ask(&host, Method::POST, "m", &[TEXT], &large).await, "retry-after").await;
    assert_eq!(refused, (413, "too-large".to_owned(), None));
    let waiting = ask(&host, Method::GET, "m?offset=now&live=sse", &[], "").await;
    let second = ask(&host, Method::GET, "m?offset=now&live=sse", &[], "").await;
    let second = refusal(second, "retry-after").await;
    assert_eq!(second, (429, "readers".to_owned(), Some("1".to_owned())));
    assert_eq!(status(&host, Method::GET, "m", &[], "").await, 200);
    // Who goes leaves the place to the next.
    drop(waiting);
    let free = async {
        while status(&host, Method::GET, "m?offset=now&live=sse", &[], "").await == 429 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, free).await.unwrap();
    host.stop().await;
}

/// Reads a stream of numbers until the one that ends it, over restarts, in one of three ways.
async fn follow(url: String, client: reqwest::Client, token: String, way: usize) -> Vec<u64> {
    let live = ["", "&live=long-poll", "&live=sse"][way];
    let (mut offset, mut numbers) = ("-1".to_owned(), Vec::new());
    loop {
        let path = format!("{url}/v1/stream/n?offset={offset}{live}");
        let Ok(mut response) = client.get(path).bearer_auth(&token).send().await else {
            sleep(Duration::from_millis(5)).await;
            continue;
        };
        if way < 2 {
            let (at, is_over) = (next(&response), header(&response, "stream-closed").is_some());
            let Ok(body) = response.text().await else { continue };
            if body.len() > 2 {
                numbers.extend(serde_json::from_str::<Vec<u64>>(&body).unwrap());
            } else {
                sleep(Duration::from_millis(20)).await;
            }
            offset = at;
            if is_over {
                return numbers;
            }
            continue;
        }
        let mut text = String::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            text.push_str(std::str::from_utf8(&chunk).unwrap());
            while let Some((event, rest)) = text.split_once("\n\n") {
                if let Some(data) = event.strip_prefix("event: data\ndata:") {
                    // What is not followed by its control event comes again.
                    let Some((control, rest)) = rest.split_once("\n\n") else { break };
                    let control = control.strip_prefix("event: control\ndata:").unwrap();
                    let control: Value = serde_json::from_str(control).unwrap();
                    numbers.extend(serde_json::from_str::<Vec<u64>>(data).unwrap());
                    offset = control["streamNextOffset"].as_str().unwrap().to_owned();
                    if control["streamClosed"] == true {
                        return numbers;
                    }
                    text = rest.to_owned();
                    continue;
                }
                if event.contains("\"streamClosed\":true") {
                    return numbers;
                }
                text = rest.to_owned();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_readers_have_each_message_once_while_it_is_written_and_the_host_is_replaced() {
    const MESSAGES: u64 = 60;
    let store = Arc::new(MemoryStore::new());
    let durable = Durable { long_poll: Duration::from_secs(1), ..Durable::default() };
    let config = || Config { durable, ..config() };
    let mut host = Running::with(config(), store.clone()).await;
    let listener = support::address(&host);
    ask(&host, Method::PUT, "n", &[JSON], "").await;
    let mut readers = JoinSet::new();
    for reader in 0..24 {
        let client = reqwest::Client::new();
        readers.spawn(follow(host.url.clone(), client, host.token().to_owned(), reader % 3));
    }
    for n in 0..MESSAGES {
        if n == MESSAGES / 2 {
            host.stop().await;
            host = Running::at(listener, config(), store.clone()).await;
        }
        let number = n.to_string();
        let producer = [("producer-id", "w"), ("producer-epoch", "0"), ("producer-seq", &number)];
        let headers = [&[JSON][..], &producer].concat();
        // Each is sent twice, as by a writer that did not hear the answer.
        for expected in [200, 204] {
            assert_eq!(status(&host, Method::POST, "n", &headers, &number).await, expected);
        }
    }
    assert_eq!(status(&host, Method::POST, "n", &[CLOSED], "").await, 204);
    let expected: Vec<u64> = (0..MESSAGES).collect();
    while let Some(read) = timeout(PATIENCE, readers.join_next()).await.unwrap() {
        assert_eq!(read.unwrap(), expected);
    }
    host.stop().await;
}
