//! What the machine minds about the tree and no lint knows. A failure says what to do.

use std::collections::BTreeSet;

use quixos_tests::{definitions, files, read};

/// Who may depend on whom; a pair that is absent is forbidden. Development dependencies are free.
const BELOW: [(&str, &[&str]); 9] = [
    ("schema", &[]),
    ("codegen", &["schema"]),
    ("runtime", &["schema"]),
    ("package", &["schema", "codegen", "runtime"]),
    ("protocol", &[]),
    ("shell", &["schema", "codegen", "runtime", "package"]),
    ("bench", &["schema", "runtime", "package"]),
    ("tests", &["schema"]),
    ("fuzz/properties", &["schema", "runtime", "package", "shell"]),
];

#[test]
fn dependencies_run_downward_only() {
    for (member, below) in BELOW {
        let manifest = read(&format!("{member}/Cargo.toml"));
        let mut kept = true;
        for line in manifest.lines() {
            if line.starts_with('[') {
                kept = line.ends_with("dependencies]") && !line.contains("dev-dependencies");
            }
            if let Some(other) = line.strip_prefix("quixos-").filter(|_| kept) {
                let other = other.split(['.', ' ', '=']).next().unwrap();
                assert!(below.contains(&other), "{member} may not depend on {other}: see BELOW");
            }
        }
    }
}

#[test]
fn the_given_definition_is_as_it_was_given() {
    // BLAKE3 of the file whose SHA-256 begins with e394d16b.
    let digest = blake3::hash(read("package/agent-runtime.quixos").as_bytes()).to_hex();
    assert_eq!(
        digest.as_str(),
        GIVEN,
        "package/agent-runtime.quixos is input, byte for byte: restore it, and put what you need \
         into package/objects.quixos"
    );
}

const GIVEN: &str = "5d1a78cef0acccc30be0955eb6b7ab7b95d5ccf48338a5642a0482118f949b23";

#[test]
fn every_operation_has_one_handler_and_one_script() {
    let definitions = definitions();
    let operations: BTreeSet<String> = definitions
        .operations
        .iter()
        .filter(|operation| definitions.package(operation.package).name == "AgentRuntime")
        .map(|operation| operation.name.clone())
        .collect();
    assert_eq!(operations.len(), 33);

    let handlers: BTreeSet<String> = files("package/src/handlers", ".rs")
        .iter()
        .filter_map(|path| {
            let path = path.strip_prefix("package/src/handlers/")?.strip_suffix(".rs")?;
            let (atom, name) = path.split_once('/')?;
            (name != "mod").then(|| format!("{atom}_{}", camel(name)))
        })
        .collect();
    assert_eq!(operations, handlers, "operations against package/src/handlers/ATOM/NAME.rs");

    let scripts: BTreeSet<String> = files("tests/scripts/operations", ".script")
        .iter()
        .map(|path| path.rsplit('/').next().unwrap().trim_end_matches(".script").to_owned())
        .collect();
    assert_eq!(operations, scripts, "operations against tests/scripts/operations/NAME.script");
}

fn camel(snake: &str) -> String {
    let (first, rest) = snake.split_once('_').unwrap_or((snake, ""));
    let words = rest.split('_').filter(|word| !word.is_empty());
    words.fold(first.to_owned(), |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

#[test]
fn one_file_names_sled() {
    for path in files(".", ".rs") {
        let allowed = path == "runtime/src/store/sled.rs"
            || path.starts_with("runtime/src/store/sled/")
            || path.contains("/tests/")
            || path.contains("/benches/");
        let names_it = read(&path)
            .lines()
            .any(|line| line.contains("sled::") && !line.contains("store::sled::"));
        assert!(allowed || !names_it, "{path} names sled: go through the store trait");
    }
}

#[test]
fn every_file_has_a_head() {
    for member in BELOW.map(|(member, _)| member).into_iter().chain(["fuzz/targets", "examples"]) {
        for path in files(member, ".rs") {
            let is_golden = path.contains("/cases/") || path.contains("/ui/");
            let text = read(&path);
            assert!(
                is_golden || text.starts_with("//!") || text.starts_with("// @generated"),
                "{path} does not open with `//!`: say what it is and what holds in it"
            );
        }
    }
}

#[test]
fn every_diagnostic_code_has_its_page() {
    let pages: BTreeSet<String> = files("docs/diagnostics", ".md")
        .iter()
        .map(|path| path[17..path.len() - 3].to_owned())
        .collect();
    let codes: BTreeSet<String> =
        quixos_schema::Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(codes, pages, "codes against docs/diagnostics/CODE.md");
}

#[test]
fn the_map_names_what_is_there() {
    let map = read("ARCHITECTURE.md");
    for word in map.split(['`', ' ', '|', '\n', ',', '(', ')']) {
        let is_path = word.contains('/') && word.ends_with(".rs");
        assert!(
            !is_path || quixos_tests::root().join(word).exists(),
            "ARCHITECTURE.md names {word}, which is not there"
        );
    }
}

#[test]
fn the_pipeline_runs_the_test_command_of_the_readme() {
    let command = "cargo test --workspace";
    assert!(read("README.md").contains(command), "README.md does not say `{command}`");
    assert!(read(".ci/run").contains("README.md"), ".ci/run must take its command from README.md");
}
