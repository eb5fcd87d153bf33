//! What a checked set means, as text: everything that the model holds and the source does not
//! say in so many words.

use std::fmt::Write as _;

use quixos_schema::{
    Atom, Creation, Definitions, Fill, Implementation, Operation, RequirementKind, Served,
};

/// Prints a set.
pub(crate) fn meaning(set: &Definitions) -> String {
    let mut text = String::new();
    for package in &set.packages {
        let uses: Vec<_> = package.uses.iter().map(|at| set.package(*at).name.as_str()).collect();
        line(&mut text, 0, &format!("package {} uses [{}]", package.name, uses.join(", ")));
    }
    for named in &set.types {
        line(&mut text, 0, &format!("type {} = {}", named.name, set.type_text(&named.ty)));
    }
    for interface in &set.interfaces {
        line(&mut text, 0, &format!("interface {}", interface.name));
        for member in &interface.members {
            let internal = if member.internal { "internal " } else { "" };
            let kind = set.member_text(&member.kind, &interface.parameters);
            line(&mut text, 1, &format!("{}: {internal}{kind}", member.name));
        }
    }
    for atom in &set.atoms {
        print_atom(&mut text, set, atom);
    }
    for operation in &set.operations {
        print_operation(&mut text, set, operation);
    }
    text
}

fn print_atom(text: &mut String, set: &Definitions, atom: &Atom) {
    line(text, 0, &format!("atom {}", atom.name));
    for slot in &atom.states {
        line(text, 1, &format!("state {}: {}", slot.name, set.type_text(&slot.ty)));
    }
    for slot in &atom.edges {
        line(text, 1, &format!("edge {}: {}", slot.name, set.shape_text(&slot.shape)));
    }
    for slot in &atom.inverses {
        let source = set.atom(slot.atom);
        let edge = &source.edges[slot.edge].name;
        let key = slot.key.as_ref().map_or(String::new(), |key| {
            format!(" keyed {}{:?}", source.states[key.state].name, key.fields)
        });
        line(text, 1, &format!("inverse {}: {}.{edge}{key}", slot.name, source.name));
    }
    for slot in &atom.streams {
        line(text, 1, &format!("stream {}: {}", slot.name, set.type_text(&slot.ty)));
    }
    if let Some(root) = &atom.root {
        line(text, 1, &format!("root {}", fills(set, root)));
    }
    for implementation in &atom.implements {
        print_implementation(text, set, atom, implementation);
    }
}

fn print_implementation(
    text: &mut String,
    set: &Definitions,
    atom: &Atom,
    implementation: &Implementation,
) {
    let interface = set.interface(implementation.interface.interface);
    line(text, 1, &format!("implements {}", set.interface_text(&implementation.interface)));
    for (member, served) in interface.members.iter().zip(&implementation.members) {
        let by = match served {
            Served::State(at) => format!("state {}", atom.states[*at].name),
            Served::Edge(at) => format!("edge {}", atom.edges[*at].name),
            Served::Inverse(at) => format!("inverse {}", atom.inverses[*at].name),
            Served::Stream(at) => format!("stream {}", atom.streams[*at].name),
            Served::Append(at) => format!("append to {}", atom.streams[*at].name),
            Served::Operation(at) => format!("operation {}", set.operation(*at).name),
        };
        line(text, 2, &format!("{} by {by}", member.name));
    }
}

fn print_operation(text: &mut String, set: &Definitions, operation: &Operation) {
    let receivers: Vec<_> =
        operation.receivers.iter().map(|at| set.atom(*at).name.as_str()).collect();
    line(
        text,
        0,
        &format!(
            "operation {} on [{}] {:?} {:?}: {} -> {}",
            operation.name,
            receivers.join(", "),
            operation.execution,
            operation.targets,
            set.type_text(&operation.input),
            set.type_text(&operation.output)
        ),
    );
    for requirement in &operation.requirements {
        let grants = match &requirement.kind {
            RequirementKind::State { ty, verbs } => {
                format!("state {} {verbs:?}", set.type_text(ty))
            }
            RequirementKind::Edge { shape, verbs } => {
                format!("edge {} {verbs:?}", set.shape_text(shape))
            }
            RequirementKind::Stream { ty, verbs } => {
                format!("stream {} {verbs:?}", set.type_text(ty))
            }
            RequirementKind::Creation(creation) => {
                format!("creation of {} {}", set.atom(creation.atom).name, fills(set, creation))
            }
            RequirementKind::Interface { interface, using } => {
                let members = &set.interface(interface.interface).members;
                let used: Vec<_> = using
                    .iter()
                    .map(|it| format!("{}.{}", members[it.member].name, it.verb))
                    .collect();
                format!("{} [{}]", set.interface_text(interface), used.join(", "))
            }
        };
        line(text, 1, &format!("{}: {grants}", requirement.name));
    }
}

fn fills(set: &Definitions, creation: &Creation) -> String {
    let atom = set.atom(creation.atom);
    let slots: Vec<_> = creation
        .fills
        .iter()
        .map(|fill| match fill {
            Fill::State(at) => format!("state {}", atom.states[*at].name),
            Fill::Edge(at) => format!("edge {}", atom.edges[*at].name),
        })
        .collect();
    format!("from {} fills [{}]", set.type_text(&creation.input), slots.join(", "))
}

fn line(text: &mut String, depth: usize, content: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{}{content}", "  ".repeat(depth));
}
