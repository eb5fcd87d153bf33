//! The console: the files that a browser is given at the operator's door.
//!
//! They are a part of the binary, and the same for everybody: whoever asks gets them, and can do
//! nothing with them without the token. They run under a policy that lets in no script and no style
//! but these files, no HTML made of text, and no other page around them.

use axum::Router;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use rust_embed::{Embed, EmbeddedFile};

use crate::error::ApiError;

/// The files. A build for development reads them anew each time.
#[derive(Embed)]
#[folder = "console"]
struct Files;

/// The page itself.
const PAGE: &str = "index.html";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// Headers that every file has. A browser asks each time whether it has the file that there is.
const HEADERS: [(header::HeaderName, &str); 4] = [
    (CACHE_CONTROL, "no-cache"),
    (CONTENT_SECURITY_POLICY, POLICY),
    (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Returns a route for each file, and no other.
pub(super) fn routes() -> Router {
    let file = |path: String| async move |headers: HeaderMap| serve(&path, &headers);
    Files::iter().fold(Router::new().route("/", get(file(PAGE.to_owned()))), |routes, path| {
        routes.route(&format!("/{path}"), get(file(path.into_owned())))
    })
}

fn serve(path: &str, asked: &HeaderMap) -> Result<Response, ApiError> {
    let file = Files::get(path)
        .ok_or_else(|| ApiError::new(StatusCode::NOT_FOUND, "no-route", "there is no such file"))?;
    let tag = tag(&file);
    let head = (HEADERS, [(ETAG, tag.clone())]);
    if asked.get_all(IF_NONE_MATCH).iter().any(|it| knows(it, &tag)) {
        return Ok((StatusCode::NOT_MODIFIED, head).into_response());
    }
    Ok((head, [(CONTENT_TYPE, kind(path))], file.data).into_response())
}

/// What the file is known by: its hash.
fn tag(file: &EmbeddedFile) -> String {
    let hash = file.metadata.sha256_hash();
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

/// Says whether `If-None-Match` names a tag. What is packed on the way has a weak one.
fn knows(asked: &HeaderValue, tag: &str) -> bool {
    let asked = asked.to_str().unwrap_or_default();
    asked
        .split(',')
        .map(str::trim)
        .any(|it| it == "*" || it.strip_prefix("W/").unwrap_or(it) == tag)
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
