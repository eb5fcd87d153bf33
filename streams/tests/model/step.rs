//! What can happen to streams: few of each thing, so that they meet.

use proptest::prelude::*;

/// How many streams there are.
pub(crate) const KEYS: u8 = 3;

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Create {
        key: u8,
        json: bool,
        ttl: Option<u64>,
        closed: bool,
        body: Vec<u8>,
        fork: Option<Fork>,
    },
    Append {
        key: u8,
        json: bool,
        body: Vec<u8>,
        close: bool,
        /// Who it is, its epoch, and its sequence.
        producer: Option<(u8, u64, u64)>,
        sequence: Option<u8>,
    },
    Delete {
        key: u8,
    },
    Touch {
        key: u8,
    },
    Read {
        key: u8,
        from: Option<(u64, u64)>,
        limit: u32,
    },
    Wait {
        millis: u64,
    },
    Reopen,
}

/// What a fork is of.
#[derive(Clone, Debug)]
pub(crate) struct Fork {
    pub(crate) source: u8,
    pub(crate) at: Option<(u64, u64)>,
    pub(crate) sub: u64,
}

/// Writes a place as offsets are written.
pub(crate) fn offset((events, bytes): (u64, u64)) -> String {
    format!("{events:016}_{bytes:016}")
}

/// Returns one of the two content types.
pub(crate) fn content_type(json: bool) -> &'static str {
    if json { "application/json" } else { "text/plain" }
}

/// Draws a history.
pub(crate) fn history() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 20..200)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => create(),
        16 => append(),
        1 => (0..KEYS).prop_map(|key| Step::Delete { key }),
        1 => (0..KEYS).prop_map(|key| Step::Touch { key }),
        5 => (0..KEYS, prop::option::of(place()), 0..9_u32)
            .prop_map(|(key, from, limit)| Step::Read { key, from, limit }),
        2 => (0..1500_u64).prop_map(|millis| Step::Wait { millis }),
        1 => Just(Step::Reopen),
    ]
}

fn create() -> impl Strategy<Value = Step> {
    let fork = (0..KEYS, prop::option::of(place()), 0..3_u64);
    let fork = fork.prop_map(|(source, at, sub)| Fork { source, at, sub });
    (
        0..KEYS,
        prop::bool::weighted(0.3),
        prop::option::weighted(0.15, 1..3_u64),
        prop::bool::weighted(0.05),
        body(),
        prop::option::weighted(0.3, fork),
    )
        .prop_map(|(key, json, ttl, closed, body, fork)| Step::Create {
            key,
            json,
            ttl,
            closed,
            body,
            fork,
        })
}

fn append() -> impl Strategy<Value = Step> {
    (
        0..KEYS,
        prop::bool::weighted(0.3),
        body(),
        prop::bool::weighted(0.03),
        prop::option::of((0..2_u8, 0..3_u64, 0..3_u64)),
        prop::option::weighted(0.15, 0..9_u8),
    )
        .prop_map(|(key, json, body, close, producer, sequence)| Step::Append {
            key,
            json,
            body,
            close,
            producer,
            sequence,
        })
}

/// Draws a body: most are JSON and text at once.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let bodies = ["", "1", "22", "[]", "[1,2]", "[ 3, [4] ,5]", "{", "null"];
    prop::sample::select(bodies.map(|body| body.as_bytes().to_vec()).to_vec())
}

/// Draws a place that may well be one of a stream of such bodies.
fn place() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![Just((0, 0)), (0..4_u64, 0..12_u64)]
}
