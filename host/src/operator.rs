//! The operator's door: a listener of its own with a token of its own, off that of clients.
//!
//! It has no rule and no figure of its own. What an operator looks at or does goes through the
//! commands of the shell ([`Commands`]), so through typed operations, and into the history with the
//! operator's name. Whoever has the token may do all that an operator may; whoever has none gets
//! nothing but what is open to all.
//!
//! The commands are brought by whoever starts the host, since the shell stands above this crate.
//! Start at [`OperatorDoor`].

mod backup;
mod changes;
mod commands;
mod console;
mod entry;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn_with_state, map_response};
use quixos_runtime::Runtime;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use commands::{CommandBody, Commands, CompleteBody, Form, Gone, Lines};
pub use entry::OperatorName;

use crate::connections::{self, ConnectionLimits};
use crate::error::ApiError;
use crate::keys::KeyHash;

/// Where operators are let in.
#[derive(Clone, Copy, Debug)]
pub struct OperatorConfig {
    /// Where it listens.
    pub address: SocketAddr,
    /// The hash of the token.
    pub token: KeyHash,
}

impl OperatorConfig {
    /// Where it listens when nobody says.
    pub const ADDRESS: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8081);
}

/// Bytes of a body: a script is text, and nothing else comes in.
const BODY: usize = 1 << 20;

/// Requests whose commands run at once. Each has a thread, as those that follow a stream for hours.
const AT_ONCE: usize = 64;

/// What an operator comes in by.
#[derive(Clone)]
pub struct OperatorDoor {
    inside: Arc<Inside>,
}

/// What the routes share.
#[derive(Clone)]
struct Inside {
    runtime: Runtime,
    token: KeyHash,
    commands: Arc<dyn Commands>,
    /// Where a backup lies before it is sent; with the system's temporary files if nowhere.
    folder: Option<PathBuf>,
    /// Requests that may still begin.
    places: Arc<Semaphore>,
    /// Backups that may still begin.
    backups: Arc<Semaphore>,
    routes: HostRoutes,
    stopping: CancellationToken,
}

/// Routes that a host brings along.
#[derive(Clone, Default)]
pub(crate) struct HostRoutes {
    /// Those that are open to all who reach the door.
    pub(crate) to_all: Router,
    /// Those that are open to whoever has the token.
    pub(crate) to_operators: Router,
}

type Shared = axum::extract::State<Arc<Inside>>;

impl OperatorDoor {
    /// Returns a door to a runtime, for whoever has the token.
    #[must_use]
    pub fn new(runtime: Runtime, token: KeyHash, commands: Arc<dyn Commands>) -> Self {
        let inside = Inside {
            runtime,
            token,
            commands,
            folder: None,
            places: Arc::new(Semaphore::new(AT_ONCE)),
            backups: Arc::new(Semaphore::new(1)),
            routes: HostRoutes::default(),
            stopping: CancellationToken::new(),
        };
        Self { inside: Arc::new(inside) }
    }

    /// The same, part of a host: it closes when the host stops, and lays backups down in the store's
    /// folder, where there is room for a copy of it or nowhere. Some routes are open to all.
    pub(crate) fn of_host(
        runtime: Runtime,
        token: KeyHash,
        commands: Arc<dyn Commands>,
        folder: Option<PathBuf>,
        routes: HostRoutes,
        stopping: CancellationToken,
    ) -> Self {
        let Self { inside } = Self::new(runtime, token, commands);
        let inside = Arc::unwrap_or_clone(inside);
        Self { inside: Arc::new(Inside { folder, routes, stopping, ..inside }) }
    }

    /// Returns the routes, for whoever serves them another way.
    pub fn router(&self) -> Router {
        let guarded = Router::new()
            .merge(commands::routes())
            .merge(changes::routes())
            .merge(backup::routes())
            .with_state(Arc::clone(&self.inside))
            .merge(self.inside.routes.to_operators.clone())
            .route_layer(from_fn_with_state(Arc::clone(&self.inside), entry::let_in));
        guarded
            .merge(self.inside.routes.to_all.clone())
            .merge(console::routes())
            .fallback(async || {
                ApiError::new(StatusCode::NOT_FOUND, "no-route", "there is no such route")
            })
            .method_not_allowed_fallback(async || {
                let error = "the route is there, with another method";
                ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", error)
            })
            .layer(DefaultBodyLimit::max(BODY))
            .layer(map_response(entry::close_to_browsers))
    }

    /// Serves operators until the host stops, or the door is closed.
    ///
    /// # Errors
    ///
    /// Those of the network.
    pub async fn serve(&self, listener: TcpListener) -> std::io::Result<()> {
        let (router, stopping) = (self.router(), self.inside.stopping.clone());
        connections::serve(listener, router, ConnectionLimits::default(), None, stopping).await;
        Ok(())
    }

    /// Closes the door: what runs is told to end.
    pub fn close(&self) {
        self.inside.stopping.cancel();
    }
}
