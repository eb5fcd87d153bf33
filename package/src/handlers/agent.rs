//! What an agent does: it asks its directory.

mod create_thread;
mod request;
mod try_request;
mod update;
