//! What may follow where the cursor stands.
//!
//! The text before the cursor need not be well formed: what can be read of it says which command
//! it is, and inside of JSON at which type the cursor stands. Names come from the manual and the
//! definitions, references and values from the store, through [`Live`].

mod input;
mod words;

use std::ops::Range;

use quixos_schema::{AtomIndex, Definitions, MemberKind};
use quixos_session::standing::Status;
use serde_json::Value;

use crate::language::{MANUAL, Named, Page, Path, Segment, Token, TokenKind, group, page, tokens};
use crate::lookup::{self, short};
use crate::verb::explain::rules;
use crate::verb::session::words as session_words;

/// Something that may follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggestion {
    /// What to write.
    pub(crate) text: String,
    /// The bytes to write it over.
    pub(crate) span: Range<usize>,
    /// What it is.
    pub(crate) about: String,
    /// Whether a space follows.
    pub(crate) ends: bool,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    /// An object of an atom.
    Object(AtomIndex),
    /// A value.
    Value(Value),
}

/// What only the store and the session know.
pub(crate) trait Live {
    /// Returns the variables with their values.
    fn variables(&self) -> Vec<(String, Value)>;
    /// Returns the newest objects of an atom: canonical references, and what they are.
    fn objects(&self, atom: AtomIndex) -> Vec<(String, String)>;
    /// Returns what a path leads to.
    fn find(&self, path: &Path) -> Option<Found>;
    /// Returns the state of the object that a path leads to, slot by slot.
    fn state(&self, path: &Path) -> Vec<Value>;
    /// Returns sessions whose ids begin so, each with what it does; of all, the newest.
    fn sessions(&self, begin: &str) -> Vec<(String, String)>;
    /// Returns what waits for an answer in a session: ids, and what they are.
    fn open(&self, session: &Named) -> Vec<(String, String)>;
    /// Returns the names of agents, each with its reference.
    fn agents(&self) -> Vec<(String, String)>;
}

/// Returns what may follow at a position of a text, the most likely first.
pub(crate) fn complete(
    text: &str,
    at: usize,
    definitions: &Definitions,
    live: &dyn Live,
) -> Vec<Suggestion> {
    let Some(before) = text.get(..at) else { return Vec::new() };
    let (mut read, fault) = tokens(before);
    if let Some(end) = read.iter().rposition(|token| token.kind == TokenKind::End) {
        read.drain(..=end);
    }
    // What is being typed: a token that touches the cursor, or the beginning of one.
    let begun = fault
        .map(|fault| fault.span.start)
        .filter(|start| before[*start..].starts_with(['"', '\'', '$']));
    let typed = match (begun, read.last()) {
        (Some(start), _) => Typed { start, token: None },
        (None, Some(last)) if last.span.end == at && !matches!(last.kind, TokenKind::Mark(_)) => {
            Typed { start: last.span.start, token: read.pop() }
        }
        _ => Typed { start: at, token: None },
    };
    let mut completer = Completer {
        typed: &before[typed.start..],
        span: typed.start..at,
        token: typed.token,
        definitions,
        live,
        found: Vec::new(),
    };
    completer.command(&read);
    completer.found
}

struct Typed {
    start: usize,
    token: Option<Token>,
}

struct Completer<'c> {
    /// The text of the token that is being typed.
    typed: &'c str,
    span: Range<usize>,
    token: Option<Token>,
    definitions: &'c Definitions,
    live: &'c dyn Live,
    found: Vec<Suggestion>,
}

