//! How faults are shown: to people, with the lines they are about, and to programs, in fields.

use expect_test::expect;
use quixos_schema::{Code, Diagnostic, Place, SourceId, Sources, parse, render_json, render_text};

fn place(sources: &Sources, source: SourceId, text: &str) -> Place {
    let start = sources.get(source).text.find(text).expect("the text is in the source");
    let offset = |at: usize| u32::try_from(at).expect("a short text");
    Place { source, start: offset(start), end: offset(start + text.len()) }
}

/// A fault in one file that another place in it and one in another file have to do with.
fn two_files() -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let one = sources.add("one.quixos", "// é\ntype Ä = string;\r\n\ttype B = Ä;\n");
    let other = sources.add("other.quixos", "part of P;\ntype B = bool;");
    let diagnostic =
        Diagnostic::new(Code::DuplicateName, place(&sources, one, "B"), "two types named `B`")
            .label("the second")
            .also(place(&sources, one, "Ä"), "not this one")
            .also(place(&sources, other, "B"), "the first")
            .help("give one of them another name");
    (sources, vec![diagnostic])
}

#[test]
fn text_shows_each_file_that_matters() {
    let (sources, diagnostics) = two_files();
    expect![[r#"
        error[S0209]: two types named `B`
         --> one.quixos:3:7
          |
        2 | type Ä = string;
          |      - not this one
        3 |     type B = Ä;
          |          ^ the second
          |
         ::: other.quixos:2:6
          |
        2 | type B = bool;
          |      - the first
          |
          = help: give one of them another name
    "#]]
    .assert_eq(&render_text(&diagnostics, &sources, false));
}

#[test]
fn json_counts_lines_and_characters_from_one() {
    let (sources, diagnostics) = two_files();
    let json = render_json(&diagnostics, &sources);
    expect![[r#"
        [
          {
            "file": "one.quixos",
            "line": 3,
            "column": 7,
            "endLine": 3,
            "endColumn": 8,
            "start": 31,
            "end": 32,
            "code": "S0209",
            "severity": "error",
            "title": "a name that is given twice",
            "message": "two types named `B`",
            "label": "the second",
            "labels": [
              {
                "file": "one.quixos",
                "line": 2,
                "column": 6,
                "endLine": 2,
                "endColumn": 7,
                "start": 11,
                "end": 13,
                "message": "not this one"
              },
              {
                "file": "other.quixos",
                "line": 2,
                "column": 6,
                "endLine": 2,
                "endColumn": 7,
                "start": 16,
                "end": 17,
                "message": "the first"
              }
            ],
            "help": "give one of them another name"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn a_warning_says_so() {
    let mut sources = Sources::new();
    let id = sources.add("a.quixos", "import type A;");
    let warning = Diagnostic::new(Code::UnusedImport, place(&sources, id, "A"), "`A` is not used");
    let warnings = [warning];
    assert!(render_text(&warnings, &sources, false).starts_with("warning[S0901]: `A` is not used"));
    assert_eq!(render_json(&warnings, &sources)[0]["severity"], "warning");
}

#[test]
fn color_is_only_in_the_marks() {
    let (sources, diagnostics) = two_files();
    let colored = render_text(&diagnostics, &sources, true);
    assert!(colored.contains('\u{1b}'));
    let mut plain = String::new();
    let mut escape = false;
    for character in colored.chars() {
        match character {
            '\u{1b}' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            other => plain.push(other),
        }
    }
    assert_eq!(plain, render_text(&diagnostics, &sources, false));
}

#[test]
fn a_place_at_the_end_of_the_file_is_a_place() {
    for text in ["type A = string", "type A = record {", "", "atom A id \"a\" {\n"] {
        let mut sources = Sources::new();
        let id = sources.add("end.quixos", text);
        let faults = parse(id, text).diagnostics;
        assert_eq!(
            render_text(&faults, &sources, false).matches("end.quixos:").count(),
            faults.len()
        );
    }
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(render_text(&[], &Sources::new(), true), "");
    assert_eq!(render_json(&[], &Sources::new()), serde_json::json!([]));
}
