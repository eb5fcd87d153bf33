//! The operations of `item`.

mod checkpoint;
