//! One test per file of `fuzz/corpus/TARGET`: what once reached something new, or once failed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use quixos_fuzz_properties::TARGETS;

const FUZZ: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![Trial::test("each_target_is_there_throughout", each_target)];
    for (target, property) in TARGETS {
        for name in names(&format!("corpus/{target}"), "") {
            let path = Path::new(FUZZ).join("corpus").join(target).join(&name);
            trials.push(Trial::test(format!("{target}::{name}"), move || {
                property(&fs::read(&path)?);
                Ok(())
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Each target has a property, a fuzzer and a corpus.
fn each_target() -> Result<(), Failed> {
    let expected: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let manifest = fs::read_to_string(Path::new(FUZZ).join("Cargo.toml"))?;
    let listed = manifest.lines().filter_map(|line| line.strip_prefix("path = \"targets/"));
    let listed = listed.map(|name| name.trim_end_matches(".rs\"").to_owned()).collect();
    for (place, found) in [
        ("files fuzz/targets/TARGET.rs", names("targets", ".rs")),
        ("binaries in fuzz/Cargo.toml", listed),
        ("folders fuzz/corpus/TARGET", names("corpus", "")),
    ] {
        if found != expected {
            return Err(format!("the {place} are {found:?}, `TARGETS` has {expected:?}").into());
        }
    }
    match TARGETS.iter().find(|(name, _)| names(&format!("corpus/{name}"), "").is_empty()) {
        Some((name, _)) => Err(format!("the corpus of `{name}` is empty").into()),
        None => Ok(()),
    }
}

/// Returns the names of what is in a folder, without an ending that all must have.
fn names(folder: &str, ending: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(FUZZ).join(folder)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
}
