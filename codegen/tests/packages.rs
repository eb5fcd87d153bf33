//! The packages of this workspace, generated: the same from the same, whatever stands around.

use std::path::Path;

use quixos_codegen::{Options, generate, module_name};
use quixos_schema::{Definitions, SourceId, Sources, canonical, check, parse, render_text};

const RUNTIME: &[&str] = &["agent-runtime.quixos", "objects.quixos"];
const HOST: &str = "workspace.quixos";

/// Checks files of `package/`, after a change of their texts.
fn definitions(files: &[&str], change: impl Fn(String) -> String) -> Definitions {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../package");
    let mut sources = Sources::new();
    for file in files {
        let text = std::fs::read_to_string(folder.join(file)).expect("the file is in the tree");
        sources.add(*file, change(text));
    }
    let checked = check(sources);
    let rendered = render_text(&checked.diagnostics, &checked.sources, false);
    checked.definitions.unwrap_or_else(|| panic!("{rendered}"))
}

fn as_written(text: String) -> String {
    text
}

fn code(definitions: &Definitions, module: &str) -> String {
    let found = definitions.packages().find(|(at, _)| module_name(definitions, *at) == module);
    let (index, _) = found.expect("the package is among the definitions");
    generate(definitions, index, &Options::default()).expect("its names are Rust's, too")
}

fn all() -> Vec<&'static str> {
    [RUNTIME, &[HOST]].concat()
}

#[test]
fn twice_the_same() {
    let (once, again) = (definitions(&all(), as_written), definitions(&all(), as_written));
    for module in ["agent_runtime", "workspace"] {
        assert_eq!(code(&once, module), code(&again, module));
    }
}

#[test]
fn layout_and_comments_make_no_difference() {
    let plain = definitions(&all(), |text| canonical(&parse(SourceId(0), &text).file));
    let written = definitions(&all(), as_written);
    for module in ["agent_runtime", "workspace"] {
        assert_eq!(code(&plain, module), code(&written, module));
    }
}

#[test]
fn who_else_is_there_makes_no_difference() {
    // So a crate that generates its own package, and one that builds on it, mean the same names.
    let alone = definitions(RUNTIME, as_written);
    let together = definitions(&all(), as_written);
    assert_eq!(code(&alone, "agent_runtime"), code(&together, "agent_runtime"));
}

#[test]
fn a_package_elsewhere_is_named_by_its_path() {
    let together = definitions(&all(), as_written);
    let (index, _) = together.packages().find(|(_, it)| it.name == "Workspace").unwrap();
    let id = "package:org.quixos.agent:runtime".to_owned();
    let options = Options {
        elsewhere: [(id, "other_crate::agents".to_owned())].into(),
        ..Options::default()
    };
    let code = generate(&together, index, &options).unwrap();
    assert!(code.contains("Implements<other_crate::agents::AgentWorkspace>"));
    assert!(!code.contains("agent_runtime::"));
}
