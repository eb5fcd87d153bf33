//! The claims that an engine made since it started.
//!
//! A driver comes and goes with the work of its session. The next one goes on under the claim of
//! the one before: to take the session again would ask again what was never lost.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use quixos_runtime::Ref;
use quixos_session::sessions::SessionObject;

/// The most claims that are remembered. A session whose claim is forgotten is taken again, which
/// does no harm.
const MOST: usize = 1 << 16;

/// The generations of the claims that an engine made since it started.
#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<HashMap<Ref<SessionObject>, u32>>);

impl Claims {
    /// Returns the generation of the claim of a session, if it was made since the start.
    pub(crate) fn of(&self, session: Ref<SessionObject>) -> Option<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&session).copied()
    }

    /// Remembers a claim.
    pub(crate) fn keep(&self, session: Ref<SessionObject>, generation: u32) {
        let mut claims = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if claims.len() >= MOST {
            claims.clear();
        }
        claims.insert(session, generation);
    }
}
