//! Words in brackets: the verbs of a grant or a member.

use super::Checker;
use super::once::Twice;
use crate::ast;
use crate::code::Code;
use crate::definitions::Verb;
use crate::diagnostic::Diagnostic;
use crate::resolve::listed;

const TWICE: Twice<'_> =
    Twice { code: Code::RepeatedVerb, message: "{} is given twice", help: None };

impl Checker<'_, '_, '_> {
    /// Returns the verbs of a list, in the order of [`Verb`]. `what` says what they belong to,
    /// like `a state requirement`.
    pub(super) fn verbs(
        &mut self,
        written: &ast::Verbs,
        allowed: &[Verb],
        what: &str,
    ) -> Vec<Verb> {
        let words: Vec<_> = allowed.iter().map(|verb| verb.word()).collect();
        let mut verbs = Vec::new();
        let names = written.words.iter().map(|it| (it.value.as_str(), it.place));
        let new = self.once(names, &TWICE);
        for (word, _) in written.words.iter().zip(new).filter(|(_, new)| *new) {
            match allowed.iter().find(|verb| verb.word() == word.value) {
                Some(verb) => verbs.push(*verb),
                None => {
                    let help = self
                        .report
                        .did_you_mean(&word.value, words.iter().copied())
                        .unwrap_or_else(|| format!("it takes {}", listed(&words)));
                    self.report.push(
                        Diagnostic::new(
                            Code::UnknownVerb,
                            word.place,
                            format!("{what} has no verb `{}`", word.value),
                        )
                        .help(help),
                    );
                }
            }
        }
        verbs.sort();
        verbs
    }
}
