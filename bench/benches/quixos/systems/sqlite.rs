//! SQLite, as one would write it by hand: the same work and the same durability.
//!
//! One thread writes: it takes all who wait into one transaction, each behind a savepoint of its
//! own, so that one that fails leaves no trace and does not take the others with it. Readers have
//! connections of their own. Durable is WAL with `synchronous=FULL`, which syncs the log at each
//! commit; buffered is `synchronous=NORMAL`, which does not.
//!
//! What the runtime does besides is not asked for: no history, no capabilities, no digests of
//! inputs. Foreign keys are declared and not enforced, as is SQLite's default.

mod statements;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use quixos_bench::Durability;
use rusqlite::Connection;

use super::queue::Queue;
use super::{CACHE_BYTES, Setup};
use crate::failure::Failure;
use crate::work::Operation;

/// A database, and what has become of the requests that are numbered.
pub(crate) struct Sqlite {
    path: PathBuf,
    requests: Arc<Vec<Numbered>>,
    writer: Queue<(Operation, usize)>,
    /// Connections that nobody reads with right now.
    readers: Mutex<Vec<Connection>>,
    published: Arc<AtomicU64>,
}

/// The rows of a numbered request.
#[derive(Default)]
struct Numbered {
    request: OnceLock<i64>,
    item: OnceLock<i64>,
    question: OnceLock<i64>,
}

impl Sqlite {
    pub(super) fn open(setup: Setup<'_>) -> Result<Self, Failure> {
        let path = setup.folder.join("sqlite");
        let connection = connect(&path, setup.durability)?;
        connection.execute_batch(include_str!("sqlite/schema.sql"))?;
        statements::install(&connection)?;
        let mut requests = Vec::new();
        requests.resize_with(setup.trace.requests(), Numbered::default);
        let requests = Arc::new(requests);
        let published = Arc::new(AtomicU64::new(0));
        let item_bytes = setup.item_bytes;
        let (numbered, counter) = (Arc::clone(&requests), Arc::clone(&published));
        let writer = Queue::start(move |group: Vec<(Operation, usize)>| {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let mut completions = 0;
            for (operation, request) in group {
                connection.prepare_cached("SAVEPOINT one")?.execute([])?;
                statements::perform(&connection, operation, &numbered[request], item_bytes)?;
                connection.prepare_cached("RELEASE one")?.execute([])?;
                completions += u64::from(operation == Operation::Publish);
            }
            connection.execute_batch("COMMIT")?;
            counter.fetch_add(completions, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(Self { path, requests, writer, readers: Mutex::default(), published })
    }

    pub(super) async fn perform(
        &self,
        operation: Operation,
        request: usize,
    ) -> Result<(), Failure> {
        match operation {
            Operation::Progress => {
                self.read(|connection| statements::progress(connection, &self.requests[request]))
            }
            Operation::ReadStream => {
                let newest = self.published.load(Ordering::Relaxed).saturating_sub(1);
                self.read(|connection| statements::events(connection, newest))
            }
            Operation::Request
            | Operation::Claim
            | Operation::Upsert(_)
            | Operation::Checkpoint(_)
            | Operation::Ask
            | Operation::Answer
            | Operation::Transition
            | Operation::Finish
            | Operation::Publish => self.writer.done((operation, request)).await,
        }
    }

    fn read(&self, read: impl FnOnce(&Connection) -> Result<(), Failure>) -> Result<(), Failure> {
        let idle = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let free = idle().pop();
        let connection = match free {
            Some(connection) => connection,
            None => connect(&self.path, Durability::Durable)?,
        };
        read(&connection)?;
        idle().push(connection);
        Ok(())
    }
}

fn connect(path: &Path, durability: Durability) -> Result<Connection, Failure> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(
        None,
        "synchronous",
        match durability {
            Durability::Durable => "FULL",
            Durability::Buffered => "NORMAL",
        },
    )?;
    // Negative: in KiB.
    let cache = i64::try_from(CACHE_BYTES >> 10).unwrap_or(i64::MAX);
    connection.pragma_update(None, "cache_size", -cache)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}
