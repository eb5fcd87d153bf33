//! JSON in which a variable or a reference may stand for a value.
//!
//! Each value knows its bytes, so that a refusal that names a path in the input
//! (`submission.createdAt`) can be shown where it was typed.

use std::ops::Range;

use serde_json::{Map, Value};

use super::token::Path;
use crate::stop::Stop;

/// A value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    /// What it is.
    pub(crate) kind: TemplateKind,
    /// Its bytes.
    pub(crate) span: Range<usize>,
}

/// What a written value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TemplateKind {
    /// A string, a number, `true`, `false`, `null`.
    Plain(Value),
    /// A variable or a reference.
    Path(Path),
    /// `[…]`
    List(Vec<Template>),
    /// `{…}`: names, their bytes, values.
    Record(Vec<(String, Range<usize>, Template)>),
}

/// What a path in a template stands for.
pub(crate) trait Variables {
    /// Returns the value, a reference in its canonical form.
    ///
    /// # Errors
    /// A name that is not there, with the bytes that name it.
    fn value(&self, path: &Path) -> Result<Value, Stop>;
}

/// Where a path of an input was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// These bytes are the value.
    Exact(Range<usize>),
    /// The value is missing from, or inside of, what these bytes say.
    Within(Range<usize>),
}

impl Template {
    /// Returns the value with every variable filled in.
    ///
    /// # Errors
    /// The first variable or field that is not there.
    pub(crate) fn evaluate(&self, variables: &dyn Variables) -> Result<Value, Stop> {
        match &self.kind {
            TemplateKind::Plain(value) => Ok(value.clone()),
            TemplateKind::Path(path) => variables.value(path),
            TemplateKind::List(items) => items
                .iter()
                .map(|item| item.evaluate(variables))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            TemplateKind::Record(fields) => fields
                .iter()
                .map(|(name, _, value)| Ok((name.clone(), value.evaluate(variables)?)))
                .collect::<Result<Map<_, _>, _>>()
                .map(Value::Object),
        }
    }

    /// Finds where a path of the value, like `submission.contexts[2]`, was written.
    pub(crate) fn locate(&self, path: &str) -> Place {
        let mut at = self;
        for step in steps(path) {
            let below = match &at.kind {
                TemplateKind::Record(fields) => {
                    fields.iter().find(|(name, _, _)| *name == step).map(|(_, _, value)| value)
                }
                TemplateKind::List(items) => step.parse().ok().and_then(|n: usize| items.get(n)),
                TemplateKind::Plain(_) | TemplateKind::Path(_) => None,
            };
            match below {
                Some(value) => at = value,
                None => return Place::Within(at.span.clone()),
            }
        }
        Place::Exact(at.span.clone())
    }
}

/// The names and positions of a path; `$` is the whole.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty() && *step != "$")
}
