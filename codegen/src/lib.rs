//! From checked definitions to typed Rust.
