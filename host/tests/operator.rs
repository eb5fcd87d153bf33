//! The operator's door over real sockets: who is let in, what is taken, what is streamed.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quixos_host::{
    CommandBody, Commands, CompleteBody, KeyHash, Lines, OperatorConfig, OperatorDoor, OperatorName,
};
use quixos_runtime::{Caller, Runtime, store::MemoryStore};
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const TOKEN: &str = "the token of an operator";
const PATIENCE: Duration = Duration::from_secs(20);

/// Commands that say what they were asked, and wait where they are told to; and whether the waiting
/// is over.
#[derive(Clone, Default)]
struct Echo(Arc<AtomicBool>);

impl Commands for Echo {
    fn greeting(&self) -> Value {
        json!({ "hello": true })
    }

    fn run(&self, by: &OperatorName, body: &CommandBody, lines: &Lines) {
        let said = lines.say(&json!({ "answer": body.text, "by": by.as_str() }));
        if body.text == "wait" {
            while !lines.over().is_cancelled() {
                std::thread::sleep(Duration::from_millis(5));
            }
            self.0.store(true, Ordering::SeqCst);
        }
        let _ = said.and_then(|()| lines.say(&json!({ "exit": 0 })));
    }

    fn complete(&self, _: &OperatorName, body: &CompleteBody) -> Value {
        json!([body.text])
    }
}

struct Open {
    url: String,
    client: Client,
    door: OperatorDoor,
    runtime: Runtime,
    echo: Echo,
}

