//! Text to tokens.
//!
//! No word is reserved: a keyword is a word that the grammar asks for at its place, so an edge
//! may be called `data` or `request`. Comments go to the side, in order. A fault becomes a
//! diagnostic and, where it helps, a token: the parser goes on, and does not blame the grammar
//! of a line whose characters are wrong ([`Token::blamed`]).
//!
//! Start at [`lex`].

use logos::Logos;

use crate::ast::Comment;
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::literal::unescape;
use crate::source::{Place, SourceId};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// `data`, `many-unique`
    Word,
    /// `"agents"`
    Text,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `<`
    OpenAngle,
    /// `>`
    CloseAngle,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `=`
    Equals,
    /// `->`
    Arrow,
    /// The end of the file; the last token, and only it.
    End,
}

impl TokenKind {
    /// Returns how a message names it.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Word => "a word",
            Self::Text => "a string",
            Self::OpenBrace => "`{`",
            Self::CloseBrace => "`}`",
            Self::OpenBracket => "`[`",
            Self::CloseBracket => "`]`",
            Self::OpenAngle => "`<`",
            Self::CloseAngle => "`>`",
            Self::Semicolon => "`;`",
            Self::Colon => "`:`",
            Self::Comma => "`,`",
            Self::Dot => "`.`",
            Self::Equals => "`=`",
            Self::Arrow => "`->`",
            Self::End => "the end of the file",
        }
    }
}

/// A token with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where.
    pub place: Place,
    /// Nothing but white space and comments stand before it on its line.
    pub first_on_line: bool,
    /// A fault of the characters stands on its line or right before it.
    pub blamed: bool,
}

/// Everything the lexer found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lexed {
    /// The tokens; the last is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// The comments.
    pub comments: Vec<Comment>,
    /// What is wrong with the characters.
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\x0c]+")]
enum Raw {
    // Characters beyond ASCII are taken into words so that a fault names the whole word.
    #[regex(
        r"([A-Za-z_]|[^\x00-\x7f])([A-Za-z0-9_]|[^\x00-\x7f])*(-([A-Za-z0-9_]|[^\x00-\x7f])+)*"
    )]
    Word,
    #[regex(r"[0-9]([A-Za-z0-9_]|[^\x00-\x7f])*(-([A-Za-z0-9_]|[^\x00-\x7f])+)*")]
    Number,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*""#)]
    Text,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*\\?"#)]
    UnclosedText,
    #[regex(r"'[^'\r\n]*'?")]
    SingleQuoted,
    #[regex(r"//[^\r\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*", block_comment)]
    BlockComment(Closed),
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("<")]
    OpenAngle,
    #[token(">")]
    CloseAngle,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("=")]
    Equals,
    #[token("->")]
    Arrow,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Closed {
    Yes,
    No,
}

fn block_comment(lexer: &mut logos::Lexer<'_, Raw>) -> Closed {
    if let Some(length) = lexer.remainder().find("*/") {
        lexer.bump(length + 2);
        Closed::Yes
    } else {
        lexer.bump(lexer.remainder().len());
        Closed::No
    }
}

/// Splits a text into tokens. The text must be shorter than 4 GiB.
#[must_use]
pub fn lex(source: SourceId, text: &str) -> Lexed {
    let mut lexer = Raw::lexer(text);
    // A byte order mark says nothing in UTF-8; editors leave one behind.
    if text.starts_with('\u{feff}') {
        lexer.bump('\u{feff}'.len_utf8());
    }
    let mut sink = Sink::new(source, text);
    while let Some(raw) = lexer.next() {
        sink.take(raw, lexer.span());
    }
    sink.finish()
}

struct Sink<'a> {
    source: SourceId,
    text: &'a str,
    lexed: Lexed,
    /// Behind the last token or comment.
    end: usize,
    /// No token stands on this line yet.
    fresh_line: bool,
    /// The first token of the current line.
    line: usize,
    /// A fault stands on the current line, or ended the line before in the middle of things.
    faulty: bool,
}

