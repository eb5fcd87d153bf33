//! The operations of `request`.

mod ask;
mod cancel;
mod claim;
mod correct;
mod finish;
mod publish_completion;
mod reserve_child;
mod steer;
mod transition;
mod upsert_item;
