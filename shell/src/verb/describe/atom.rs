//! Atoms: all in a table, or one with its slots and what serves each member.

use quixos_schema::{Atom, Definitions, Served};
use serde_json::{Value, json};

use super::interface::member_kind;
use crate::lookup::short;
use crate::output::Answer;

pub(super) fn atoms(definitions: &Definitions) -> Answer {
    let json = definitions.atoms.iter().map(|it| atom_json(definitions, it)).collect();
    let rows = definitions.atoms.iter().map(|it| {
        vec![
            short(&it.id).to_owned(),
            it.name.clone(),
            it.id.clone(),
            implements(definitions, it).join(", "),
        ]
    });
    Answer::new(json).table(&["word", "atom", "id", "implements"], rows.collect())
}

fn implements(definitions: &Definitions, atom: &Atom) -> Vec<String> {
    atom.implements.iter().map(|it| definitions.interface_text(&it.interface)).collect()
}

fn atom_json(definitions: &Definitions, it: &Atom) -> Value {
    json!({
        "package": definitions.package(it.package).id,
        "name": it.name,
        "id": it.id,
        "slots": slots(definitions, it)
            .into_iter()
            .map(|(kind, name, of)| json!({ "kind": kind, "name": name, "of": of }))
            .collect::<Vec<_>>(),
        "root": it.root.as_ref().map(|it| definitions.type_text(&it.input)),
        "implements": implements(definitions, it),
    })
}

fn slots(definitions: &Definitions, atom: &Atom) -> Vec<(&'static str, String, String)> {
    let states =
        atom.states.iter().map(|it| ("state", it.name.clone(), definitions.type_text(&it.ty)));
    let edges =
        atom.edges.iter().map(|it| ("edge", it.name.clone(), definitions.shape_text(&it.shape)));
    let inverses = atom.inverses.iter().map(|it| {
        let source = definitions.atom(it.atom);
        let edge = source.edges.get(it.edge).map_or("?", |edge| edge.name.as_str());
        let keyed = if it.key.is_some() { " keyed" } else { "" };
        ("inverse", it.name.clone(), format!("{}.{edge}{keyed}", source.name))
    });
    let streams =
        atom.streams.iter().map(|it| ("stream", it.name.clone(), definitions.type_text(&it.ty)));
    states.chain(edges).chain(inverses).chain(streams).collect()
}

pub(super) fn atom_answer(definitions: &Definitions, it: &Atom) -> Answer {
    let rows = slots(definitions, it)
        .into_iter()
        .map(|(kind, name, of)| vec![kind.to_owned(), name, of])
        .collect();
    let mut fields = vec![
        ("id".to_owned(), it.id.clone()),
        ("package".to_owned(), definitions.package(it.package).revision.clone()),
    ];
    if let Some(root) = &it.root {
        fields.push(("create".to_owned(), definitions.type_text(&root.input)));
    }
    let answer = Answer::new(atom_json(definitions, it))
        .heading(format!("atom {}", it.name))
        .fields(fields)
        .heading("slots")
        .table(&["kind", "name", "of"], rows);
    it.implements.iter().fold(answer, |answer, implementation| {
        let interface = definitions.interface(implementation.interface.interface);
        let rows = interface.members.iter().zip(&implementation.members).map(|(member, served)| {
            vec![
                member.name.clone(),
                member_kind(definitions, interface, member),
                server(definitions, it, *served),
            ]
        });
        answer
            .heading(format!(
                "implements {}",
                definitions.interface_text(&implementation.interface)
            ))
            .table(&["member", "is", "served by"], rows.collect())
    })
}

fn server(definitions: &Definitions, atom: &Atom, served: Served) -> String {
    let slot = |kind: &str, name: Option<&String>| match name {
        Some(name) => format!("{kind} {name}"),
        None => kind.to_owned(),
    };
    match served {
        Served::State(at) => slot("state", atom.states.get(at).map(|it| &it.name)),
        Served::Edge(at) => slot("edge", atom.edges.get(at).map(|it| &it.name)),
        Served::Inverse(at) => slot("inverse", atom.inverses.get(at).map(|it| &it.name)),
        Served::Stream(at) => slot("stream", atom.streams.get(at).map(|it| &it.name)),
        Served::Append(at) => slot("append to", atom.streams.get(at).map(|it| &it.name)),
        Served::Operation(at) => definitions.operation(at).name.clone(),
    }
}
