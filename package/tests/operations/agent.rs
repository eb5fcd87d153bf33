//! The operations of `agent`.

mod create_thread;
mod request;
mod try_request;
mod update;
