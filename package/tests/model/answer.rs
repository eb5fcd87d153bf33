//! What a step came to, in terms that the model and the runtime share: objects by the order in
//! which they were made, errors by their code and what it carries.

use quixos_runtime::{CallError, Fence};

/// An answer, or an error.
pub(crate) type Outcome = Result<Answer, Failure>;

/// What a call answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Done,
    Yes(bool),
    Claim { claimed: bool, generation: u32 },
    Directory(usize),
    Agent(usize),
    Thread(usize),
    Request(usize),
    Item(usize),
    Question(usize),
    Refused(String),
    Admitted { thread: usize, request: usize },
    Nothing,
}

/// Why a call failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    Invalid(String),
    Refused(String),
    StaleFence {
        given: Fence,
        held: Fence,
    },
    StaleVersion {
        given: u64,
        stored: u64,
    },
    /// Of these the code is all that counts.
    Other(&'static str),
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let code = error.code();
        if let CallError::Invalid { path, .. } = error {
            Self::Invalid(path)
        } else if let CallError::Refused { reason } = error {
            Self::Refused(reason)
        } else if let CallError::StaleFence { given, held } = error {
            Self::StaleFence { given, held }
        } else if let CallError::StaleVersion { given, stored } = error {
            Self::StaleVersion { given, stored }
        } else {
            Self::Other(code)
        }
    }
}
