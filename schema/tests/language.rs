//! What the documents say about the language is so: every example in them is run.
//!
//! An example is a fence ` ```quixos `. Marked with `error=CODE` it has exactly that fault;
//! otherwise it has none, and stands in the one layout.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use quixos_schema::{Checked, Code, Severity, SourceId, Sources, check, format, render_text};

struct Example {
    line: usize,
    /// `file=NAME`: which file it is a piece of.
    file: Option<String>,
    /// `error=CODE`
    error: Option<String>,
    text: String,
    /// What it is told, if the document shows it.
    told: Option<String>,
}

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn examples(document: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut lines = document.lines().enumerate();
    let mut follows = false;
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            follows &= line.is_empty();
            continue;
        };
        let text = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let text = text.flat_map(|line| [line, "\n"]).collect();
        if info == "text" && follows {
            examples.last_mut().expect("one before").told = Some(text);
        } else if let Some(info) = info.strip_prefix("quixos") {
            let value = |key: &str| {
                info.split_whitespace().find_map(|word| word.strip_prefix(key)).map(str::to_owned)
            };
            let (file, error) = (value("file="), value("error="));
            follows = error.is_some();
            examples.push(Example { line: at + 1, file, error, text, told: None });
        }
    }
    examples
}

/// A file of a package: of the one given, if it does not say.
fn in_package(package: &str, text: &str) -> String {
    let says = |line: &str| line.starts_with("package ") || line.starts_with("part of ");
    let own = text.lines().any(says);
    if own { text.to_owned() } else { format!("part of {package};\n{text}") }
}

fn errors(checked: &Checked) -> BTreeSet<&'static str> {
    let errors = checked.diagnostics.iter().map(|it| it.code);
    errors.filter(|it| it.severity() == Severity::Error).map(Code::as_str).collect()
}

fn told(checked: &Checked) -> String {
    render_text(&checked.diagnostics, &checked.sources, false)
}

/// All examples without a fault are pieces of a few files that are checked together; each one
/// with a fault is checked beside them.
#[test]
fn the_language_by_example() {
    let document = fs::read_to_string(docs().join("language.md")).unwrap();
    let (faulty, good): (Vec<_>, Vec<_>) =
        examples(&document).into_iter().partition(|it| it.error.is_some());
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for example in good {
        let formatted = format(SourceId(0), &example.text).ok();
        assert_eq!(formatted.as_ref(), Some(&example.text), "line {}", example.line);
        let file = example.file.unwrap_or_else(|| "notes.quixos".to_owned());
        files.entry(file).or_default().push_str(&example.text);
    }
    let mut sources = Sources::new();
    for (name, text) in files {
        sources.add(name, text);
    }
    assert_eq!(told(&check(sources.clone())), "");

    assert!(!faulty.is_empty());
    for example in faulty {
        let mut sources = sources.clone();
        sources.add("example.quixos", in_package("Notes", &example.text));
        let checked = check(sources);
        let code = example.error.as_deref().into_iter().collect();
        assert_eq!(errors(&checked), code, "line {}:\n{}", example.line, told(&checked));
        if let Some(shown) = example.told {
            assert_eq!(shown, told(&checked), "line {}", example.line);
        }
    }
}

/// The files of an example: those that it names by lines `// file NAME`, or one that belongs to a
/// package `P`.
fn files_of(page: &str, example: &Example) -> Sources {
    let mut sources = Sources::new();
    if example.text.starts_with("// file ") {
        for part in example.text.split("// file ").skip(1) {
            let (name, text) = part.split_once('\n').expect("a name, then the file");
            sources.add(name, text);
        }
        return sources;
    }
    let text = in_package("P", &example.text);
    let in_other = text.starts_with("part of P;");
    sources.add(format!("{page}.md, line {}", example.line), text);
    if in_other {
        sources.add("package.quixos", "package P id \"p\" revision \"p@1\" {}");
    }
    sources
}

/// Each page has its code and what it is about as a heading, an example of the fault, and one of
/// how to mend it.
#[test]
fn every_page_of_a_diagnostic_shows_it() {
    for entry in fs::read_dir(docs().join("diagnostics")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let page = fs::read_to_string(&path).unwrap();
        let code = Code::ALL.iter().find(|code| code.as_str() == name);
        let code = code.unwrap_or_else(|| panic!("no diagnostic has the code {name}"));
        let heading = format!("# {code}: {}", code.title());
        assert_eq!(page.lines().next(), Some(heading.as_str()), "{name}");

        let examples = examples(&page);
        for example in &examples {
            let checked = check(files_of(&name, example));
            let found: BTreeSet<_> = match code.severity() {
                Severity::Error => errors(&checked),
                Severity::Warning => {
                    checked.diagnostics.iter().map(|it| it.code.as_str()).collect()
                }
            };
            let wanted = example.error.as_deref().into_iter().collect();
            assert_eq!(found, wanted, "{}", told(&checked));
        }
        // A file that is too large is no example.
        let shown = examples.iter().any(|it| it.error.as_deref() == Some(code.as_str()))
            && examples.iter().any(|it| it.error.is_none());
        assert!(shown || *code == Code::SourceTooLarge, "{name} shows no fault, or no way out");
    }
}
