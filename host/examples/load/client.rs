//! Those who use a host: well, badly, and not at all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// Requests of one client at once.
const AT_ONCE: usize = 256;

/// What tells the end of a turn in a stream.
pub(super) const COMPLETED: &str = "event: turn.completed";

/// Somebody with a token.
#[derive(Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    address: String,
    token: String,
    places: Arc<Semaphore>,
}

impl Client {
    pub(super) fn new(address: &str, token: &str) -> Self {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let http = reqwest::Client::new();
        Self { http, address: address.to_owned(), token: token.to_owned(), places }
    }

    async fn ask(&self, method: Method, path: &str, body: Option<String>) -> (u16, String) {
        let _place = self.places.acquire().await.unwrap();
        let url = format!("http://{}{path}", self.address);
        let request = self.http.request(method, url).bearer_auth(&self.token);
        let request = body.into_iter().fold(request, reqwest::RequestBuilder::body);
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.text().await.unwrap())
    }

    pub(super) async fn status(&self, path: &str) -> u16 {
        self.ask(Method::GET, path, None).await.0
    }

    /// Says something in a session, and returns the status.
    pub(super) async fn try_say(&self, session: &str, text: &str) -> u16 {
        let body = json!({
            "session_id": session,
            "input": {
                "type": "client.message",
                "agent_id": "concierge",
                "message": { "role": "user", "content": text },
            },
        });
        let body = Some(body.to_string());
        self.ask(Method::POST, "/api/client/sessions/input", body).await.0
    }

    pub(super) async fn say(&self, session: &str, text: &str) {
        assert_eq!(self.try_say(session, text).await, 202);
    }

    /// Waits until the turn of a session has ended.
    pub(super) async fn ends(&self, session: &str) -> bool {
        let ended = async {
            loop {
                let view = self.view(session).await;
                if view["status"] == "done" {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, ended).await.is_ok()
    }

    async fn view(&self, session: &str) -> Value {
        let path = format!("/api/client/sessions/{session}");
        let (_, body) = self.ask(Method::GET, &path, None).await;
        serde_json::from_str(&body).unwrap_or_default()
    }

    /// Says something in many new sessions at once. Returns those that took it, and how many did
    /// not.
    pub(super) async fn burst(&self, count: usize, name: &str, text: &str) -> (Vec<String>, usize) {
        let mut said = JoinSet::new();
        for at in 0..count {
            let (client, session) = (self.clone(), format!("{name}-{at}"));
            let text = text.to_owned();
            said.spawn(async move { (client.try_say(&session, &text).await, session) });
        }
        let (mut accepted, mut refused) = (Vec::new(), 0);
        while let Some(answer) = said.join_next().await {
            match answer.unwrap() {
                (202, session) => accepted.push(session),
                (429, _) => refused += 1,
                (status, session) => panic!("{status} for {session}"),
            }
        }
        (accepted, refused)
    }

    /// Waits for the turns of sessions, and returns how many ended.
    pub(super) async fn all_end(&self, sessions: &[String]) -> usize {
        self.count(sessions, async |client, session| client.ends(&session).await).await
    }

    /// Returns how many sessions can be seen.
    pub(super) async fn all_seen(&self, sessions: &[String]) -> usize {
        let seen = async |client: Client, session: String| {
            client.status(&format!("/api/client/sessions/{session}")).await == 200
        };
        self.count(sessions, seen).await
    }

    /// Returns in how many sessions exactly one turn was completed.
    pub(super) async fn completed_once(&self, sessions: &[String]) -> usize {
        let mut once = 0;
        for session in sessions {
            let mut stream = self.stream_from(session, Some(0)).await;
            stream.until(COMPLETED).await;
            once += usize::from(!stream.has(COMPLETED, Duration::from_millis(20)).await);
        }
        once
    }

    async fn count<F>(&self, sessions: &[String], holds: impl Fn(Client, String) -> F) -> usize
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let mut asked = JoinSet::new();
        for session in sessions {
            asked.spawn(holds(self.clone(), session.clone()));
        }
        let mut count = 0;
        while let Some(held) = asked.join_next().await {
            count += usize::from(held.unwrap());
        }
        count
    }

    /// Follows a session from now on.
    pub(super) async fn stream(&self, session: &str) -> Stream {
        self.stream_from(session, None).await
    }

    /// Follows sessions from now on, many connecting at once; in the order of their names.
    pub(super) async fn streams(&self, sessions: Vec<String>) -> Vec<Stream> {
        let mut opening = JoinSet::new();
        for (at, session) in sessions.into_iter().enumerate() {
            let client = self.clone();
            opening.spawn(async move {
                let _place = client.places.acquire().await.unwrap();
                (at, client.stream(&session).await)
            });
        }
        let mut open = opening.join_all().await;
        open.sort_unstable_by_key(|(at, _)| *at);
        open.into_iter().map(|(_, stream)| stream).collect()
    }

    async fn stream_from(&self, session: &str, after: Option<u64>) -> Stream {
        let after = after.map(|after| format!("?after_seq={after}")).unwrap_or_default();
        let head = format!(
            "GET /api/client/sessions/{session}/events/stream{after} HTTP/1.1\r\nhost: load\r\n\
             authorization: Bearer {}\r\n\r\n",
            self.token
        );
        let mut socket = TcpStream::connect(&self.address).await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut stream = Stream { socket, seen: Vec::new() };
        stream.until("\r\n\r\n").await;
        stream
    }

    /// Connects, and never says what it wants.
    pub(super) async fn half_a_head(&self) -> TcpStream {
        let mut socket = TcpStream::connect(&self.address).await.unwrap();
        socket.write_all(b"GET /health HTTP/1.1\r\nx-slow: ").await.unwrap();
        socket
    }

    /// Sends many requests that are wrong in many ways, and counts what they are answered.
    pub(super) async fn flood(self, count: usize) -> BTreeMap<u16, usize> {
        let mut asked = JoinSet::new();
        let mut statuses = BTreeMap::new();
        for at in 0..count {
            let client = self.clone();
            asked.spawn(async move { client.bad(at).await });
            // Not all in memory at once: a flood need not flood its sender.
            if asked.len() >= AT_ONCE
                && let Some(status) = asked.join_next().await
            {
                *statuses.entry(status.unwrap()).or_default() += 1;
            }
        }
        while let Some(status) = asked.join_next().await {
            *statuses.entry(status.unwrap()).or_default() += 1;
        }
        statuses
    }

    async fn bad(&self, at: usize) -> u16 {
        let url = |path: &str| format!("http://{}{path}", self.address);
        let input = url("/api/client/sessions/input");
        let request = match at % 5 {
            0 => self.http.get(url("/api/client/sessions/s")).bearer_auth("nonsense"),
            1 => self.http.post(input).bearer_auth(&self.token).body("{"),
            2 => self.http.post(input).bearer_auth(&self.token).body("[".repeat(100_000)),
            3 => self.http.get(url(&format!("/nowhere/{at}"))),
            _ => self.http.post(input).body("{}"),
        };
        request.send().await.map_or(0, |response| response.status().as_u16())
    }
}

