//! Bodies as bytes, so that what is wrong with one is said as everything else is.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;

use crate::error::ApiError;

/// The bytes of a body, of which there are not too many.
pub(crate) struct Body(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = Bytes::from_request(request, state).await;
        bytes.map(Self).map_err(|rejection: BytesRejection| match rejection.status() {
            status @ StatusCode::PAYLOAD_TOO_LARGE => {
                ApiError::new(status, "too-large", "the body has more bytes than are taken")
            }
            _ => ApiError::malformed("the body ended early"),
        })
    }
}
