//! What a workspace does.

mod install;
