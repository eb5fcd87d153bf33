//! The operations, one a file.

mod producer_step;
mod registry_create;
mod registry_delete;
mod stream_append;
mod stream_begin;
mod stream_branch;
mod stream_end;
mod stream_look;
mod stream_read;
mod stream_status;
mod stream_touch;
