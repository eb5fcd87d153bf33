//! No secret and nothing of a conversation gets into the log, whatever goes wrong, however much is
//! logged.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::io;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use quixos_engine::provider::Api;
use quixos_engine::worker::http::Endpoint;
use quixos_host::Config;
use quixos_host::config::{Place, ProviderConfig, WorkerConfig};
use quixos_protocol::RetryPolicy;
use quixos_runtime::store::MemoryStore;
use reqwest::Method;
use serde_json::{Value, json};
use support::{Running, message};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// What is in every secret, prompt and answer of this test, and in nothing else.
const MARK: &str = "xyzzy";
const KEY: &str = "the key xyzzy of a tenant";
const SECRET: &str = "the secret xyzzy of tokens, which is long enough";
const WORKER_SECRET: &str = "the secret xyzzy of a worker";
const PROVIDER_KEY: &str = "key-xyzzy-of-a-provider";

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Log {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

/// Starts what answers as a worker that does what is proposed, and as a provider that fails and
/// says back what it was sent.
async fn outside() -> String {
    let decide = async |body: Bytes| {
        let request: Value = serde_json::from_slice(&body).unwrap();
        Json(request["proposed"].clone())
    };
    let garble = async |body: Bytes| {
        let said = String::from_utf8_lossy(&body).into_owned();
        (StatusCode::INTERNAL_SERVER_ERROR, said)
    };
    let complete = async |body: Bytes| {
        let said = String::from_utf8_lossy(&body).into_owned();
        let error = json!({ "error": { "message": format!("{PROVIDER_KEY}: {said}") } });
        (StatusCode::BAD_REQUEST, Json(error))
    };
    let router = Router::new()
        .route("/decide", post(decide))
        .route("/garble", post(garble))
        .route("/chat/completions", post(complete));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

fn config(address: &str) -> Config {
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    let endpoint = |path: &str| {
        let endpoint = Endpoint::new(&format!("{address}/{path}?token={MARK}")).unwrap();
        let endpoint = endpoint.signed(WORKER_SECRET.to_owned().into()).unwrap();
        WorkerConfig::Http(Box::new(endpoint))
    };
    let once = RetryPolicy {
        timeout_secs: Some(5),
        max_retries: 1,
        backoff_base_secs: 0,
        backoff_max_secs: 0,
    };
    config.limits.requests = 10_000;
    config.agents[0].worker = endpoint("decide");
    config.agents[0].model_retry = Some(once);
    let mut broken = config.agents[0].clone();
    broken.name = "broken".to_owned();
    broken.worker = endpoint("garble");
    broken.decision_retry = Some(once);
    config.agents.push(broken);
    let api = Api::new(address).unwrap().key(PROVIDER_KEY.to_owned().into()).unwrap();
    let mut failing = config.agents[0].clone();
    failing.name = "failing".to_owned();
    failing.config.model = "gpt-failing".to_owned();
    failing.config.system = Some(format!("the prompt {MARK} of a system"));
    config.agents.push(failing);
    let place = Place::OpenAi(Box::new(api));
    config.providers.push(ProviderConfig { models: vec!["gpt-".to_owned()], place });
    config
}

/// Waits until something has happened in a session.
async fn happens(host: &Running, path: &str, event: &str) {
    for count in 1..100 {
        let seen = host.first(path, None, count).await;
        if seen.iter().any(|it| it.event == event) {
            return;
        }
    }
    panic!("no {event}");
}

/// Asks each door of a client's for what is none, as somebody who is let in: in the body, as a value
/// of another type, a key and a word that is none; in the path, the query and the headers.
async fn garbled(host: &Running) {
    let agent = Config::DEMO_AGENT;
    let mut begins = Vec::new();
    for door in ["stream", "ag-ui", "ui-message-stream"] {
        begins.push((Method::POST, format!("/v1/agents/{agent}/{door}")));
        begins.push((Method::POST, format!("/v1/agents/{MARK}/{door}")));
    }
    let others = [
        (Method::GET, format!("/v1/agents/{agent}/ui-message-stream/{MARK}%FF/stream")),
        (Method::GET, format!("/v1/agents/{MARK}/ui-message-stream/{MARK}/stream")),
        (Method::GET, format!("/v1/requests/{MARK}/stream")),
        (Method::GET, format!("/v1/requests/{MARK}/stream?after={MARK}")),
        (Method::POST, format!("/v1/requests/{MARK}/abort")),
        (Method::GET, format!("/v1/threads?after={MARK}")),
        (Method::GET, format!("/v1/threads?limit={MARK}")),
        (Method::GET, format!("/v1/threads/{MARK}?before={MARK}")),
        (Method::GET, format!("/v1/threads/{MARK}%FF")),
        (Method::PATCH, format!("/v1/threads/{MARK}")),
        (Method::GET, format!("/api/client/sessions/{MARK}")),
        (Method::GET, format!("/api/client/sessions/{MARK}/events/stream?after_seq={MARK}")),
        (Method::POST, format!("/api/client/sessions/{MARK}/cancel")),
        (Method::POST, "/api/client/sessions/input".to_owned()),
        (Method::PUT, format!("/v1/stream/{MARK}")),
        (Method::POST, format!("/v1/stream/{MARK}")),
        (Method::GET, format!("/v1/stream/{MARK}?offset={MARK}&live={MARK}")),
        (Method::DELETE, format!("/v1/stream/{MARK}%FF")),
    ];
    let bodies = [
        json!({ "messages": MARK }),
        json!({ "messages": [{ "role": MARK, "content": MARK }] }),
        json!({ "messages": [], "threadId": MARK, "title": { MARK: MARK }, MARK: MARK }),
        json!({ "threadId": MARK, "runId": "r", "messages": [{ "id": "m", "role": MARK }] }),
        json!({ "id": MARK, "messages": [{ "id": "m", "role": "user", "parts": MARK }] }),
        json!({ "messages": [{ "content": MARK }], "threadId": MARK }),
        json!({ "input": { "type": MARK, MARK: MARK }, "turn_id": [MARK] }),
        json!(MARK),
    ];
    for (method, path) in begins.into_iter().chain(others) {
        for (body, header) in bodies.iter().flat_map(|body| [(body, false), (body, true)]) {
            let url = format!("{}{path}", host.url);
            // Public streams are written with a key.
            let is_public = path.starts_with("/v1/stream/");
            let credential = if is_public { KEY } else { host.token() };
            let mut request = host.client.request(method.clone(), url).bearer_auth(credential);
            if header {
                // What is a key in vain, where it is known at all: a space is not visible.
                for name in ["last-event-id", "idempotency-key", "content-type", "stream-seq"] {
                    request = request.header(name, format!("{MARK} of a header"));
                }
            }
            let answer = request.body(body.to_string()).send().await.unwrap();
            let status = answer.status();
            let told = answer.text().await.unwrap();
            // A front end is told of some refusals in its stream.
            let is_refused = is_public || status.is_client_error() || told.contains("RUN_ERROR");
            assert!(is_refused, "{method} {path} {body} {header}: {status} {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_has_no_secret_and_nothing_that_was_said() {
    let log = Log::default();
    // Our own crates, all of them, as loud as can be.
    let filter = EnvFilter::new(
        "quixos_host=trace,quixos_engine=trace,quixos_runtime=trace,quixos_session=trace,\
         quixos_package=trace,quixos_protocol=trace",
    );
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(log.clone())
        .json();
    subscriber.init();

    let address = outside().await;
    let host = Running::with(config(&address), Arc::new(MemoryStore::new())).await;
    let said = format!("greetings from {MARK}!");
    host.say("s", "t1", &said).await;
    host.turn("s", "t1").await;
    for agent in ["broken", "failing"] {
        let mut body = message(agent, "t1", &said);
        body["input"]["agent_id"] = agent.into();
        let (status, told) = host.post("/api/client/sessions/input", &body).await;
        assert_eq!(status, 202, "{told}");
        // It need not end: what fails is logged by then.
        let path = format!("/api/client/sessions/{agent}/events/stream?after_seq=0");
        let failed = if agent == "broken" { "decision.errored" } else { "llm.call.errored" };
        happens(&host, &path, failed).await;
    }
    // What is refused, in each way: its words are not logged either.
    for (credential, body) in [
        (Some(format!("{MARK}.{MARK}.{MARK}")), format!("{{\"{MARK}\": ")),
        (Some(format!("{MARK} of nobody")), message("s", "t2", MARK).to_string()),
        (None, message("s", "t3", MARK).to_string()),
        (Some(host.token().to_owned()), message("s", "t4", MARK).to_string().replace("user", MARK)),
    ] {
        let path = "/api/client/sessions/input";
        let status = host.ask(Method::POST, path, credential.as_deref(), Some(body)).await.status();
        assert!(status.is_client_error(), "{status}");
        let path = format!("/api/machine/{MARK}?key={MARK}");
        host.ask(Method::GET, &path, credential.as_deref(), None).await;
    }
    garbled(&host).await;
    let token = host.token().to_owned();
    host.stop().await;

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.lines().count() > 50, "{log}");
    for line in log.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        assert!(!line.contains(MARK) && !line.contains(&token), "{line}");
    }
}
