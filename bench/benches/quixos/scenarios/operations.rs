//! The ten most used operations, each alone: all requests are admitted, then all are claimed, and
//! so on, so that each operation finds what it needs.

use quixos_bench::{Durability, Scenario};

use super::comparison::{Comparison, Condition, Stage};
use crate::driver::Bench;
use crate::failure::Failure;
use crate::work::{ITEM_BYTES, Operation};

pub(super) async fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let stage = |step: &'static Operation| Stage {
        name: Some(step.name()),
        steps: std::slice::from_ref(step),
    };
    let condition = |durability, callers| Condition {
        durability,
        callers,
        requests: match durability {
            Durability::Durable => bench.arguments.either(4, 50) * callers.max(2),
            Durability::Buffered => bench.arguments.either(200, 3_000),
        },
    };
    let conditions = [Durability::Durable, Durability::Buffered]
        .into_iter()
        .flat_map(|durability| [1, 16, 64].map(|callers| condition(durability, callers)));
    let comparison = Comparison {
        scenario: Scenario::Operations,
        stages: Operation::MOST_USED.iter().map(stage).collect(),
        conditions: conditions.collect(),
        item_bytes: ITEM_BYTES,
    };
    comparison.measure(bench).await
}
