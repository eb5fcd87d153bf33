//! The entries of a list, and how to find the next one behind a fault.

use super::{Cursor, Fault, Parse};
use crate::lexer::TokenKind;
use crate::nearest::nearest;

/// What the entries of a list look like: enough to find the next one after a fault.
pub(crate) struct Level {
    /// What a message calls an entry: `a member of an interface`.
    pub(crate) entry: &'static str,
    /// The words that an entry begins with; none if it begins with a name.
    pub(crate) words: &'static [&'static str],
    /// What follows the name that an entry begins with, if it begins with a name.
    pub(crate) mark: Option<TokenKind>,
    /// Words that begin entries of blocks below this one: they turn up here when such a block
    /// was closed too early.
    pub(crate) deeper: &'static [&'static str],
    /// The block is part of a line that ends in `;`, so `};` may close it.
    pub(crate) inline: bool,
    /// Some entries are blocks: they end in `}`.
    pub(crate) blocks: bool,
}

impl Cursor<'_> {
    /// Takes entries to the end of the list. The bracket that closes it is left.
    pub(super) fn entries<T>(
        &mut self,
        level: &'static Level,
        mut entry: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Vec<T> {
        self.levels.push(level);
        let (blamed, first) = (self.blamed, self.at);
        let mut entries = Vec::new();
        // The entry before has a fault.
        let mut doubtful = false;
        loop {
            // A `;` behind a block, or one too many, harms nobody.
            while self.eat(TokenKind::Semicolon).is_some() {}
            if self.at(TokenKind::CloseBrace) && self.levels.len() == 1 {
                self.stray_braces();
                continue;
            }
            let over = self.at(TokenKind::End) || self.at(TokenKind::CloseBrace);
            if over || self.belongs_outside(level) {
                break;
            }
            if self.is_rest(level, doubtful) {
                self.skip_entry(true);
                continue;
            }
            let (start, reported) = (self.at, self.diagnostics.len());
            self.blamed = None;
            let early = self.belongs_inside(level);
            let read = entry(self);
            doubtful = read.is_err() || self.diagnostics.len() > reported;
            match read {
                Ok(value) => entries.push(value),
                Err(Fault) if self.at == start => self.skip_entry(early),
                Err(Fault) => self.recover(false),
            }
        }
        self.levels.pop();
        // What the list is in is not to be blamed for what may follow from its last entry.
        let follows = if doubtful { self.fault } else { self.brace_to_blame(first) };
        self.blamed = blamed.or(follows);
        entries
    }

    /// Tells whether the next token is no entry but the rest of what had a fault: it stands on
    /// that line, or it is not even nearly the beginning of an entry.
    fn is_rest(&self, level: &Level, doubtful: bool) -> bool {
        if level.words.is_empty() || self.begins(level) {
            return false;
        }
        let word = self.word().unwrap_or_default();
        let meant = nearest(word, level.words.iter().copied()).is_some();
        self.behind_fault() || doubtful && (!meant || self.belongs_inside(level))
    }

    /// Tells whether the next word begins an entry of a block below this one.
    fn belongs_inside(&self, level: &Level) -> bool {
        self.word().is_some_and(|word| level.deeper.contains(&word))
    }

    pub(super) fn begins(&self, level: &Level) -> bool {
        let Some(word) = self.word() else { return false };
        level.words.contains(&word) || level.mark == Some(self.nth(1).kind)
    }

    /// Tells whether the next line is an entry of a block around this one, so that this one
    /// must have ended.
    fn belongs_outside(&self, level: &Level) -> bool {
        let outer = &self.levels[..self.levels.len().saturating_sub(1)];
        self.peek().first_on_line
            && !self.begins(level)
            && (!self.belongs_inside(level) || self.at_margin())
            && self.nth(1).kind == TokenKind::Word
            && self.nth(2).kind != TokenKind::Semicolon
            && outer.iter().any(|outer| self.begins(outer))
    }

    /// Skips to where the next entry of the innermost list can begin. Behind a block that was
    /// closed too `early`, everything up to a line that surely is an entry is skipped.
    pub(super) fn recover(&mut self, early: bool) {
        let Some(level) = self.levels.last().copied() else { return };
        let outermost = self.levels.len() == 1;
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::End => return,
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace if depth > 0 => {
                    depth -= 1;
                    let next = self.nth(1);
                    let new_line = next.kind == TokenKind::Word && next.first_on_line;
                    if depth == 0 && level.blocks && new_line && !early {
                        self.bump();
                        return;
                    }
                }
                TokenKind::CloseBrace => {
                    let ends_entry = !level.inline && self.nth(1).kind == TokenKind::Semicolon;
                    if !(ends_entry || outermost) {
                        return;
                    }
                }
                TokenKind::Semicolon if depth == 0 => {
                    self.bump();
                    if !early {
                        return;
                    }
                    continue;
                }
                TokenKind::Word if token.first_on_line => {
                    // At the margin it is an item, whatever is open.
                    let item = self.at_margin() && self.begins(self.levels[0]);
                    let sure = depth == 0 && !(outermost && early);
                    if item || sure && (self.begins(level) || self.belongs_outside(level)) {
                        return;
                    }
                }
                TokenKind::Word
                | TokenKind::Text
                | TokenKind::OpenBracket
                | TokenKind::CloseBracket
                | TokenKind::OpenAngle
                | TokenKind::CloseAngle
                | TokenKind::Semicolon
                | TokenKind::Colon
                | TokenKind::Comma
                | TokenKind::Dot
                | TokenKind::Equals
                | TokenKind::Arrow => {}
            }
            self.bump();
        }
    }

    /// The same for an entry that nothing was taken of: at least one token is skipped.
    fn skip_entry(&mut self, early: bool) {
        // A `{` is skipped together with its `}`.
        if !self.at(TokenKind::OpenBrace) {
            self.bump();
        }
        self.recover(early);
    }

    /// Tells whether the next token stands at the very beginning of its line.
    fn at_margin(&self) -> bool {
        let start = self.peek().place.start as usize;
        start == 0 || self.text.as_bytes()[start - 1] == b'\n'
    }
}
