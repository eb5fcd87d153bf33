//! The golden code of every case, compiled under the lints of the workspace.

/// Includes the generated modules of a case, as a crate would that has them beside each other.
macro_rules! cases {
    ($($case:ident: $($module:ident)+;)+) => {
        $(
            #[doc = concat!("Case `", stringify!($case), "`.")]
            pub mod $case {
                $(
                    #[doc = concat!("Package `", stringify!($module), "`.")]
                    pub mod $module {
                        include!(concat!("cases/", stringify!($case), "/", stringify!($module), ".rs"));
                    }
                )+
            }
        )+

        /// The files that are compiled here.
        const COMPILED: &[&str] =
            &[$($(concat!(stringify!($case), "/", stringify!($module), ".rs")),+),+];
    };
}

cases! {
    aliases: sample;
    counter: counting;
    creation: sample;
    edges: sample;
    empty: sample;
    generics: sample;
    grants: sample;
    internal: sample;
    keywords: sample;
    members: sample;
    other_package: library sample;
    query: sample;
    receivers: sample;
    roots: sample;
    scalars: sample;
    state: sample;
    streams: sample;
}

#[test]
fn every_golden_file_is_compiled() {
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut found = Vec::new();
    for case in std::fs::read_dir(&cases).unwrap() {
        for file in std::fs::read_dir(case.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "rs") {
                found.push(path.strip_prefix(&cases).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    assert_eq!(found, COMPILED, "add the case to the list above");
}
