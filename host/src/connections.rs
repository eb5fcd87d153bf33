//! Connections: taken from a listener, served, and ended when the host stops.
//!
//! What a client may hold up is bounded. A head that comes too slowly ends its connection, as does
//! a reader that takes nothing for long; beyond a number of connections a new one is told to come
//! again. A reader that is merely slow is served as slowly as it reads.

mod patience;

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::patience::Patience;
use crate::metrics::Traffic;

/// How long to wait after a connection could not be taken for want of something, like files.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a connection may go on after the host was told to stop: for what is being answered.
const LINGER: Duration = Duration::from_secs(5);
/// What a connection is told of which there are too many.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\
    connection: close\r\n\r\n";

/// What connections may hold up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at once.
    pub most: usize,
    /// How long the head of a request may take, and a connection may stay without one.
    pub head: Duration,
    /// How long a reader may take nothing of what is there for it.
    pub stall: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { most: 16_384, head: Duration::from_secs(30), stall: Duration::from_secs(300) }
    }
}

/// Serves on a listener until told to stop. Then no connection begins, and what is under way is
/// answered, for as long as that may take.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    traffic: Option<Traffic>,
    stopping: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.most));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                failed(&error).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            if let Some(traffic) = &traffic {
                traffic.turned_away();
            }
            // It reads this or it does not; nobody waits for it.
            let _ = stream.try_write(FULL);
            continue;
        };
        let open = traffic.as_ref().map(Traffic::connection);
        let (router, stopping) = (router.clone(), stopping.clone());
        connections.spawn(async move {
            let _counted = (place, open);
            connection(stream, router, limits, stopping).await;
        });
    }
    drop(listener);
    let end = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(LINGER, end).await.is_err() {
        tracing::warn!("connections that do not end were broken off");
    }
}

/// Serves one connection.
async fn connection(
    stream: TcpStream,
    router: Router,
    limits: ConnectionLimits,
    stopping: CancellationToken,
) {
    // Events are small and are waited for.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection stays without TCP_NODELAY");
    }
    let stream = TokioIo::new(Patience::new(stream, limits.stall));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .serve_connection(stream, TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // What clients do wrong is theirs to know.
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Says that a connection could not be taken, and waits where that is our own want.
async fn failed(error: &std::io::Error) {
    let is_theirs = matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    );
    if !is_theirs {
        tracing::error!(%error, "a connection could not be taken");
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn what_is_written_leaves_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let stream = listener.accept().await.unwrap().0.into_std().unwrap();
        // What is set of a socket is seen through each handle of it.
        let seen = stream.try_clone().unwrap();
        assert!(!seen.nodelay().unwrap());
        let stream = TcpStream::from_std(stream).unwrap();
        let limits = ConnectionLimits::default();
        let served = connection(stream, Router::new(), limits, CancellationToken::new());
        let served = tokio::spawn(served);
        client.write_all(b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut bytes = [0; 12];
        client.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"HTTP/1.1 404");
        assert!(seen.nodelay().unwrap());
        drop((client, seen));
        served.await.unwrap();
    }
}
