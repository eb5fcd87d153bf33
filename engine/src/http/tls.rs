//! TLS, with the certificates that the system trusts.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// Returns a config for clients.
///
/// A system without certificates (a bare container) still speaks plain HTTP; over TLS it then trusts
/// nobody.
pub(super) fn config() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?;
    Ok(match Verifier::new(provider) {
        Ok(verifier) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth(),
        Err(error) => {
            tracing::warn!(%error, "no certificates to trust, so that HTTPS will not work");
            builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
        }
    })
}
