//! Operations: all of a package or an atom in a table, or one with what it requires.

use quixos_schema::{
    Definitions, Execution, Mode, Operation, PackageIndex, Receiver, Requirement, RequirementKind,
    Target, Type, Verb,
};
use serde_json::{Value, json};

use super::types::{field_rows, named_heading};
use super::unknown;
use crate::language::{Fault, Segment};
use crate::lookup;
use crate::output::Answer;

/// Those of a package, or those that an atom serves; of the first package when neither is named.
pub(super) fn operations(definitions: &Definitions, of: Option<&Segment>) -> Result<Answer, Fault> {
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

pub(super) fn operation_answer(definitions: &Definitions, it: &Operation) -> Answer {
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
