//! Whether packages, their code and a store fit together.
//!
//! A store says which packages wrote it. It is opened only with all of them, of the same digest:
//! what is stored means what their definitions say, and nothing else knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use quixos_schema::{
    Concern, Definitions, Impact, Package, Severity, Sources, diff, render_changes_text,
    render_text,
};

use crate::error::CallError;
use crate::export::is_unfinished;
use crate::meta::{self, FORMAT, StoredPackage};
use crate::overlay::{Base, Gathered, Read};
use crate::package::{Handler, PackageCode};
use crate::shared::unreadable;
use crate::store::{Batch, CommitError, Concurrency, Durability, Store};

/// Why a runtime could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The definitions have errors.
    #[error("the definitions have errors\n{text}")]
    Definitions {
        /// Every diagnostic, with source excerpts.
        text: String,
    },
    /// The code of a package was made from other definitions than it carries.
    #[error(
        "the code of `{id}` was made from definitions with digest {code}, those it carries have \
         {definitions}: generate it again"
    )]
    CodeDigest {
        /// The package.
        id: String,
        /// What the code says.
        code: String,
        /// What the definitions have.
        definitions: String,
    },
    /// Code and definitions of a package are not for each other.
    #[error("{message}")]
    Code {
        /// What is missing, or too many.
        message: String,
    },
    /// The store has another format.
    #[error(
        "the store has format {found}, this version reads format {FORMAT}: {}open it with the \
         version that wrote it",
        meta::difference(*.found)
    )]
    Format {
        /// The store's.
        found: u32,
    },
    /// The store was written by something else.
    #[error("the store holds entries, but does not say in which format: it is not a runtime's")]
    Foreign,
    /// An import into the store was begun and not finished.
    #[error("an import into the store was not finished: import into it again")]
    Unfinished,
    /// The store was written with a package that was not loaded.
    #[error("the store was written with `{revision}`, which was not loaded: load it too")]
    PackageMissing {
        /// The package's revision.
        revision: String,
    },
    /// The store was written with another revision of a package.
    #[error("the store was written with other definitions of `{id}`\n{difference}")]
    PackageDigest {
        /// The package.
        id: String,
        /// What differs, and what to do.
        difference: String,
    },
    /// The store lets others write beside this host, which the lane does not reckon with.
    #[error("the store lets many write at once; this host needs one that it writes alone")]
    Concurrent,
    /// The store cannot be read.
    #[error(transparent)]
    Read(#[from] CallError),
    /// The store cannot be written.
    #[error("the store cannot be written: {0}")]
    Write(#[from] CommitError),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// Checks and links the definitions of all packages, and that the code was made from them.
pub(crate) fn check(packages: &[PackageCode]) -> Result<Arc<Definitions>, OpenError> {
    let mut sources = Sources::new();
    for package in packages {
        for (name, text) in package.sources {
            sources.add(*name, *text);
        }
    }
    let checked = quixos_schema::check(sources);
    let errors: Vec<_> = checked
        .diagnostics
        .into_iter()
        .filter(|it| it.code.severity() == Severity::Error)
        .collect();
    let Some(definitions) = checked.definitions else {
        return Err(OpenError::Definitions { text: render_text(&errors, &checked.sources, false) });
    };
    for code in packages {
        let Some(package) = definitions.packages.iter().find(|it| it.id == code.id) else {
            let message = format!("the definitions of `{}` do not define that package", code.id);
            return Err(OpenError::Code { message });
        };
        if package.digest != code.digest {
            return Err(OpenError::CodeDigest {
                id: code.id.into(),
                code: code.digest.into(),
                definitions: package.digest.clone(),
            });
        }
    }
    Ok(Arc::new(definitions))
}

/// Returns the function that runs each operation, in their order.
pub(crate) fn handlers(
    definitions: &Definitions,
    packages: &[PackageCode],
) -> Result<Vec<Handler>, OpenError> {
    let mut found: BTreeMap<&str, Handler> = BTreeMap::new();
    for (id, handler) in packages.iter().flat_map(|package| &package.handlers) {
        if found.insert(id, *handler).is_some() {
            return Err(OpenError::Code { message: format!("`{id}` has two handlers") });
        }
    }
    let handlers: Result<Vec<_>, _> = definitions
        .operations
        .iter()
        .map(|operation| {
            let missing = || format!("operation `{}` has no handler", operation.id);
            found
                .remove(operation.id.as_str())
                .ok_or_else(|| OpenError::Code { message: missing() })
        })
        .collect();
    let handlers = handlers?;
    match found.keys().next() {
        Some(id) => {
            Err(OpenError::Code { message: format!("`{id}` has a handler, but is no operation") })
        }
        None => Ok(handlers),
    }
}

/// Checks that a store is for these definitions; one that is empty becomes so. With `upgrade`, so
/// does one that other revisions wrote, if what is stored means the same under these.
pub(crate) fn prepare(
    store: &dyn Store,
    definitions: &Definitions,
    upgrade: bool,
) -> Result<(), OpenError> {
    if store.concurrency() != Concurrency::SingleWriter {
        return Err(OpenError::Concurrent);
    }
    let view = store.view().map_err(unreadable)?;
    let base = Base::new(Gathered::new(), view, 0, 0);
    if is_unfinished(&base)? {
        return Err(OpenError::Unfinished);
    }
    let mut writes = BTreeMap::new();
    match meta::format(&base)? {
        Some(FORMAT) => {}
        Some(found) => return Err(OpenError::Format { found }),
        None if base.begin_with(&[], None, 1)?.is_empty() => writes.extend([meta::put_format()?]),
        None => return Err(OpenError::Foreign),
    }
    let stored = meta::packages(&base)?;
    let mut new: BTreeMap<&str, &Package> =
        definitions.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    for before in &stored {
        match new.get(before.id.as_str()) {
            None => return Err(OpenError::PackageMissing { revision: before.revision.clone() }),
            Some(package) if package.digest == before.digest => drop(new.remove(&*before.id)),
            Some(package) => {
                let difference = Difference::between(&stored, definitions);
                if !(upgrade && difference.is_safe) {
                    let (id, text) = (before.id.clone(), difference.explain(before, package));
                    return Err(OpenError::PackageDigest { id, difference: text });
                }
            }
        }
    }
    for package in new.values() {
        writes.extend([meta::put_package(&stored_form(definitions, package))?]);
    }
    if writes.is_empty() {
        return Ok(());
    }
    let batch = Batch {
        read_version: base.version(),
        writes: writes.into_iter().map(|(key, value)| (key, Some(value))).collect(),
        ..Batch::default()
    };
    store.commit(batch, Durability::Durable)?;
    Ok(())
}

fn stored_form(definitions: &Definitions, package: &Package) -> StoredPackage {
    let source = |at: &quixos_schema::SourceId| {
        let source = definitions.sources.get(*at);
        (source.name.clone(), source.text.clone())
    };
    StoredPackage {
        id: package.id.clone(),
        revision: package.revision.clone(),
        digest: package.digest.clone(),
        sources: package.sources.iter().map(source).collect(),
    }
}

/// What differs between the definitions of a store and those that were loaded.
struct Difference {
    text: String,
    /// Whether what is stored means the same under both.
    is_safe: bool,
}

impl Difference {
    fn between(stored: &[StoredPackage], loaded: &Definitions) -> Self {
        let mut sources = Sources::new();
        for (name, text) in stored.iter().flat_map(|package| &package.sources) {
            sources.add(name, text);
        }
        let checked = quixos_schema::check(sources);
        let Some(before) = checked.definitions else {
            let text = "the stored definitions can no longer be read\n".into();
            return Self { text, is_safe: false };
        };
        let changes = diff(&before, loaded);
        Self {
            text: render_changes_text(&changes, &checked.sources, &loaded.sources),
            is_safe: changes.iter().all(|it| it.impact_on(Concern::Data) == Impact::Safe),
        }
    }

    /// Says what differs, and what to do.
    fn explain(&self, stored: &StoredPackage, loaded: &Package) -> String {
        let advice = if self.is_safe {
            "what is stored need not change: accept the upgrade, or open it with the definitions \
             that wrote it"
        } else {
            "what is stored would have to be converted: open it with the definitions that wrote it"
        };
        format!(
            "stored: `{}`, digest {}\nloaded: `{}`, digest {}\n{}{advice}",
            stored.revision, stored.digest, loaded.revision, loaded.digest, self.text
        )
    }
}
