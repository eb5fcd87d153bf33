//! Why a run could not go on. A benchmark that does not do its work measures nothing, so anything
//! unexpected ends it.

use std::io;
use std::path::Path;

use quixos_runtime::CallError;
use quixos_runtime::store::StoreError;

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the runtime: {0}")]
    Call(#[from] CallError),
    #[error("the runtime does not open: {0}")]
    Open(#[from] quixos_runtime::OpenError),
    #[error("the store does not open: {0}")]
    OpenStore(#[from] quixos_runtime::store::OpenError),
    #[error("the store: {0}")]
    Store(#[from] StoreError),
    #[error("sled: {0}")]
    Sled(#[from] sled::Error),
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
    #[error("a report that cannot be read or written: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{path}: {source}")]
    Page { path: String, source: quixos_bench::MarkdownError },
    #[error("the engine: {0}")]
    Engine(#[from] quixos_engine::EngineError),
    #[error("HTTP: {0}")]
    Http(#[from] reqwest::Error),
    #[error("a group failed: {0}")]
    Group(String),
    #[error("{0}")]
    Refused(String),
}

impl Failure {
    /// Makes the failure of an answer that says no where yes was to be expected.
    pub(crate) fn refused(what: impl Into<String>) -> Self {
        Self::Refused(what.into())
    }

    /// Makes failures of a file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File { path, source }
    }
}

/// Checks that what was asked for was done.
pub(crate) fn done(yes: bool, what: &str) -> Result<(), Failure> {
    if yes { Ok(()) } else { Err(Failure::refused(format!("`{what}` answered no"))) }
}
