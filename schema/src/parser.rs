//! The cursor over the tokens of a file: peek, bump, expect, recover. It knows no grammar.
//!
//! A fault is reported where it is found and handed up as a [`Fault`], which says only that it
//! was reported. The list that the faulty entry stands in skips to where the next entry can
//! begin ([`Level`]) and goes on, so that one run shows every fault, and one fault is shown once.
//!
//! Progress: every turn of a list takes a token or ends the list.
//!
//! What is taken stands here; how the next entry is found in `parser/recovery.rs`; what is said
//! of a fault in `parser/blame.rs`.

mod blame;
mod recovery;

pub(crate) use recovery::Level;

use crate::ast::{Name, Spanned, Text};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::literal::unescape;
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
    /// The token that the fault of this entry was about.
    blamed: Option<usize>,
    /// The token that the last fault of all was about.
    fault: Option<usize>,
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
            fault: None,
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
        // Something stands before it.
        if self.nth(1).kind == kind && !self.nth(1).first_on_line {
            self.bump();
            self.bump();
            return;
        }
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
