//! Tokens of clients: JWT, HS256 and nothing else.
//!
//! A token says whose sessions its bearer may use: the tenant, and the owner (`sub`); and which
//! agents, if not all (`agents`).
//!
//! Tokens are signed with one secret, and those signed with earlier ones are good as well: so a
//! secret is replaced without turning anybody out.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Duration, Utc};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

/// The most seconds that a token holds: some thirty years.
pub(crate) const LONGEST: i64 = 1_000_000_000;

/// Issues and checks tokens.
pub struct Tokens {
    encoding: EncodingKey,
    /// The secrets that are good, the one that is signed with first.
    decoding: Vec<DecodingKey>,
    validation: Validation,
    issuer: String,
    audience: String,
    ttl: u32,
}

/// How tokens are made.
#[derive(Clone, Debug)]
pub struct TokenConfig {
    /// What they are signed with: 32 bytes or more.
    pub secret: SecretString,
    /// What they were signed with before, and may still be.
    pub previous: Vec<SecretString>,
    /// Who issues them.
    pub issuer: String,
    /// Whom they are for.
    pub audience: String,
    /// Seconds that they hold where nobody says otherwise.
    pub ttl: u32,
}

/// Whose sessions they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// The owner.
    #[schemars(regex(pattern = r"\S"))]
    pub id: String,
    /// What else the worker is told about the owner.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

/// Who bears a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// The tenant.
    pub tenant: String,
    /// The owner.
    pub identity: Identity,
    /// The agents that it may use, by name; all, if none are named.
    pub agents: Option<Vec<String>>,
}

impl Bearer {
    /// Says whether an agent may be used.
    #[must_use]
    pub fn may_use(&self, agent: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|named| named == agent))
    }
}

/// Why there is no token, or none that is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The owner is blank.
    #[error("the id of an identity must not be blank")]
    Blank,
    /// It would never hold, or for too long.
    #[error("a token holds for 1 to {LONGEST} seconds")]
    Ttl,
    /// Nothing can be signed.
    #[error("the secret of tokens signs nothing")]
    Secret,
    /// It is not signed by us, not for us, of another form, or over.
    #[error("the token is not valid, or no longer")]
    Invalid,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    exp: i64,
    iat: i64,
    jti: String,
    tenant_id: String,
    sub: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attrs: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<String>>,
}

impl Tokens {
    /// Returns what issues and checks tokens.
    ///
    /// # Errors
    ///
    /// Nothing can be signed with the secret.
    pub fn new(config: &TokenConfig) -> Result<Self, TokenError> {
        let secrets = std::iter::once(&config.secret).chain(&config.previous);
        let decoding = secrets.map(|it| DecodingKey::from_secret(it.expose_secret().as_bytes()));
        let decoding = decoding.collect::<Result<_, _>>().map_err(|_| TokenError::Secret)?;
        let secret = config.secret.expose_secret().as_bytes();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[&config.issuer]);
        validation.set_audience(&[&config.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.leeway = 0;
        Ok(Self {
            encoding: EncodingKey::from_secret(secret).map_err(|_| TokenError::Secret)?,
            decoding,
            validation,
            issuer: config.issuer.clone(),
            audience: config.audience.clone(),
            ttl: config.ttl,
        })
    }

    /// Issues a token, and says when it ends, in seconds of Unix time. Without a `ttl` it holds as
    /// long as the config says.
    ///
    /// # Errors
    ///
    /// The identity is blank, or the token would not hold for a second.
    pub fn issue(
        &self,
        bearer: &Bearer,
        ttl: Option<i64>,
        now: DateTime<Utc>,
    ) -> Result<(String, i64), TokenError> {
        let Bearer { tenant, identity, agents } = bearer;
        if identity.id.trim().is_empty() {
            return Err(TokenError::Blank);
        }
        let ttl = ttl.unwrap_or(self.ttl.into());
        let ttl = Some(ttl).filter(|ttl| (1..=LONGEST).contains(ttl)).map(Duration::seconds);
        let end = ttl.and_then(|ttl| now.checked_add_signed(ttl)).ok_or(TokenError::Ttl)?;
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            exp: end.timestamp(),
            iat: now.timestamp(),
            jti: Ulid::generate().to_string(),
            tenant_id: tenant.clone(),
            sub: identity.id.clone(),
            attrs: Some(identity.metadata.clone()).filter(|attrs| !attrs.is_empty()),
            agents: agents.clone(),
        };
        let token = encode(&Header::new(Algorithm::HS256), &claims, &self.encoding);
        Ok((token.map_err(|_| TokenError::Invalid)?, claims.exp))
    }

    /// Returns who bears a token.
    ///
    /// # Errors
    ///
    /// It is not good. Why is not said: whoever has a good one knows.
    pub fn verify(&self, token: &str) -> Result<Bearer, TokenError> {
        let mut decoded =
            self.decoding.iter().map(|key| decode::<Claims>(token, key, &self.validation));
        let claims = decoded.find_map(Result::ok).ok_or(TokenError::Invalid)?.claims;
        if claims.sub.trim().is_empty() {
            return Err(TokenError::Invalid);
        }
        let identity = Identity { id: claims.sub, metadata: claims.attrs.unwrap_or_default() };
        Ok(Bearer { tenant: claims.tenant_id, identity, agents: claims.agents })
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}
