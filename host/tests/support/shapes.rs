//! What fits the OpenAPI document: the smallest value of a schema, and every route that there is.
#![allow(clippy::unwrap_used, dead_code, reason = "a helper of tests; not each uses all of it")]

use reqwest::Method;
use serde_json::{Map, Value, json};

/// A route of the document that asks who it is.
pub(crate) struct Guarded {
    pub(crate) method: Method,
    /// The path, with names in braces.
    pub(crate) path: String,
    /// `client` or `machine`, or both.
    pub(crate) who: Vec<String>,
    /// A body of the right shape, if it takes one.
    pub(crate) body: Option<Value>,
}

impl Guarded {
    /// Returns the path to something with an id.
    pub(crate) fn at(&self, id: &str) -> String {
        let mut path = String::new();
        for part in self.path.split_inclusive('/') {
            let (name, slash) = part.strip_suffix('/').map_or((part, ""), |name| (name, "/"));
            path.push_str(if name.starts_with('{') { id } else { name });
            path.push_str(slash);
        }
        path
    }

    pub(crate) fn names_something(&self) -> bool {
        self.path.contains('{')
    }
}

/// Returns the routes that ask who it is.
pub(crate) fn guarded() -> Vec<Guarded> {
    let document = quixos_host::openapi::document();
    let mut guarded = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(security) = operation.get("security").and_then(Value::as_array) else {
                continue;
            };
            let who =
                security.iter().filter_map(Value::as_object).flat_map(|it| it.keys().cloned());
            let who = who.collect();
            let schema = operation.pointer("/requestBody/content/application~1json/schema");
            let body = schema.map(|schema| smallest(schema, &document));
            let method = method.to_uppercase().parse().unwrap();
            guarded.push(Guarded { method, path: path.clone(), who, body });
        }
    }
    guarded
}

/// Returns the smallest value that fits a schema: required fields only, the first of alternatives.
fn smallest(schema: &Value, document: &Value) -> Value {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return smallest(document.pointer(&target[1..]).unwrap(), document);
    }
    for key in ["const", "default"] {
        if let Some(value) = schema.get(key) {
            return value.clone();
        }
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values[0].clone();
    }
    let first = |key| schema.get(key).and_then(Value::as_array).and_then(|of| of.first());
    let alternative = first("oneOf").or_else(|| first("anyOf"));
    let mut value = match alternative {
        Some(alternative) => smallest(alternative, document),
        None => plain(schema, document),
    };
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        merge(&mut value, smallest(part, document));
    }
    if alternative.is_some() && schema.get("properties").is_some() {
        merge(&mut value, plain(schema, document));
    }
    value
}

fn plain(schema: &Value, document: &Value) -> Value {
    let kind = schema.get("type");
    let kind = kind.and_then(|it| it.as_str().or_else(|| it.as_array()?.first()?.as_str()));
    match kind {
        Some("string") => "x".into(),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => false.into(),
        Some("array") => {
            let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            (0..count).map(|_| smallest(&schema["items"], document)).collect()
        }
        Some("null") => Value::Null,
        _ => {
            let required = schema.get("required").and_then(Value::as_array);
            let required = required.into_iter().flatten().filter_map(Value::as_str);
            let field = |name: &str| {
                let fields = schema.get("properties");
                let of = fields.and_then(|it| it.get(name)).cloned().unwrap_or_default();
                (name.to_owned(), smallest(&of, document))
            };
            Value::Object(required.map(field).collect::<Map<_, _>>())
        }
    }
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
