//! What is said about a fault, and about which token.
//!
//! What follows from a fault is not another one. So one fault is reported of an entry, besides
//! those of the entries inside it; none of a line whose characters are wrong; and none of the
//! rest of a line that is no entry.

use super::{Cursor, Fault, Level};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::nearest::nearest;

impl Cursor<'_> {
    /// Tells whether a fault may be reported here, and remembers that it was.
    pub(super) fn blame(&mut self) -> bool {
        if self.peek().blamed || self.blamed.is_some() {
            return false;
        }
        self.blamed = Some(self.at);
        self.fault = Some(self.at);
        true
    }

    /// Tells whether the next token stands on the line of the last fault, behind it.
    pub(super) fn behind_fault(&self) -> bool {
        self.fault.is_some_and(|fault| {
            fault < self.at && !self.tokens[fault + 1..=self.at].iter().any(|it| it.first_on_line)
        })
    }

    /// Returns the last fault if it is a brace behind `start`: then other braces may be paired
    /// wrongly, and what follows from that is not to be reported.
    pub(super) fn brace_to_blame(&self, start: usize) -> Option<usize> {
        self.fault.filter(|fault| {
            let kind = self.tokens[*fault].kind;
            *fault >= start && matches!(kind, TokenKind::OpenBrace | TokenKind::CloseBrace)
        })
    }

    /// Reports that something else was expected here.
    pub(crate) fn unexpected(&mut self, expected: &str, help: Option<String>) -> Fault {
        if self.at(TokenKind::End) && !self.open.is_empty() {
            self.unclosed(expected);
        } else if self.blame() {
            let message = format!("expected {expected}, found {}", self.found());
            let place = self.peek().place;
            self.diagnostics
                .push(Diagnostic::new(Code::UnexpectedToken, place, message).maybe_help(help));
        }
        Fault
    }

    /// Reports that no entry of this list begins here.
    pub(crate) fn unexpected_entry(&mut self, level: &'static Level) -> Fault {
        let place = self.peek().place;
        let found = self.word().unwrap_or_default();
        let early = level.deeper.contains(&found);
        if early && let Some(closed) = self.closed {
            if self.blame() {
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::UnexpectedToken,
                        place,
                        format!("expected {}, found `{found}`", level.entry),
                    )
                    .also(closed, "the block before ends here")
                    .help(format!("is this `}}` one too many? `{found}` belongs into the block")),
                );
            }
            return Fault;
        }
        let help = match nearest(found, level.words.iter().copied()) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("it begins with {}", listed(level.words)),
        };
        self.unexpected(level.entry, Some(help))
    }

    /// Reports that the innermost open bracket is not closed where the next token stands.
    pub(super) fn unclosed(&mut self, expected: &str) {
        if !self.blame() {
            return;
        }
        let place = self.peek().place;
        let message = format!("expected {expected}, found {}", self.found());
        let mut diagnostic = Diagnostic::new(Code::Unclosed, place, message);
        if let Some(opening) = self.open.last() {
            let bracket = &self.text[opening.range()];
            diagnostic = if matches!(bracket, "{" | "[" | "<") {
                diagnostic.also(*opening, format!("this `{bracket}` is not closed"))
            } else {
                diagnostic.also(*opening, "what begins here is not closed")
            };
        }
        self.diagnostics.push(diagnostic);
    }

    /// Takes a `}` that no `{` belongs to, and those behind it: one fault, as a rule.
    pub(super) fn stray_braces(&mut self) {
        if self.blame() {
            let mut diagnostic =
                Diagnostic::new(Code::StrayBracket, self.peek().place, "this `}` closes nothing");
            if let Some(closed) = self.closed {
                diagnostic = diagnostic.also(closed, "the last block was closed here");
            }
            self.diagnostics.push(diagnostic);
        }
        while self.eat(TokenKind::CloseBrace).is_some() {}
    }

    /// Reports a fault that the grammar knows more about.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn found(&self) -> String {
        self.word().map_or_else(|| self.peek().kind.describe().to_owned(), |it| format!("`{it}`"))
    }
}

/// `a`, `b` or `c`
fn listed(words: &[&str]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        text.push_str(match at {
            0 => "",
            _ if at + 1 == words.len() => " or ",
            _ => ", ",
        });
        text.push('`');
        text.push_str(word);
        text.push('`');
    }
    text
}
