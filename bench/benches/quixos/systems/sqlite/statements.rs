//! The statements: what each operation of the package does, in SQL.
//!
//! The same is read, checked and written as the handlers read, check and write. What is not as it
//! must be ends the run.

use std::hint::black_box;
use std::sync::OnceLock;

use rusqlite::{Connection, OptionalExtension, params};

use super::Numbered;
use crate::failure::{Failure, done};
use crate::work::{self, Operation};

/// The only directory, and the only agent.
const FIRST: i64 = 1;

/// Makes the directory and its agent.
pub(super) fn install(connection: &Connection) -> Result<(), Failure> {
    connection
        .execute("INSERT INTO directory VALUES (?1, 0, 0, 0, 0, '[]', 'offline')", [FIRST])?;
    connection.execute(
        "INSERT INTO agent VALUES (?1, ?1, 'default', 1, ?2, ?3, ?4, ?4, 1, 0)",
        params![FIRST, work::INSTRUCTIONS, work::SETTINGS, u32::MAX],
    )?;
    Ok(())
}

/// Does an operation that writes.
pub(super) fn perform(
    connection: &Connection,
    operation: Operation,
    numbered: &Numbered,
    item_bytes: usize,
) -> Result<(), Failure> {
    match operation {
        Operation::Request => keep(&numbered.request, admit(connection)?),
        Operation::Claim => claim(connection, found(&numbered.request)?),
        Operation::Upsert(version) => {
            let text = work::text(version, item_bytes);
            let item = upsert(connection, found(&numbered.request)?, &text, version)?;
            if version == 1 { keep(&numbered.item, item) } else { Ok(()) }
        }
        Operation::Checkpoint(version) => {
            let text = work::text(version, item_bytes);
            checkpoint(connection, found(&numbered.item)?, &text, version)
        }
        Operation::Ask => keep(&numbered.question, ask(connection, found(&numbered.request)?)?),
        Operation::Answer => answer(connection, found(&numbered.question)?),
        Operation::Transition => transition(connection, found(&numbered.request)?),
        Operation::Finish => finish(connection, found(&numbered.request)?),
        Operation::Publish => publish(connection, found(&numbered.request)?),
        Operation::Progress => progress(connection, numbered),
        Operation::ReadStream => events(connection, 0),
    }
}

fn admit(connection: &Connection) -> Result<i64, Failure> {
    let mut agent = connection.prepare_cached(
        "SELECT a.enabled, a.instructions, a.settings,
                d.pending < a.max_pending, d.sequence
         FROM agent a JOIN directory d ON d.id = a.directory
         WHERE a.id = ?1",
    )?;
    let (enabled, instructions, settings, room, sequence): (bool, String, String, bool, i64) =
        agent.query_row([FIRST], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })?;
    done(enabled && room, "request")?;
    let submission = work::submission();
    done(!submission.text.trim().is_empty(), "request")?;
    let configuration = format!(
        r#"{{"agent":{FIRST},"instructions":"{instructions}","profile":null,"settings":{settings}}}"#
    );
    let digest = blake3::hash(configuration.as_bytes()).to_hex();
    let title: String = submission.text.chars().take(80).collect();
    connection
        .prepare_cached(
            "UPDATE directory SET sequence = sequence + 2, pending = pending + 1 WHERE id = ?1",
        )?
        .execute([FIRST])?;
    connection
        .prepare_cached(
            "INSERT INTO thread (directory, agent, title, kind, archived, sequence, pending,
                                 next_item, updated_at)
             VALUES (?1, ?1, ?2, 'request', 0, ?3, 1, 2, ?4)",
        )?
        .execute(params![FIRST, title, sequence + 2, work::NOW])?;
    let thread = connection.last_insert_rowid();
    connection
        .prepare_cached(
            "INSERT INTO request (directory, thread, text, data, configuration,
                configuration_digest, response_kind, sequence, created_at, source_kind,
                source_label, publication, causal_depth, interactive, spawned, status, attempt,
                generation, reason, cancel_requested, retry_count, notification_pending)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'text', ?7, ?8, ?9, ?10, ?11, ?12, 1, 0, 'queued', '',
                0, '', 0, 0, 0)",
        )?
        .execute(params![
            FIRST,
            thread,
            submission.text,
            submission.data,
            configuration,
            digest.as_str(),
            sequence + 2,
            submission.created_at,
            submission.source_kind,
            submission.source_label,
            submission.publication,
            submission.causal_depth,
        ])?;
    let request = connection.last_insert_rowid();
    let text = submission.text;
    insert_item(connection, thread, request, &Item { key: "prompt", text: &text, sequence: 1 })?;
    Ok(request)
}

