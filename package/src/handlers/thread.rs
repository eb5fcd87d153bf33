//! What a thread does: one request at a time, and places for items.

mod activate;
mod adjust_pending;
mod allocate_item;
mod archive;
mod release;
mod rename;
mod send;
