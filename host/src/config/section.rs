//! Reading a table key by key: what is not asked for is a fault, and so is what does not fit.
//!
//! Nothing stops at a fault. Whoever reads gets `None` for what does not fit, and goes on.

use std::cell::RefCell;
use std::ops::Range;

use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Code, Fault};

/// Where faults are put.
#[derive(Default)]
pub(super) struct Findings(RefCell<Vec<Fault>>);

impl Findings {
    pub(super) fn add(&self, code: Code, span: Range<usize>, message: impl Into<String>) {
        self.put(Fault { code, message: message.into(), span, help: None, other: None });
    }

    pub(super) fn put(&self, fault: Fault) {
        self.0.borrow_mut().push(fault);
    }

    pub(super) fn into_inner(self) -> Vec<Fault> {
        self.0.into_inner()
    }
}

/// A table that is read.
pub(super) struct Section<'a> {
    /// The bytes that name it.
    pub(super) span: Range<usize>,
    /// What it is called.
    pub(super) name: String,
    table: Option<&'a DeTable<'a>>,
    findings: &'a Findings,
    known: Vec<&'static str>,
}

/// A value that is read.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub(super) name: String,
    pub(super) span: Range<usize>,
    value: &'a DeValue<'a>,
    findings: &'a Findings,
}

impl<'a> Section<'a> {
    pub(super) fn root(table: &'a Spanned<DeTable<'a>>, findings: &'a Findings) -> Self {
        let table = Some(table.get_ref());
        Self { span: 0..0, name: "the file".to_owned(), table, findings, known: Vec::new() }
    }

    /// Returns a value, if it is there.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Item<'a>> {
        self.known.push(key);
        let value = self.table?.get(key)?;
        Some(Item {
            name: key.to_owned(),
            span: value.span(),
            value: value.get_ref(),
            findings: self.findings,
        })
    }

    /// Returns a value that has to be there.
    pub(super) fn require(&mut self, key: &'static str) -> Option<Item<'a>> {
        let item = self.take(key);
        if item.is_none() {
            let message = format!("`{key}` is missing in {}", self.name);
            self.findings.add(Code::Missing, self.span.clone(), message);
        }
        item
    }

    /// Returns a table in this one. One that is not there is as one that is empty.
    pub(super) fn section(&mut self, key: &'static str) -> Self {
        let name = format!("`[{key}]`");
        let Some(item) = self.take(key) else {
            let (span, findings) = (self.span.clone(), self.findings);
            return Section { span, name, table: None, findings, known: Vec::new() };
        };
        item.section(name)
    }

    /// Returns the tables of a list of tables.
    pub(super) fn sections(&mut self, key: &'static str) -> Vec<Section<'a>> {
        let items = self.take(key).and_then(|item| item.list()).unwrap_or_default();
        items.into_iter().map(|item| item.section(format!("`[[{key}]]`"))).collect()
    }

    /// Returns all values, for a table whose keys anybody may choose.
    pub(super) fn entries(self) -> Vec<Item<'a>> {
        let entries = self.table.into_iter().flat_map(|table| table.iter());
        entries
            .map(|(key, value)| Item {
                name: key.get_ref().to_string(),
                span: key.span(),
                value: value.get_ref(),
                findings: self.findings,
            })
            .collect()
    }

    /// Finds the keys that nobody asked for.
    pub(super) fn end(self) {
        for (key, _) in self.table.into_iter().flat_map(|table| table.iter()) {
            let (span, key) = (key.span(), key.get_ref());
            if self.known.contains(&key.as_ref()) {
                continue;
            }
            let near = nearest(key, &self.known);
            let help = near.map_or_else(
                || format!("what is known here: `{}`", self.known.join("`, `")),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("`{key}` is not known in {}", self.name);
            let help = Some(help);
            self.findings.put(Fault { code: Code::UnknownKey, message, span, help, other: None });
        }
    }
}

/// Returns the word that a wrong one is a slip of, perhaps.
fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let most = (word.chars().count() / 3).max(1);
    let distances = known.iter().map(|known| (strsim::osa_distance(word, known), *known));
    distances.filter(|(distance, _)| *distance <= most).min_by_key(|(it, _)| *it).map(|it| it.1)
}

