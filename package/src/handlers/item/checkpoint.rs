//! `item_checkpoint`: brings an item up to date, each version once.
//!
//! Where the item stands and since when never changes: key, sequence and `createdAt` stay as
//! stored, whatever the input says. It says them all the same, so a time among them that does not
//! parse is refused.

use std::cmp::Ordering;

use quixos_runtime::{CallError, Fence};

use crate::AgentRuntime;
use crate::agent_runtime::ItemData;
use crate::agent_runtime::item_checkpoint::{Context, Handler, Input, Output};
use crate::{fence, item};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        item::check("data.", &input.data)?;
        let Input { attempt, generation, data } = input;
        let fence = Fence { attempt, generation };
        let request = cx.item(cx.receiver()).request()?;
        fence::require(&cx.request(request).progress()?, &fence)?;
        item::require_control(&data, &fence)?;

        let stored = cx.data().read()?;
        let given = ItemData {
            key: stored.key.clone(),
            sequence: stored.sequence,
            created_at: stored.created_at.clone(),
            ..data
        };
        match given.version.cmp(&stored.version) {
            Ordering::Greater => cx.data().write(&given),
            Ordering::Equal if given == stored => Ok(()),
            Ordering::Equal | Ordering::Less => {
                Err(CallError::StaleVersion { given: given.version, stored: stored.version })
            }
        }
    }
}
