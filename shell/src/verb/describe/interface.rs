//! Interfaces and their members.

use quixos_schema::{Definitions, Interface, Member};
use serde_json::{Value, json};

use super::operation::operation_answer;
use crate::lookup;
use crate::output::Answer;

pub(super) fn interfaces(definitions: &Definitions) -> Answer {
    let json = definitions.interfaces.iter().map(|it| interface_json(definitions, it)).collect();
    let rows = definitions.interfaces.iter().map(|it| {
        let members: Vec<&str> = it.members.iter().map(|it| it.name.as_str()).collect();
        vec![interface_name(it), it.id.clone(), members.join(", ")]
    });
    Answer::new(json).table(&["interface", "id", "members"], rows.collect())
}

fn interface_name(it: &Interface) -> String {
    if it.parameters.is_empty() {
        it.name.clone()
    } else {
        format!("{}<{}>", it.name, it.parameters.join(", "))
    }
}

pub(super) fn member_kind(
    definitions: &Definitions,
    interface: &Interface,
    member: &Member,
) -> String {
    let internal = if member.internal { "internal " } else { "" };
    format!("{internal}{}", definitions.member_text(&member.kind, &interface.parameters))
}

fn interface_json(definitions: &Definitions, it: &Interface) -> Value {
    json!({
        "package": definitions.package(it.package).id,
        "name": interface_name(it),
        "id": it.id,
        "members": it.members.iter().map(|member| json!({
            "name": member.name,
            "internal": member.internal,
            "is": definitions.member_text(&member.kind, &it.parameters),
        })).collect::<Vec<_>>(),
    })
}

pub(super) fn interface_answer(definitions: &Definitions, it: &Interface) -> Answer {
    let rows = it
        .members
        .iter()
        .map(|member| vec![member.name.clone(), member_kind(definitions, it, member)]);
    let by = definitions.atoms.iter().filter(|atom| {
        atom.implements.iter().any(|implementation| {
            definitions.interface(implementation.interface.interface).id == it.id
        })
    });
    let by: Vec<&str> = by.map(|atom| atom.name.as_str()).collect();
    Answer::new(interface_json(definitions, it))
        .heading(format!("interface {}", interface_name(it)))
        .fields(vec![
            ("id".to_owned(), it.id.clone()),
            ("package".to_owned(), definitions.package(it.package).revision.clone()),
            ("implemented by".to_owned(), by.join(", ")),
        ])
        .heading("members")
        .table(&["member", "is"], rows.collect())
}

/// `INTERFACE.MEMBER`: the operation that serves it, or the member alone.
pub(super) fn served_member(
    definitions: &Definitions,
    interface: &str,
    name: &str,
) -> Option<Answer> {
    let at = lookup::interface(definitions, interface)?;
    let interface = definitions.interface(at);
    let member = interface.members.iter().find(|it| it.name == name)?;
    let operation = definitions.operations.iter().find(|it| {
        lookup::door(definitions, it)
            .is_some_and(|door| door.interface_id == interface.id && door.member == name)
    });
    Some(match operation {
        Some(it) => operation_answer(definitions, it),
        None => Answer::new(json!({
            "interface": interface.name,
            "name": member.name,
            "internal": member.internal,
            "is": definitions.member_text(&member.kind, &interface.parameters),
        }))
        .heading(format!("member {}.{}", interface.name, member.name))
        .fields(vec![("is".to_owned(), member_kind(definitions, interface, member))]),
    })
}
