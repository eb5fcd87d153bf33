//! The conformance suite over every store in this crate, each check on an empty store of its own.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use quixos_runtime::store::conformance::{Check, checks_for};
use quixos_runtime::store::{Concurrency, MemoryStore, SledOptions, SledStore};

fn main() -> ExitCode {
    let trials = trials("memory", Concurrency::SingleWriter, |check| {
        check(&MemoryStore::new());
        Ok(())
    });
    let trials = trials.chain(self::trials("optimistic", Concurrency::Optimistic, |check| {
        check(&MemoryStore::optimistic());
        Ok(())
    }));
    let trials = trials.chain(self::trials("sled", Concurrency::SingleWriter, |check| {
        on_sled(check, SledOptions::default())
    }));
    // Room for a few values, so that what was read is forgotten and read again all the time.
    let trials = trials.chain(self::trials("forgetful_sled", Concurrency::SingleWriter, |check| {
        on_sled(check, SledOptions { recent_bytes: 16 << 10, ..SledOptions::default() })
    }));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn on_sled(check: Check, options: SledOptions) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let options = SledOptions { free_space_floor: 0, ..options };
    check(&SledStore::open(folder.path(), options)?);
    Ok(())
}

fn trials(
    store: &str,
    concurrency: Concurrency,
    run: fn(Check) -> Result<(), Failed>,
) -> impl Iterator<Item = Trial> {
    checks_for(concurrency)
        .map(move |(name, check)| Trial::test(format!("{store}::{name}"), move || run(check)))
}