impl Open {
    async fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let packages = quixos_package::packages();
        let builder =
            packages.into_iter().fold(Runtime::builder(), |it, package| it.package(package));
        let runtime = builder.open(Arc::new(MemoryStore::new())).unwrap();
        let echo = Echo::default();
        let door = OperatorDoor::new(runtime.clone(), KeyHash::of(TOKEN), Arc::new(echo.clone()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = door.clone();
        tokio::spawn(async move { serving.serve(listener).await.unwrap() });
        Self { url, client: Client::new(), door, runtime, echo }
    }

    async fn ask(&self, method: Method, path: &str, token: &str, body: &str) -> Response {
        let request = self.client.request(method, format!("{}{path}", self.url));
        request.bearer_auth(token).body(body.to_owned()).send().await.unwrap()
    }
}

const ROUTES: [(Method, &str); 5] = [
    (Method::GET, "/operator/shell"),
    (Method::POST, "/operator/shell"),
    (Method::POST, "/operator/complete"),
    (Method::GET, "/operator/changes"),
    (Method::GET, "/operator/backup"),
];

#[tokio::test(flavor = "multi_thread")]
async fn nobody_comes_in_without_the_token() {
    let open = Open::new().await;
    for (method, path) in ROUTES {
        let bare = open.client.request(method.clone(), format!("{}{path}", open.url));
        assert_eq!(bare.send().await.unwrap().status(), StatusCode::UNAUTHORIZED, "{path}");
        for token in ["", "the token of an operatos", "the token of an operator ", "Bearer"] {
            let response = open.ask(method.clone(), path, token, "{}").await;
            let is_the_token = token.trim() == TOKEN;
            assert_eq!(response.status() == StatusCode::UNAUTHORIZED, !is_the_token, "{token}");
        }
        let basic = open.client.request(method, format!("{}{path}", open.url));
        let response = basic.basic_auth("operator", Some(TOKEN)).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_told_to_keep_out_and_to_keep_nothing() {
    let open = Open::new().await;
    for (method, path) in ROUTES.into_iter().chain([(Method::GET, "/none")]) {
        let mut response = open.ask(method, path, TOKEN, r#"{"text":""}"#).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(["no-store", "no-cache"].contains(&header("cache-control").as_str()), "{path}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("x-frame-options"), "DENY");
        assert!(header("content-security-policy").contains("default-src 'none'"));
        assert!(response.headers().get("access-control-allow-origin").is_none());
        drop(response.chunk());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_is_handed_on_with_the_operators_name() {
    let open = Open::new().await;
    let request = open.client.post(format!("{}/operator/shell", open.url)).bearer_auth(TOKEN);
    let response = request.header("X-Operator", "Zoë").body(r#"{"text":"vars"}"#).send().await;
    let response = response.unwrap();
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let text = response.text().await.unwrap();
    let lines: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines, [json!({ "answer": "vars", "by": "Zoë" }), json!({ "exit": 0 })]);
    let said = open.ask(Method::POST, "/operator/complete", TOKEN, r#"{"text":"ca"}"#).await;
    assert_eq!(said.text().await.unwrap(), r#"["ca"]"#);
    let long = "n".repeat(129);
    for name in ["", "host", "engine:engine", long.as_str()] {
        let request = open.client.get(format!("{}/operator/shell", open.url)).bearer_auth(TOKEN);
        let response = request.header("X-Operator", name).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_none_is_refused() {
    let open = Open::new().await;
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20));
    let long = format!(r#"{{"text":"","shell":"{}"}}"#, "x".repeat(129));
    for (body, status) in [
        ("", 400),
        ("{", 400),
        ("{}", 422),
        (r#"{"text":1}"#, 422),
        (r#"{"text":"","txet":""}"#, 422),
        (r#"{"text":"","format":"html"}"#, 422),
        (long.as_str(), 422),
        (large.as_str(), 413),
    ] {
        let response = open.ask(Method::POST, "/operator/shell", TOKEN, body).await;
        assert_eq!(response.status(), status, "{}", &body[..body.len().min(40)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_goes_away_ends_what_waits() {
    let open = Open::new().await;
    let mut response = open.ask(Method::POST, "/operator/shell", TOKEN, r#"{"text":"wait"}"#).await;
    assert!(response.chunk().await.unwrap().is_some());
    assert!(!open.echo.0.load(Ordering::SeqCst));
    drop(response);
    let over = async {
        while !open.echo.0.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, over).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_door_closes_upon_what_waits() {
    let open = Open::new().await;
    let response = open.ask(Method::POST, "/operator/shell", TOKEN, r#"{"text":"wait"}"#).await;
    let changes = open.ask(Method::GET, "/operator/changes", TOKEN, "").await;
    open.door.close();
    let text = tokio::time::timeout(PATIENCE, response.text()).await.unwrap().unwrap();
    assert!(text.ends_with("{\"exit\":0}\n"), "{text}");
    let text = tokio::time::timeout(PATIENCE, changes.text()).await.unwrap().unwrap();
    assert_eq!(text, ": the host stops\nretry: 1000\n\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_commit_is_told_once_in_order_from_any_place() {
    let open = Open::new().await;
    let session = open.runtime.session(Caller::operator("anna"));
    let create = async |name: &str| {
        let input = json!({ "data": { "name": name } });
        session.create_json("WorkspaceObject", &input).await.unwrap();
    };
    create("a").await;
    create("b").await;
    let mut all = open.ask(Method::GET, "/operator/changes?after=0", TOKEN, "").await;
    let mut new = open.ask(Method::GET, "/operator/changes", TOKEN, "").await;
    create("c").await;
    let all = read(&mut all, 3).await;
    assert_eq!(ids(&all), [1, 2, 3]);
    assert_eq!(ids(&read(&mut new, 1).await), [3]);
    assert_eq!(all[2]["actor"], "anna");
    assert_eq!(all[2]["operation"], "create WorkspaceObject");
    assert_eq!(all[2]["objects"], json!([all[2]["receiver"]]));
    let again = open.client.get(format!("{}/operator/changes?after=0", open.url));
    let again = again.bearer_auth(TOKEN).header("Last-Event-ID", "2").send().await;
    assert_eq!(ids(&read(&mut again.unwrap(), 1).await), [3]);
    for (after, status) in [("4", 422), ("x", 400)] {
        let path = format!("/operator/changes?after={after}");
        assert_eq!(open.ask(Method::GET, &path, TOKEN, "").await.status(), status);
    }
}

/// Reads some events of a stream.
async fn read(response: &mut Response, count: usize) -> Vec<Value> {
    let mut text = String::new();
    let read = async {
        while text.matches("\n\n").count() < count {
            let chunk = response.chunk().await.unwrap().unwrap();
            text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    };
    tokio::time::timeout(PATIENCE, read).await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn ids(changes: &[Value]) -> Vec<u64> {
    changes.iter().map(|it| it["commit"].as_u64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_an_export() {
    let open = Open::new().await;
    let session = open.runtime.session(Caller::operator("anna"));
    let input = json!({ "data": { "name": "Home" } });
    session.create_json("WorkspaceObject", &input).await.unwrap();
    let response = open.ask(Method::GET, "/operator/backup", TOKEN, "").await;
    let length = response.content_length().unwrap();
    let bytes = response.bytes().await.unwrap();
    assert_eq!(bytes.len() as u64, length);
    let mut exported = Vec::new();
    open.runtime.export(&mut exported).await.unwrap();
    assert_eq!(bytes, exported);
    let found = quixos_runtime::export::check(&bytes[..]).unwrap();
    assert_eq!(found.header.commit, 1);
    // The place of the one before is free again.
    assert_eq!(open.ask(Method::GET, "/operator/backup", TOKEN, "").await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_has_a_door_where_its_config_says_so() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let demo = || quixos_host::Config::demo("the key of a tenant", "s".repeat(32).into());
    let store = || Arc::new(MemoryStore::new());
    let host = quixos_host::Host::open(demo(), store()).await.unwrap();
    assert!(host.operator(Arc::new(Echo::default())).is_none());
    host.close().await;
    let operator = OperatorConfig { address: OperatorConfig::ADDRESS, token: KeyHash::of(TOKEN) };
    let config = quixos_host::Config { operator: Some(operator), ..demo() };
    let host = quixos_host::Host::open(config, store()).await.unwrap();
    let door = host.operator(Arc::new(Echo::default())).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move { door.serve(listener).await });
    // Whether it is ready is nobody's secret, and asks no token.
    let ready = reqwest::get(format!("{url}/ready")).await.unwrap();
    assert_eq!(ready.status(), 200);
    assert_eq!(reqwest::get(format!("{url}/operator/shell")).await.unwrap().status(), 401);
    host.close().await;
    tokio::time::timeout(PATIENCE, served).await.unwrap().unwrap().unwrap();
}
