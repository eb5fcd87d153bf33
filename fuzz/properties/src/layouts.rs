//! The types that values are read as: all that the shipped packages store, take and answer, and
//! some that they have no use for.

use std::sync::{Arc, LazyLock};

use quixos_runtime::Layout;
use quixos_schema::{Definitions, Sources, Type, check};

/// The shipped definitions with [`ODD`] beside them, and every type in them.
pub(crate) struct Layouts {
    pub(crate) definitions: Definitions,
    all: Vec<Arc<Layout>>,
}

/// Types that bytes can lie about.
const ODD: &str = r#"
package Odd id "package:test:odd" revision "package:test:odd@1" {}
type Numbers = record {
  a: int32; b: int64; c: uint32; d: uint64; e: float64; f: bool; g: record {}; h: bytes; i: string;
};
atom OddObject id "atom:test:odd" {
  state numbers id "numbers": Numbers;
  state hollow id "hollow": list<record {}>;
  state hollows id "hollows": list<list<record {a: record {}; b: record {};}>>;
  state floats id "floats": list<float64>;
  state texts id "texts": record {before: list<string>; text: string; after: optional<bytes>;};
  state own id "own": list<atom-ref<OddObject>>;
  state maybe id "maybe": optional<list<optional<record {numbers: Numbers; own: atom-ref<OddObject>;}>>>;
  state flags id "flags": list<bool>;
}
"#;

/// Made once: checking definitions takes longer than reading a value.
static LAYOUTS: LazyLock<Layouts> = LazyLock::new(|| {
    // First, so that an input stays what it was about while packages change.
    let mut sources = Sources::new();
    sources.add("odd.quixos", ODD);
    for (name, text) in quixos_package::packages().iter().flat_map(|package| package.sources) {
        sources.add(*name, *text);
    }
    let checked = check(sources);
    let definitions = checked.definitions.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    let states = definitions.atoms.iter().flat_map(|atom| &atom.states).map(|slot| &slot.ty);
    let streams = definitions.atoms.iter().flat_map(|atom| &atom.streams).map(|slot| &slot.ty);
    let calls = definitions.operations.iter().flat_map(|it| [&it.input, &it.output]);
    let types = states.chain(streams).chain(calls);
    let all = types.map(|ty: &Type| Layout::of(&definitions, ty)).collect();
    Layouts { definitions, all }
});

/// Chooses a type by the first of some bytes; returns it with the rest.
pub(crate) fn chosen(bytes: &[u8]) -> Option<(&'static Layout, &'static Definitions, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let Layouts { definitions, all } = &*LAYOUTS;
    Some((&all[usize::from(*first) % all.len()], definitions, rest))
}
