//! Tokens -> commands.
//!
//! The whole text is read before anything runs: a script with a fault in its last line does
//! nothing.

mod session;
mod value;

use std::ops::Range;

use self::value::plain;
use super::command::{Call, Command, Explained, Flags, Named, Subject, Verb};
use super::fault::Fault;
use super::manual::{MANUAL, Page, group, page};
use super::template::Template;
use super::token::{Base, Path, Segment, Token, TokenKind, tokens};

/// Reads every command of a text.
///
/// # Errors
/// The first fault.
pub(crate) fn parse(text: &str) -> Result<Vec<Command>, Fault> {
    let (tokens, fault) = tokens(text);
    if let Some(fault) = fault {
        return Err(fault);
    }
    tokens
        .split(|token| token.kind == TokenKind::End)
        .filter(|line| !line.is_empty())
        .map(|line| Parser::new(line).command())
        .collect()
}

struct Parser<'t> {
    tokens: Vec<&'t Token>,
    at: usize,
    flags: Vec<(&'t str, Range<usize>)>,
    span: Range<usize>,
}

/// The words that may follow a command, with their values.
#[derive(Default)]
struct Options {
    numbers: Vec<(&'static str, u64)>,
    words: Vec<(&'static str, String)>,
    paths: Vec<(&'static str, Path)>,
    statuses: Vec<Segment>,
    sessions: Vec<Named>,
}

impl<'t> Parser<'t> {
    fn new(line: &'t [Token]) -> Self {
        let mut tokens = Vec::new();
        let mut flags = Vec::new();
        for token in line {
            if let TokenKind::Flag(name) = &token.kind {
                flags.push((name.as_str(), token.span.clone()));
            } else {
                tokens.push(token);
            }
        }
        let span = match (line.first(), line.last()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => 0..0,
        };
        Self { tokens, at: 0, flags, span }
    }

    fn command(mut self) -> Result<Command, Fault> {
        let keep = self.keep()?;
        let (verb, page) = self.verb()?;
        if let Some(token) = self.peek() {
            return Err(Fault::new(token.span.clone(), "nothing is expected here")
                .help(format!("usage: {}", page.usage)));
        }
        let flags = self.known_flags(page)?;
        Ok(Command { span: self.span, keep, verb, flags })
    }

    /// `$name =`
    fn keep(&mut self) -> Result<Option<Segment>, Fault> {
        let [first, second, ..] = self.tokens.as_slice() else { return Ok(None) };
        let (TokenKind::Path(path), TokenKind::Mark('=')) = (&first.kind, &second.kind) else {
            return Ok(None);
        };
        let (Base::Variable(name), []) = (&path.base, path.segments.as_slice()) else {
            return Err(Fault::new(first.span.clone(), "only a variable can be set"));
        };
        if name == "now" || name == "_" {
            let message = format!("`${name}` is kept by the shell");
            return Err(Fault::new(first.span.clone(), message));
        }
        self.at = 2;
        Ok(Some(Segment { name: name.clone(), span: first.span.clone() }))
    }

    fn verb(&mut self) -> Result<(Verb, &'static Page), Fault> {
        let Some(first) = self.peek() else {
            return Err(self.missing("a command"));
        };
        let Some(page) = self.page()? else { return self.bare(first) };
        Ok((self.verb_of(page)?, page))
    }

    /// The page of the command that begins here; of a group it has two words.
    fn page(&mut self) -> Result<Option<&'static Page>, Fault> {
        let Some(first) = self.peek().and_then(|token| token.word()) else { return Ok(None) };
        if let Some(page) = page(first) {
            self.at += 1;
            return Ok(Some(page));
        }
        if group(first).next().is_none() {
            return Ok(None);
        }
        self.at += 1;
        let second = self.name("what to do")?;
        let found = group(first).find(|(word, _)| *word == second.name);
        match found {
            Some((_, page)) => Ok(Some(page)),
            None => {
                let message = format!("no command `{first} {}`", second.name);
                let words = group(first).map(|(word, _)| word);
                Err(Fault::new(second.span, message)
                    .help(format!("`help {first}` lists them"))
                    .suggest(&second.name, words))
            }
        }
    }

    /// A value where a command could be.
    fn bare(&mut self, first: &'t Token) -> Result<(Verb, &'static Page), Fault> {
        if let TokenKind::Word(word) = &first.kind
            && plain(word).is_none()
        {
            let fault = Fault::new(first.span.clone(), format!("no command `{word}`"));
            let fault = fault.help("`help` lists the commands");
            return Err(fault.suggest(word, MANUAL.iter().map(|page| page.name)));
        }
        let page = page("get").expect("`get` is in the manual");
        Ok((Verb::Value(self.template()?), page))
    }

    fn verb_of(&mut self, page: &'static Page) -> Result<Verb, Fault> {
        Ok(match page.name {
            "list" => {
                let atom = self.name("an atom")?;
                let mut options = self.options(page)?;
                Verb::List { atom, limit: options.limit(), after: options.path("after") }
            }
            "show" => Verb::Show { object: self.path("an object")? },
            "describe" => Verb::Describe(self.subject()?),
            "create" => Verb::Create { atom: self.name("an atom")?, input: self.input()? },
            "call" => Verb::Call { call: self.call()?, input: self.input()? },
            "get" => Verb::Value(self.template()?),
            "read" => {
                let stream = self.path("a stream")?;
                let options = self.options(page)?;
                let from = options.number("from").unwrap_or(0);
                Verb::Read { stream, from, limit: options.limit() }
            }
            "follow" => {
                let stream = self.path("a stream")?;
                let options = self.options(page)?;
                Verb::Follow { stream, from: options.number("from"), limit: options.limit() }
            }
            "cursor" => {
                let stream = self.path("a stream")?;
                let name = self.name("the name of a cursor")?.name;
                let options = self.options(page)?;
                Verb::Cursor { stream, name, advance: options.number("advance") }
            }
            "history" if self.next_is("verify") => Verb::HistoryVerify,
            "history" => {
                let mut options = self.options(page)?;
                Verb::History {
                    limit: options.limit(),
                    before: options.number("before"),
                    actor: options.word("actor"),
                    on: options.path("on"),
                    touching: options.path("touching"),
                    operation: options.word("operation"),
                }
            }
            "verify" => Verb::Verify,
            "explain" => {
                let what = self.explained()?;
                Verb::Explain { what, on: self.options(page)?.path("on") }
            }
            "vars" => Verb::Vars,
            "help" => Verb::Help(self.helped()?),
            "sessions" => Verb::Sessions(self.sessions(page)?),
            name if name.starts_with("session ") => self.session(page)?,
            _ => Verb::Exit,
        })
    }

    /// The name of a command, of one word or of two.
    fn helped(&mut self) -> Result<Option<Segment>, Fault> {
        if self.peek().is_none() {
            return Ok(None);
        }
        let first = self.name("a command")?;
        if self.peek().is_none() {
            return Ok(Some(first));
        }
        let second = self.name("a command")?;
        let span = first.span.start..second.span.end;
        Ok(Some(Segment { name: format!("{} {}", first.name, second.name), span }))
    }

    fn call(&mut self) -> Result<Call, Fault> {
        if let Some(Token { kind: TokenKind::Word(word), span }) = self.peek() {
            let operation = Segment { name: word.clone(), span: span.clone() };
            self.at += 1;
            if !self.next_is("on") {
                return Err(Fault::new(operation.span, "no object to call this on")
                    .help("write `REF.MEMBER`, or `OPERATION on REF`"));
            }
            return Ok(Call::Operation { operation, on: self.path("an object")? });
        }
        let path = self.path("a member of an object")?;
        if path.segments.is_empty() {
            return Err(Fault::new(path.base_span, "no member to call")
                .help("write `REF.MEMBER`, like `$request.cancel`"));
        }
        Ok(Call::Member(path))
    }

    fn subject(&mut self) -> Result<Subject, Fault> {
        let Some(token) = self.peek() else { return Ok(Subject::Packages) };
        let named = self.name("a name")?;
        Ok(match named.name.as_str() {
            "packages" => Subject::Packages,
            "operations" if self.next_is("of") => {
                Subject::Operations(Some(self.name("a package or an atom")?))
            }
            "operations" => Subject::Operations(None),
            "atoms" => Subject::Atoms,
            "interfaces" => Subject::Interfaces,
            "types" => Subject::Types,
            _ => Subject::Named(Segment { name: named.name, span: token.span.clone() }),
        })
    }

    fn explained(&mut self) -> Result<Explained, Fault> {
        match self.peek() {
            Some(Token { kind: TokenKind::Word(word), span }) => {
                self.at += 1;
                Ok(Explained::Reason(Segment { name: word.clone(), span: span.clone() }))
            }
            _ => Ok(Explained::Path(self.path("a request")?)),
        }
    }

    fn options(&mut self, page: &'static Page) -> Result<Options, Fault> {
        let mut options = Options::default();
        while let Some(token) = self.peek() {
            let word = token.word().unwrap_or_default();
            let Some(name) = page.options.iter().find(|name| **name == word) else {
                let fault = Fault::new(token.span.clone(), "nothing like this is expected here");
                let fault = fault.help(format!("usage: {}", page.usage));
                return Err(fault.suggest(word, page.options.iter().copied()));
            };
            self.at += 1;
            match *name {
                "after" if page.name == "sessions" => {
                    options.sessions.push(self.named("a session")?);
                }
                "status" => options.statuses.push(self.name("a status")?),
                "agent" | "owner" | "tenant" | "turn" => {
                    options.words.push((name, self.name("a name")?.name));
                }
                "after" | "on" | "touching" => options.paths.push((name, self.path("an object")?)),
                "actor" | "operation" => options.words.push((name, self.name("a name")?.name)),
                _ => options.numbers.push((name, self.number()?)),
            }
        }
        Ok(options)
    }

    fn input(&mut self) -> Result<Option<Template>, Fault> {
        if self.peek().is_some() { self.template().map(Some) } else { Ok(None) }
    }

    fn mark(&mut self, mark: char) -> Option<Range<usize>> {
        let token = self.peek().filter(|token| token.kind == TokenKind::Mark(mark))?;
        self.at += 1;
        Some(token.span.clone())
    }

    fn next_is(&mut self, word: &str) -> bool {
        let found = self
            .peek()
            .is_some_and(|token| matches!(&token.kind, TokenKind::Word(it) if it == word));
        self.at += usize::from(found);
        found
    }

    fn name(&mut self, what: &str) -> Result<Segment, Fault> {
        let token = self.bump(what)?;
        match &token.kind {
            TokenKind::Word(name) | TokenKind::Text(name) => {
                Ok(Segment { name: name.clone(), span: token.span.clone() })
            }
            TokenKind::Path(_) | TokenKind::Flag(_) | TokenKind::Mark(_) | TokenKind::End => {
                Err(Fault::new(token.span.clone(), format!("expected {what}")))
            }
        }
    }

    fn path(&mut self, what: &str) -> Result<Path, Fault> {
        let token = self.bump(what)?;
        match &token.kind {
            TokenKind::Path(path) => Ok(path.clone()),
            TokenKind::Word(_)
            | TokenKind::Text(_)
            | TokenKind::Flag(_)
            | TokenKind::Mark(_)
            | TokenKind::End => Err(Fault::new(token.span.clone(), format!("expected {what}"))
                .help("write a variable like `$request`, or a reference `TYPE/ULID`")),
        }
    }

    fn number(&mut self) -> Result<u64, Fault> {
        let number = self.name("a number")?;
        number.name.parse().map_err(|_| Fault::new(number.span, "expected a number, 0 or more"))
    }

    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at).copied()
    }

