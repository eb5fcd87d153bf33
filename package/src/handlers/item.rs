//! What an item does.

mod checkpoint;
