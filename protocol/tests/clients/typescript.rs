//! Types as TypeScript.

use std::fmt::Write as _;

use super::types::{Record, Type, Types};

const HEAD: &str = "\
// @generated from the JSON Schema of the agent event protocol: protocol/tests/clients.rs
//
// What goes between a client and its host.
";

pub(crate) fn print(types: &Types) -> String {
    let mut text = HEAD.to_owned();
    for (name, (about, kind)) in &types.all {
        writeln!(text, "\n{}export type {name} = {};", comment(about, ""), of(kind, "")).unwrap();
    }
    text
}

fn comment(about: &str, indent: &str) -> String {
    if about.is_empty() { String::new() } else { format!("/** {about} */\n{indent}") }
}

fn of(kind: &Type, indent: &str) -> String {
    match kind {
        Type::Any => "unknown".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Flag => "boolean".to_owned(),
        Type::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            words.join(" | ")
        }
        Type::Named(name) => name.clone(),
        Type::List(item) if matches!(**item, Type::Words(_) | Type::Choice(_)) => {
            format!("({})[]", of(item, indent))
        }
        Type::List(item) => format!("{}[]", of(item, indent)),
        Type::Map(value) => format!("Record<string, {}>", of(value, indent)),
        Type::Record(record) => record_of(record, indent),
        Type::Choice(variants) => {
            let variants: Vec<String> =
                variants.iter().map(|it| format!("\n{indent}  | {}", of(it, indent))).collect();
            variants.concat()
        }
    }
}

fn record_of(record: &Record, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let mut text = "{".to_owned();
    for field in &record.fields {
        let mark = if field.is_required { "" } else { "?" };
        let kind = of(&field.kind, &inner);
        let about = comment(&field.about, &inner);
        write!(text, "\n{inner}{about}{}{mark}: {kind};", field.name).unwrap();
    }
    if record.is_open {
        write!(text, "\n{inner}[key: string]: unknown;").unwrap();
    }
    write!(text, "\n{indent}}}").unwrap();
    text
}
