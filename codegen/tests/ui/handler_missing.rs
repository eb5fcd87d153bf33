//! Each operation has a handler, or there is no package.

include!("sample.rs");

use quixos_runtime::CallError;

struct Unfinished;

impl sample::desk_work::Handler for Unfinished {
    fn handle(
        _: &sample::desk_work::Context<'_>,
        _: sample::desk_work::Input,
    ) -> Result<bool, CallError> {
        Ok(true)
    }
}

impl sample::desk_rest::Handler for Unfinished {
    fn handle(_: &sample::desk_rest::Context<'_>, (): ()) -> Result<(), CallError> {
        Ok(())
    }
}

impl sample::page_tear::Handler for Unfinished {
    fn handle(_: &sample::page_tear::Context<'_>, (): ()) -> Result<(), CallError> {
        Ok(())
    }
}

fn main() {
    let _ = sample::package::<Unfinished>();
}
