//! `describe`: what the definitions say.

mod atom;
mod interface;
mod operation;
mod types;

use quixos_schema::{Definitions, Package, PackageIndex};
use serde_json::{Value, json};

use crate::language::{Fault, Segment, Subject};
use crate::lookup;
use crate::output::Answer;

/// Describes.
///
/// # Errors
/// A name that nothing has.
pub(crate) fn describe(definitions: &Definitions, subject: &Subject) -> Result<Answer, Fault> {
    match subject {
        Subject::Packages => Ok(packages(definitions)),
        Subject::Operations(of) => operation::operations(definitions, of.as_ref()),
        Subject::Atoms => Ok(atom::atoms(definitions)),
        Subject::Interfaces => Ok(interface::interfaces(definitions)),
        Subject::Types => Ok(types::types(definitions)),
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

/// Everything that a name may mean.
fn named(definitions: &Definitions, word: &Segment) -> Result<Answer, Fault> {
    let name = word.name.as_str();
    let mut found = Vec::new();
    for it in lookup::atoms(definitions, name) {
        found.push(atom::atom_answer(definitions, definitions.atom(it)));
    }
    if let Some(at) = lookup::interface(definitions, name) {
        found.push(interface::interface_answer(definitions, definitions.interface(at)));
    }
    if let Some(at) = lookup::operation(definitions, name) {
        found.push(operation::operation_answer(definitions, definitions.operation(at)));
    }
    if let Some(it) = definitions.types.iter().find(|it| it.name == name) {
        found.push(types::type_answer(definitions, it));
    }
    if let Some(at) = lookup::package(definitions, name) {
        found.push(package_answer(definitions, definitions.package(at)));
    }
    if let Some((interface, member)) = name.split_once('.')
        && let Some(it) = interface::served_member(definitions, interface, member)
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
