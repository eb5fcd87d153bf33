//! Workers that are built in: no endpoint is needed to try a conversation.

mod demo;
mod echo;

pub use demo::DemoWorker;
pub use echo::EchoWorker;
