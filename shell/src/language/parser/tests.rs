//! What is written, and what is read of it.

use super::*;
use serde_json::{Value, json};

struct Known;
impl crate::language::Variables for Known {
    fn value(&self, path: &Path) -> Result<Value, crate::stop::Stop> {
        Ok(json!(format!("<{:?}>", path.base)))
    }
}

fn one(text: &str) -> Command {
    let mut commands = parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    assert_eq!(commands.len(), 1, "{text}");
    commands.remove(0)
}

fn fault(text: &str) -> (String, String, Option<String>) {
    let fault = parse(text).expect_err(text);
    (text[fault.span].to_owned(), fault.message, fault.help)
}

#[test]
fn values_are_json_with_variables_bare_keys_and_raw_strings() {
    let command =
        one(r#"call $t.send {text: "a\n", data: '["x"]', n: [-1, 2.5e3], root: $r, z: null,}"#);
    let Verb::Call { input: Some(input), .. } = command.verb else { panic!("a call") };
    assert_eq!(
        input.evaluate(&Known).unwrap(),
        json!({"text": "a\n", "data": "[\"x\"]", "n": [-1, 2500.0],
               "root": "<Variable(\"r\")>", "z": null})
    );
}

#[test]
fn the_place_of_a_path_is_where_it_was_typed() {
    let text = r#"call $t.send {a: {b: [1, "x"]}}"#;
    let Verb::Call { input: Some(input), .. } = one(text).verb else { panic!("a call") };
    let place = |path| match input.locate(path) {
        crate::language::Place::Exact(span) => text[span].to_owned(),
        crate::language::Place::Within(span) => format!("in {}", &text[span]),
    };
    assert_eq!(place("a.b[1]"), "\"x\"");
    assert_eq!(place("a.c"), "in {b: [1, \"x\"]}");
    assert_eq!(place("$"), "{a: {b: [1, \"x\"]}}");
}

#[test]
fn answers_are_kept_in_variables() {
    assert_eq!(one("$r = call $t.archive true").keep.map(|it| it.name).as_deref(), Some("r"));
    assert_eq!(fault("$now = 3").1, "`$now` is kept by the shell");
    assert_eq!(fault("$a.b = 3").0, "$a.b");
}

#[test]
fn flags_stand_anywhere_but_only_where_they_mean_something() {
    let command = one("call --dry-run $t.archive true --internal");
    assert!(command.flags.dry_run && command.flags.internal && !command.flags.yes);
    assert_eq!(fault("list thread --dry-run").1, "`list` takes no `--dry-run`");
    assert_eq!(
        fault("call $t.archive true --dryrun").2.as_deref(),
        Some("did you mean `--dry-run`?")
    );
}

#[test]
fn a_misspelt_command_is_suggested() {
    assert_eq!(fault("cal $t.archive true").2.as_deref(), Some("did you mean `call`?"));
    assert_eq!(fault("list thread limt 5").2.as_deref(), Some("did you mean `limit`?"));
    assert_eq!(fault("call $t.archive tru").2.as_deref(), Some("did you mean `true`?"));
}

#[test]
fn faults_point_at_what_is_wrong() {
    for (text, at) in [
        ("call $t.a {x 1}", "1"),
        ("call $t.a {x: 1 y: 2}", "y"),
        ("call $t.a {x: 1, x: 2}", "x"),
        ("call $t.a [1 2]", "2"),
        ("call $t", "$t"),
        ("list thread limit many", "many"),
        ("exit now", "now"),
        ("call $t.a {x: }", "}"),
    ] {
        assert_eq!(fault(text).0, at, "{text}");
    }
}

#[test]
fn every_example_in_the_manual_is_well_formed() {
    for page in MANUAL {
        one(page.example);
    }
}

#[test]
fn no_text_stops_it() {
    let words = [
        "call",
        " ",
        "$r",
        ".a",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "'",
        "\\",
        "\n",
        ";",
        "#",
        "--dry-run",
        "=",
        "$now+5m",
        "thread/01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "é",
        "\u{0}",
        "-1",
        "limit",
        "list",
        "$",
    ];
    let mut seed = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..seed % 12 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(words[(seed >> 33) as usize % words.len()]);
        }
        seed = seed.wrapping_add(1);
        if let Err(fault) = parse(&text) {
            assert!(text.get(fault.span.clone()).is_some(), "{text:?}: {fault:?}");
        }
    }
}

#[test]
fn brackets_within_brackets_end_somewhere() {
    let deep = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    assert!(parse(&deep(128)).is_ok());
    assert!(parse(&deep(129)).is_err());
    assert!(parse(&deep(1_000_000)).is_err());
}
