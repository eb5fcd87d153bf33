//! `describe`: what the definitions say.

use quixos_schema::{
    Atom, Definitions, Execution, Field, Interface, Member, Mode, NamedType, Operation, Package,
    PackageIndex, Receiver, Record, Requirement, RequirementKind, Served, Target, Type, Verb,
};
use serde_json::{Value, json};

use crate::language::{Fault, Segment, Subject};
use crate::lookup::{self, short};
use crate::output::Answer;

/// Describes.
///
/// # Errors
/// A name that nothing has.
pub(crate) fn describe(definitions: &Definitions, subject: &Subject) -> Result<Answer, Fault> {
    match subject {
        Subject::Packages => Ok(packages(definitions)),
        Subject::Operations(of) => operations(definitions, of.as_ref()),
        Subject::Atoms => Ok(atoms(definitions)),
        Subject::Interfaces => Ok(interfaces(definitions)),
        Subject::Types => Ok(types(definitions)),
        Subject::Named(word) => named(definitions, word),
    }
}

fn packages(definitions: &Definitions) -> Answer {
    let count = |at: PackageIndex| {
        let operations = definitions.operations().filter(|(_, it)| it.package == at).count();
        let atoms = definitions.atoms().filter(|(_, it)| it.package == at).count();
        let interfaces = definitions.interfaces().filter(|(_, it)| it.package == at).count();
        (operations, atoms, interfaces)
    };
    let json = definitions.packages().map(|(at, it)| {
        let (operations, atoms, interfaces) = count(at);
        json!({
            "name": it.name, "package": it.id, "revision": it.revision, "digest": it.digest,
            "operations": operations, "atoms": atoms, "interfaces": interfaces,
        })
    });
    let rows = definitions.packages().map(|(at, it)| {
        let (operations, atoms, interfaces) = count(at);
        let counts = [operations, atoms, interfaces].map(|count| count.to_string());
        [it.name.clone(), it.revision.clone()].into_iter().chain(counts).collect()
    });
    Answer::new(json.collect())
        .table(&["package", "revision", "operations", "atoms", "interfaces"], rows.collect())
}

/// Those of a package, or those that an atom serves; of the first package when neither is named.
fn operations(definitions: &Definitions, of: Option<&Segment>) -> Result<Answer, Fault> {
    let of_package = |at: PackageIndex| -> Vec<&Operation> {
        definitions.operations.iter().filter(|it| it.package == at).collect()
    };
    let (operations, others) = match of {
        None => {
            let main = PackageIndex(0);
            let others: Vec<_> =
                definitions.packages().filter(|(at, _)| *at != main).map(|(_, it)| it).collect();
            (of_package(main), others)
        }
        Some(word) => match lookup::package(definitions, &word.name) {
            Some(at) => (of_package(at), Vec::new()),
            None => {
                let atom =
                    lookup::atom(definitions, word).map_err(|_| unknown(definitions, word))?;
                let serving = definitions.operations.iter();
                (serving.filter(|it| it.receivers.contains(&atom)).collect(), Vec::new())
            }
        },
    };
    let json = operations.iter().map(|it| operation_json(definitions, it)).collect();
    let rows = operations.iter().map(|it| {
        let door = lookup::door(definitions, it);
        let member = door.map_or_else(String::new, |it| format!("{}.{}", it.interface, it.member));
        let internal = if door.is_some_and(|it| it.internal) { "internal" } else { "" };
        vec![it.name.clone(), member, internal.to_owned(), io_text(definitions, it)]
    });
    let answer =
        Answer::new(json).table(&["operation", "member", "", "input -> output"], rows.collect());
    Ok(others.iter().fold(answer, |answer, package| {
        answer.line(format!("more: `describe operations of {}`", package.name))
    }))
}

/// Input and output in brief: a record without a name as its fields.
fn io_text(definitions: &Definitions, operation: &Operation) -> String {
    let brief = |ty: &Type| {
        let Type::Record(record) = ty else { return definitions.type_text(ty) };
        let names: Vec<&str> = record.fields.iter().map(|it| it.name.as_str()).collect();
        format!("{{{}}}", names.join(", "))
    };
    format!("{} -> {}", brief(&operation.input), brief(&operation.output))
}