impl<'a> Sink<'a> {
    fn new(source: SourceId, text: &'a str) -> Self {
        let lexed = Lexed { tokens: Vec::new(), comments: Vec::new(), diagnostics: Vec::new() };
        Self { source, text, lexed, end: 0, fresh_line: true, line: 0, faulty: false }
    }

    fn take(&mut self, raw: Result<Raw, ()>, span: std::ops::Range<usize>) {
        self.cross(span.start);
        let place = self.place(span.clone());
        match raw {
            Ok(Raw::Word) => self.word(place),
            Ok(Raw::Number) => {
                self.fault(
                    Diagnostic::new(
                        Code::UnknownCharacter,
                        place,
                        "a name does not begin with a digit",
                    )
                    .help("names begin with a letter or `_`; the language has no numbers"),
                );
                self.push(TokenKind::Word, place);
            }
            Ok(Raw::Text) => self.string(place),
            Ok(Raw::UnclosedText) => self.unclosed_string(place),
            Ok(Raw::SingleQuoted) => {
                self.fault(
                    Diagnostic::new(
                        Code::UnknownCharacter,
                        self.place(span.start..span.start + 1),
                        "`'` begins no token",
                    )
                    .help("strings stand between double quotes: `\"…\"`"),
                );
                self.push(TokenKind::Text, place);
            }
            Ok(Raw::LineComment) => self.comment(place),
            Ok(Raw::BlockComment(closed)) => {
                if closed == Closed::No {
                    let opening = self.place(span.start..span.start + 2);
                    self.fault(
                        Diagnostic::new(
                            Code::UnclosedComment,
                            opening,
                            "this comment does not end",
                        )
                        .help("end it with `*/`; comments do not nest"),
                    );
                }
                self.comment(place);
            }
            Ok(Raw::OpenBrace) => self.push(TokenKind::OpenBrace, place),
            Ok(Raw::CloseBrace) => self.push(TokenKind::CloseBrace, place),
            Ok(Raw::OpenBracket) => self.push(TokenKind::OpenBracket, place),
            Ok(Raw::CloseBracket) => self.push(TokenKind::CloseBracket, place),
            Ok(Raw::OpenAngle) => self.push(TokenKind::OpenAngle, place),
            Ok(Raw::CloseAngle) => self.push(TokenKind::CloseAngle, place),
            Ok(Raw::Semicolon) => self.push(TokenKind::Semicolon, place),
            Ok(Raw::Colon) => self.push(TokenKind::Colon, place),
            Ok(Raw::Comma) => self.push(TokenKind::Comma, place),
            Ok(Raw::Dot) => self.push(TokenKind::Dot, place),
            Ok(Raw::Equals) => self.push(TokenKind::Equals, place),
            Ok(Raw::Arrow) => self.push(TokenKind::Arrow, place),
            Err(()) => self.unknown(place),
        }
        self.end = span.end;
    }

    /// Minds the line ends between the last token and the next.
    fn cross(&mut self, next: usize) {
        if self.text[self.end..next].contains('\n') {
            self.fresh_line = true;
            self.line = self.lexed.tokens.len();
            self.faulty = false;
        }
    }

    fn place(&self, span: std::ops::Range<usize>) -> Place {
        let offset = |at: usize| u32::try_from(at).expect("a source is shorter than 4 GiB");
        Place { source: self.source, start: offset(span.start), end: offset(span.end) }
    }

    fn push(&mut self, kind: TokenKind, place: Place) {
        let first_on_line = std::mem::replace(&mut self.fresh_line, false);
        self.lexed.tokens.push(Token { kind, place, first_on_line, blamed: self.faulty });
    }

    fn fault(&mut self, diagnostic: Diagnostic) {
        self.lexed.diagnostics.push(diagnostic);
        self.blame_line();
    }

    /// Blames every token of the current line: those before now, those behind as they come.
    fn blame_line(&mut self) {
        if !std::mem::replace(&mut self.faulty, true) {
            for token in &mut self.lexed.tokens[self.line..] {
                token.blamed = true;
            }
        }
    }

