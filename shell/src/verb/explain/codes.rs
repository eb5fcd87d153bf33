//! The codes of calls that did not go through, where no rule of a package says more.

use super::{Explanation, Point};
use crate::exit::Exit;

/// Each code of a failed call, and what would mend it. `unavailable` is the word of a rule too,
/// and explained as that.
const CODES: &[(Exit, &str)] = &[
    (Exit::Invalid, "write the value that the message names as `describe OPERATION` has it"),
    (Exit::Refused, "`explain` the word of the refusal, which is the failure's message"),
    (Exit::Conflict, "`show` what is there; a call that was made already needs no second"),
    (Exit::Busy, "try again when what uses it is done, as when the other process has ended"),
    (
        Exit::StaleFence,
        "`explain` the request: another attempt took it over, or it ended; whoever lost it stops, \
         or claims it anew with the generation that is stored",
    ),
    (Exit::StaleVersion, "read what is stored, and write a higher version"),
    (Exit::NotFound, "`list ATOM` says what is there"),
    (
        Exit::Capability,
        "call an operation that may do it; `describe OPERATION` says what one requires",
    ),
    (Exit::Limit, "ask for less, or in parts"),
    (
        Exit::Storage,
        "nothing of the call was kept; see that the disk has room and is writable, then open the \
         store anew",
    ),
    (Exit::Corrupt, "`quixos verify` lists what is wrong; an export can be imported anew"),
];

/// Returns every code that is explained.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    CODES.iter().map(|(exit, _)| exit.code())
}

/// Explains a code, if it is one.
pub(super) fn explain(word: &str) -> Option<Explanation> {
    let (exit, release) = CODES.iter().find(|(exit, _)| exit.code() == word)?;
    Some(Explanation {
        headline: format!("ends a call when {}", exit.meaning()),
        releases: vec![Point::new(exit.code(), *release)],
        ..Explanation::default()
    })
}
