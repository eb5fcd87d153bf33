//! Why checked definitions have no Rust.
//!
//! A checked package is right; what can still be wrong is that Rust writes two of its names the
//! same way.

use quixos_schema::{Place, Sources};

/// Why nothing was generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// Two names of the definition become one identifier.
    #[error(transparent)]
    SameName(#[from] Box<SameName>),
    /// The generated tokens are no Rust: a fault of the generator, or a path in the options that
    /// is none.
    #[error("the generated code of package `{package}` does not parse: {message}")]
    NotRust {
        /// The package.
        package: String,
        /// What the parser said.
        message: String,
    },
    /// A path in the options is no Rust path.
    #[error("`{path}` is no Rust path for package `{package}`")]
    BadPath {
        /// The package that it was given for.
        package: String,
        /// What was given.
        path: String,
    },
}

/// Two names of the definition that become one identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} would both be `{identifier}` in Rust; rename one of them")]
pub struct SameName {
    /// The identifier.
    pub identifier: String,
    /// What has it.
    pub first: Named,
    /// What would have it, too.
    pub second: Named,
}

/// Something in a definition, for a person to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// ``field `itemCount` ``
    pub what: String,
    /// `agent.quixos:12:3`
    pub at: String,
}

impl Named {
    /// Describes what stands at a place.
    pub(crate) fn new(sources: &Sources, kind: &str, name: &str, place: Place) -> Self {
        let source = sources.get(place.source);
        let before = source.text.get(..place.range().start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Self { what: format!("{kind} `{name}`"), at: format!("{}:{line}:{column}", source.name) }
    }
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.what, self.at)
    }
}