fn operation_json(definitions: &Definitions, it: &Operation) -> Value {
    let package = definitions.package(it.package);
    let member = lookup::door(definitions, it).map(|door| {
        json!({
            "interface": door.interface, "interfaceId": door.interface_id,
            "name": door.member, "internal": door.internal,
        })
    });
    json!({
        "package": package.id,
        "revision": package.revision,
        "name": it.name,
        "id": it.id,
        "input": definitions.type_text(&it.input),
        "output": definitions.type_text(&it.output),
        "mode": mode(it.mode),
        "execution": execution(it.execution),
        "targets": it.targets.iter().map(|it| target(*it)).collect::<Vec<_>>(),
        "receiver": receiver(it.receiver),
        "member": member,
        "atoms": it.receivers.iter().map(|at| definitions.atom(*at).id.clone()).collect::<Vec<_>>(),
        "requirements": it
            .requirements
            .iter()
            .map(|it| requirement_json(definitions, it))
            .collect::<Vec<_>>(),
    })
}

fn mode(it: Mode) -> &'static str {
    match it {
        Mode::Call => "call",
    }
}

fn execution(it: Execution) -> &'static str {
    match it {
        Execution::Transaction => "transaction",
        Execution::Query => "query",
    }
}

fn target(it: Target) -> &'static str {
    match it {
        Target::Server => "server",
        Target::Worker => "worker",
        Target::Client => "client",
    }
}

fn receiver(it: Receiver) -> &'static str {
    match it {
        Receiver::Any => "any",
    }
}

/// What a requirement is: its kind, of what, which verbs.
fn requirement_parts(
    definitions: &Definitions,
    it: &Requirement,
) -> (&'static str, String, Vec<String>) {
    let words = |verbs: &[Verb]| verbs.iter().map(|verb| verb.word().to_owned()).collect();
    match &it.kind {
        RequirementKind::State { ty, verbs } => ("state", definitions.type_text(ty), words(verbs)),
        RequirementKind::Edge { shape, verbs } => {
            ("edge", definitions.shape_text(shape), words(verbs))
        }
        RequirementKind::Stream { ty, verbs } => {
            ("stream", definitions.type_text(ty), words(verbs))
        }
        RequirementKind::Creation(creation) => {
            ("creation", definitions.atom(creation.atom).name.clone(), words(&[Verb::Create]))
        }
        RequirementKind::Interface { interface, using } => {
            let members = &definitions.interface(interface.interface).members;
            let using = using.iter().map(|it| {
                let member = members.get(it.member).map_or("?", |it| it.name.as_str());
                format!("{member}.{}", it.verb)
            });
            ("interface", definitions.interface_text(interface), using.collect())
        }
    }
}

fn requirement_json(definitions: &Definitions, it: &Requirement) -> Value {
    let (kind, of, verbs) = requirement_parts(definitions, it);
    json!({ "kind": kind, "name": it.name, "id": it.id, "of": of, "verbs": verbs })
}

