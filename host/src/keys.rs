//! Keys of machines: kept as a hash, compared in constant time.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq as _;

/// The hash of a key (BLAKE3), which is all that is kept of it. It prints as hexadecimal digits.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

/// What is no hash of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the hash of a key is 64 hexadecimal digits")]
pub struct NoKeyHash;

impl KeyHash {
    /// Returns the hash of a key.
    #[must_use]
    pub fn of(key: &str) -> Self {
        Self(*blake3::hash(key.as_bytes()).as_bytes())
    }

    /// Says whether two are the same, in a time that does not tell how far they are.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl FromStr for KeyHash {
    type Err = NoKeyHash;

    fn from_str(text: &str) -> Result<Self, NoKeyHash> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| NoKeyHash)?;
        Ok(Self(*hash.as_bytes()))
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash() {
        let hash = KeyHash::of("a key of a machine");
        let read: KeyHash = hash.to_string().parse().unwrap();
        assert!(hash.is(&read));
        assert!(!hash.is(&KeyHash::of("a key of a machinf")));
        assert_eq!("12".parse::<KeyHash>().err(), Some(NoKeyHash));
    }
}
