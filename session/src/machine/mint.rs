//! Ids that the engine makes, and the numbers that order what it makes.
//!
//! They follow from the session and a counter in it. So the same steps make the same ids, and no
//! two sessions of a store share one.

use quixos_runtime::Ulid;

use super::Machine;

/// What an id is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Minted {
    /// A decision.
    Decision,
    /// A message.
    Message,
    /// A call.
    Call,
    /// A turn.
    Turn,
    /// An interrupt.
    Interrupt,
    /// A message to another session.
    Send,
}

impl Minted {
    fn prefix(self) -> &'static str {
        match self {
            Self::Decision => "dec",
            Self::Message => "msg",
            Self::Call => "call",
            Self::Turn => "turn",
            Self::Interrupt => "int",
            Self::Send => "send",
        }
    }
}

impl Machine<'_, '_> {
    /// Returns an id that the session has not had yet.
    pub(crate) fn mint(&mut self, what: Minted) -> String {
        let session = self.cx.reference_text(self.cx.receiver());
        let seed = format!("{session}#{}", self.order());
        format!("{}_{}", what.prefix(), digits(seed.as_bytes()))
    }

    /// Returns a number greater than all before it.
    pub(crate) fn order(&mut self) -> u64 {
        let order = self.data.next;
        self.data.next += 1;
        order
    }
}

/// Returns 26 characters of Crockford's base32 that stand for bytes.
pub(crate) fn digits(bytes: &[u8]) -> String {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    Ulid::from_bytes(short).to_string()
}
