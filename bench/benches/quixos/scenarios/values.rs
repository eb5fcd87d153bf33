//! Large values: items whose text is 1 MiB.

use quixos_bench::{Durability, Scenario};

use super::comparison::{Comparison, Condition, Stage};
use crate::driver::Bench;
use crate::failure::Failure;
use crate::work::Operation;

/// A mebibyte.
const ITEM_BYTES: usize = 1 << 20;

pub(super) async fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let requests = bench.arguments.either(16, 64);
    let condition = |durability, callers| Condition { durability, callers, requests };
    let comparison = Comparison {
        scenario: Scenario::Values,
        stages: vec![
            Stage { name: None, steps: &[Operation::Request] },
            Stage { name: None, steps: &[Operation::Claim] },
            Stage { name: Some("upsertItem, new"), steps: &[Operation::Upsert(1)] },
            Stage { name: Some("checkpoint"), steps: &[Operation::Checkpoint(2)] },
        ],
        conditions: vec![
            condition(Durability::Durable, 1),
            condition(Durability::Durable, 16),
            condition(Durability::Buffered, 1),
        ],
        item_bytes: ITEM_BYTES,
    };
    comparison.measure(bench).await
}
