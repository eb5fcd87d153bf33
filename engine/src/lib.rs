//! The session engine: it asks workers, calls models, keeps time, and loses nothing when anything
//! stops.

pub mod live;
pub mod provider;
pub mod worker;
