//! Sessions over HTTP.
//!
//! A [`Host`] is a runtime with AgentRuntime and sessions in it, an engine that drives them, and
//! the routes that clients and programs use them by. What it is to be is a [`Config`]; who asks is
//! known by a key (`keys.rs`) or a token (`tokens.rs`). Operators have a door of their own
//! (`operator.rs`). Start at [`Host::open`].

mod agent;
mod agui;
pub mod config;
mod connections;
mod credential;
mod demo;
mod durable;
mod error;
mod farewell;
mod front;
mod keys;
mod limits;
mod metrics;
pub mod openapi;
mod operator;
mod routes;
mod serve;
mod state;
mod telemetry;
mod tokens;
mod ui_message;
mod worker;

pub use config::Config;
pub use connections::ConnectionLimits;
pub use keys::{KeyHash, NoKeyHash};
pub use operator::{
    CommandBody, Commands, CompleteBody, Form, Gone, Lines, OperatorConfig, OperatorDoor,
    OperatorName,
};
pub use quixos_engine::http::{ClientError, HttpClient};
pub use serve::{Host, HostError};
pub use telemetry::{Telemetry, TelemetryConfig, TelemetryError};
pub use tokens::{Bearer, Identity, TokenConfig, TokenError, Tokens};
pub use worker::{DemoWorker, EchoWorker};