fn claim(connection: &Connection, request: i64) -> Result<(), Failure> {
    let mut state = connection.prepare_cached(
        "SELECT r.status, r.generation, r.thread, t.active
         FROM request r JOIN thread t ON t.id = r.thread WHERE r.id = ?1",
    )?;
    let (status, generation, thread, active): (String, u32, i64, Option<i64>) = state
        .query_row([request], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let is_free = active.is_none_or(|active| active == request);
    done(
        status == "queued" && generation == work::claim().expected_generation && is_free,
        "claim",
    )?;
    connection
        .prepare_cached("UPDATE thread SET active = ?2 WHERE id = ?1")?
        .execute([thread, request])?;
    connection
        .prepare_cached(
            "UPDATE request SET status = 'running', attempt = ?2, generation = generation + 1,
                reason = '', started_at = ?3 WHERE id = ?1",
        )?
        .execute(params![request, work::ATTEMPT, work::NOW])?;
    Ok(())
}

/// Checks that the request is held under the fence, and returns its thread.
fn fenced(connection: &Connection, request: i64) -> Result<i64, Failure> {
    let mut fence = connection
        .prepare_cached("SELECT status, attempt, generation, thread FROM request WHERE id = ?1")?;
    let (status, attempt, generation, thread): (String, String, u32, i64) = fence
        .query_row([request], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let is_held = matches!(status.as_str(), "running" | "waiting");
    done(is_held && attempt == work::ATTEMPT && generation == work::GENERATION, "fence")?;
    Ok(thread)
}

fn upsert(connection: &Connection, request: i64, text: &str, version: u8) -> Result<i64, Failure> {
    let thread = fenced(connection, request)?;
    let item: Option<(i64, u8)> = connection
        .prepare_cached("SELECT id, version FROM item WHERE request = ?1 AND key = ?2")?
        .query_row(params![request, work::ITEM], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((item, stored)) = item {
        done(stored < version, "upsertItem")?;
        update_item(connection, item, text, version)?;
        return Ok(item);
    }
    let sequence: i64 = connection
        .prepare_cached(
            "UPDATE thread SET next_item = next_item + 1, updated_at = max(updated_at, ?2)
             WHERE id = ?1 RETURNING next_item - 1",
        )?
        .query_row(params![thread, work::NOW], |row| row.get(0))?;
    insert_item(connection, thread, request, &Item { key: work::ITEM, text, sequence })
}

/// What differs between new items.
struct Item<'a> {
    key: &'a str,
    text: &'a str,
    sequence: i64,
}

fn insert_item(
    connection: &Connection,
    thread: i64,
    request: i64,
    item: &Item<'_>,
) -> Result<i64, Failure> {
    connection
        .prepare_cached(
            "INSERT INTO item (thread, request, key, kind, text, phase, sequence, version,
                               created_at, updated_at)
             VALUES (?1, ?2, ?3, 'message', ?4, 'streaming', ?5, 1, ?6, ?6)",
        )?
        .execute(params![thread, request, item.key, item.text, item.sequence, work::NOW])?;
    Ok(connection.last_insert_rowid())
}

fn update_item(connection: &Connection, item: i64, text: &str, version: u8) -> Result<(), Failure> {
    connection
        .prepare_cached(
            "UPDATE item SET text = ?2, version = ?3, phase = 'streaming', updated_at = ?4
             WHERE id = ?1",
        )?
        .execute(params![item, text, version, work::NOW])?;
    Ok(())
}

fn checkpoint(connection: &Connection, item: i64, text: &str, version: u8) -> Result<(), Failure> {
    let (request, stored): (i64, u8) = connection
        .prepare_cached("SELECT request, version FROM item WHERE id = ?1")?
        .query_row([item], |row| Ok((row.get(0)?, row.get(1)?)))?;
    fenced(connection, request)?;
    done(stored < version, "checkpoint")?;
    update_item(connection, item, text, version)
}

fn ask(connection: &Connection, request: i64) -> Result<i64, Failure> {
    fenced(connection, request)?;
    let known: Option<i64> = connection
        .prepare_cached(
            "SELECT id FROM question WHERE request = ?1 AND key = ?2
             AND (status = 'answered' OR (status = 'open' AND attempt = ?3 AND generation = ?4
                                          AND expires_at > ?5))
             ORDER BY status LIMIT 1",
        )?
        .query_row(
            params![request, work::QUESTION, work::ATTEMPT, work::GENERATION, work::NOW],
            |row| row.get(0),
        )
        .optional()?;
    done(known.is_none(), "ask")?;
    let ask = work::ask(work::QUESTION, work::NOW, work::LATER);
    connection
        .prepare_cached(
            "INSERT INTO question (request, key, title, options, status, created_at, expires_at,
                                   attempt, generation)
             VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            request,
            ask.key,
            ask.title,
            ask.options,
            ask.created_at,
            ask.expires_at,
            ask.attempt,
            ask.generation,
        ])?;
    let question = connection.last_insert_rowid();
    connection
        .prepare_cached("UPDATE request SET status = 'waiting' WHERE id = ?1")?
        .execute([request])?;
    Ok(question)
}

