//! The floor: the bytes that the runtime would write, appended to a plain file.
//!
//! Nothing that is durable can be faster, whatever it does. Durable, a group is one append and one
//! `fdatasync`; buffered, an operation is one append.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use quixos_bench::Durability;

use super::Setup;
use super::queue::Queue;
use crate::failure::Failure;
use crate::trace::Trace;
use crate::work::Operation;

/// A file that is appended to.
pub(crate) struct Floor {
    trace: Arc<Trace>,
    way: Way,
}

/// How it is written to.
enum Way {
    Grouped(Queue<Vec<u8>>),
    Alone(Mutex<File>),
}

impl Floor {
    pub(super) fn open(setup: Setup<'_>) -> Result<Self, Failure> {
        let path = setup.folder.join("floor");
        let mut options = OpenOptions::new();
        let file = options.create_new(true).append(true).open(&path);
        let mut file = file.map_err(Failure::file(&path))?;
        let way = match setup.durability {
            Durability::Buffered => Way::Alone(Mutex::new(file)),
            Durability::Durable => Way::Grouped(Queue::start(move |group: Vec<Vec<u8>>| {
                file.write_all(&group.concat())?;
                Ok(file.sync_data()?)
            })?),
        };
        Ok(Self { trace: Arc::clone(setup.trace), way })
    }

    pub(super) async fn perform(
        &self,
        operation: Operation,
        request: usize,
    ) -> Result<(), Failure> {
        let writes = &self.trace.step(operation, request)?.writes;
        if writes.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for (key, value) in writes {
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(value.as_deref().unwrap_or_default());
        }
        match &self.way {
            Way::Grouped(queue) => queue.done(bytes).await,
            Way::Alone(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(file.write_all(&bytes)?)
            }
        }
    }
}