impl<'a> Item<'a> {
    /// Says that the value cannot be there.
    pub(super) fn refuse(&self, message: impl Into<String>) {
        self.fault(Code::Value, message);
    }

    pub(super) fn fault(&self, code: Code, message: impl Into<String>) {
        self.findings.add(code, self.span.clone(), message);
    }

    fn wrong<T>(&self, expected: &str) -> Option<T> {
        self.refuse(format!("`{}` is {expected}, not a {}", self.name, self.value.type_str()));
        None
    }

    pub(super) fn text(&self) -> Option<String> {
        match self.value.as_str() {
            Some(text) => Some(text.to_owned()),
            None => self.wrong("a string"),
        }
    }

    /// Returns a text that says something.
    pub(super) fn word(&self) -> Option<String> {
        let text = self.text()?;
        if text.trim().is_empty() {
            self.refuse(format!("`{}` must not be blank", self.name));
            return None;
        }
        Some(text)
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        self.value.as_bool().or_else(|| self.wrong("`true` or `false`"))
    }

    /// Returns a whole number within a range.
    pub(super) fn number(&self, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let Some(number) = self.value.as_integer() else { return self.wrong("a whole number") };
        let number = u64::from_str_radix(number.as_str(), number.radix()).ok();
        let found = number.filter(|number| range.contains(number));
        if found.is_none() {
            let (start, end) = range.into_inner();
            self.refuse(format!("`{}` is a whole number from {start} to {end}", self.name));
        }
        found
    }

    /// Returns what one of some words stands for.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&'static str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = choices.iter().find(|(word, _)| *word == text).map(|(_, it)| *it);
        if found.is_none() {
            let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
            let help = nearest(&text, &words).map(|near| format!("did you mean `{near}`?"));
            let message = format!("`{}` is one of `{}`", self.name, words.join("`, `"));
            let (code, span) = (Code::Value, self.span.clone());
            self.findings.put(Fault { code, message, span, help, other: None });
        }
        found
    }

    pub(super) fn list(&self) -> Option<Vec<Item<'a>>> {
        let Some(list) = self.value.as_array() else { return self.wrong("a list") };
        Some(list.iter().map(|value| self.within(value)).collect())
    }

    /// Returns the values of a list; a value that is no list stands for one.
    pub(super) fn each(&self) -> Vec<Item<'a>> {
        let list = self.value.as_array();
        list.map_or_else(
            || vec![self.clone()],
            |list| list.iter().map(|value| self.within(value)).collect(),
        )
    }

    fn within(&self, value: &'a Spanned<DeValue<'a>>) -> Item<'a> {
        Item {
            name: self.name.clone(),
            span: value.span(),
            value: value.get_ref(),
            findings: self.findings,
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.value.is_str()
    }

    pub(super) fn section(self, name: String) -> Section<'a> {
        let table = self.value.as_table();
        if table.is_none() {
            self.wrong::<()>("a table");
        }
        let (span, findings) = (self.span, self.findings);
        Section { span, name, table, findings, known: Vec::new() }
    }

    /// Returns the value as JSON.
    pub(super) fn json(&self) -> Option<Value> {
        let json = json(self.value);
        if json.is_none() {
            self.refuse(format!("`{}` has a number that JSON does not have", self.name));
        }
        json
    }
}

fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok()?.into()
        }
        DeValue::Float(number) => Number::from_f64(number.as_str().parse().ok()?)?.into(),
        DeValue::Boolean(value) => (*value).into(),
        DeValue::Datetime(instant) => instant.to_string().into(),
        DeValue::Array(list) => list.iter().map(|it| json(it.get_ref())).collect::<Option<_>>()?,
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)))
            .collect::<Option<_>>()?,
    })
}
