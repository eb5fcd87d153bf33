//! `/operator/backup`: a consistent export of the store, while it serves.
//!
//! Calls that write wait for a moment, while what they changed meanwhile is read: the export goes to
//! a file without a name, and is sent from there as fast as the reader takes it.

use std::fs::File;
use std::io::{BufWriter, Seek as _};
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use futures_util::StreamExt as _;
use quixos_runtime::{ExportError, Runtime, blocking};
use tokio_util::io::ReaderStream;

use super::{Inside, Shared};
use crate::error::ApiError;

/// Bytes that are sent at a time.
const PIECE: usize = 256 << 10;

pub(super) fn routes() -> Router<Arc<Inside>> {
    Router::new().route("/operator/backup", get(backup))
}

async fn backup(inside: Shared) -> Result<Response, ApiError> {
    let place = Arc::clone(&inside.backups).try_acquire_owned().map_err(|_| {
        let error = "another backup is being made";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", error)
    })?;
    let (runtime, folder) = (inside.runtime.clone(), inside.folder.clone());
    // The place goes along: whoever goes away does not end the copy.
    let written = tokio::task::spawn_blocking(move || (write(&runtime, folder.as_deref()), place));
    let (written, place) =
        written.await.map_err(|error| failed(&ExportError::Write(error.into())))?;
    let (file, length) = written.map_err(|error| failed(&error))?;
    let pieces = ReaderStream::with_capacity(tokio::fs::File::from_std(file), PIECE);
    // The next one may begin when this file is gone.
    let pieces = pieces.map(move |piece| {
        let _held = &place;
        piece
    });
    let head = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        // What is cut off is seen to be.
        (header::CONTENT_LENGTH, length.to_string()),
    ];
    Ok((head, Body::from_stream(pieces)).into_response())
}

fn write(runtime: &Runtime, folder: Option<&Path>) -> Result<(File, u64), ExportError> {
    let file = || match folder {
        Some(folder) => tempfile::tempfile_in(folder),
        None => tempfile::tempfile(),
    };
    let mut to = BufWriter::new(file()?);
    blocking(runtime.export_beside(&mut to, file))?;
    let mut file = to.into_inner().map_err(|error| ExportError::Write(error.into_error()))?;
    let length = file.stream_position().map_err(ExportError::Write)?;
    file.rewind().map_err(ExportError::Write)?;
    Ok((file, length))
}

fn failed(error: &ExportError) -> ApiError {
    // The operator is told why: it is theirs to mend.
    let (code, text) = match error {
        ExportError::Write(error) => ("io", format!("the backup cannot be laid down: {error}")),
        ExportError::Store(error) => (error.code(), error.to_string()),
    };
    tracing::error!(error = %text, "a backup failed");
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, code, text)
}
