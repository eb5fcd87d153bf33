//! Other names for references.
//!
//! An object's id is new in every store. Where a script's answers are kept and compared, a
//! reference that a variable holds prints as that variable, and any other as its type and its
//! number (`item#2`, the second one printed).

use std::collections::BTreeMap;

use serde_json::Value;

/// What references print as; by default, as themselves.
#[derive(Debug, Default)]
pub struct Names {
    on: bool,
    variables: BTreeMap<String, String>,
    numbers: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
}

impl Names {
    /// Names for every reference.
    #[must_use]
    pub fn assigned() -> Self {
        Self { on: true, ..Self::default() }
    }

    /// Lets a variable name what it holds. The first name stays.
    pub(crate) fn assign(&mut self, variable: &str, value: &Value) {
        if let Value::String(text) = value
            && reference_length(text) == Some(text.len())
        {
            self.variables.entry(text.clone()).or_insert_with(|| format!("${variable}"));
        }
    }

    /// Returns a text with every reference in it named.
    pub(crate) fn text(&mut self, text: &str) -> String {
        if !self.on {
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

    /// Returns a value with every reference in it named.
    pub(crate) fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (self.text(name), self.value(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn name(&mut self, reference: &str) -> String {
        let known = self.variables.get(reference).or_else(|| self.numbers.get(reference));
        if let Some(name) = known {
            return name.clone();
        }
        let atom = reference.rsplit_once('/').map_or(reference, |(atom, _)| atom);
        let word = crate::lookup::short(atom).to_owned();
        let count = self.counts.entry(word.clone()).or_default();
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
    fn by_default_references_are_themselves() {
        let mut names = Names::default();
        names.assign("t", &json!(ONE));
        assert_eq!(names.text(ONE), ONE);
    }
}
