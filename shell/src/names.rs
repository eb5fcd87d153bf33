//! Other names for references than their own.
//!
//! A reference is long: the atom's id, and an id that is new in every store. For people the last
//! word of the atom's id stands for it, where that is clear (`request/01ARZ…`, which can be typed,
//! too). Where a script's answers are kept and compared, a reference that a variable holds prints
//! as that variable, and any other as its type and its number (`item#2`, the second one printed).

use std::collections::BTreeMap;

use quixos_schema::Definitions;
use serde_json::Value;

use crate::lookup::{atoms, short};

/// What references print as; by default, as themselves.
#[derive(Debug, Default)]
pub struct Names(Kind);

#[derive(Debug, Default)]
enum Kind {
    #[default]
    Own,
    /// The word for each atom's id.
    Short(BTreeMap<String, String>),
    Assigned(Assigned),
}

#[derive(Debug, Default)]
struct Assigned {
    variables: BTreeMap<String, String>,
    numbers: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
}

impl Names {
    /// The last word of the atom's id, for every atom of which that is clear.
    #[must_use]
    pub fn short(definitions: &Definitions) -> Self {
        let words = definitions.atoms.iter().filter_map(|atom| {
            let word = short(&atom.id);
            let clear = atoms(definitions, word).len() == 1;
            clear.then(|| (atom.id.clone(), word.to_owned()))
        });
        Self(Kind::Short(words.collect()))
    }

    /// The words that references go by, by the atom's id.
    #[must_use]
    pub(crate) fn of_words(words: BTreeMap<String, String>) -> Self {
        Self(Kind::Short(words))
    }

    /// Returns the words that references go by, where they do.
    pub(crate) fn words(&self) -> BTreeMap<String, String> {
        match &self.0 {
            Kind::Short(words) => words.clone(),
            Kind::Own | Kind::Assigned(_) => BTreeMap::new(),
        }
    }

    /// Names that are the same in every store: variables, and numbers.
    #[must_use]
    pub fn assigned() -> Self {
        Self(Kind::Assigned(Assigned::default()))
    }

    /// Lets a variable name what it holds. The first name stays.
    pub(crate) fn assign(&mut self, variable: &str, value: &Value) {
        if let (Kind::Assigned(assigned), Value::String(text)) = (&mut self.0, value)
            && reference_length(text) == Some(text.len())
        {
            let name = || format!("${variable}");
            assigned.variables.entry(text.clone()).or_insert_with(name);
        }
    }

    /// Returns a text with every reference in it named.
    pub(crate) fn text(&mut self, text: &str) -> String {
        if matches!(self.0, Kind::Own) {
            return text.to_owned();
        }
        let mut named = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("atom:") {
            named.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = reference_length(rest);
            let (head, tail) = rest.split_at(length.unwrap_or("atom:".len()));
            match length {
                Some(_) => named.push_str(&self.name(head)),
                None => named.push_str(head),
            }
            rest = tail;
        }
        named + rest
    }

    /// Returns a value with every reference in it named. Within a record or a list short names do
    /// not stand: what is copied from there is typed in quotes, where only a reference's own name
    /// is read.
    pub(crate) fn value(&mut self, value: &Value) -> Value {
        let kept = matches!(self.0, Kind::Own | Kind::Short(_));
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) if !kept => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) if !kept => {
                fields.iter().map(|(name, value)| (self.text(name), self.value(value))).collect()
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => value.clone(),
        }
    }

    fn name(&mut self, reference: &str) -> String {
        let (atom, id) = reference.rsplit_once('/').unwrap_or((reference, ""));
        match &mut self.0 {
            Kind::Own => reference.to_owned(),
            Kind::Short(words) => match words.get(atom) {
                Some(word) => format!("{word}/{id}"),
                None => reference.to_owned(),
            },
            Kind::Assigned(assigned) => assigned.name(reference, short(atom)),
        }
    }
}

impl Assigned {
    fn name(&mut self, reference: &str, word: &str) -> String {
        let known = self.variables.get(reference).or_else(|| self.numbers.get(reference));
        if let Some(name) = known {
            return name.clone();
        }
        let count = self.counts.entry(word.to_owned()).or_default();
        *count += 1;
        let name = format!("{word}#{count}");
        self.numbers.insert(reference.to_owned(), name.clone());
        name
    }
}

/// Returns the length of the canonical reference that a text begins with.
pub(crate) fn reference_length(text: &str) -> Option<usize> {
    let slash = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_-.:".contains(c)))?;
    let id = text[slash..].strip_prefix('/')?;
    let letters = id.bytes().take_while(u8::is_ascii_alphanumeric).count();
    (letters == ulid::ULID_LEN && text.starts_with("atom:")).then_some(slash + 1 + letters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ONE: &str = "atom:org.x:thread/01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const TWO: &str = "atom:org.x:thread/01ARZ3NDEKTSV4RRFFQ69G5FAW";

    #[test]
    fn references_print_as_variables_or_numbers() {
        let mut names = Names::assigned();
        names.assign("t", &json!(ONE));
        names.assign("again", &json!(ONE));
        assert_eq!(
            names.text(&format!("{TWO} is not {ONE}, atom: {TWO}")),
            "thread#1 is not $t, atom: thread#1"
        );
        assert_eq!(names.value(&json!({ONE: [TWO]})), json!({"$t": ["thread#1"]}));
    }

    #[test]
    fn short_names_stand_where_they_can_be_typed() {
        let words = BTreeMap::from([("atom:org.x:thread".to_owned(), "thread".to_owned())]);
        let mut names = Names(Kind::Short(words));
        assert_eq!(names.value(&json!(ONE)), json!("thread/01ARZ3NDEKTSV4RRFFQ69G5FAV"));
        assert_eq!(names.value(&json!([ONE])), json!([ONE]));
        let other = "atom:org.y:other/01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(names.text(other), other);
    }

    #[test]
    fn by_default_references_are_themselves() {
        let mut names = Names::default();
        names.assign("t", &json!(ONE));
        assert_eq!(names.text(ONE), ONE);
    }
}
