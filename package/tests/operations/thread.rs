//! The operations of `thread`.

mod activate;
mod adjust_pending;
mod allocate_item;
mod archive;
mod release;
mod rename;
mod send;