impl Completer<'_> {
    fn suggest(&mut self, text: impl Into<String>, about: impl Into<String>, ends: bool) {
        let text = text.into();
        let fits = text.to_lowercase().starts_with(&self.typed.to_lowercase());
        if fits && !self.found.iter().any(|it| it.text == text) {
            let span = self.span.clone();
            self.found.push(Suggestion { text, span, about: about.into(), ends });
        }
    }

    fn command(&mut self, tokens: &[Token]) {
        let tokens = match tokens {
            [first, second, rest @ ..]
                if matches!(first.kind, TokenKind::Path(_))
                    && second.kind == TokenKind::Mark('=') =>
            {
                rest
            }
            other => other,
        };
        let Some((first, rest)) = tokens.split_first() else {
            self.commands();
            return self.path_or_variables();
        };
        let TokenKind::Word(verb) = &first.kind else { return };
        let Some((page, rest)) = self.page(verb, rest) else { return };
        if self.typed.starts_with("--") {
            for flag in page.flags {
                self.suggest(format!("--{flag}"), "", true);
            }
            return;
        }
        if let Some(place) = input::place(rest) {
            return self.input(page, rest, &place);
        }
        self.argument(page, rest);
    }

    /// The words that commands begin with.
    fn commands(&mut self) {
        for page in MANUAL {
            match page.name.split_once(' ') {
                None => self.suggest(page.name, page.summary, true),
                Some((group, _)) => self.suggest(group, format!("`help {group}`"), true),
            }
        }
    }

    /// The command that was begun and what stands behind it; of a group, its second words are
    /// suggested first.
    fn page<'t>(&mut self, verb: &str, rest: &'t [Token]) -> Option<(&'static Page, &'t [Token])> {
        if let Some(page) = page(verb) {
            return Some((page, rest));
        }
        let Some((second, rest)) = rest.split_first() else {
            for (word, page) in group(verb) {
                self.suggest(word, page.summary, true);
            }
            return None;
        };
        let (_, page) = group(verb).find(|(word, _)| second.word() == Some(word))?;
        Some((page, rest))
    }

    /// Outside of JSON.
    fn argument(&mut self, page: &Page, rest: &[Token]) {
        let before = rest.last().map(|token| &token.kind);
        let first = usize::from(!matches!(page.name, "sessions" | "history"));
        let option = rest.last().filter(|_| rest.len() > first).and_then(Token::word);
        let option = option.filter(|word| page.options.contains(word));
        match (page.name, rest.len()) {
            (_, _) if option.is_some() => self.option_value(page, option),
            (name, 0) if name.starts_with("session ") => self.sessions(),
            ("session answer" | "session fail", 1) => {
                if let Some(session) = rest.first().and_then(named) {
                    self.open(&session);
                }
            }
            ("list", 0) => self.atoms(false),
            ("create", 0) => self.atoms(true),
            ("describe", 0) => self.subjects(),
            ("describe", 1) => self.suggest("of", "a package or an atom", true),
            ("describe", _) => {
                for package in &self.definitions.packages {
                    self.suggest(package.name.as_str(), package.revision.as_str(), true);
                }
                self.atoms(false);
            }
            ("call", 0) => {
                self.path_or_variables();
                if !self.typed.is_empty() && !self.typed.starts_with('$') {
                    self.operations();
                }
            }
            ("call", 1) if matches!(before, Some(TokenKind::Word(_))) => {
                self.suggest("on", "an object", true);
            }
            ("call", 2) if matches!(before, Some(TokenKind::Word(word)) if word == "on") => {
                self.path_or_variables();
            }
            ("call", _) | ("create", 1) => self.whole_input(page, rest),
            ("show" | "get" | "read" | "follow" | "cursor" | "explain", 0) => {
                self.path_or_variables();
                if page.name == "explain" {
                    for rule in rules::all() {
                        self.suggest(rule.word, rule.when, true);
                    }
                }
            }
            ("help", 0) => self.commands(),
            ("help", 1) => {
                if let Some(TokenKind::Word(first)) = before {
                    self.page(first, &[]);
                }
            }
            ("history", 0) => {
                self.suggest("verify", "checks the chain", true);
                self.options(page);
            }
            (_, at) if at >= first => self.options(page),
            _ => {}
        }
    }

    /// What may stand behind an option.
    fn option_value(&mut self, page: &Page, option: Option<&str>) {
        match option {
            Some("status") => {
                for status in Status::ALL {
                    self.suggest(status.word(), "", true);
                }
            }
            Some("agent") => {
                for (name, about) in self.live.agents() {
                    self.suggest(session_words::id(&name), about, true);
                }
            }
            Some("after") if page.name == "sessions" => self.sessions(),
            _ => self.path_or_variables(),
        }
    }

    /// Sessions by their ids, or by references.
    fn sessions(&mut self) {
        let begun = self.typed.trim_start_matches('"').to_owned();
        for (id, about) in self.live.sessions(&begun) {
            self.suggest(session_words::id(&id), about, true);
        }
        self.path_or_variables();
    }

    /// What waits for an answer in a session.
    fn open(&mut self, session: &Named) {
        for (id, about) in self.live.open(session) {
            self.suggest(session_words::id(&id), about, true);
        }
        self.path_or_variables();
    }

    fn options(&mut self, page: &Page) {
        for option in page.options {
            self.suggest(*option, "", true);
        }
    }

    fn atoms(&mut self, roots: bool) {
        let definitions = self.definitions;
        for atom in definitions.atoms.iter().filter(|it| !roots || it.root.is_some()) {
            self.suggest(short(&atom.id), atom.name.as_str(), true);
        }
        if !self.typed.is_empty() {
            for atom in definitions.atoms.iter().filter(|it| !roots || it.root.is_some()) {
                self.suggest(atom.name.as_str(), atom.id.as_str(), true);
                self.suggest(atom.id.as_str(), atom.name.as_str(), true);
            }
        }
    }

    fn operations(&mut self) {
        let definitions = self.definitions;
        for operation in &definitions.operations {
            let about = lookup::door(definitions, operation)
                .map_or_else(String::new, |it| format!("{}.{}", it.interface, it.member));
            self.suggest(operation.name.as_str(), about, true);
        }
    }

    fn subjects(&mut self) {
        for word in ["operations", "packages", "atoms", "interfaces", "types"] {
            self.suggest(word, "", true);
        }
        self.atoms(false);
        let definitions = self.definitions;
        for interface in &definitions.interfaces {
            self.suggest(interface.name.as_str(), interface.id.as_str(), true);
            for member in &interface.members {
                if self.typed.contains('.') {
                    self.suggest(format!("{}.{}", interface.name, member.name), "", true);
                }
            }
        }
        self.operations();
        for ty in &definitions.types {
            self.suggest(ty.name.as_str(), "type", true);
        }
    }

    /// A variable, a reference, or the names behind one.
    fn path_or_variables(&mut self) {
        if let Some(Token { kind: TokenKind::Path(path), .. }) = &self.token
            && !path.segments.is_empty()
        {
            let path = path.clone();
            return self.segments(&path);
        }
        self.variables(|_| true);
        if let Some((word, _)) = self.typed.split_once('/') {
            for atom in lookup::atoms(self.definitions, word) {
                self.references(atom, word);
            }
        } else if !self.typed.starts_with('$') {
            let definitions = self.definitions;
            for atom in &definitions.atoms {
                self.suggest(format!("{}/", short(&atom.id)), atom.name.as_str(), false);
            }
        }
    }

    fn variables(&mut self, accept: impl Fn(&Value) -> bool) {
        for (name, value) in self.live.variables() {
            if accept(&value) {
                self.suggest(format!("${name}"), brief(&value), false);
            }
        }
    }

    /// The newest objects of an atom, by the word that was begun with.
    fn references(&mut self, atom: AtomIndex, word: &str) {
        for (reference, about) in self.live.objects(atom) {
            if let Some((_, id)) = reference.rsplit_once('/') {
                self.suggest(format!("{word}/{id}"), about, false);
            }
        }
    }

    /// The names behind a path.
    fn segments(&mut self, path: &Path) {
        let mut base = path.clone();
        let Some(last) = base.segments.pop() else { return };
        let Some(found) = self.live.find(&base) else { return };
        // Only the name is written, over the name.
        self.span = last.span.clone();
        let typed = last.name;
        let mut names: Vec<(String, String, bool)> = Vec::new();
        match found {
            Found::Value(Value::Object(fields)) => {
                names.extend(fields.iter().map(|(name, it)| (name.clone(), brief(it), false)));
            }
            Found::Value(_) => {}
            Found::Object(atom) => names.extend(members(self.definitions, atom)),
        }
        for (text, about, ends) in names {
            if text.to_lowercase().starts_with(&typed.to_lowercase()) {
                self.found.push(Suggestion { text, span: last.span.clone(), about, ends });
            }
        }
    }
}

