//! What was measured, and how it is shown: speeds, ratios, goals, tables.
//!
//! Nothing here measures: that is `benches/quixos`. A [`Report`] is what one run came to, and all
//! that is shown is derived from it, so that a stored report can be shown again.
//!
//! In reading order: `speed.rs`, `report.rs`, `goal.rs`, `machine.rs`, then `table.rs` and
//! `markdown.rs`, which show them.

mod goal;
mod machine;
mod markdown;
mod report;
mod speed;
mod table;

pub use goal::{Goal, Verdict, goals};
pub use machine::Machine;
pub use markdown::{MarkdownError, replace_block};
pub use report::{
    CLAIM_AFTER_KILL, Case, Durability, Figure, Head, MEMORY_AFTER_KILL, Quantity, Report, Role,
    Row, SILENT_TURN, Scenario, Subject, Unit,
};
pub use speed::{Speed, median};
pub use table::{Style, show};
