//! The headers of the protocol: their names, and how those of a request are read.

use axum::http::header::{self, HeaderMap, HeaderName};
use quixos_engine::trace;
use quixos_streams::streams::ProducerStep;

use crate::error::ApiError;
use crate::telemetry;

pub(super) const NEXT_OFFSET: HeaderName = HeaderName::from_static("stream-next-offset");
pub(super) const UP_TO_DATE: HeaderName = HeaderName::from_static("stream-up-to-date");
pub(super) const CLOSED: HeaderName = HeaderName::from_static("stream-closed");
pub(super) const CURSOR: HeaderName = HeaderName::from_static("stream-cursor");
pub(super) const SEQUENCE: HeaderName = HeaderName::from_static("stream-seq");
pub(super) const TTL: HeaderName = HeaderName::from_static("stream-ttl");
pub(super) const EXPIRES_AT: HeaderName = HeaderName::from_static("stream-expires-at");
pub(super) const FORKED_FROM: HeaderName = HeaderName::from_static("stream-forked-from");
pub(super) const FORK_OFFSET: HeaderName = HeaderName::from_static("stream-fork-offset");
pub(super) const FORK_SUB_OFFSET: HeaderName = HeaderName::from_static("stream-fork-sub-offset");
pub(super) const PRODUCER_ID: HeaderName = HeaderName::from_static("producer-id");
pub(super) const PRODUCER_EPOCH: HeaderName = HeaderName::from_static("producer-epoch");
pub(super) const PRODUCER_SEQUENCE: HeaderName = HeaderName::from_static("producer-seq");
pub(super) const EXPECTED_SEQUENCE: HeaderName = HeaderName::from_static("producer-expected-seq");
pub(super) const RECEIVED_SEQUENCE: HeaderName = HeaderName::from_static("producer-received-seq");
pub(super) const SSE_ENCODING: HeaderName = HeaderName::from_static("stream-sse-data-encoding");
pub(super) const RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// What a page of another host may send.
pub(super) const ALLOWED: [HeaderName; 15] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::IF_NONE_MATCH,
    CLOSED,
    SEQUENCE,
    TTL,
    EXPIRES_AT,
    FORKED_FROM,
    FORK_OFFSET,
    FORK_SUB_OFFSET,
    PRODUCER_ID,
    PRODUCER_EPOCH,
    PRODUCER_SEQUENCE,
    // A page that is traced says which trace it belongs to.
    HeaderName::from_static(trace::HEADER),
    telemetry::STATE_HEADER,
];

/// What a page of another host may see.
pub(super) const EXPOSED: [HeaderName; 14] = [
    header::ETAG,
    header::LOCATION,
    header::RETRY_AFTER,
    NEXT_OFFSET,
    UP_TO_DATE,
    CLOSED,
    CURSOR,
    TTL,
    EXPIRES_AT,
    PRODUCER_EPOCH,
    PRODUCER_SEQUENCE,
    EXPECTED_SEQUENCE,
    RECEIVED_SEQUENCE,
    SSE_ENCODING,
];

/// The value of headers that are there or not.
pub(super) const TRUE: &str = "true";

/// The largest number that a client in JavaScript counts to.
const LARGEST: u64 = (1 << 53) - 1;
/// Bytes of a producer's name.
const NAME: usize = 256;
/// Bytes of a `Stream-Seq`.
const SEQUENCE_BYTES: usize = 256;

/// Returns the text of a header, if it is there.
pub(super) fn text<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h str>, ApiError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let text = value.to_str().map_err(|_| wrong(name, "is not text"))?;
    Ok(Some(text.trim()))
}

/// Returns the content type, if there is one. An empty one is none.
pub(super) fn content_type(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let name = header::CONTENT_TYPE;
    let Some(given) = text(headers, &name)?.filter(|given| !given.is_empty()) else {
        return Ok(None);
    };
    let (essence, _) = given.split_once(';').unwrap_or((given, ""));
    let is_token = |word: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
        !word.is_empty() && word.bytes().all(is_letter)
    };
    let is_type = essence.trim().split_once('/').is_some_and(|(a, b)| is_token(a) && is_token(b));
    if is_type { Ok(Some(given.to_owned())) } else { Err(wrong(&name, "is `TYPE/SUBTYPE`")) }
}

/// Tells whether the stream is to be closed. Any other word than `true` is no word.
pub(super) fn closes(headers: &HeaderMap) -> bool {
    headers.get(CLOSED).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(TRUE.as_bytes()))
}

/// Returns a whole number in its one decimal form, if it is there.
pub(super) fn number(headers: &HeaderMap, name: &HeaderName) -> Result<Option<u64>, ApiError> {
    let Some(text) = text(headers, name)? else { return Ok(None) };
    let is_canonical = text == "0" || !text.starts_with('0');
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_canonical && is_digits);
    number.map(Some).ok_or_else(|| wrong(name, "is a whole number, in digits"))
}

/// Returns the `Stream-Seq`, if it is there.
pub(super) fn sequence(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let sequence = text(headers, &SEQUENCE)?;
    if sequence.is_some_and(|it| it.len() > SEQUENCE_BYTES) {
        return Err(wrong(&SEQUENCE, "is too long"));
    }
    Ok(sequence.map(str::to_owned))
}

/// Returns what a producer sends with each append: all three headers, or none.
pub(super) fn producer(headers: &HeaderMap) -> Result<Option<ProducerStep>, ApiError> {
    let id = text(headers, &PRODUCER_ID)?;
    let epoch = number(headers, &PRODUCER_EPOCH)?;
    let sequence = number(headers, &PRODUCER_SEQUENCE)?;
    let (id, epoch, sequence) = match (id, epoch, sequence) {
        (None, None, None) => return Ok(None),
        (Some(id), Some(epoch), Some(sequence)) => (id, epoch, sequence),
        _ => {
            let error = "`Producer-Id`, `Producer-Epoch` and `Producer-Seq` come together";
            return Err(ApiError::malformed(error));
        }
    };
    if id.is_empty() || id.len() > NAME {
        return Err(wrong(&PRODUCER_ID, "has from 1 to 256 bytes"));
    }
    for (name, number) in [(&PRODUCER_EPOCH, epoch), (&PRODUCER_SEQUENCE, sequence)] {
        if number > LARGEST {
            return Err(wrong(name, "is at most 2^53 - 1"));
        }
    }
    Ok(Some(ProducerStep { id: id.to_owned(), epoch, sequence }))
}

fn wrong(name: &HeaderName, what: &str) -> ApiError {
    ApiError::malformed(format!("the header `{name}` {what}"))
}
