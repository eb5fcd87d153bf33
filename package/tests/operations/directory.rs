//! The operations of `directory`.

mod admit;
mod advertise;
mod create_agent;
mod create_thread;
mod initialize;
mod notification_sent;
mod reconcile_repair;
mod settle;
