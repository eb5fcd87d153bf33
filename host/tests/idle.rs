//! Streams of every kind, while nothing happens: each shows that it lives, and no proxy is to hold it
//! back.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::time::Duration;

use reqwest::Response;
use support::streams::{host, is_lines, of_every_kind};
use tokio::time::timeout;

/// What `docs/clients.md` promises is 15 seconds; a machine may be slow.
const SOON: Duration = Duration::from_secs(40);
const NEVER: Duration = Duration::from_secs(3600);

/// Reads until there is something that readers pass over.
async fn sign(mut response: Response) -> String {
    let is_lines = is_lines(&response);
    let mut text = String::new();
    let read = async {
        while let Some(chunk) = response.chunk().await.unwrap() {
            text.push_str(std::str::from_utf8(&chunk).unwrap());
            let is_sign = |line: &str| line.is_empty() && is_lines || line.starts_with(':');
            if text.lines().any(is_sign) {
                return true;
            }
        }
        false
    };
    let is_shown = timeout(SOON, read).await.unwrap_or_default();
    if is_shown { String::new() } else { format!("nothing shows that it lives: {text}") }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_stream_shows_that_it_lives_and_is_let_through() {
    let host = host(NEVER, Duration::ZERO).await;
    let mut reading = Vec::new();
    for (what, response) in of_every_kind(&host).await {
        let header = |name: &str| response.headers().get(name).and_then(|it| it.to_str().ok());
        assert_eq!(header("x-accel-buffering"), Some("no"), "{what}");
        assert_eq!(header("cache-control"), Some("no-cache"), "{what}");
        reading.push((what, tokio::spawn(sign(response))));
    }
    for (what, sign) in reading {
        assert_eq!(sign.await.unwrap(), "", "{what}");
    }
    host.stop().await;
}