fn answer(connection: &Connection, question: i64) -> Result<(), Failure> {
    let (request, status, options, expires): (i64, String, String, String) = connection
        .prepare_cached("SELECT request, status, options, expires_at FROM question WHERE id = ?1")?
        .query_row([question], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    fenced(connection, request)?;
    let options: Vec<String> = serde_json::from_str(&options)?;
    let is_offered = options.iter().any(|option| option == work::ANSWER);
    done(status == "open" && expires.as_str() > work::NOW && is_offered, "answer")?;
    connection
        .prepare_cached("UPDATE question SET status = 'answered', answer = ?2 WHERE id = ?1")?
        .execute(params![question, work::ANSWER])?;
    Ok(())
}

fn transition(connection: &Connection, request: i64) -> Result<(), Failure> {
    fenced(connection, request)?;
    connection
        .prepare_cached("UPDATE request SET status = 'running', reason = ?2 WHERE id = ?1")?
        .execute(params![request, work::transition().reason])?;
    Ok(())
}

fn finish(connection: &Connection, request: i64) -> Result<(), Failure> {
    let thread = fenced(connection, request)?;
    let finish = work::finish();
    let notify: bool = connection
        .prepare_cached(
            "SELECT a.notify_completions FROM thread t JOIN agent a ON a.id = t.agent
             WHERE t.id = ?1",
        )?
        .query_row([thread], |row| row.get(0))?;
    connection
        .prepare_cached(
            "UPDATE request SET status = ?2, result = ?3, raw_output = ?4, usage = ?5, reason = ?6,
                ended_at = ?7, notification_pending = ?8 WHERE id = ?1",
        )?
        .execute(params![
            request,
            finish.status,
            finish.result,
            finish.raw_output,
            finish.usage,
            finish.reason,
            finish.ended_at,
            notify,
        ])?;
    connection
        .prepare_cached(
            "UPDATE directory SET pending = pending - 1,
                notification_pending = notification_pending + ?2 WHERE id = ?1",
        )?
        .execute(params![FIRST, notify])?;
    connection
        .prepare_cached(
            "UPDATE thread SET pending = pending - 1, sequence = sequence + 1, active = NULL,
                updated_at = max(updated_at, ?2) WHERE id = ?1",
        )?
        .execute(params![thread, work::NOW])?;
    Ok(())
}

fn publish(connection: &Connection, request: i64) -> Result<(), Failure> {
    let (thread, status, is_due): (i64, String, bool) = connection
        .prepare_cached("SELECT thread, status, notification_pending FROM request WHERE id = ?1")?
        .query_row([request], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    done(is_due, "publishCompletion")?;
    let position: i64 = connection
        .prepare_cached(
            "UPDATE agent SET completions = completions + 1 WHERE id = ?1
             RETURNING completions - 1",
        )?
        .query_row([FIRST], |row| row.get(0))?;
    connection
        .prepare_cached("INSERT INTO completion VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![FIRST, position, request, thread, status])?;
    connection
        .prepare_cached(
            "UPDATE directory SET notification_pending = notification_pending - 1 WHERE id = ?1",
        )?
        .execute([FIRST])?;
    connection
        .prepare_cached("UPDATE request SET notification_pending = 0 WHERE id = ?1")?
        .execute([request])?;
    Ok(())
}

/// Reads the progress of a request.
pub(super) fn progress(connection: &Connection, numbered: &Numbered) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT generation, status, attempt, reason, result, raw_output, usage, started_at,
                ended_at, cancel_requested, retry_count, notification_pending
         FROM request WHERE id = ?1",
    )?;
    let generation: u32 = statement.query_row([found(&numbered.request)?], |row| {
        for column in 1..=8 {
            black_box(row.get::<_, Option<String>>(column)?);
        }
        row.get(0)
    })?;
    done(generation == work::GENERATION, "progress")
}

/// Reads a page of the stream.
pub(super) fn events(connection: &Connection, from: u64) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT position, request, thread, status FROM completion
         WHERE agent = ?1 AND position >= ?2 ORDER BY position LIMIT ?3",
    )?;
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let limit = i64::try_from(work::PAGE).unwrap_or(i64::MAX);
    let mut rows = statement.query([FIRST, from, limit])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        black_box(row.get::<_, i64>(1)? + row.get::<_, i64>(2)?);
        black_box(row.get::<_, String>(3)?);
        count += 1;
    }
    done(count > 0, "events")
}

fn keep(place: &OnceLock<i64>, row: i64) -> Result<(), Failure> {
    place.set(row).map_err(|_| Failure::refused("a number was used twice"))
}

fn found(place: &OnceLock<i64>) -> Result<i64, Failure> {
    place.get().copied().ok_or_else(|| Failure::refused("there is no such row yet"))
}
