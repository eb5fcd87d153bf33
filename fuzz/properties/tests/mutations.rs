//! Changes to good inputs, where bytes that are merely made up do not get far: files with
//! checksums, stores, calls with inputs of their own.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use quixos_fuzz_properties::{
    EVERY_OPERATION, calls, definitions, differences, exported, exports, images, sealed,
};
use serde_json::{Value as Json, json};

/// The small world takes a while to open, so there are few cases unless more are asked for.
fn few() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { 24 };
    ProptestConfig { cases, failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(few())]

    /// The checksums find it; with checksums that fit, it is a store like any.
    #[test]
    fn a_changed_export(changes in changes(), tail in vec(any::<u8>(), 0..4)) {
        let mut file = exported();
        let whole = sealed(&file);
        prop_assert!(whole == file, "a good file is sealed as it is");
        change(&mut file, &changes);
        file.extend(tail);
        exports(&file);
    }

    #[test]
    fn an_edited_store(edits in vec(edit(), 1..5)) {
        images(&edits.concat());
    }

    #[test]
    fn changed_calls(
        lines in vec((any::<Index>(), any::<Index>(), odd()), 1..12),
        rest in any::<Index>(),
    ) {
        let good: Vec<&str> = EVERY_OPERATION.lines().collect();
        let mut changed: Vec<String> = lines
            .into_iter()
            .map(|(line, field, odd)| changed(good[line.index(good.len())], field, odd))
            .collect();
        // What a call finds depends on those before it.
        let rest = rest.index(good.len());
        changed.extend(good[rest..].iter().map(|line| (*line).to_owned()));
        calls(changed.join("\n").as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Revisions of one definition, with other words in the places of its words.
    #[test]
    fn a_changed_revision(swaps in vec((any::<Index>(), any::<Index>()), 1..5)) {
        let words: Vec<&str> = REVISION.split_inclusive(' ').collect();
        let mut changed = words.clone();
        for (at, from) in swaps {
            changed[at.index(words.len())] = words[from.index(words.len())];
        }
        let changed = changed.concat();
        definitions(changed.as_bytes());
        differences(format!("{REVISION}\n====\n{changed}").as_bytes());
    }
}

/// A definition in words that can stand in each other's places.
const REVISION: &str = r#"
package Books id "books" revision "books@1" {
 operation book_rename id "books:rename" : string -> unit
 mode call execution transaction targets [server] receiver any
 requires { state data id "data" : Data [read, write] ; edge shelf id "shelf" : one atom Shelf [resolve] ; } ;
 operation book_title id "books:title" : unit -> string
 mode call execution query targets [server] receiver any
 requires { state data id "data" : Data [read] ; } ;
}
type Data = record { title : string ; pages : uint32 ; note : optional<string> ; } ;
type Other = record { title : bytes ; pages : uint64 ; note : list<string> ; } ;
interface Named id "named" { state data : Data [get] ; operation rename : string -> unit ; operation title : unit -> string ; }
interface Kept id "kept" { edge shelf : one atom Shelf [resolve] ; stream log : string [read] ; }
atom Book id "book" {
 state data id "data" : Data ;
 state more id "more" : Other ;
 edge shelf id "shelf" : one atom Shelf ;
 edge next id "next" : optional-one atom Book ;
 stream log id "log" : string ;
 root input record { data : Data ; more : Other ; shelf : atom-ref<Shelf> ; } ;
 implements Named { rename = book_rename ; title = book_title ; }
 implements Kept ;
}
atom Shelf id "shelf" {
 state data id "data" : Data ;
 inverse books id "books" : Book.shelf ;
 root input record { data : Data ; } ;
}
"#;

/// Where, how many bytes go, what comes instead.
type Change = (Index, usize, Vec<u8>);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    vec((any::<Index>(), 0_usize..40, vec(any::<u8>(), 0..12)), 1..4)
}

fn change(file: &mut Vec<u8>, changes: &[Change]) {
    for (at, gone, instead) in changes {
        let start = at.index(file.len() + 1);
        let end = (start + gone).min(file.len());
        file.splice(start..end, instead.iter().copied());
    }
}

/// An edit, as `images` reads it; all are rarer than one.
fn edit() -> impl Strategy<Value = Vec<u8>> {
    let what = prop_oneof![60 => 0_u8..7, 1 => Just(7_u8)];
    let bytes = prop_oneof![vec(any::<u8>(), 0..24), vec(select(&[0_u8, 1, 0x7F, 0xFF][..]), 1..6)];
    (what, any::<u16>(), any::<u8>(), bytes).prop_map(|(what, entry, at, bytes)| {
        let [high, low] = entry.to_be_bytes();
        let length = u8::try_from(bytes.len()).unwrap_or(u8::MAX);
        [&[what, high, low, at, length], &bytes[..]].concat()
    })
}

/// What a field of an input might be, and should not.
fn odd() -> impl Strategy<Value = Option<Json>> {
    prop_oneof![
        Just(None),
        select(vec![json!(null), json!(true), json!([]), json!({}), json!(1.5)]).prop_map(Some),
        select(NAMES).prop_map(|it| Some(it.into())),
        select(TEXTS).prop_map(|it| Some(it.into())),
        select(NUMBERS).prop_map(|it| Some(it.into())),
        Just(Some("x".repeat(70_000).into())),
    ]
}

const NAMES: &[&str] =
    &["@agent", "@thread", "@request", "@queued", "@question", "@item", "@document", "@_"];

const TEXTS: &[&str] = &[
    "",
    " ",
    "a1",
    "a2",
    "draft",
    "running",
    "completed",
    "cancelled",
    "{}",
    "[]",
    "[1]",
    "{\"limits\": {}}",
    "\0",
    "2026-01-31T12:00:00Z",
    "9999-12-31T23:59:59Z",
    "0000-01-01T00:00:00Z",
];

const NUMBERS: &[i64] = &[0, 1, 2, -1, u32::MAX as i64, i32::MIN as i64, i64::MAX];

/// A line with one field of its input changed or left out.
fn changed(line: &str, field: Index, odd: Option<Json>) -> String {
    let Some(at) = line.find([' ', '\n']).filter(|_| !line.starts_with("create")) else {
        return line.to_owned();
    };
    let (call, input) = line.split_at(at + 1);
    let mut input: Json = serde_json::from_str(input).expect("each line has JSON");
    match first_level(&mut input) {
        Some(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = field.get(&names[..]).clone();
            match odd {
                Some(odd) => drop(members.insert(name, odd)),
                None => drop(members.shift_remove(&name)),
            }
        }
        None => input = odd.unwrap_or_default(),
    }
    format!("{call}{input}")
}

/// The members that are worth changing: those of the submission or the data, where there is one.
fn first_level(input: &mut Json) -> Option<&mut serde_json::Map<String, Json>> {
    let members = input.as_object_mut()?;
    let inner = ["submission", "data"].into_iter().find(|it| members.contains_key(*it));
    match inner {
        Some(name) => members.get_mut(name)?.as_object_mut(),
        None => Some(members).filter(|members| !members.is_empty()),
    }
}
