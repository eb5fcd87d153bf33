//! What a directory does: the queue of a workspace's agents.

mod admit;
mod advertise;
mod create_agent;
mod create_thread;
mod initialize;
mod notification_sent;
mod reconcile_repair;
mod settle;
