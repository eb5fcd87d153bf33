//! Files of a store as they were, and as a disk may leave them.

mod image;
mod large;
mod record;
mod shot;
mod trace;

pub(crate) use image::{Cut, Image};
pub(crate) use large::Large;
pub(crate) use record::{Recorded, record};
pub(crate) use shot::Shot;
pub(crate) use trace::{Trace, tell};
