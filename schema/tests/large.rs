//! Texts that are large and strange: the check comes to an end, within its stack, and its report
//! stays one that can be read.

use quixos_schema::{Checked, Code, Sources, check};

const PACKAGE: &str = "package P id \"p\" revision \"p@1\" {}\n";
const COUNT: usize = 10_000;

fn many(line: impl Fn(usize) -> String) -> String {
    (0..COUNT).map(line).collect()
}

fn checked(text: String) -> Checked {
    let mut sources = Sources::new();
    sources.add("large.quixos", format!("{PACKAGE}{text}"));
    check(sources)
}

fn codes(text: String) -> Vec<Code> {
    checked(text).diagnostics.iter().map(|it| it.code).collect()
}

#[test]
fn a_record_of_many_fields() {
    let text = format!("type T = record {{{}}};", many(|at| format!("f{at}: bool;")));
    assert!(checked(text).definitions.is_some());
}

#[test]
fn a_chain_of_types() {
    let link = |at| format!("type T{at} = record {{next: T{};}};\n", at + 1);
    let text = format!("{}type T{COUNT} = bool;", many(link));
    assert_eq!(codes(text), [Code::NestedTooDeep]);
}

#[test]
fn a_ring_of_types() {
    let link = |at| format!("type T{at} = record {{next: T{};}};\n", (at + 1) % COUNT);
    let checked = checked(many(link));
    let [ring] = checked.diagnostics.as_slice() else { panic!("{:?}", checked.diagnostics) };
    assert_eq!(ring.code, Code::RecursiveType);
    assert!(ring.labels.len() < 20);
}

/// Each type has the next one twice: written out, the first would be larger than any machine.
#[test]
fn types_that_double() {
    let link =
        |at: usize| format!("type T{at} = record {{a: T{next}; b: T{next};}};\n", next = at + 1);
    let doubling = |name: &str| -> String {
        let links: String = (0..60).map(link).collect();
        format!("{links}type T60 = bool;\n").replace('T', name)
    };
    let text = format!(
        "{}{}interface I id \"i\" {{state s: A0 [get];}} atom O id \"o\" {{state s id \"s\": B0; implements I;}}",
        doubling("A"),
        doubling("B")
    );
    assert!(checked(text).definitions.is_some());
}

#[test]
fn one_name_missed_everywhere() {
    let text = format!("type T = record {{{}}};", many(|at| format!("f{at}: X;")));
    let checked = checked(text);
    let [missed] = checked.diagnostics.as_slice() else { panic!("{:?}", checked.diagnostics) };
    assert_eq!(missed.code, Code::UnknownType);
    assert!(missed.labels.len() < 20);
}

#[test]
fn many_names_missed() {
    let known = many(|at| format!("type N{at} = bool;\n"));
    let missed = many(|at| format!("f{at}: M{at};"));
    let codes = codes(format!("{known}type T = record {{{missed}}};"));
    assert_eq!(codes.len(), COUNT);
}