/// A stream that is read by hand, or not at all.
pub(super) struct Stream {
    socket: TcpStream,
    seen: Vec<u8>,
}

impl Stream {
    /// Reads until a text has come, and past it.
    pub(super) async fn until(&mut self, text: &str) {
        assert!(self.has(text, PATIENCE).await, "`{text}` does not come");
    }

    /// Reads until a text has come, for so long.
    pub(super) async fn has(&mut self, text: &str, patience: Duration) -> bool {
        let read = async {
            loop {
                let found = self.seen.windows(text.len()).position(|it| it == text.as_bytes());
                if let Some(at) = found {
                    self.seen.drain(..at + text.len());
                    return true;
                }
                // What cannot be the begin of it is let go.
                let kept = self.seen.len().min(text.len());
                self.seen.drain(..self.seen.len() - kept);
                let mut bytes = [0; 16 << 10];
                match self.socket.read(&mut bytes).await {
                    Ok(count) if count > 0 => self.seen.extend_from_slice(&bytes[..count]),
                    Ok(_) | Err(_) => return false,
                }
            }
        };
        tokio::time::timeout(patience, read).await.unwrap_or(false)
    }
}

/// Returns how many connections are closed by the other end in time.
pub(super) async fn all_closed(sockets: Vec<TcpStream>, patience: Duration) -> usize {
    let mut closed = JoinSet::new();
    for mut socket in sockets {
        closed.spawn(async move {
            let read = tokio::time::timeout(patience, socket.read(&mut [0; 64])).await;
            matches!(read, Ok(Ok(0) | Err(_)))
        });
    }
    let mut count = 0;
    while let Some(is_closed) = closed.join_next().await {
        count += usize::from(is_closed.unwrap());
    }
    count
}
