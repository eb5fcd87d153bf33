//! The session engine: it asks workers, calls models, keeps time, and loses nothing when anything
//! stops.
//!
//! The engine holds nothing that the store does not. It reads what is due in a session, does it,
//! and reports back through the session's operations; so it may be killed at any moment, and
//! another one, or itself, goes on where the log ends. Start at [`Engine::start`].

mod attend;
mod claims;
mod dispatch;
mod driver;
mod engine;
mod error;
pub mod http;
mod lease;
pub mod live;
pub mod observer;
mod options;
pub mod price;
pub mod provider;
mod roster;
mod task;
mod threads;
pub mod trace;
mod turns;
mod under_way;
pub mod worker;

pub use engine::{Engine, Figures, Settlement, Submitted};
pub use error::EngineError;
pub use options::Options;
pub use roster::Roster;
pub use threads::{Thread, Threads};
pub use turns::{Answered, Response, TurnAt};
