//! The operations of `workspace`.

mod install;
