//! What must hold whatever bytes come from outside: one function for each way in, which panics
//! where something does not hold.
//!
//! The fuzzers in `fuzz/targets` call these functions with bytes that they make up; the tests of
//! this member call them with every file of `fuzz/corpus`, and with changes to good inputs. Nothing
//! but the functions is shared, so nothing holds in one place only.
//!
//! Start at [`TARGETS`].

mod calls;
mod definitions;
mod differences;
mod exports;
mod images;
mod keys;
mod layouts;
mod seal;
mod shell;
mod sound;
mod values;
mod world;

pub use calls::{EVERY_OPERATION, calls};
pub use definitions::definitions;
pub use differences::differences;
pub use exports::exports;
pub use images::images;
pub use keys::keys;
pub use seal::sealed;
pub use shell::shell;
pub use values::{json, values};
pub use world::exported;

/// What must hold of an input.
pub type Property = fn(&[u8]);

/// Every way in, by the name of its fuzzer and of its folder in the corpus.
pub const TARGETS: [(&str, Property); 9] = [
    ("definitions", definitions),
    ("differences", differences),
    ("shell", shell),
    ("json", json),
    ("calls", calls),
    ("keys", keys),
    ("values", values),
    ("exports", exports),
    ("images", images),
];
