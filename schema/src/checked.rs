//! A set of sources, checked: the front door for all who want to know what definitions mean.

use crate::definitions::Definitions;
use crate::diagnostic::Diagnostic;
use crate::parse::parse;
use crate::report::Report;
use crate::resolve::resolve;
use crate::source::Sources;

/// What a set of sources means, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The texts.
    pub sources: Sources,
    /// What they mean; nothing if there is an error.
    pub definitions: Option<Definitions>,
    /// Every fault and warning, in the order of the sources.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a set of sources, resolves them together, checks and links them.
///
/// The order of the sources is the order of everything in the definitions.
#[must_use]
pub fn check(sources: Sources) -> Checked {
    let mut report = Report::new(&sources);
    let mut files = Vec::new();
    for (id, source) in sources.iter() {
        let parsed = parse(id, &source.text);
        report.push_unread(id, parsed.diagnostics);
        files.push(parsed.file);
    }
    let names = resolve(&files, &mut report);
    let definitions = crate::check::check(&names, &mut report);
    let diagnostics = report.finish();
    let definitions = definitions.map(|made| Definitions { sources: sources.clone(), ..made });
    Checked { sources, definitions, diagnostics }
}