fn atoms(definitions: &Definitions) -> Answer {
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

fn atom_answer(definitions: &Definitions, it: &Atom) -> Answer {
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

fn interfaces(definitions: &Definitions) -> Answer {
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

fn member_kind(definitions: &Definitions, interface: &Interface, member: &Member) -> String {
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

fn interface_answer(definitions: &Definitions, it: &Interface) -> Answer {
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

fn types(definitions: &Definitions) -> Answer {
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

fn type_answer(definitions: &Definitions, it: &NamedType) -> Answer {
    Answer::new(type_json(definitions, it))
        .heading(format!("type {}", it.name))
        .fields(vec![("package".to_owned(), definitions.package(it.package).revision.clone())])
        .table(&["field", "type"], field_rows(definitions, &it.ty))
}

/// The fields of a record, or one row for any other type.
fn field_rows(definitions: &Definitions, ty: &Type) -> Vec<Vec<String>> {
    let Type::Record(Record { fields }) = definitions.shape(ty) else {
        return vec![vec!["$".to_owned(), definitions.type_text(ty)]];
    };
    let row = |field: &Field| vec![field.name.clone(), definitions.type_text(&field.ty)];
    fields.iter().map(row).collect()
}

fn operation_answer(definitions: &Definitions, it: &Operation) -> Answer {
    let targets: Vec<_> = it.targets.iter().map(|it| target(*it)).collect();
    let mut fields = vec![
        ("id".to_owned(), it.id.clone()),
        ("package".to_owned(), definitions.package(it.package).revision.clone()),
    ];
    if let Some(door) = lookup::door(definitions, it) {
        let internal = if door.internal { ", internal" } else { "" };
        fields.push(("member".to_owned(), format!("{}.{}{internal}", door.interface, door.member)));
    }
    let atoms: Vec<&str> =
        it.receivers.iter().map(|at| definitions.atom(*at).name.as_str()).collect();
    fields.push(("receivers".to_owned(), atoms.join(", ")));
    let runs = format!("{}, on {}", execution(it.execution), targets.join(", "));
    fields.push(("runs as".to_owned(), runs));
    let requirements = it.requirements.iter().map(|requirement| {
        let (kind, of, verbs) = requirement_parts(definitions, requirement);
        vec![kind.to_owned(), requirement.name.clone(), of, verbs.join(", ")]
    });
    Answer::new(operation_json(definitions, it))
        .heading(format!("operation {}", it.name))
        .fields(fields)
        .heading(named_heading(definitions, "input", &it.input))
        .table(&["field", "type"], field_rows(definitions, &it.input))
        .heading(named_heading(definitions, "output", &it.output))
        .table(&["field", "type"], field_rows(definitions, &it.output))
        .heading("requires")
        .table(&["kind", "name", "of", "verbs"], requirements.collect())
}

/// What stands above the fields of a type: its name, where it has one.
fn named_heading(definitions: &Definitions, what: &str, ty: &Type) -> String {
    if let Type::Named(at) = ty {
        format!("{what} {}", definitions.types[at.get()].name)
    } else {
        what.to_owned()
    }
}

/// Everything that a name may mean.
fn named(definitions: &Definitions, word: &Segment) -> Result<Answer, Fault> {
    let name = word.name.as_str();
    let mut found = Vec::new();
    for it in lookup::atoms(definitions, name) {
        found.push(atom_answer(definitions, definitions.atom(it)));
    }
    if let Some(at) = lookup::interface(definitions, name) {
        found.push(interface_answer(definitions, definitions.interface(at)));
    }
    if let Some(at) = lookup::operation(definitions, name) {
        found.push(operation_answer(definitions, definitions.operation(at)));
    }
    if let Some(it) = definitions.types.iter().find(|it| it.name == name) {
        found.push(type_answer(definitions, it));
    }
    if let Some(at) = lookup::package(definitions, name) {
        found.push(package_answer(definitions, definitions.package(at)));
    }
    if let Some((interface, member)) = name.split_once('.')
        && let Some(it) = served_member(definitions, interface, member)
    {
        found.push(it);
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (None, _) => Err(unknown(definitions, word)),
        (Some(one), None) => Ok(one),
        (Some(one), Some(other)) => Ok([other].into_iter().chain(found).fold(
            Answer { json: json!([one.json]), blocks: one.blocks },
            |mut all, next| {
                if let Value::Array(items) = &mut all.json {
                    items.push(next.json);
                }
                all.blocks.extend(next.blocks);
                all
            },
        )),
    }
}

fn package_answer(definitions: &Definitions, it: &Package) -> Answer {
    let uses: Vec<&str> =
        it.uses.iter().map(|at| definitions.package(*at).revision.as_str()).collect();
    Answer::new(json!({
        "name": it.name, "package": it.id, "revision": it.revision, "digest": it.digest,
        "uses": uses,
    }))
    .heading(format!("package {}", it.name))
    .fields(vec![
        ("id".to_owned(), it.id.clone()),
        ("revision".to_owned(), it.revision.clone()),
        ("digest".to_owned(), it.digest.clone()),
        ("uses".to_owned(), if uses.is_empty() { "nothing".to_owned() } else { uses.join(", ") }),
    ])
}

/// `INTERFACE.MEMBER`: the operation that serves it, or the member alone.
fn served_member(definitions: &Definitions, interface: &str, name: &str) -> Option<Answer> {
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

fn unknown(definitions: &Definitions, word: &Segment) -> Fault {
    let names = lookup::atom_words(definitions)
        .chain(definitions.interfaces.iter().map(|it| it.name.as_str()))
        .chain(definitions.operations.iter().map(|it| it.name.as_str()))
        .chain(definitions.types.iter().map(|it| it.name.as_str()))
        .chain(definitions.packages.iter().map(|it| it.name.as_str()))
        .chain(["operations", "packages", "atoms", "interfaces", "types"]);
    let names: Vec<&str> = names.collect();
    Fault::new(word.span.clone(), format!("the definitions have no `{}`", word.name))
        .help("`describe atoms`, `… interfaces`, `… operations` and `… types` list what they have")
        .suggest(&word.name, names)
}
