//! Random definitions, generated: always the same from the same, however it is written, and always
//! Rust that compiles without a warning.
//!
//! A few are compiled; `QUIXOS_TRIALS` and `QUIXOS_SEED` say how many others. Names that cannot be
//! told apart in Rust are an error, and then nothing is generated.

#[path = "../../schema/tests/valid/mod.rs"]
mod valid;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use quixos_codegen::{GenerateError, Options, SourcePath, generate};
use quixos_schema::{Definitions, SourceId, Sources, canonical, check, parse, render_text};

use crate::valid::Valid;

const FILE: &str = "definition.quixos";

/// How many definitions are compiled, and how many are generated.
const COMPILED: u64 = 4;
const GENERATED: u64 = 100;

/// A definition from a seed. The numbers are those of splitmix64.
fn definition(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)).to_be_bytes()
    };
    let choices: Vec<u16> = (0..1_000)
        .map(|_| next())
        .map(|[first, second, ..]| u16::from_be_bytes([first, second]))
        .collect();
    Valid::of(&choices).text()
}

fn checked(text: &str) -> Definitions {
    let mut sources = Sources::new();
    sources.add(FILE, text);
    let checked = check(sources);
    let errors = render_text(&checked.diagnostics, &checked.sources, false);
    checked.definitions.unwrap_or_else(|| panic!("{errors}\n{text}"))
}

fn code(text: &str) -> Result<String, GenerateError> {
    let definitions = checked(text);
    let (package, _) = definitions.packages().next().expect("there is a package");
    let options = Options { sources: SourcePath::Beside, ..Options::default() };
    generate(&definitions, package, &options)
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
fn the_same_from_the_same_however_it_is_written() {
    let first = setting("QUIXOS_SEED", 1);
    let mut generated = 0;
    for seed in first..first + GENERATED {
        let text = definition(seed);
        let plain = canonical(&parse(SourceId(0), &text).file);
        match (code(&text), code(&plain)) {
            (Ok(as_written), Ok(as_printed)) => {
                assert_eq!(as_written, as_printed, "seed {seed}");
                generated += 1;
            }
            (Err(GenerateError::SameName(_)), Err(GenerateError::SameName(_))) => {}
            (as_written, as_printed) => panic!("seed {seed}: {as_written:?}, {as_printed:?}"),
        }
    }
    assert!(generated > GENERATED / 2, "{generated}");
}

#[test]
fn what_is_generated_compiles_without_a_warning() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random_definitions");
    let first = setting("QUIXOS_SEED", 1);
    let coded = (first..).filter_map(|seed| {
        let text = definition(seed);
        Some((seed, code(&text).ok()?, text))
    });
    let mut main = String::from(
        "//! Random definitions.\n#![deny(warnings, missing_docs, unreachable_pub)]\n\
         #![allow(dead_code, reason = \"nobody uses it\")]\n\nfn main() {}\n",
    );
    for (seed, code, text) in
        coded.take(usize::try_from(setting("QUIXOS_TRIALS", COMPILED)).unwrap())
    {
        let folder = folder.join(format!("seed_{seed}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(FILE), text).unwrap();
        fs::write(folder.join("code.rs"), code).unwrap();
        let path = folder.join("code.rs");
        writeln!(main, "\n/// One.\npub mod seed_{seed} {{\n    include!({path:?});\n}}").unwrap();
    }
    let file = folder.join("main.rs");
    fs::write(&file, main).unwrap();
    trybuild::TestCases::new().pass(file);
}
