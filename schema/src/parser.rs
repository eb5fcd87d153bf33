//! The cursor over the tokens of a file: peek, bump, expect, recover. It knows no grammar.
//!
//! A fault is reported where it is found and handed up as a [`Fault`], which says only that it
//! was reported. The list that the faulty entry stands in skips to where the next entry can
//! begin ([`Level`]) and goes on, so that one run shows every fault and one fault is shown once:
//! no two diagnostics are about the same token, and none is about a line whose characters are
//! wrong already.
//!
//! Progress: every turn of a list takes a token or ends the list.

use crate::ast::{Name, Spanned, Text};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind, unescape};
use crate::nearest::nearest;
use crate::source::{Place, SourceId};

/// A fault was reported; what was being read does not exist.
pub(crate) struct Fault;

/// What reading something gives.
pub(crate) type Parse<T> = Result<T, Fault>;

/// How deep types may be nested. Far beyond what a reader can follow, far below what a stack
/// can hold.
const DEEPEST: usize = 64;

const LAST_TOO: &str = "every line of a block or record ends in `;`, the last one too";

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

/// The tokens of a file, and where we are.
pub(crate) struct Cursor<'a> {
    source: SourceId,
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    /// The lists that we are in, outermost first.
    levels: Vec<&'static Level>,
    /// The brackets that are open, outermost first.
    open: Vec<Place>,
    /// The `}` that closed a block last.
    closed: Option<Place>,
    depth: usize,
    /// The token that the last fault was about.
    blamed: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor before the first token. The last token must be [`TokenKind::End`].
    pub(crate) fn new(source: SourceId, text: &'a str, tokens: &'a [Token]) -> Self {
        Self {
            source,
            text,
            tokens,
            at: 0,
            levels: Vec::new(),
            open: Vec::new(),
            closed: None,
            depth: 0,
            blamed: None,
            diagnostics: Vec::new(),
        }
    }

    /// Returns what was reported.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    // Looking.

    /// Returns the token that comes next.
    pub(crate) fn peek(&self) -> Token {
        self.nth(0)
    }

    /// Returns the token that comes after `ahead` others.
    pub(crate) fn nth(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    /// Tells whether the next token is of a kind.
    pub(crate) fn at(&self, kind: TokenKind) -> bool {
        self.peek().kind == kind
    }

    /// Tells whether the next token is this word.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    /// Returns the next token, if it is a word.
    pub(crate) fn word(&self) -> Option<&'a str> {
        let token = self.peek();
        (token.kind == TokenKind::Word).then(|| &self.text[token.place.range()])
    }

    /// Returns where the next token begins: an empty place.
    pub(crate) fn here(&self) -> Place {
        let start = self.peek().place.start;
        Place { source: self.source, start, end: start }
    }

    /// Returns the place from a start to the end of the token before the next.
    pub(crate) fn since(&self, start: Place) -> Place {
        let end = self.behind().end.max(start.start);
        Place { source: self.source, start: start.start, end }
    }

    /// The empty place behind the token that was taken last.
    fn behind(&self) -> Place {
        let end = match self.at.checked_sub(1) {
            Some(before) => self.tokens[before].place.end,
            None => 0,
        };
        Place { source: self.source, start: end, end }
    }

    // Taking.

    /// Takes the next token. The end is never taken.
    pub(crate) fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is of a kind.
    pub(crate) fn eat(&mut self, kind: TokenKind) -> Option<Place> {
        self.at(kind).then(|| self.bump().place)
    }

    /// Takes the next token if it is this word.
    pub(crate) fn eat_word(&mut self, word: &str) -> Option<Place> {
        self.at_word(word).then(|| self.bump().place)
    }

    /// Takes a token of a kind.
    pub(crate) fn expect(&mut self, kind: TokenKind) -> Parse<Place> {
        self.eat(kind).ok_or_else(|| self.unexpected(kind.describe(), None))
    }

    /// Takes a token of a kind where everything behind it can be read without it, too. What
    /// stands in its place is skipped if it is a mark that no type or name begins with.
    pub(crate) fn mark(&mut self, kind: TokenKind) {
        if self.eat(kind).is_some() {
            return;
        }
        let _ = self.unexpected(kind.describe(), None);
        while matches!(
            self.peek().kind,
            TokenKind::Colon | TokenKind::Equals | TokenKind::Arrow | TokenKind::CloseAngle
        ) {
            self.bump();
        }
    }

    /// Takes this word.
    pub(crate) fn expect_word(&mut self, word: &'static str) -> Parse<Place> {
        if let Some(place) = self.eat_word(word) {
            return Ok(place);
        }
        let help = self
            .word()
            .and_then(|found| nearest(found, [word]))
            .map(|word| format!("did you mean `{word}`?"));
        Err(self.unexpected(&format!("`{word}`"), help))
    }

    /// Takes any word.
    pub(crate) fn any_word(&mut self, what: &str) -> Parse<Name> {
        match self.word() {
            Some(word) => Ok(Spanned { value: word.to_owned(), place: self.bump().place }),
            None => Err(self.unexpected(what, None)),
        }
    }

    /// Takes a word that names something. Generated code has the same names, so they have no
    /// hyphen.
    pub(crate) fn name(&mut self, what: &str) -> Parse<Name> {
        let token = self.peek();
        let name = self.any_word(what)?;
        if name.value.contains('-') && !token.blamed {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::HyphenInName,
                    name.place,
                    format!("the name `{}` has a hyphen", name.value),
                )
                .help(format!("write `{}`", without_hyphens(&name.value))),
            );
        }
        Ok(name)
    }

    /// Takes a string.
    pub(crate) fn string(&mut self, what: &str) -> Parse<Text> {
        let Some(place) = self.eat(TokenKind::Text) else {
            let help = self.word().map(|word| format!("write `\"{word}\"`"));
            return Err(self.unexpected(&format!("{what} between double quotes"), help));
        };
        Ok(Spanned { value: unescape(&self.text[place.range()]).0, place })
    }

    /// Takes the `;` behind an entry, and if it is not there, finds the next entry.
    pub(crate) fn semicolon(&mut self) {
        if self.eat(TokenKind::Semicolon).is_some() {
            return;
        }
        let next = self.peek();
        let ends = next.first_on_line || next.kind == TokenKind::CloseBrace;
        if next.kind == TokenKind::End && !self.open.is_empty() {
            let _ = self.unexpected("`;`", None);
        } else if ends || next.kind == TokenKind::End {
            if self.blame() {
                self.diagnostics.push(
                    Diagnostic::new(Code::MissingSemicolon, self.behind(), "expected `;`")
                        .help(LAST_TOO),
                );
            }
        } else {
            let comma = next.kind == TokenKind::Comma;
            let _ = self.unexpected("`;`", comma.then(|| LAST_TOO.to_owned()));
            if self.eat(TokenKind::Comma).is_none() {
                self.recover(false);
            }
        }
    }

    // Lists.

    /// Takes the entries of a file.
    pub(crate) fn file<T>(
        &mut self,
        level: &'static Level,
        entry: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Vec<T> {
        self.entries(level, entry)
    }

    /// Takes `{ entries }`.
    pub(crate) fn block<T>(
        &mut self,
        level: &'static Level,
        entry: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let opening = self.peek().place;
        if self.eat(TokenKind::OpenBrace).is_none() {
            let fault = self.unexpected("`{`", None);
            // Without the `{` only: go on as if it were there, so that the rest is read.
            if !self.begins(level) {
                return Err(fault);
            }
        }
        self.open.push(opening);
        let entries = self.entries(level, entry);
        if let Some(place) = self.eat(TokenKind::CloseBrace) {
            self.closed = Some(place);
        } else {
            self.unclosed("`}`");
        }
        self.open.pop();
        Ok(entries)
    }

    /// Takes `[a, b]` or `<a, b>`. A comma may stand behind the last.
    pub(crate) fn bracketed<T>(
        &mut self,
        [opening, closing]: [TokenKind; 2],
        mut entry: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let place = self.expect(opening)?;
        self.open.push(place);
        let entries = self.separated(closing, &mut entry);
        self.open.pop();
        entries
    }

    /// Takes `<one>`.
    pub(crate) fn single<T>(
        &mut self,
        [opening, closing]: [TokenKind; 2],
        read: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<T> {
        let place = self.expect(opening)?;
        self.open.push(place);
        let one = read(self);
        if one.is_ok() && self.eat(closing).is_none() {
            self.unclosed(closing.describe());
        }
        self.open.pop();
        one
    }

    fn separated<T>(
        &mut self,
        closing: TokenKind,
        entry: &mut impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut entries = vec![entry(self)?];
        loop {
            let comma = self.eat(TokenKind::Comma);
            if self.eat(closing).is_some() {
                return Ok(entries);
            }
            if comma.is_none() {
                self.unclosed(&format!("`,` or {}", closing.describe()));
                return Ok(entries);
            }
            entries.push(entry(self)?);
        }
    }

    /// Reads something that may contain itself.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth == DEEPEST {
            if self.blame() {
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::NestedTooDeep,
                        self.peek().place,
                        format!("this type stands more than {DEEPEST} types deep"),
                    )
                    .help("give an inner type a name: `type NAME = …;`"),
                );
            }
            return Err(Fault);
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn entries<T>(
        &mut self,
        level: &'static Level,
        mut entry: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Vec<T> {
        self.levels.push(level);
        let mut entries = Vec::new();
        loop {
            // A `;` behind a block, or one too many, harms nobody.
            while self.eat(TokenKind::Semicolon).is_some() {}
            if self.at(TokenKind::CloseBrace) && self.levels.len() == 1 {
                self.stray_brace();
                continue;
            }
            let over = self.at(TokenKind::End) || self.at(TokenKind::CloseBrace);
            if over || self.belongs_outside(level) {
                break;
            }
            let start = self.at;
            self.blamed = None;
            let early = self.word().is_some_and(|word| level.deeper.contains(&word));
            match entry(self) {
                Ok(value) => entries.push(value),
                Err(Fault) => {
                    let untouched = self.at == start;
                    if untouched && !self.at(TokenKind::OpenBrace) {
                        self.bump();
                    }
                    self.recover(untouched && early);
                }
            }
        }
        self.levels.pop();
        entries
    }

    fn begins(&self, level: &Level) -> bool {
        let Some(word) = self.word() else { return false };
        level.words.contains(&word) || level.mark == Some(self.nth(1).kind)
    }

    /// Tells whether the next line is an entry of a block around this one, so that this one
    /// must have ended.
    fn belongs_outside(&self, level: &Level) -> bool {
        let outer = &self.levels[..self.levels.len().saturating_sub(1)];
        self.peek().first_on_line
            && !self.begins(level)
            && self.nth(1).kind == TokenKind::Word
            && self.nth(2).kind != TokenKind::Semicolon
            && outer.iter().any(|outer| self.begins(outer))
    }

    /// Skips to where the next entry of the innermost list can begin. Behind a block that was
    /// closed too `early`, everything up to a line that surely is an entry is skipped.
    fn recover(&mut self, early: bool) {
        let Some(level) = self.levels.last().copied() else { return };
        let outermost = self.levels.len() == 1;
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            let at_margin = self.at_margin();
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
                    if !(ends_entry || (outermost && early)) {
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
                    let first = self.levels[0];
                    if at_margin && self.begins(first) {
                        return;
                    }
                    let sure = depth == 0 && !(outermost && early);
                    if sure && (self.begins(level) || self.belongs_outside(level)) {
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

    /// Tells whether the next token stands at the very beginning of its line.
    fn at_margin(&self) -> bool {
        let start = self.peek().place.start as usize;
        start == 0 || self.text.as_bytes()[start - 1] == b'\n'
    }

    // Reporting.

    /// Blames the next token, unless it was blamed before.
    fn blame(&mut self) -> bool {
        !self.peek().blamed && self.blamed.replace(self.at) != Some(self.at)
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
    fn unclosed(&mut self, expected: &str) {
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

    fn stray_brace(&mut self) {
        if self.blame() {
            let mut diagnostic =
                Diagnostic::new(Code::StrayBracket, self.peek().place, "this `}` closes nothing");
            if let Some(closed) = self.closed {
                diagnostic = diagnostic.also(closed, "the last block was closed here");
            }
            self.diagnostics.push(diagnostic);
        }
        self.bump();
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

/// `many-unique` as a name: `manyUnique`.
fn without_hyphens(word: &str) -> String {
    let mut parts = word.split('-');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}
