//! A server of raw bytes: what it says, and when, is up to the test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each test uses what it needs")]

use std::time::Duration;

use quixos_engine::live::{Delta, Live, Sink, Spoken};
use quixos_protocol::StreamDelta;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, mpsc, watch};

/// What a server does with a request, step by step; then it closes the connection.
#[derive(Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Says this byte by byte.
    Drip(Vec<u8>),
    Wait(Duration),
    /// Says this until nobody listens.
    Forever(Vec<u8>),
}

pub(crate) fn send(text: impl AsRef<[u8]>) -> Step {
    Step::Send(text.as_ref().to_vec())
}

/// Returns a whole answer.
pub(crate) fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// Returns the head of a stream that ends with its connection.
pub(crate) fn stream_head() -> Step {
    let kind = "Content-Type: text/event-stream; charset=utf-8";
    send(format!("HTTP/1.1 200 OK\r\n{kind}\r\nconnection: close\r\n\r\n"))
}

/// A request as it came in.
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: mpsc::UnboundedReceiver<Received>,
}

impl Server {
    /// Starts a server that does the same with every request.
    pub(crate) async fn start(steps: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (tell, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, steps.clone(), tell.clone()));
            }
        });
        Self { url, requests }
    }

    /// Starts a server that gives one whole answer.
    pub(crate) async fn answering(status: &str, headers: &str, body: &str) -> Self {
        Self::start(vec![send(answer(status, headers, body.as_bytes()))]).await
    }

    /// Starts a server that gives a stream in these pieces.
    pub(crate) async fn streaming(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let pieces = pieces.into_iter().map(send);
        Self::start([stream_head()].into_iter().chain(pieces).collect()).await
    }

    /// Returns a request that came in.
    pub(crate) fn received(&mut self) -> Option<Received> {
        self.requests.try_recv().ok()
    }
}

async fn serve(
    mut connection: TcpStream,
    steps: Vec<Step>,
    tell: mpsc::UnboundedSender<Received>,
) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let Some(received) = receive(&mut connection).await else { return Ok(()) };
    let _ = tell.send(received);
    for step in steps {
        match step {
            Step::Send(bytes) => {
                connection.write_all(&bytes).await?;
                connection.flush().await?;
                tokio::task::yield_now().await;
            }
            Step::Drip(bytes) => {
                for byte in bytes {
                    connection.write_all(&[byte]).await?;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Forever(bytes) => loop {
                connection.write_all(&bytes).await?;
            },
        }
    }
    connection.shutdown().await
}

pub(crate) async fn receive(connection: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let mut received = Received { head, body: bytes[end + 4..].to_vec() };
            let length = received.header("content-length").map_or(0, |it| it.parse().unwrap());
            if received.body.len() >= length {
                received.body.truncate(length);
                return Some(received);
            }
        }
        let count = connection.read_buf(&mut bytes).await.ok()?;
        if count == 0 {
            return None;
        }
    }
}

/// A sink, and what came out of it.
pub(crate) struct Listener {
    pub(crate) sink: Sink,
    pub(crate) spoken: watch::Receiver<Spoken>,
    deltas: broadcast::Receiver<Delta>,
}

impl Listener {
    pub(crate) fn new(attempt: u32) -> Self {
        let live = Live::default();
        let deltas = live.listen("session");
        let (sink, spoken) = Sink::new(&live, "session", "call", attempt, None);
        Self { sink, spoken, deltas }
    }

    pub(crate) fn deltas(&mut self) -> Vec<StreamDelta> {
        std::iter::from_fn(|| self.deltas.try_recv().ok()).map(|delta| delta.delta).collect()
    }

    pub(crate) fn text(&self) -> String {
        self.spoken.borrow().text.clone()
    }
}
