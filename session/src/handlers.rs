//! The operations: doors that lead to a step, and what reads a session or makes one.

mod agenda;
mod doors;
mod prompt_of;
mod registry_adopt;
mod registry_lease;
mod registry_owned;
mod registry_respond;
mod registry_send;
mod registry_spawn;
mod registry_submit;
mod registry_wakeful;
mod request_of;
mod shelf;
mod turn_of;
mod view;
