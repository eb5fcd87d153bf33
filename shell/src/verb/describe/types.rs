//! Named types, and the fields of records.

use quixos_schema::{Definitions, Field, NamedType, Record, Type};
use serde_json::{Value, json};

use crate::output::Answer;

pub(super) fn types(definitions: &Definitions) -> Answer {
    let json = definitions.types.iter().map(|it| type_json(definitions, it)).collect();
    let rows = definitions
        .types
        .iter()
        .map(|it| vec![it.name.clone(), definitions.type_text(&it.ty)])
        .collect();
    Answer::new(json).table(&["type", "is"], rows)
}

fn type_json(definitions: &Definitions, it: &NamedType) -> Value {
    json!({
        "package": definitions.package(it.package).id,
        "name": it.name,
        "type": definitions.type_text(&it.ty),
    })
}

pub(super) fn type_answer(definitions: &Definitions, it: &NamedType) -> Answer {
    Answer::new(type_json(definitions, it))
        .heading(format!("type {}", it.name))
        .fields(vec![("package".to_owned(), definitions.package(it.package).revision.clone())])
        .table(&["field", "type"], field_rows(definitions, &it.ty))
}

/// The fields of a record, or one row for any other type.
pub(super) fn field_rows(definitions: &Definitions, ty: &Type) -> Vec<Vec<String>> {
    let Type::Record(Record { fields }) = definitions.shape(ty) else {
        return vec![vec!["$".to_owned(), definitions.type_text(ty)]];
    };
    let row = |field: &Field| vec![field.name.clone(), definitions.type_text(&field.ty)];
    fields.iter().map(row).collect()
}

/// What stands above the fields of a type: its name, where it has one.
pub(super) fn named_heading(definitions: &Definitions, what: &str, ty: &Type) -> String {
    if let Type::Named(at) = ty {
        format!("{what} {}", definitions.types[at.get()].name)
    } else {
        what.to_owned()
    }
}
