//! Bodies as bytes, so that what is wrong with one is said as everything else is.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;

use crate::error::ApiError;

/// How long a body may take to come, however it comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The bytes of a body, of which there are not too many.
pub(crate) struct Body(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let read = tokio::time::timeout(PATIENCE, Bytes::from_request(request, state)).await;
        let bytes = read.map_err(|_| {
            let error = "the body took too long to come";
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", error)
        })?;
        bytes.map(Self).map_err(|rejection: BytesRejection| match rejection.status() {
            status @ StatusCode::PAYLOAD_TOO_LARGE => {
                ApiError::new(status, "too-large", "the body has more bytes than are taken")
            }
            _ => ApiError::malformed("the body ended early"),
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use futures_util::StreamExt as _;
    use futures_util::stream;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_sends_a_body_drop_by_drop_is_not_waited_for() {
        let drops = stream::repeat(Bytes::from_static(b" ")).then(async |drop| {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, std::io::Error>(drop)
        });
        let request = Request::new(axum::body::Body::from_stream(drops));
        let error = Body::from_request(request, &()).await.err().unwrap();
        assert_eq!(error.into_response().status(), StatusCode::REQUEST_TIMEOUT);
    }
}
