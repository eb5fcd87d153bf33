// The module that each case includes; no case of its own.

#[allow(dead_code, reason = "each case uses a part of it")]
mod sample {
    include!("../cases/grants/sample.rs");
}
