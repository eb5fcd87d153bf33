//! Changes for programs. What changes there are: `cases/diff`.

use expect_test::expect;
use quixos_schema::{
    Concern, Definitions, Impact, Sources, check, diff, render_changes_json, render_changes_text,
};

fn revision(text: &str) -> Definitions {
    let mut sources = Sources::new();
    sources.add("books.quixos", text);
    check(sources).definitions.expect("a revision has no errors")
}

const BEFORE: &str = r#"
package Books id "books" revision "books@1" {}
type Data = record {title: string;};
atom Book id "book" {
  state data id "data": Data;
  root input record {data: Data;};
}
"#;

#[test]
fn a_change_in_fields() {
    let (old, new) = (revision(BEFORE), revision(&BEFORE.replace("string", "bytes")));
    let changes = diff(&old, &new);
    let [change] = changes.as_slice() else { panic!("one change, not {changes:?}") };
    assert_eq!(change.impact(), Impact::Breaking);
    assert_eq!(change.impact_on(Concern::Data), Impact::NeedsMigration);
    assert_eq!(change.impact_on(Concern::Callers), Impact::Breaking);
    assert_eq!(change.impact_on(Concern::Handlers), Impact::Safe);
    let json = render_changes_json(&changes, &old.sources, &new.sources);
    expect![[r#"
        [
          {
            "impact": "breaking",
            "message": "type `Data`: `title` was `string`, is `bytes`",
            "effects": {
              "data": "needs-migration",
              "callers": "breaking"
            },
            "old": {
              "file": "books.quixos",
              "line": 3,
              "column": 1,
              "endLine": 3,
              "endColumn": 10,
              "start": 48,
              "end": 57
            },
            "new": {
              "file": "books.quixos",
              "line": 3,
              "column": 1,
              "endLine": 3,
              "endColumn": 10,
              "start": 48,
              "end": 57
            }
          }
        ]"#]]
    .assert_eq(&format!("{json:#}"));
}

#[test]
fn no_change() {
    let (old, new) = (revision(BEFORE), revision(&format!("// again\n{BEFORE}")));
    assert_eq!(diff(&old, &new), []);
    assert_eq!(
        render_changes_text(&[], &old.sources, &new.sources),
        "nothing changed in meaning\n"
    );
}
