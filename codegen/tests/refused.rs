//! What is not granted does not compile.
//!
//! Each file of `ui/` tries one thing that the package of the case `grants` leaves out, and
//! beside it stands what the compiler says; `TRYBUILD=overwrite` rewrites that, and the diff is
//! the review. `granted.rs` does all that is granted, so that the others fail for what they name
//! and for nothing else.

/// Whose words the `.stderr` files hold. Other compilers say it otherwise, and are not asked.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn what_is_not_granted_does_not_compile() {
    let said = std::process::Command::new("rustc").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&said.stdout).into_owned();
    if !version.starts_with(COMPILER) {
        eprintln!("not compared: the answers are those of {COMPILER}x, this is {version}");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/granted.rs");
    for (name, _) in REFUSED {
        cases.compile_fail(format!("tests/ui/{name}.rs"));
    }
}

/// Each case with what its error must say, whatever else a compiler prints around it.
const REFUSED: &[(&str, &str)] = &[
    ("creation_not_granted", "no method named `create_page` found for reference"),
    ("edge_connect_not_granted", "no method named `connect` found for struct `Top<'c>`"),
    ("edge_disconnect_not_granted", "no method named `disconnect` found for struct `Shelf<'c>`"),
    ("edge_resolve_not_granted", "no method named `contains` found for struct `Pages<'c>`"),
    ("handle_kept_beyond_its_call", "lifetime may not live long enough"),
    ("handler_missing", "`Unfinished` has no handler for operation `page_burn`"),
    ("interface_not_implemented", "`Pen` does not implement interface `sample::Readable`"),
    ("internal_member_by_client", "no method named `burn` found for struct `ReadableClient<'s>`"),
    ("member_not_in_using", "no method named `tear` found for struct `desk_work::Readable<'c>`"),
    ("reference_of_other_atom", "expected `Ref<Page>`, found `Ref<Pen>`"),
    ("reference_of_other_atom_in_output", "expected `Ref<Page>`, found `Ref<Pen>`"),
    ("state_read_not_granted", "no method named `read` found for struct `Mark<'c>`"),
    ("state_write_not_granted", "no method named `write` found for struct `Note<'c>`"),
    ("stream_append_not_granted", "no method named `append` found for struct `Journal<'c>`"),
    ("stream_read_not_granted", "no method named `read` found for struct `Orders<'c>`"),
];

#[test]
fn each_refusal_is_for_the_reason_that_it_is_named_for() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut found: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".stderr").map(str::to_owned))
        .collect();
    found.sort();
    let listed: Vec<&str> = REFUSED.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, listed, "every case is listed, with what it must say");
    for (name, said) in REFUSED {
        let text = std::fs::read_to_string(folder.join(format!("{name}.stderr"))).unwrap();
        assert!(text.contains(said), "{name} says something else than {said:?}:\n{text}");
        let errors = text.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(errors, 1, "{name} has more than one fault:\n{text}");
    }
}
