//! A worker that does what is proposed, and can be killed in the middle of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A worker that is served, on threads of its own.
pub(super) struct Served {
    pub(super) port: u16,
    answered: Arc<AtomicUsize>,
    runtime: Runtime,
}

impl Served {
    /// Starts it on a port; 0 takes a free one.
    pub(super) async fn start(port: u16) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let answered = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&answered);
        let decide = async move |body: Bytes| {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let request: Value = serde_json::from_slice(&body).unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            Json(request["proposed"].clone())
        };
        let bound = runtime.spawn(async move {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let listener = TcpListener::bind(address).await.unwrap();
            let port = listener.local_addr().unwrap().port();
            tokio::spawn(async move {
                axum::serve(listener, Router::new().route("/", post(decide))).await.unwrap();
            });
            port
        });
        Self { port: bound.await.unwrap(), answered, runtime }
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Kills it, connections and all, and returns how often it has answered.
    pub(super) async fn kill(self) -> usize {
        self.runtime.shutdown_background();
        self.answered.load(Ordering::Relaxed)
    }
}
