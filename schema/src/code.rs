//! Every diagnostic code, once.
//!
//! A code, once shipped, keeps its number and its meaning. Each has a page
//! `docs/diagnostics/CODE.md` and at least one golden case that provokes it; `tests/` checks both.
//! S00xx: characters and tokens. S01xx: grammar. S02xx: names and ids. S03xx: types.
//! S04xx: interfaces and atoms. S05xx: operations and requirements. S06xx: linking across atoms
//! and packages. S09xx: warnings.

use crate::diagnostic::Severity;

macro_rules! codes {
    ($($code:ident $name:ident $severity:ident $title:literal;)*) => {
        /// Which fault a diagnostic is about.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the stable text, like `S0201`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($code),)* }
            }

            /// Returns what the code is about, in a few words.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// Returns how bad it is.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    S0001 UnknownCharacter Error "a character that begins no token";
    S0002 UnclosedString Error "a string that does not end on its line";
    S0003 UnclosedComment Error "a comment that does not end";
    S0004 BadEscape Error "an escape that a string does not know";
    S0101 UnexpectedToken Error "something else was expected here";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
