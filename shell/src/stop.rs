//! Why a command of a script stops.

use std::ops::Range;

use quixos_runtime::CallError;

use crate::exit::Exit;
use crate::failure::{Failure, Origin};
use crate::language::Fault;

/// Why a command of a script stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Its text is not well formed, or names what is not there.
    Fault(Fault),
    /// The runtime says no; if a place in the text is to blame, its bytes and what they are.
    Call(CallError, Option<(Range<usize>, Option<String>)>),
    /// Anything else.
    Failure(Failure),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        Self::Call(error, None)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl Stop {
    /// Returns the failure of a command of a script: its bytes are to blame where no others are.
    pub(crate) fn failure(self, name: &str, text: &str, command: &Range<usize>) -> Failure {
        let origin = |span: Range<usize>, label| Origin {
            name: name.to_owned(),
            text: text.to_owned(),
            span,
            label,
        };
        match self {
            Self::Fault(fault) => {
                let failure = Failure::new(Exit::Usage, fault.message);
                Failure { help: fault.help, ..failure }.at(origin(fault.span, None))
            }
            Self::Call(error, place) => {
                let (span, label) = place.unwrap_or_else(|| (command.clone(), None));
                Failure::from(error).at(origin(span, label))
            }
            Self::Failure(failure) if failure.quiet => failure,
            Self::Failure(failure) => failure.at(origin(command.clone(), None)),
        }
    }
}