    fn bump(&mut self, what: &str) -> Result<&'t Token, Fault> {
        let token = self.peek().ok_or_else(|| self.missing(what))?;
        self.at += 1;
        Ok(token)
    }

    /// Something is expected where the parser stands.
    fn missing(&self, what: &str) -> Fault {
        match self.peek() {
            Some(token) => Fault::new(token.span.clone(), format!("expected {what}")),
            None => Fault::new(
                self.span.end..self.span.end,
                format!("expected {what}, but the command ends"),
            ),
        }
    }

    fn known_flags(&self, page: &Page) -> Result<Flags, Fault> {
        let mut flags = Flags::default();
        for (name, span) in &self.flags {
            if !page.flags.contains(name) {
                let message = format!("`{}` takes no `--{name}`", page.name);
                return Err(Fault::new(span.clone(), message).suggest_as(
                    "--",
                    name,
                    page.flags.iter().copied(),
                ));
            }
            match *name {
                "dry-run" => flags.dry_run = true,
                "internal" => flags.internal = true,
                "newest" => flags.newest = true,
                _ => flags.yes = true,
            }
        }
        Ok(flags)
    }
}

impl Options {
    fn number(&self, name: &str) -> Option<u64> {
        self.numbers.iter().rev().find(|(it, _)| *it == name).map(|(_, number)| *number)
    }

    fn limit(&self) -> Option<usize> {
        self.number("limit").map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }

    fn word(&mut self, name: &str) -> Option<String> {
        let at = self.words.iter().rposition(|(it, _)| *it == name)?;
        Some(self.words.swap_remove(at).1)
    }

    fn path(&mut self, name: &str) -> Option<Path> {
        let at = self.paths.iter().rposition(|(it, _)| *it == name)?;
        Some(self.paths.swap_remove(at).1)
    }
}

#[cfg(test)]
mod tests;
