//! `PUT`, `POST` and `DELETE`: streams are made, appended to, closed and deleted.

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum_extra::extract::WithRejection;
use quixos_streams::streams::{Append, Create, CreateFork, PublicStream, StreamRegistry};

use super::failure::Failure;
use super::read::put;
use super::space::{Asked, Space};
use super::{body, headers};
use crate::error::ApiError;
use crate::state::Shared;

pub(super) async fn create(
    state: Shared,
    uri: Uri,
    Asked { space, .. }: Asked,
    headers: HeaderMap,
    WithRejection(Path(path), _): WithRejection<Path<String>, Failure>,
    sent: Body,
) -> Result<Response, Failure> {
    let (ttl, expires_at) = lifetime(&headers)?;
    let create = Create {
        key: space.key(&path)?,
        content_type: headers::content_type(&headers)?,
        ttl,
        expires_at,
        closed: headers::closes(&headers),
        fork: fork(&headers, &space)?,
        body: body::read(sent, state.durable.config.append).await?,
    };
    let by = space.caller(&state);
    let created = StreamRegistry::on(&by, state.durable.registry).create(&create).await?;
    let status = if created.created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = status.into_response();
    let found = response.headers_mut();
    put(found, header::CONTENT_TYPE, &created.content_type);
    put(found, headers::NEXT_OFFSET, &created.tail);
    if created.closed {
        put(found, headers::CLOSED, headers::TRUE);
    }
    if created.created {
        put(found, header::LOCATION, &location(&uri, &headers));
    }
    Ok(response)
}

pub(super) async fn append(
    state: Shared,
    Asked { space, .. }: Asked,
    headers: HeaderMap,
    WithRejection(Path(path), _): WithRejection<Path<String>, Failure>,
    sent: Body,
) -> Result<Response, Failure> {
    let key = space.key(&path)?;
    let close = headers::closes(&headers);
    let producer = headers::producer(&headers)?;
    let sequence = headers::sequence(&headers)?;
    let content_type = headers::content_type(&headers);
    let bytes = body::read(sent, state.durable.config.append).await?;
    let has_content = !bytes.is_empty();
    // What closes a stream and brings nothing may be of any type, or of none.
    let content_type = if has_content { content_type? } else { None };
    if has_content && content_type.is_none() {
        return Err(ApiError::malformed("the header `content-type` is missing").into());
    }
    if !has_content && !close {
        return Err(ApiError::malformed("there is nothing to append").into());
    }
    let is_named = producer.is_some();
    let append = Append { content_type, body: bytes, close, producer, sequence };
    let by = space.caller(&state);
    let stream = super::find(&state, &by, &key).await?;
    let appended = PublicStream::on(&by, stream).append(&append).await?;
    // The protocol tells a producer by the status that what it sent is new.
    let is_news = is_named && appended.applied && has_content;
    let status = if is_news { StatusCode::OK } else { StatusCode::NO_CONTENT };
    let mut response = status.into_response();
    let found = response.headers_mut();
    put(found, headers::NEXT_OFFSET, &appended.tail);
    if appended.closed {
        put(found, headers::CLOSED, headers::TRUE);
    }
    if let Some(step) = &appended.producer {
        put(found, headers::PRODUCER_EPOCH, &step.epoch.to_string());
        put(found, headers::PRODUCER_SEQUENCE, &step.sequence.to_string());
    }
    Ok(response)
}

pub(super) async fn delete(
    state: Shared,
    Asked { space, .. }: Asked,
    WithRejection(Path(path), _): WithRejection<Path<String>, Failure>,
) -> Result<Response, Failure> {
    let key = space.key(&path)?;
    let by = space.caller(&state);
    StreamRegistry::on(&by, state.durable.registry).delete(&key).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Returns how long a stream is to last: seconds, or until when.
fn lifetime(headers: &HeaderMap) -> Result<(Option<u64>, Option<String>), ApiError> {
    let ttl = headers::number(headers, &headers::TTL)?;
    let expires_at = headers::text(headers, &headers::EXPIRES_AT)?;
    if ttl.is_some() && expires_at.is_some() {
        let error = "a stream has `Stream-TTL` or `Stream-Expires-At`, not both";
        return Err(ApiError::malformed(error));
    }
    Ok((ttl, expires_at.map(str::to_owned)))
}

/// Returns what the stream is to be a fork of, if it is to be one.
fn fork(headers: &HeaderMap, space: &Space) -> Result<Option<CreateFork>, ApiError> {
    let offset = headers::text(headers, &headers::FORK_OFFSET)?;
    let sub = headers::number(headers, &headers::FORK_SUB_OFFSET)?;
    let Some(source) = headers::text(headers, &headers::FORKED_FROM)? else {
        return if offset.is_none() && sub.is_none() {
            Ok(None)
        } else {
            Err(ApiError::malformed("a fork needs `Stream-Forked-From`"))
        };
    };
    Ok(Some(CreateFork {
        source: space.key_of_url(source)?,
        offset: offset.map(str::to_owned),
        sub: sub.unwrap_or(0),
    }))
}

/// Returns the URL that a stream was made at, as far as the host can know it.
fn location(uri: &Uri, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_secure = headers.get("x-forwarded-proto").is_some_and(|it| it == "https");
    match host {
        Some(host) => format!("http{}://{host}{uri}", if is_secure { "s" } else { "" }),
        None => uri.to_string(),
    }
}
