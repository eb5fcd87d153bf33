//! How much one owner may ask: how often, and how many streams at once.
//!
//! Each owner has an allowance of requests that fills up again evenly, a minute's worth at most.
//! What is kept is one number for each owner that asked lately.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use crate::tokens::Bearer;

/// Milliseconds in which an allowance fills up.
const MINUTE: i64 = 60_000;
/// Owners that are kept before those are looked for that need not be.
const KEPT: usize = 1024;

/// Somebody asks for too much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMuch {
    /// Too often.
    #[error("too many requests in one minute")]
    Requests {
        /// Seconds after which it is worth asking again.
        seconds: u64,
    },
    /// Too many streams at once.
    #[error("too many streams are open")]
    Streams,
}

impl TooMuch {
    /// Returns the seconds after which it is worth asking again.
    pub(crate) fn seconds(&self) -> u64 {
        match self {
            Self::Requests { seconds } => *seconds,
            Self::Streams => 1,
        }
    }
}

/// Says who may go on.
#[derive(Clone, Debug)]
pub(crate) struct Limiter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    per_minute: u32,
    streams: u32,
    owners: Mutex<Owners>,
}

#[derive(Debug, Default)]
struct Owners {
    known: HashMap<Owner, Usage>,
    /// How many there were when those were let go that need not be kept.
    kept: usize,
}

/// A tenant, and an owner of it.
type Owner = (String, String);

#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// When the allowance will be full again, in milliseconds of Unix time.
    full: i64,
    streams: u32,
}

/// A place among the streams of an owner, until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    limiter: Limiter,
    owner: Owner,
}

impl Limiter {
    /// Returns a limiter: so many requests in a minute, and so many streams at once, for each owner.
    pub(crate) fn new(per_minute: u32, streams: u32) -> Self {
        Self(Arc::new(Shared { per_minute, streams, owners: Mutex::default() }))
    }

    /// Counts a request.
    ///
    /// # Errors
    ///
    /// There were too many.
    pub(crate) fn admit(&self, bearer: &Bearer, now: DateTime<Utc>) -> Result<(), TooMuch> {
        let now = now.timestamp_millis();
        let each = MINUTE / i64::from(self.0.per_minute.max(1));
        let mut owners = self.owners();
        owners.let_go(now);
        let usage = owners.known.entry(owner(bearer)).or_default();
        let full = usage.full.max(now).saturating_add(each);
        let over = full.saturating_sub(now).saturating_sub(MINUTE);
        if over > 0 {
            let seconds = u64::try_from(over / 1000 + 1).unwrap_or(1);
            return Err(TooMuch::Requests { seconds });
        }
        usage.full = full;
        Ok(())
    }

    /// Takes a place for a stream.
    ///
    /// # Errors
    ///
    /// All are taken.
    pub(crate) fn open(&self, bearer: &Bearer) -> Result<Slot, TooMuch> {
        let owner = owner(bearer);
        let mut owners = self.owners();
        let usage = owners.known.entry(owner.clone()).or_default();
        if usage.streams >= self.0.streams {
            return Err(TooMuch::Streams);
        }
        usage.streams += 1;
        Ok(Slot { limiter: self.clone(), owner })
    }

    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.0.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Owners {
    /// Forgets those of whom nothing need be known, now and then.
    fn let_go(&mut self, now: i64) {
        if self.known.len() > KEPT.max(2 * self.kept) {
            self.known.retain(|_, usage| usage.streams > 0 || usage.full > now);
            self.kept = self.known.len();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(usage) = self.limiter.owners().known.get_mut(&self.owner) {
            usage.streams = usage.streams.saturating_sub(1);
        }
    }
}

fn owner(bearer: &Bearer) -> Owner {
    (bearer.tenant.clone(), bearer.identity.id.clone())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use super::*;
    use crate::tokens::Identity;

    fn bearer(id: &str) -> Bearer {
        let identity = Identity { id: id.to_owned(), ..Identity::default() };
        Bearer { tenant: "t".to_owned(), identity, agents: None }
    }

    fn at(millis: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(millis).unwrap()
    }

    #[test]
    fn an_allowance_is_used_up_and_fills_again() {
        let limiter = Limiter::new(60, 1);
        let (ann, bob) = (bearer("ann"), bearer("bob"));
        for _ in 0..60 {
            limiter.admit(&ann, at(0)).unwrap();
        }
        assert_eq!(limiter.admit(&ann, at(0)).unwrap_err().seconds(), 2);
        limiter.admit(&bob, at(0)).unwrap();
        assert!(limiter.admit(&ann, at(999)).is_err());
        limiter.admit(&ann, at(1000)).unwrap();
        assert!(limiter.admit(&ann, at(1000)).is_err());
        for _ in 0..60 {
            limiter.admit(&ann, at(100_000)).unwrap();
        }
        assert!(limiter.admit(&ann, at(100_000)).is_err());
    }

    #[test]
    fn a_place_is_free_again_when_its_stream_ends() {
        let limiter = Limiter::new(60, 2);
        let ann = bearer("ann");
        let (one, two) = (limiter.open(&ann).unwrap(), limiter.open(&ann).unwrap());
        assert_eq!(limiter.open(&ann).unwrap_err(), TooMuch::Streams);
        let _bob = limiter.open(&bearer("bob")).unwrap();
        drop(one);
        let _three = limiter.open(&ann).unwrap();
        assert!(limiter.open(&ann).is_err());
        drop(two);
    }

    #[test]
    fn owners_that_ask_no_more_are_forgotten() {
        let limiter = Limiter::new(60, 1);
        let _slot = limiter.open(&bearer("ann")).unwrap();
        for number in 0..10_000 {
            limiter.admit(&bearer(&number.to_string()), at(number * 10_000)).unwrap();
        }
        let owners = limiter.owners();
        assert!(owners.known.len() <= KEPT + 1, "{}", owners.known.len());
        assert!(owners.known.contains_key(&("t".to_owned(), "ann".to_owned())));
    }
}
