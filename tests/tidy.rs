//! What the machine minds about the tree and no lint knows. A failure says what to do.

use std::collections::BTreeSet;

use quixos_tests::{definitions, files, read};

/// Who may depend on whom; a pair that is absent is forbidden. Development dependencies are free.
const BELOW: [(&str, &[&str]); 13] = [
    ("schema", &[]),
    ("codegen", &["schema"]),
    ("runtime", &["schema"]),
    ("package", &["schema", "codegen", "runtime"]),
    ("protocol", &[]),
    ("session", &["codegen", "runtime", "package", "protocol"]),
    ("streams", &["codegen", "runtime"]),
    ("engine", &["runtime", "package", "protocol", "session"]),
    ("host", &["runtime", "package", "protocol", "session", "streams", "engine"]),
    (
        "shell",
        &["schema", "codegen", "runtime", "package", "protocol", "session", "streams", "host"],
    ),
    ("bench", &["schema", "runtime", "package"]),
    ("tests", &["schema"]),
    ("fuzz/properties", &["schema", "runtime", "package", "shell"]),
];

#[test]
fn every_member_says_whom_it_may_depend_on() {
    let manifest = read("Cargo.toml");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = ")).unwrap();
    let members: BTreeSet<&str> = quoted(members).collect();
    let known = BTreeSet::from(BELOW.map(|(member, _)| member));
    assert_eq!(members, known, "members of Cargo.toml against BELOW");
}

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

/// Returns what stands between quotes, in a text without a quote inside one.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
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
fn the_pages_on_workers_and_sessions_name_all_there_is() {
    let example = |folder: &str| {
        let paths = files(&format!("protocol/examples/{folder}"), ".json");
        paths.into_iter().map(|path| {
            let name = path.rsplit('/').next().unwrap().trim_end_matches(".json");
            name.split('~').next().unwrap().to_owned()
        })
    };
    let words: BTreeSet<String> = example("Trigger").chain(example("Action")).collect();
    assert_eq!(words.len(), 19);
    all_named("docs/workers.md", words);

    // Of calls, the log puts the names of events together: FAMILY.WHAT.
    let log = read("session/src/machine/log.rs");
    let is_event = |word: &&str| {
        word.contains('.') && word.chars().all(|it| it.is_ascii_lowercase() || "._".contains(it))
    };
    let families = ["llm.call", "tool.call"];
    let events = quoted(&log).filter(is_event).filter(|event| !families.contains(event));
    all_named("docs/sessions.md", events.map(str::to_owned).collect());

    let refusals = read("session/src/refusal.rs");
    let refusals = refusals.lines().filter_map(|line| line.trim().strip_prefix("Self::"));
    let refusals = refusals.filter(|line| line.ends_with("\","));
    let refusals: BTreeSet<String> = refusals.flat_map(quoted).map(str::to_owned).collect();
    assert!(refusals.contains("not-admitted"), "{refusals:?}");
    all_named("docs/sessions.md", refusals);

    let definitions = definitions();
    let operations = definitions.operations.iter();
    let of_sessions =
        operations.filter(|operation| definitions.package(operation.package).name == "Sessions");
    let operations: BTreeSet<String> =
        of_sessions.map(|operation| operation.name.clone()).collect();
    assert!(!operations.is_empty());
    all_named("docs/sessions.md", operations);
}

#[test]
fn the_page_on_public_streams_names_all_there_is() {
    let refusals = read("streams/src/refusal.rs");
    let refusals = refusals.lines().filter_map(|line| line.trim().strip_prefix("Self::"));
    let refusals = refusals.filter(|line| line.ends_with("\","));
    let mut words: BTreeSet<String> = refusals.flat_map(quoted).map(str::to_owned).collect();
    assert!(words.contains("stale-epoch"), "{words:?}");
    let definitions = definitions();
    let operations = definitions.operations.iter();
    let of_streams =
        operations.filter(|operation| definitions.package(operation.package).name == "Streams");
    words.extend(of_streams.map(|operation| operation.name.clone()));
    all_named("docs/durable-streams.md", words);
}

fn all_named(page: &str, words: BTreeSet<String>) {
    let text = read(page);
    for word in words {
        let is_named = text.contains(&format!("`{word}`")) || text.contains(&format!("`{word}:"));
        assert!(is_named, "{page} does not name `{word}`");
    }
}

#[test]
fn the_json_of_the_pages_is_an_example_of_the_protocol() {
    let examples: Vec<serde_json::Value> =
        files("protocol/examples", ".json").iter().map(|path| json(&read(path))).collect();
    for block in blocks("docs/workers.md", "json") {
        assert!(examples.contains(&json(&block)), "docs/workers.md has no example:\n{block}");
    }
    for block in blocks("docs/sessions.md", "json") {
        assert!(json(&block).is_object(), "{block}");
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Returns the blocks of a page that are of a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = read(page);
    let opening = format!("```{language}\n");
    let begun = text.split(&opening).skip(1);
    begun.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
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
