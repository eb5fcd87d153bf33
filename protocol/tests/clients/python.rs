//! Types as Python has them since 3.9: of a record, what is required stands in a class of its own,
//! below which what may be left out is added.

use std::fmt::Write as _;

use super::types::{Field, Record, Type, Types};

const HEAD: &str = "\
# @generated from the JSON Schema of the agent event protocol: protocol/tests/clients.rs
\"\"\"What goes between a client and its host.\"\"\"

from typing import Any, Dict, List, Literal, TypedDict, Union
";

pub(crate) fn print(types: &Types) -> String {
    let mut text = HEAD.to_owned();
    for (name, (about, kind)) in &types.all {
        if let Type::Record(record) = kind {
            print_record(&mut text, name, about, record);
        } else if let Type::Choice(variants) = kind {
            print_choice(&mut text, name, about, variants);
        } else {
            write!(text, "\n\n{name} = {}\n{}", of(kind), documented(about, "")).unwrap();
        }
    }
    text
}

/// Prints a choice; a record in it that has no name gets that of the choice and its word.
fn print_choice(text: &mut String, name: &str, about: &str, variants: &[Type]) {
    let variants: Vec<String> = variants
        .iter()
        .map(|variant| {
            if let Type::Record(record) = variant {
                let words = record.fields.iter().find_map(|field| field.kind.words());
                let words = words.unwrap().concat();
                let words = words.split('_');
                let word: String = words.map(|it| it[..1].to_uppercase() + &it[1..]).collect();
                let name = format!("{name}{word}");
                print_record(text, &name, "", record);
                format!("\"{name}\"")
            } else {
                of(variant)
            }
        })
        .collect();
    let lines: Vec<String> = variants.iter().map(|it| format!("    {it},\n")).collect();
    write!(text, "\n\n{name} = Union[\n{}]\n{}", lines.concat(), documented(about, "")).unwrap();
}

fn print_record(text: &mut String, name: &str, about: &str, record: &Record) {
    let (required, optional): (Vec<&Field>, Vec<&Field>) =
        record.fields.iter().partition(|field| field.is_required);
    let base = if required.is_empty() || optional.is_empty() { "TypedDict" } else { "" };
    let total = if required.is_empty() { ", total=False" } else { "" };
    if base.is_empty() {
        write!(text, "\n\nclass _{name}(TypedDict):\n").unwrap();
        fields(text, &required);
        write!(text, "\n\nclass {name}(_{name}, total=False):\n").unwrap();
        text.push_str(&documented(about, "    "));
        fields(text, &optional);
    } else {
        write!(text, "\n\nclass {name}({base}{total}):\n").unwrap();
        text.push_str(&documented(about, "    "));
        fields(text, &required);
        fields(text, &optional);
    }
}

fn fields(text: &mut String, fields: &[&Field]) {
    for field in fields {
        writeln!(text, "    {}: {}", field.name, of(&field.kind)).unwrap();
        text.push_str(&documented(&field.about, "    "));
    }
}

fn documented(about: &str, indent: &str) -> String {
    if about.is_empty() { String::new() } else { format!("{indent}\"\"\"{about}\"\"\"\n") }
}

fn of(kind: &Type) -> String {
    match kind {
        Type::Any => "Any".to_owned(),
        Type::Text => "str".to_owned(),
        Type::Number => "int".to_owned(),
        Type::Flag => "bool".to_owned(),
        Type::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        Type::Named(name) => format!("\"{name}\""),
        Type::List(item) => format!("List[{}]", of(item)),
        Type::Map(value) => format!("Dict[str, {}]", of(value)),
        Type::Record(_) => "Dict[str, Any]".to_owned(),
        Type::Choice(variants) => {
            let variants: Vec<String> = variants.iter().map(of).collect();
            format!("Union[{}]", variants.join(", "))
        }
    }
}
