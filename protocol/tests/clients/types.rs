//! A schema as types that both languages have: records, choices, words, lists.
//!
//! Whatever a schema may say that is none of these is a panic: then this file is to learn it.

use serde_json::Value;

/// A type, as far as clients tell types apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// Anything that JSON can say.
    Any,
    Text,
    Number,
    Flag,
    /// One of these texts.
    Words(Vec<String>),
    /// A type by its name.
    Named(String),
    List(Box<Type>),
    /// An object of any keys.
    Map(Box<Type>),
    Record(Record),
    /// One of several.
    Choice(Vec<Type>),
}

impl Type {
    /// Returns the words, if it is nothing but words.
    pub(crate) fn words(&self) -> Option<&[String]> {
        if let Self::Words(words) = self { Some(words) } else { None }
    }
}

/// An object whose keys are known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) fields: Vec<Field>,
    /// Whether it may have other keys, which say something.
    pub(crate) is_open: bool,
}

/// A key of a record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) is_required: bool,
    pub(crate) kind: Type,
}

/// The types of a document.
pub(crate) struct Types {
    /// Each by its name, in order, and what is said about it.
    pub(crate) all: Vec<(String, (String, Type))>,
}

/// The key by which events name themselves.
const EVENT: &str = "event";

impl Types {
    pub(crate) fn read(document: &Value) -> Self {
        let mut all = Vec::new();
        for (name, schema) in document["$defs"].as_object().unwrap() {
            let mut kind = read(schema);
            if let Type::Choice(variants) = &mut kind {
                name_events(variants, schema, &mut all);
            }
            all.push((name.clone(), (about(schema), kind)));
        }
        Self { all }
    }
}

/// Gives each event of a choice a name of its own.
fn name_events(variants: &mut [Type], schema: &Value, all: &mut Vec<(String, (String, Type))>) {
    let schemas = schema["oneOf"].as_array().unwrap();
    for (variant, schema) in variants.iter_mut().zip(schemas) {
        let Some(word) = schema["properties"][EVENT]["const"].as_str() else { continue };
        let name: String = word.split('_').map(capital).collect::<String>() + "Event";
        let record = std::mem::replace(variant, Type::Named(name.clone()));
        all.push((name, (about(schema), record)));
    }
}

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

fn read(schema: &Value) -> Type {
    if let Some(target) = schema["$ref"].as_str() {
        return Type::Named(target.rsplit('/').next().unwrap().to_owned());
    }
    if let Some(word) = schema["const"].as_str() {
        return Type::Words(vec![word.to_owned()]);
    }
    if let Some(words) = schema["enum"].as_array() {
        return Type::Words(words.iter().map(|word| word.as_str().unwrap().to_owned()).collect());
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(variants) = schema[choice].as_array() {
            return choose(variants);
        }
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        Value::Null => Vec::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            panic!("a type that is {other}")
        }
    };
    match kinds.iter().copied().find(|kind| *kind != "null") {
        None => Type::Any,
        Some("string") => Type::Text,
        Some("integer" | "number") => Type::Number,
        Some("boolean") => Type::Flag,
        Some("array") => Type::List(Box::new(read(&schema["items"]))),
        Some("object") => object(schema),
        Some(other) => panic!("a type that is `{other}`"),
    }
}

/// Returns a choice without `null`, which says as much as leaving a field out.
fn choose(variants: &[Value]) -> Type {
    let variants = variants.iter().filter(|it| it["type"].as_str() != Some("null"));
    let mut variants: Vec<Type> = variants.map(read).collect();
    if let Some(words) = variants.iter().map(Type::words).collect::<Option<Vec<_>>>() {
        return Type::Words(words.concat());
    }
    if variants.len() == 1 { variants.remove(0) } else { Type::Choice(variants) }
}

fn object(schema: &Value) -> Type {
    let Some(properties) = schema["properties"].as_object() else {
        return Type::Map(Box::new(Type::Any));
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let fields = properties.iter().map(|(name, schema)| Field {
        name: name.clone(),
        about: about(schema),
        is_required: required.iter().any(|it| it == name),
        kind: read(schema),
    });
    let mut fields: Vec<Field> = fields.collect();
    // The word that tells what an object is comes first, wherever the schema has it.
    fields.sort_by_key(|field| !matches!(&field.kind, Type::Words(words) if words.len() == 1));
    let is_open = schema["additionalProperties"] == Value::Bool(true);
    Type::Record(Record { fields, is_open })
}
