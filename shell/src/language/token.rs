//! Text -> tokens.
//!
//! Outside of brackets a word may hold what ids and revisions hold (`package:org.x:y@1`); inside
//! of them `:` and `.` are JSON's, and only what is certainly a reference (a type, `/`, 26 letters
//! of a ULID) is read as one. A line ends a command only outside of brackets.

use std::ops::Range;

use chrono::TimeDelta;

use super::fault::Fault;

/// A token with its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Where.
    pub(crate) span: Range<usize>,
}

impl Token {
    /// Returns the path, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        if let TokenKind::Path(path) = &self.kind { Some(path) } else { None }
    }

    /// Returns the word, if it is one.
    pub(crate) fn word(&self) -> Option<&str> {
        if let TokenKind::Word(word) = &self.kind { Some(word) } else { None }
    }
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A name, an id, a number, `true`.
    Word(String),
    /// `$name.field`, or `thread/01ARZ….member`.
    Path(Path),
    /// `--name`
    Flag(String),
    /// A string, with its escapes resolved.
    Text(String),
    /// `{`, `[`, `}`, `]`, `,`, `:`, `=`
    Mark(char),
    /// The end of a command.
    End,
}

/// A variable or a reference, and the names behind it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    /// What it begins with.
    pub(crate) base: Base,
    /// The bytes of the base.
    pub(crate) base_span: Range<usize>,
    /// The names behind it, each after a dot.
    pub(crate) segments: Vec<Segment>,
    /// What is added to a time: `$now+5m`.
    pub(crate) offset: Option<TimeDelta>,
}

/// What a path begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// The name of a variable, without the `$`.
    Variable(String),
    /// A reference as it was written.
    Reference(String),
}

/// A name in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The name.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) span: Range<usize>,
}

/// The letters of a ULID.
const ULID_LETTERS: usize = 26;

/// How many brackets may be open at once, so that what reads values need not fear for its stack.
const DEEPEST: usize = 128;

