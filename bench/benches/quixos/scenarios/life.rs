//! The life of a request, step after step: admitted, claimed, checkpointed three times, finished,
//! published, and its completion read from the stream.

use quixos_bench::{Durability, Scenario};

use super::comparison::{Comparison, Condition, Stage};
use crate::driver::Bench;
use crate::failure::Failure;
use crate::work::{ITEM_BYTES, Operation};

pub(super) async fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let condition = |durability, callers| Condition {
        durability,
        callers,
        requests: match durability {
            Durability::Durable => bench.arguments.either(2, 30) * callers.max(2),
            Durability::Buffered => bench.arguments.either(100, 1_500),
        },
    };
    let conditions = [Durability::Durable, Durability::Buffered]
        .into_iter()
        .flat_map(|durability| [1, 16, 64].map(|callers| condition(durability, callers)));
    let comparison = Comparison {
        scenario: Scenario::Life,
        stages: vec![Stage { name: Some("life of a request"), steps: &Operation::LIFE }],
        conditions: conditions.collect(),
        item_bytes: ITEM_BYTES,
    };
    comparison.measure(bench).await
}
