//! Bodies of appends: read whole, and of so many bytes at most.

use axum::body::Body;
use axum::http::StatusCode;
use futures_util::StreamExt as _;

use crate::error::ApiError;
use crate::routes::PATIENCE;

/// Bytes that are still taken, and dropped, of a body that has too many: who is still sending when
/// it is answered may not hear the answer.
const DROPPED: usize = 16 << 20;

/// Reads a body, which has as long to come as any other.
pub(super) async fn read(body: Body, most: usize) -> Result<Vec<u8>, ApiError> {
    tokio::time::timeout(PATIENCE, whole(body, most)).await.map_err(|_| {
        let error = "the body took too long to come";
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", error)
    })?
}

async fn whole(body: Body, most: usize) -> Result<Vec<u8>, ApiError> {
    let mut pieces = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut total = 0_usize;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| ApiError::malformed("the body ended early"))?;
        total = total.saturating_add(piece.len());
        if total <= most {
            bytes.extend_from_slice(&piece);
        } else if total > most.saturating_add(DROPPED) {
            break;
        }
    }
    if total > most {
        let error = format!("one append has at most {most} bytes");
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", error));
    }
    Ok(bytes)
}
