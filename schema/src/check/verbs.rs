//! Words in brackets: the verbs of a grant or a member.

use super::Checker;
use crate::ast;
use crate::code::Code;
use crate::definitions::Verb;
use crate::diagnostic::Diagnostic;
use crate::resolve::listed;
use crate::suggest::did_you_mean;

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
        for (at, word) in written.words.iter().enumerate() {
            if let Some(first) = written.words[..at].iter().find(|it| it.value == word.value) {
                self.report.push(
                    Diagnostic::new(
                        Code::RepeatedVerb,
                        word.place,
                        format!("`{}` is given twice", word.value),
                    )
                    .also(first.place, "the first stands here"),
                );
                continue;
            }
            match allowed.iter().find(|verb| verb.word() == word.value) {
                Some(verb) => verbs.push(*verb),
                None => {
                    let help = did_you_mean(&word.value, words.iter().copied())
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