/// Reads a text. The tokens before a fault come with it, for completion.
pub(crate) fn tokens(text: &str) -> (Vec<Token>, Option<Fault>) {
    let mut lexer = Lexer { text, at: 0, open: Vec::new(), tokens: Vec::new() };
    let fault = lexer.run().err();
    (lexer.tokens, fault)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// The brackets that are open, with their places.
    open: Vec<(char, usize)>,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        while let Some(next) = self.peek() {
            let start = self.at;
            match next {
                '\n' | ';' if self.open.is_empty() => {
                    self.at += 1;
                    self.push(TokenKind::End, start);
                }
                '#' => self.skip_while(|c| c != '\n'),
                c if c.is_whitespace() => self.at += c.len_utf8(),
                '"' => self.quoted(start)?,
                '\'' => self.raw(start)?,
                '$' => self.variable(start)?,
                '-' if self.rest().starts_with("--") => {
                    self.at += 2;
                    let from = self.at;
                    self.skip_while(|c| c.is_ascii_alphanumeric() || c == '-');
                    let name = self.text[from..self.at].to_owned();
                    self.push(TokenKind::Flag(name), start);
                }
                '{' | '[' if self.open.len() == DEEPEST => {
                    let message = format!("more than {DEEPEST} brackets within one another");
                    return Err(Fault::new(start..start + 1, message));
                }
                '{' | '[' => {
                    self.open.push((next, start));
                    self.mark(next);
                }
                '}' | ']' => {
                    self.close(next)?;
                    self.mark(next);
                }
                ',' | ':' | '=' => self.mark(next),
                _ => self.word(start)?,
            }
        }
        match self.open.last() {
            Some((bracket, at)) => Err(Fault::unfinished(
                *at..*at + 1,
                format!("this `{bracket}` is not closed before the text ends"),
            )),
            None => Ok(()),
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !accept(c)).unwrap_or(rest.len());
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(Token { kind, span: start..self.at });
    }

    fn mark(&mut self, mark: char) {
        let start = self.at;
        self.at += 1;
        self.push(TokenKind::Mark(mark), start);
    }

    fn close(&mut self, bracket: char) -> Result<(), Fault> {
        let opened = if bracket == '}' { '{' } else { '[' };
        match self.open.pop() {
            Some((open, _)) if open == opened => Ok(()),
            Some((open, _)) => {
                Err(Fault::new(self.at..self.at + 1, format!("`{bracket}` cannot close `{open}`")))
            }
            None => Err(Fault::new(self.at..self.at + 1, format!("`{bracket}` closes nothing"))),
        }
    }

    /// `"…"`, as JSON has it.
    fn quoted(&mut self, start: usize) -> Result<(), Fault> {
        let mut escaped = false;
        for (offset, c) in self.text[start + 1..].char_indices() {
            let end = start + 1 + offset;
            match c {
                '\n' => {
                    let fault = Fault::new(start..end, "this string does not end on its line");
                    return Err(fault.help("write a line break as `\\n`, or use `'…'`"));
                }
                '"' if !escaped => {
                    self.at = end + 1;
                    let text = serde_json::from_str(&self.text[start..self.at]).map_err(|_| {
                        Fault::new(start..end + 1, "this string has an escape that JSON has not")
                            .help("a string in `'…'` has no escapes")
                    })?;
                    self.push(TokenKind::Text(text), start);
                    return Ok(());
                }
                _ => escaped = c == '\\' && !escaped,
            }
        }
        self.at = self.text.len();
        Err(Fault::new(start..self.at, "this string does not end"))
    }

    /// `'…'`, taken as it is.
    fn raw(&mut self, start: usize) -> Result<(), Fault> {
        match self.text[start + 1..].find('\'') {
            Some(length) => {
                self.at = start + 1 + length + 1;
                let text = self.text[start + 1..self.at - 1].to_owned();
                self.push(TokenKind::Text(text), start);
                Ok(())
            }
            None => {
                self.at = self.text.len();
                Err(Fault::unfinished(start..self.at, "this string does not end"))
            }
        }
    }

    fn variable(&mut self, start: usize) -> Result<(), Fault> {
        self.at += 1;
        self.skip_while(is_name);
        let name = self.text[start + 1..self.at].to_owned();
        if name.is_empty() {
            let fault = Fault::new(start..self.at, "a `$` without a name");
            return Err(fault.help("`vars` lists the variables"));
        }
        self.path(Base::Variable(name), start)
    }

    /// The rest of a path, behind its base.
    fn path(&mut self, base: Base, start: usize) -> Result<(), Fault> {
        let base_span = start..self.at;
        let mut segments = Vec::new();
        while self.rest().starts_with('.') {
            let from = self.at + 1;
            self.at = from;
            self.skip_while(is_name);
            segments
                .push(Segment { name: self.text[from..self.at].to_owned(), span: from..self.at });
        }
        let offset = self.offset()?;
        self.push(TokenKind::Path(Path { base, base_span, segments, offset }), start);
        Ok(())
    }

    /// `+5m`, `-2h` directly behind a path.
    fn offset(&mut self) -> Result<Option<TimeDelta>, Fault> {
        let start = self.at;
        let sign = match self.peek() {
            Some('+') => 1,
            Some('-') => -1,
            _ => return Ok(None),
        };
        self.at += 1;
        let digits = self.at;
        self.skip_while(|c| c.is_ascii_digit());
        let count = self.text[digits..self.at].parse::<i64>().ok();
        let unit = self.peek();
        self.skip_while(|c| c.is_ascii_alphabetic());
        let whole = self.at - start;
        let one_letter = whole
            == (digits - start)
                + self.text[digits..].chars().take_while(char::is_ascii_digit).count()
                + 1;
        let delta = match (count, unit) {
            (Some(count), Some('s')) => TimeDelta::try_seconds(sign * count),
            (Some(count), Some('m')) => TimeDelta::try_minutes(sign * count),
            (Some(count), Some('h')) => TimeDelta::try_hours(sign * count),
            (Some(count), Some('d')) => TimeDelta::try_days(sign * count),
            _ => None,
        };
        match delta {
            Some(delta) if one_letter => Ok(Some(delta)),
            _ => Err(Fault::new(start..self.at, "this is no span of time")
                .help("write a number and `s`, `m`, `h` or `d`, like `$now+5m`")),
        }
    }

    fn word(&mut self, start: usize) -> Result<(), Fault> {
        if let Some(length) = reference(self.rest()) {
            self.at += length;
            let written = self.text[start..self.at].to_owned();
            return self.path(Base::Reference(written), start);
        }
        let inside = !self.open.is_empty();
        let numeric = self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-');
        self.skip_while(|c| match c {
            '_' | '-' => true,
            '.' | '+' => !inside || numeric,
            ':' | '@' | '/' => !inside,
            _ => c.is_alphanumeric(),
        });
        if self.at == start {
            let c = self.peek().unwrap_or_default();
            let end = start + c.len_utf8();
            return Err(Fault::new(start..end, format!("`{c}` begins nothing")));
        }
        let word = self.text[start..self.at].to_owned();
        self.push(TokenKind::Word(word), start);
        Ok(())
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of the reference that a text begins with: a type, `/`, a ULID.
fn reference(text: &str) -> Option<usize> {
    let slash = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_-.:".contains(c)))?;
    let id = text[slash..].strip_prefix('/')?;
    let letters = id.bytes().take_while(u8::is_ascii_alphanumeric).count();
    (slash > 0 && letters == ULID_LETTERS).then_some(slash + 1 + ULID_LETTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let (tokens, fault) = tokens(text);
        assert_eq!(fault, None, "{text}");
        tokens.iter().map(|token| text[token.span.clone()].to_owned()).collect()
    }

    #[test]
    fn a_reference_ends_where_its_id_does() {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let text = format!("call atom:org.x.agent:thread/{id}.rename \"a\"");
        assert_eq!(
            words(&text),
            ["call", &format!("atom:org.x.agent:thread/{id}.rename"), "\"a\""]
        );
        assert_eq!(words(&format!("[a/{id},b]"))[1], format!("a/{id}"));
    }

    #[test]
    fn colons_belong_to_ids_outside_of_brackets_and_to_json_inside() {
        assert_eq!(words("describe package:org.x:y@1"), ["describe", "package:org.x:y@1"]);
        assert_eq!(words("{a:true}"), ["{", "a", ":", "true", "}"]);
    }

    #[test]
    fn lines_end_commands_only_outside_of_brackets() {
        assert_eq!(words("a\nb"), ["a", "\n", "b"]);
        assert_eq!(words("a {\n}"), ["a", "{", "}"]);
        assert_eq!(words("a # b; c\nd"), ["a", "\n", "d"]);
    }

    #[test]
    fn an_open_bracket_waits_for_more_and_a_wrong_one_does_not() {
        assert!(tokens("call $a.b {").1.is_some_and(|fault| fault.unfinished));
        assert!(tokens("call $a.b }").1.is_some_and(|fault| !fault.unfinished));
    }

    #[test]
    fn times_move_by_whole_units() {
        for (text, fine) in
            [("$now+5m", true), ("$now-2h", true), ("$now+5", false), ("$now+5min", false)]
        {
            assert_eq!(tokens(text).1.is_none(), fine, "{text}");
        }
    }
}
