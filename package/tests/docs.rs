//! `docs/operations.md` against the definition: one section an operation, in the definition's
//! order, and in each the operation as it is written, in the one layout.
//!
//! `UPDATE_EXPECT=1` rewrites those blocks. The prose below each is written by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::collections::BTreeMap;
use std::path::Path;

use quixos_schema::{SourceId, format};

const DEFINITION: &str = include_str!("../agent-runtime.quixos");
const FENCE: &str = "```quixos\n";

/// Returns the operations of the definition, formatted, in its order.
fn defined() -> Vec<(String, String)> {
    let text = format(SourceId(0), DEFINITION).unwrap();
    let mut operations: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("  operation ") {
            let name = rest.split(' ').next().unwrap().to_owned();
            operations.push((name, String::new()));
        }
        if let (Some((_, operation)), Some(line)) = (operations.last_mut(), line.strip_prefix("  "))
        {
            operation.push_str(line);
            operation.push('\n');
        }
    }
    operations
}

/// Returns the sections that are headed by an operation's name, with what stands in each.
fn sections(text: &str) -> Vec<(&str, &str)> {
    text.split("\n### ")
        .skip(1)
        .map(|section| {
            let (name, body) = section.split_once('\n').unwrap();
            (name.trim(), body.split("\n## ").next().unwrap())
        })
        .collect()
}

#[test]
fn each_operation_is_documented_as_it_is_defined() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md");
    let mut text = std::fs::read_to_string(&path).unwrap();
    let defined = defined();
    let names = |them: &[(String, String)]| them.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    let documented: Vec<String> =
        sections(&text).iter().map(|(name, _)| (*name).to_owned()).collect();
    let (mut left, mut right) = (names(&defined), documented.clone());
    left.sort();
    right.sort();
    assert_eq!(left, right, "operations against sections, `### NAME`, of docs/operations.md");

    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let defined: BTreeMap<_, _> = defined.iter().cloned().collect();
        for name in documented {
            let from = text.find(&format!("\n### {name}\n")).unwrap();
            let start = from + text[from..].find(FENCE).unwrap() + FENCE.len();
            let end = start + text[start..].find("```\n").unwrap();
            text.replace_range(start..end, &defined[&name]);
        }
        std::fs::write(&path, &text).unwrap();
    }

    let sections: BTreeMap<_, _> = sections(&text).into_iter().collect();
    for (name, operation) in &defined {
        let section = sections[name.as_str()];
        let block = section.split_once(FENCE).and_then(|(_, rest)| rest.split_once("```\n"));
        let Some((block, prose)) = block else { panic!("`{name}` has no block in {section}") };
        assert_eq!(block, operation, "run with UPDATE_EXPECT=1 to take the definition's text");
        assert!(prose.trim().len() > 40, "`{name}` is not described");
    }
}
