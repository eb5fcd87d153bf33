//! An API of models: where it is, what opens it, what it costs.

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::http::Limits;
use crate::price::PriceTable;

/// An API of models. Any server will do that speaks the provider's form.
#[derive(Clone, Debug)]
pub struct Api {
    base: Url,
    key: Option<SecretString>,
    pub(super) headers: HeaderMap,
    pub(super) limits: Limits,
    pub(super) prices: PriceTable,
}

impl Api {
    /// Returns an API at an address, which opens without a key. A query in the address is kept.
    ///
    /// # Errors
    ///
    /// It is no address of HTTP.
    pub fn new(base_url: &str) -> Result<Self, ApiError> {
        let is_http = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        let base = Url::parse(base_url).ok().filter(is_http).ok_or(ApiError::Url)?;
        let (limits, prices) = (Limits::PROVIDER, PriceTable::new());
        Ok(Self { base, key: None, headers: HeaderMap::new(), limits, prices })
    }

    /// Opens it with a key.
    ///
    /// # Errors
    ///
    /// The key is empty, or has letters that no key has.
    pub fn key(self, key: SecretString) -> Result<Self, ApiError> {
        let text = key.expose_secret();
        let is_key = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_key { Ok(Self { key: Some(key), ..self }) } else { Err(ApiError::Key) }
    }

    /// Sends a header with each call: an organisation, say, or a version.
    ///
    /// # Errors
    ///
    /// It is no header.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, ApiError> {
        let name: HeaderName = name.parse().map_err(|_| ApiError::Header)?;
        let value = HeaderValue::from_str(value).map_err(|_| ApiError::Header)?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Charges replies by these prices, where the API does not say what they cost.
    #[must_use]
    pub fn prices(self, prices: PriceTable) -> Self {
        Self { prices, ..self }
    }

    /// Takes other amounts of replies.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the address of something in it.
    pub(super) fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // Only an address without a host has no path to go on from.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    /// Returns the header that opens it, which no log shows.
    pub(super) fn opening(&self, prefix: &str) -> Option<HeaderValue> {
        let key = self.key.as_ref()?.expose_secret();
        let mut value = HeaderValue::from_str(&format!("{prefix}{key}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Returns a text in which the key is not to be read. Servers repeat what they were sent.
    pub(super) fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.expose_secret(), "(the key)"),
            None => text.to_owned(),
        }
    }
}

/// Why an API cannot be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The address.
    #[error("the address of an API begins with `http://` or `https://` and names a host")]
    Url,
    /// The key.
    #[error("a key has visible ASCII letters, at least one")]
    Key,
    /// A header.
    #[error("no header can have this name and value")]
    Header,
}