/// Returns what a token names, if it is an id or a path.
fn named(token: &Token) -> Option<Named> {
    match &token.kind {
        TokenKind::Word(name) | TokenKind::Text(name) => {
            Some(Named::Id(Segment { name: name.clone(), span: token.span.clone() }))
        }
        TokenKind::Path(path) => Some(Named::Path(path.clone())),
        TokenKind::Flag(_) | TokenKind::Mark(_) | TokenKind::End => None,
    }
}

/// The members of an atom: those of its interfaces, what is internal last.
fn members(definitions: &Definitions, atom: AtomIndex) -> Vec<(String, String, bool)> {
    let mut names = Vec::new();
    for implementation in &definitions.atom(atom).implements {
        let interface = definitions.interface(implementation.interface.interface);
        for member in &interface.members {
            let kind = match member.kind {
                MemberKind::State(_) => "state",
                MemberKind::Edge(_) => "edge",
                MemberKind::Stream(_) => "stream",
                MemberKind::Operation { .. } if member.internal => "internal operation",
                MemberKind::Operation { .. } => "operation",
            };
            let about = format!("{kind} of {}", interface.name);
            let ends = matches!(member.kind, MemberKind::Operation { .. });
            names.push((member.internal, (member.name.clone(), about, ends)));
        }
    }
    names.sort_by_key(|(internal, _)| *internal);
    names.into_iter().map(|(_, name)| name).collect()
}

/// A value in a few letters.
fn brief(value: &Value) -> String {
    const LETTERS: usize = 40;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