    fn word(&mut self, place: Place) {
        if let Some(odd) = self.text[place.range()].chars().find(|c| !c.is_ascii()) {
            let help = if matches!(odd, '“' | '”' | '„' | '‘' | '’' | '«' | '»') {
                "strings stand between plain double quotes: `\"…\"`"
            } else {
                "names have the letters a to z, digits and `_`; other characters belong into \
                 strings and comments"
            };
            self.fault(
                Diagnostic::new(
                    Code::UnknownCharacter,
                    place,
                    format!("`{}` belongs to no name", odd.escape_debug()),
                )
                .help(help),
            );
        }
        self.push(TokenKind::Word, place);
    }

    fn string(&mut self, place: Place) {
        let (_, faults) = unescape(&self.text[place.range()]);
        for (range, message) in faults {
            let start = place.start as usize;
            self.fault(
                Diagnostic::new(
                    Code::BadEscape,
                    self.place(start + range.start..start + range.end),
                    message,
                )
                .help("a string knows `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}`"),
            );
        }
        self.push(TokenKind::Text, place);
    }

    fn unclosed_string(&mut self, place: Place) {
        let quote = self.place(place.start as usize..place.start as usize + 1);
        let line_before = self.lexed.diagnostics.last_mut().filter(|last| {
            last.code == Code::UnclosedString
                && last.labels.is_empty()
                && self.text[last.place.range().end..quote.range().start].matches('\n').count() == 1
        });
        // The end of a string of two lines looks like the beginning of another one.
        if let Some(fault) = line_before {
            fault.labels.push((quote, "is this its end?".to_owned()));
            self.blame_line();
        } else {
            self.fault(
                Diagnostic::new(
                    Code::UnclosedString,
                    quote,
                    "this string does not end on its line",
                )
                .help("end it with `\"`; a line end inside a string is written `\\n`"),
            );
        }
        self.push(TokenKind::Text, place);
    }

    fn comment(&mut self, place: Place) {
        let text = self.text[place.range()].to_owned();
        // The line of whatever follows a comment of several lines is a new one.
        if text.contains('\n') {
            self.fresh_line = true;
        }
        self.lexed.comments.push(Comment { text, place });
    }

    fn unknown(&mut self, place: Place) {
        // One diagnostic for a run of them.
        if let Some(last) = self.lexed.diagnostics.last_mut()
            && last.code == Code::UnknownCharacter
            && last.place.end == place.start
        {
            last.place.end = place.end;
            let run = self.text[last.place.range()].escape_debug().to_string();
            last.message = format!("`{run}` begin no token");
            if run == "*/" {
                last.help = Some("no comment is open here; comments do not nest".to_owned());
            }
            return;
        }
        let character = self.text[place.range()].escape_debug();
        self.fault(Diagnostic::new(
            Code::UnknownCharacter,
            place,
            format!("`{character}` begins no token"),
        ));
    }

    fn finish(mut self) -> Lexed {
        let end = self.text.len();
        // What is missing at the end may stand in the comment or string that swallowed it.
        let swallowed = self.end == end
            && self.lexed.diagnostics.last().is_some_and(|last| {
                matches!(last.code, Code::UnclosedComment | Code::UnclosedString)
            });
        if !swallowed {
            self.cross(end);
        }
        let place = self.place(end..end);
        self.push(TokenKind::End, place);
        self.blame_what_follows();
        self.lexed
    }

    /// A string that does not end may have swallowed the `;` and more: the first token behind it
    /// is not to blame either.
    fn blame_what_follows(&mut self) {
        for fault in &self.lexed.diagnostics {
            if fault.code == Code::UnclosedString {
                let next = self
                    .lexed
                    .tokens
                    .partition_point(|token| token.place.start <= fault.place.start);
                if let Some(token) = self.lexed.tokens.get_mut(next) {
                    token.blamed = true;
                }
            }
        }
    }
}
