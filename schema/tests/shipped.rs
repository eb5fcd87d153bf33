//! The definitions that Quixos ships, through the front door.

use quixos_schema::{Definitions, Served, Sources, check, render_text};

fn shipped() -> Sources {
    let mut sources = Sources::new();
    for name in ["agent-runtime", "objects", "workspace"] {
        let path = format!("{}/../package/{name}.quixos", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("the definitions are there");
        sources.add(format!("{name}.quixos"), text);
    }
    sources
}

fn definitions(sources: Sources) -> Definitions {
    let checked = check(sources);
    assert_eq!(render_text(&checked.diagnostics, &checked.sources, false), "");
    checked.definitions.expect("no error, so definitions")
}

#[test]
fn the_shipped_packages_have_no_fault() {
    let definitions = definitions(shipped());
    let count = |package: &str| {
        let of = |it: &&quixos_schema::Operation| definitions.package(it.package).name == package;
        definitions.operations.iter().filter(of).count()
    };
    assert_eq!(count("AgentRuntime"), 33);
    assert_eq!(count("Workspace"), 4);
}

/// Every operation of the packages is the answer of some member, and of one atom.
#[test]
fn every_operation_serves_one_atom() {
    let definitions = definitions(shipped());
    for (at, operation) in definitions.operations() {
        let [atom] = operation.receivers.as_slice() else {
            panic!("{} serves {:?}", operation.name, operation.receivers);
        };
        let mut served = definitions.atom(*atom).implements.iter().flat_map(|it| &it.members);
        assert!(served.any(|it| *it == Served::Operation(at)), "{}", operation.name);
    }
}

#[test]
fn layout_comments_and_the_order_of_files_do_not_change_a_digest() {
    let digests = |sources: Sources| {
        let mut digests: Vec<_> =
            definitions(sources).packages.into_iter().map(|it| (it.name, it.digest)).collect();
        digests.sort();
        digests
    };
    let mut turned = Sources::new();
    for (_, source) in shipped().iter().collect::<Vec<_>>().into_iter().rev() {
        turned.add(source.name.clone(), format!("// turned\n\n{}\n", source.text));
    }
    let mut changed = Sources::new();
    for (_, source) in shipped().iter() {
        changed.add(source.name.clone(), source.text.replacen("@1", "@2", 1));
    }
    assert_eq!(digests(shipped()), digests(turned));
    assert_ne!(digests(shipped()), digests(changed));
}
