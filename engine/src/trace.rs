//! Which trace something belongs to, as W3C Trace Context says it: `00-TRACE-SPAN-FLAGS`.
//!
//! A client's request may come with a trace. The turn that it begins keeps it, in the store, so
//! that what the turn's worker and provider are sent belongs to it too, also after a restart. A
//! turn whose client had none gets one that its name alone decides.
//!
//! Whoever exports spans is a [`Tracer`]; without one, contexts are passed on all the same.

use std::fmt;
use std::str::FromStr;

use tracing::Span;

/// The header that says it.
pub const HEADER: &str = "traceparent";

/// A place in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TraceContext {
    trace: u128,
    span: u64,
    flags: u8,
}

/// What is no place in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a `traceparent`: `00-`, 32 and 16 hexadecimal digits, not all zero, and 2 more")]
pub struct NoTraceContext;

/// The flag of a trace that somebody keeps.
const SAMPLED: u8 = 1;
/// The length of a context as text.
const LENGTH: usize = 55;

impl TraceContext {
    /// Returns a place in a trace. Neither number is zero.
    ///
    /// # Errors
    ///
    /// One is.
    pub fn new(trace: u128, span: u64, sampled: bool) -> Result<Self, NoTraceContext> {
        if trace == 0 || span == 0 {
            return Err(NoTraceContext);
        }
        Ok(Self { trace, span, flags: u8::from(sampled) * SAMPLED })
    }

    /// Returns the place that a name alone decides: the same for the same name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let hash = blake3::hash(name.as_bytes());
        let (trace, rest) = hash.as_bytes().split_at(16);
        let trace = trace.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
        let span = rest[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Self { trace: trace.max(1), span: span.max(1), flags: SAMPLED }
    }

    /// Returns the place of a turn: what its client said, or what the names of the session and the
    /// turn decide. What belongs to no turn has one of its own.
    #[must_use]
    pub fn of_turn(session_id: &str, turn_id: Option<&str>, said: Option<&str>) -> Self {
        let said = said.and_then(|said| said.parse().ok());
        said.unwrap_or_else(|| Self::named(&format!("{session_id}\n{}", turn_id.unwrap_or(""))))
    }

    /// Returns another place in the same trace, which a name alone decides.
    #[must_use]
    pub fn below(self, name: &str) -> Self {
        Self { span: Self::named(name).span, ..self }
    }

    /// Returns the trace.
    #[must_use]
    pub fn trace(self) -> u128 {
        self.trace
    }

    /// Returns the place in it.
    #[must_use]
    pub fn span(self) -> u64 {
        self.span
    }

    /// Says whether somebody keeps the trace.
    #[must_use]
    pub fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Returns the trace as its 32 digits.
    #[must_use]
    pub fn trace_id(self) -> String {
        format!("{:032x}", self.trace)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

impl FromStr for TraceContext {
    type Err = NoTraceContext;

    /// Reads a context. One of a later version is read as far as this version goes.
    fn from_str(text: &str) -> Result<Self, NoTraceContext> {
        let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        let (known, rest) = text.split_at_checked(LENGTH).ok_or(NoTraceContext)?;
        let parts: Vec<&str> = known.split('-').collect();
        let [version, trace, span, flags] = parts[..] else { return Err(NoTraceContext) };
        let fits = [(version, 2), (trace, 32), (span, 16), (flags, 2)]
            .iter()
            .all(|(part, length)| part.len() == *length && part.as_bytes().iter().all(is_digit));
        let goes_on = rest.is_empty() || version != "00" && rest.starts_with('-');
        if !fits || !goes_on || version == "ff" {
            return Err(NoTraceContext);
        }
        let trace = u128::from_str_radix(trace, 16).map_err(|_| NoTraceContext)?;
        let span = u64::from_str_radix(span, 16).map_err(|_| NoTraceContext)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| NoTraceContext)?;
        Self::new(trace, span, flags & SAMPLED != 0)
    }
}

/// Exports spans, and knows their places in traces.
pub trait Tracer: Send + Sync {
    /// Puts a span that nobody has entered yet below a place.
    fn adopt(&self, span: &Span, parent: TraceContext);

    /// Returns the place of a span; none if it is not exported.
    fn place(&self, span: &Span) -> Option<TraceContext>;
}

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// Does something as a part of a trace, if there is one.
pub async fn within<F: Future>(context: Option<TraceContext>, done: F) -> F::Output {
    match context {
        Some(context) => CURRENT.scope(context, done).await,
        None => done.await,
    }
}

/// Returns what is done at the moment as a part of.
#[must_use]
pub fn current() -> Option<TraceContext> {
    CURRENT.try_with(|context| *context).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_context_is_read_as_it_is_written() {
        let context: TraceContext = TEXT.parse().unwrap();
        assert_eq!(context.to_string(), TEXT);
        assert_eq!(context.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert!(context.is_sampled());
        let later = format!("01{}-more", &TEXT[2..]);
        assert_eq!(later.parse(), Ok(context));
        let named = TraceContext::named("s/t1");
        assert_eq!(named.to_string().parse(), Ok(named));
        assert_eq!(named.below("d#1").trace(), named.trace());
    }

    #[test]
    fn what_is_no_context_is_refused() {
        for text in [
            "",
            "00",
            &TEXT[..54],
            &format!("{TEXT}-more"),
            &TEXT.to_uppercase(),
            &format!("ff{}", &TEXT[2..]),
            &TEXT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &TEXT.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &TEXT.replace('-', "_"),
            &format!("{}é", &TEXT[..54]),
        ] {
            assert_eq!(text.parse::<TraceContext>(), Err(NoTraceContext), "{text}");
        }
    }
}
