//! The signature of a delivery: over exactly the bytes that are sent.

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// Returns `sha256=` and the HMAC-SHA256 of the bytes, in lower-case hexadecimal.
pub(super) fn of(secret: &SecretString, bytes: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
        .expect("a key of any length will do");
    mac.update(bytes);
    let mut text = "sha256=".to_owned();
    for byte in mac.finalize().into_bytes() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_one_of_the_standard() {
        let signed = of(&"Jefe".into(), b"what do ya want for nothing?");
        let known = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signed, format!("sha256={known}"));
    }
}
