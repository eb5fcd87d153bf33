//! Values: JSON in which a variable or a reference may stand, and keys need no quotes.

use std::ops::Range;
use std::str::FromStr;

use serde_json::Value;

use super::Parser;
use crate::language::fault::Fault;
use crate::language::template::{Template, TemplateKind};
use crate::language::token::TokenKind;

impl Parser<'_> {
    pub(super) fn template(&mut self) -> Result<Template, Fault> {
        let token = self.bump("a value")?;
        let span = token.span.clone();
        let kind = match &token.kind {
            TokenKind::Text(text) => TemplateKind::Plain(Value::String(text.clone())),
            TokenKind::Path(path) => TemplateKind::Path(path.clone()),
            TokenKind::Word(word) => TemplateKind::Plain(plain(word).ok_or_else(|| {
                Fault::new(span.clone(), format!("`{word}` is no value"))
                    .help("a string stands in quotes, a variable begins with `$`")
                    .suggest(word, ["true", "false", "null"])
            })?),
            TokenKind::Mark('[') => return self.list(span),
            TokenKind::Mark('{') => return self.record(span),
            TokenKind::Mark(_) | TokenKind::Flag(_) | TokenKind::End => {
                return Err(Fault::new(span, "expected a value"));
            }
        };
        Ok(Template { kind, span })
    }

    fn list(&mut self, open: Range<usize>) -> Result<Template, Fault> {
        let mut items = Vec::new();
        loop {
            if let Some(close) = self.mark(']') {
                let span = open.start..close.end;
                return Ok(Template { kind: TemplateKind::List(items), span });
            }
            items.push(self.template()?);
            self.comma(']')?;
        }
    }

    fn record(&mut self, open: Range<usize>) -> Result<Template, Fault> {
        let mut fields: Vec<(String, Range<usize>, Template)> = Vec::new();
        loop {
            if let Some(close) = self.mark('}') {
                let span = open.start..close.end;
                return Ok(Template { kind: TemplateKind::Record(fields), span });
            }
            let token = self.bump("the name of a field")?;
            let name = match &token.kind {
                TokenKind::Text(name) | TokenKind::Word(name) => name.clone(),
                TokenKind::Path(_) | TokenKind::Flag(_) | TokenKind::Mark(_) | TokenKind::End => {
                    return Err(Fault::new(token.span.clone(), "expected the name of a field"));
                }
            };
            if fields.iter().any(|(other, _, _)| *other == name) {
                return Err(Fault::new(token.span.clone(), format!("`{name}` is there twice")));
            }
            if self.mark(':').is_none() {
                return Err(self.missing("`:`"));
            }
            let value = self.template()?;
            fields.push((name, token.span.clone(), value));
            self.comma('}')?;
        }
    }

    /// A comma, unless the bracket closes.
    fn comma(&mut self, close: char) -> Result<(), Fault> {
        let closes = self.peek().is_some_and(|token| token.kind == TokenKind::Mark(close));
        if closes || self.mark(',').is_some() {
            return Ok(());
        }
        Err(self.missing(&format!("`,` or `{close}`")))
    }
}

/// `true`, `false`, `null` or a number.
pub(super) fn plain(word: &str) -> Option<Value> {
    match word {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "null" => Some(Value::Null),
        _ => serde_json::Number::from_str(word).ok().map(Value::Number),
    }
}
