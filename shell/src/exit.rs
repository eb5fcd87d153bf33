//! What the process answers with: every exit code, once.
//!
//! Help, `docs/shell.md` and the tests are checked against [`Exit::ALL`].

use quixos_runtime::CallError;

macro_rules! exits {
    ($($(#[$doc:meta])* $name:ident = $number:literal $code:literal $meaning:literal;)*) => {
        /// Why the process ends.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Exit {
            $(#[doc = $meaning] $name,)*
        }

        impl Exit {
            /// Every code, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the number that the process ends with.
            #[must_use]
            pub fn number(self) -> u8 {
                match self { $(Self::$name => $number,)* }
            }

            /// Returns the stable word.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns what it means, in a line.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

exits! {
    Good = 0 "ok" "it is done";
    Findings = 1 "findings" "definitions have errors, `verify` found something, a difference is not safe, a file is not formatted, the tour went another way";
    Usage = 2 "usage" "the command line or a command of a script is not well formed, or names what is not there";
    Io = 3 "io" "a file could not be read or written";
    Invalid = 10 "invalid" "a value in the input does not fit; nothing changed";
    Refused = 11 "refused" "a rule of the package says no";
    Conflict = 12 "conflict" "something else is already there";
    Busy = 13 "busy" "what is needed is in use, as a store that another process has open";
    StaleFence = 14 "stale-fence" "the fence is not the one that is held";
    StaleVersion = 15 "stale-version" "the version is not newer than the stored one";
    NotFound = 16 "not-found" "what was named is not there";
    Capability = 17 "capability" "the call may not do this";
    Limit = 18 "limit" "a limit was reached";
    Unavailable = 19 "unavailable" "what is needed is not there yet, or no longer";
    Storage = 20 "storage" "the store could not read or write";
    Corrupt = 21 "corrupt" "what is stored is not what was written";
    Mismatch = 22 "mismatch" "the store was written in another format or by other packages";
    Interrupted = 130 "interrupted" "ctrl-c";
}

impl Exit {
    /// Returns the code that goes by a word.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.code() == code)
    }

    /// Returns the code for a call that did not go through.
    #[must_use]
    pub fn of_call(error: &CallError) -> Self {
        match error {
            CallError::Invalid { .. } => Self::Invalid,
            CallError::Refused { .. } => Self::Refused,
            CallError::Conflict { .. } => Self::Conflict,
            CallError::Busy { .. } => Self::Busy,
            CallError::StaleFence { .. } => Self::StaleFence,
            CallError::StaleVersion { .. } => Self::StaleVersion,
            CallError::NotFound { .. } => Self::NotFound,
            CallError::Capability(_) => Self::Capability,
            CallError::Limit { .. } => Self::Limit,
            CallError::Unavailable { .. } => Self::Unavailable,
            CallError::Storage { .. } => Self::Storage,
            CallError::Corrupt { .. } => Self::Corrupt,
        }
    }

    /// Returns the table of codes, for help.
    #[must_use]
    pub fn table() -> String {
        let line = |exit: &Self| {
            format!("  {:>3}  {:<13} {}\n", exit.number(), exit.code(), exit.meaning())
        };
        Self::ALL.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_keeps_its_code() {
        for error in [
            CallError::invalid("$", "x"),
            CallError::refused("x"),
            CallError::conflict("x"),
            CallError::StaleVersion { given: 1, stored: 2 },
            CallError::Corrupt { message: String::new() },
        ] {
            assert_eq!(Exit::of_call(&error).code(), error.code());
        }
    }

    #[test]
    fn numbers_and_codes_are_unique() {
        for (at, exit) in Exit::ALL.iter().enumerate() {
            for other in &Exit::ALL[at + 1..] {
                assert_ne!(exit.number(), other.number());
                assert_ne!(exit.code(), other.code());
            }
        }
    }
}
