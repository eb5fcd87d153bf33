//! What has no Rust: two names that would be one, and paths that are none.

use expect_test::{Expect, expect};
use quixos_codegen::{GenerateError, Options, generate};
use quixos_schema::{Definitions, PackageIndex, Sources, check, render_text};

/// Checks texts, each named `a.quixos`, `b.quixos` and so on.
fn definitions(texts: &[&str]) -> Definitions {
    let mut sources = Sources::new();
    for (name, text) in ('a'..='z').zip(texts) {
        sources.add(format!("{name}.quixos"), *text);
    }
    let checked = check(sources);
    let rendered = render_text(&checked.diagnostics, &checked.sources, false);
    checked.definitions.unwrap_or_else(|| panic!("{rendered}"))
}

fn refused(texts: &[&str], options: &Options) -> GenerateError {
    let found = generate(&definitions(texts), PackageIndex(0), options);
    found.expect_err("the definitions have no Rust")
}

fn same_name(body: &str, expected: Expect) {
    let text = format!("{body}\npackage P id \"p\" revision \"p@1\" {{}}\n");
    expected.assert_eq(&refused(&[&text], &Options::default()).to_string());
}

#[test]
fn fields() {
    same_name(
        "type Box = record {itemCount: uint32; item_count: uint32;};",
        expect![
            "field `itemCount` of type `Box` (a.quixos:1:1) and field `item_count` of type `Box` (a.quixos:1:1) would both be `item_count` in Rust; rename one of them"
        ],
    );
}

#[test]
fn items_of_a_package() {
    same_name(
        "type big_box = record {};\n  interface BigBox id \"box\" {}",
        expect![
            "type `big_box` (a.quixos:1:1) and interface `BigBox` (a.quixos:2:3) would both be `BigBox` in Rust; rename one of them"
        ],
    );
    same_name(
        "type BoxClient = record {};\ninterface Box id \"box\" {operation open: unit -> unit;}",
        expect![
            "type `BoxClient` (a.quixos:1:1) and interface `Box` (a.quixos:2:1) would both be `BoxClient` in Rust; rename one of them"
        ],
    );
}

#[test]
fn a_record_without_a_name_and_one_with_it() {
    same_name(
        "type BoxLid = bool;\ntype Box = record {lid: record {open: bool;};};",
        expect![
            "type `BoxLid` (a.quixos:1:1) and type `Box` (a.quixos:2:1) would both be `BoxLid` in Rust; rename one of them"
        ],
    );
}

#[test]
fn methods_of_an_interface() {
    same_name(
        "atom A id \"a\" {}\ninterface Box id \"box\" {edge in: many-unique atom A [resolve]; \
         operation inPage: unit -> unit;}",
        expect![
            "member `Box.in` (a.quixos:2:25) and member `Box.inPage` (a.quixos:2:64) would both be `in_page` in Rust; rename one of them"
        ],
    );
}

#[test]
fn packages_beside_each_other() {
    let texts = [
        "package SameName id \"p\" revision \"p@1\" {}",
        "package same_name id \"q\" revision \"q@1\" {}",
    ];
    let error = refused(&texts, &Options::default());
    expect!["package `SameName` (a.quixos:1:1) and package `same_name` (b.quixos:1:1) would both be `same_name` in Rust; rename one of them"].assert_eq(&error.to_string());
    // In another crate it has another path.
    let options = Options {
        elsewhere: [("q".to_owned(), "other::same_name".to_owned())].into(),
        ..Options::default()
    };
    assert!(generate(&definitions(&texts), PackageIndex(0), &options).is_ok());
}

#[test]
fn a_path_that_is_none() {
    let options = Options {
        elsewhere: [("p".to_owned(), "other crate".to_owned())].into(),
        ..Options::default()
    };
    let error = refused(&["package P id \"p\" revision \"p@1\" {}"], &options);
    expect!["`other crate` is no Rust path for package `p`"].assert_eq(&error.to_string());
}
