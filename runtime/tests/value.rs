//! The bytes of values: those of postcard, one form each, and nothing else is read.

mod values;

use proptest::prelude::*;
use quixos_runtime::value::{Fault, Layout, Value, ValueError};
use quixos_runtime::{CallError, ObjectRef};
use quixos_schema::{AtomIndex, NamedType, PackageIndex, Place, SourceId, Type, TypeIndex};
use serde::{Deserialize, Serialize};
use values::{
    AGENT, DOCUMENT, THREAD, any_type, any_typed, definitions, list, object, optional, point,
    record, stream_of, subject, thread,
};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    x: i32,
    y: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    nothing: (),
    yes: bool,
    small: i32,
    large: i64,
    count: u32,
    total: u64,
    ratio: f64,
    text: String,
    bytes: Vec<u8>,
    maybe: Option<u32>,
    points: Vec<Inner>,
    about: Option<ObjectRef>,
    all: Vec<ObjectRef>,
}

fn everything() -> Type {
    record(&[
        ("nothing", Type::Unit),
        ("yes", Type::Bool),
        ("small", Type::Int32),
        ("large", Type::Int64),
        ("count", Type::Uint32),
        ("total", Type::Uint64),
        ("ratio", Type::Float64),
        ("text", Type::String),
        ("bytes", Type::Bytes),
        ("maybe", optional(Type::Uint32)),
        ("points", list(point())),
        ("about", optional(thread())),
        ("all", list(subject())),
    ])
}

fn layout(ty: &Type) -> std::sync::Arc<Layout> {
    Layout::of(&definitions(), ty)
}

fn fault(bytes: &[u8], ty: &Type) -> (String, Option<usize>, Fault) {
    let ValueError { path, offset, fault } =
        Value::decode(bytes, &layout(ty)).expect_err("these bytes are wrong");
    (path, offset, fault)
}

#[test]
fn a_rust_type_and_a_value_have_the_same_bytes() {
    let rust = Everything {
        nothing: (),
        yes: true,
        small: -70_000,
        large: i64::MIN,
        count: 300,
        total: u64::MAX,
        ratio: -0.1,
        text: "größe".into(),
        bytes: vec![0, 255],
        maybe: Some(0),
        points: vec![Inner { x: 1, y: -1 }, Inner { x: i32::MIN, y: i32::MAX }],
        about: Some(object(THREAD, 7)),
        all: vec![object(DOCUMENT, u128::MAX), object(THREAD, 0)],
    };
    let point = |x, y| Value::Record(vec![Value::Int32(x), Value::Int32(y)]);
    let value = Value::Record(vec![
        Value::Unit,
        Value::Bool(true),
        Value::Int32(-70_000),
        Value::Int64(i64::MIN),
        Value::Uint32(300),
        Value::Uint64(u64::MAX),
        Value::Float64(-0.1),
        Value::String("größe".into()),
        Value::Bytes(vec![0, 255]),
        Value::Optional(Some(Box::new(Value::Uint32(0)))),
        Value::List(vec![point(1, -1), point(i32::MIN, i32::MAX)]),
        Value::Optional(Some(Box::new(Value::Reference(object(THREAD, 7))))),
        Value::List(vec![
            Value::Reference(object(DOCUMENT, u128::MAX)),
            Value::Reference(object(THREAD, 0)),
        ]),
    ]);
    let layout = layout(&everything());
    let bytes = postcard::to_allocvec(&rust).unwrap();
    assert_eq!(value.encode(&layout).unwrap(), bytes);
    assert_eq!(Value::decode(&bytes, &layout).unwrap(), value);
    assert_eq!(postcard::from_bytes::<Everything>(&bytes).unwrap(), rust);
}

#[test]
fn bytes_behind_or_missing_are_errors() {
    assert_eq!(fault(&[1, 0], &Type::Bool), ("$".into(), Some(1), Fault::Trailing { count: 1 }));
    assert_eq!(fault(&[], &Type::Bool), ("$".into(), Some(0), Fault::Truncated { noun: "bool" }));
    assert_eq!(
        fault(&[3, b'a', b'b'], &Type::String),
        ("$".into(), Some(1), Fault::Truncated { noun: "a string" })
    );
    assert_eq!(fault(&[0; 19], &thread()).2, Fault::Truncated { noun: "a reference" });
}

#[test]
fn a_number_has_one_form() {
    let overlong = Fault::Overlong;
    assert_eq!(fault(&[0x80, 0x00], &Type::Uint32).2, overlong);
    assert_eq!(fault(&[0x81, 0x80, 0x00], &Type::Int64).2, overlong);
    assert_eq!(fault(&[0x80, 0x00], &Type::String).2, overlong, "a length is a number, too");
    let out = |noun| Fault::OutOfRange { noun };
    assert_eq!(fault(&[0xFF, 0xFF, 0xFF, 0xFF, 0x10], &Type::Uint32).2, out("a uint32"));
    assert_eq!(fault(&[0xFF; 10], &Type::Uint32).2, out("a uint32"));
    let mut large = [0xFF; 10];
    large[9] = 0x02;
    assert_eq!(fault(&large, &Type::Int64).2, out("an int64"));
    large[9] = 0x01;
    assert_eq!(Value::decode(&large, &layout(&Type::Uint64)).unwrap(), Value::Uint64(u64::MAX));
}

#[test]
fn tags_text_and_floats_have_one_form() {
    let bad = |what, byte| Fault::BadTag { what, byte };
    assert_eq!(fault(&[2], &Type::Bool).2, bad("bool", 2));
    assert_eq!(fault(&[255], &optional(Type::Bool)).2, bad("tag of an optional", 255));
    assert_eq!(fault(&[2, 0xC3, 0x28], &Type::String).2, Fault::BadUtf8);
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(fault(&float.to_le_bytes(), &Type::Float64).2, Fault::NotFinite);
        let error = Value::Float64(float).encode(&layout(&Type::Float64)).unwrap_err();
        assert_eq!(error.fault, Fault::NotFinite);
    }
}

#[test]
fn a_length_that_lies_costs_nothing() {
    // 2^63 items, and one byte of them.
    let lie = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0];
    for ty in [list(Type::Bool), list(everything()), Type::String, Type::Bytes] {
        assert!(matches!(fault(&lie, &ty).2, Fault::Truncated { .. }), "{ty:?}");
    }
    let limit = 1 << 16;
    assert_eq!(fault(&lie[..10], &list(Type::Unit)).2, Fault::TooMany { length: 1 << 63, limit });
    let pair = record(&[("a", Type::Unit), ("b", record(&[]))]);
    assert_eq!(
        fault(&lie[..10], &list(pair)).2,
        Fault::TooMany { length: 1 << 63, limit: limit / 3 }
    );
    // Lists of nothing in a list share what one may have.
    let nested = list(list(Type::Unit));
    let half = [0x80, 0x80, 0x02];
    assert!(Value::decode(&[&[2][..], &half, &half].concat(), &layout(&nested)).is_ok());
    assert_eq!(
        fault(&[&[3][..], &half, &half, &[1]].concat(), &nested).2,
        Fault::TooMany { length: 1, limit: 0 }
    );
}

#[test]
fn a_fault_names_the_place() {
    let ty = record(&[("list", list(record(&[("a", Type::Bool), ("b", Type::Bool)])))]);
    assert_eq!(fault(&[2, 0, 1, 1, 9], &ty).0, "list[1].b");
    assert_eq!(fault(&[1, 9], &list(Type::Bool)).0, "$[0]");
    let error = Value::decode(&[2, 0, 1, 1, 9], &layout(&ty)).unwrap_err();
    assert_eq!(error.to_string(), "at `list[1].b` (byte 4): 0x09 is no bool");
    assert_eq!(error.invalid(), CallError::invalid("list[1].b", "0x09 is no bool"));
}

#[test]
fn a_value_of_another_type_is_not_written() {
    let ty = record(&[("list", list(Type::Uint32))]);
    let value = Value::Record(vec![Value::List(vec![Value::Uint32(1), Value::Int32(1)])]);
    let error = value.encode(&layout(&ty)).unwrap_err();
    assert_eq!(error.to_string(), "at `list[1]`: must be a uint32, is an int32");
    assert!(Value::Record(Vec::new()).encode(&layout(&ty)).is_err());
}

#[test]
fn references_come_with_their_place_and_what_they_may_lead_to() {
    let ty = record(&[
        ("name", Type::String),
        ("thread", optional(thread())),
        ("subjects", list(record(&[("n", Type::Uint32), ("target", subject())]))),
        ("numbers", stream_of(Type::Uint64)),
    ]);
    let layout = layout(&ty);
    let subject = |id| Value::Record(vec![Value::Uint32(5), Value::Reference(object(AGENT, id))]);
    let value = Value::Record(vec![
        Value::String("n".into()),
        Value::Optional(Some(Box::new(Value::Reference(object(THREAD, 1))))),
        Value::List(vec![subject(2), subject(3)]),
        Value::Reference(object(DOCUMENT, 4)),
    ]);
    let bytes = value.encode(&layout).unwrap();
    let mut seen = Vec::new();
    layout
        .references::<ValueError>(&bytes, |path, reference, expected| {
            let fits = expected.accepts(reference);
            seen.push((path.to_string(), reference.id.0, expected.noun().to_owned(), fits));
            Ok(())
        })
        .unwrap();
    let row = |path: &str, id, noun: &str, fits| (path.to_owned(), id, noun.to_owned(), fits);
    assert_eq!(
        seen,
        [
            row("thread", 1, "Thread", true),
            row("subjects[0].target", 2, "an atom that implements Subject", false),
            row("subjects[1].target", 3, "an atom that implements Subject", false),
            row("numbers", 4, "an atom that implements Stream<uint64>", true),
        ]
    );
}

#[test]
fn a_type_without_references_is_not_read_for_them() {
    let layout = layout(&record(&[("a", Type::String)]));
    assert!(!layout.has_references());
    layout.references::<ValueError>(&[0xFF], |_, _, _| panic!("there are none")).unwrap();
}

#[test]
fn an_interface_of_other_arguments_has_no_atoms() {
    let layout = layout(&list(stream_of(Type::String)));
    let value = Value::List(vec![Value::Reference(object(DOCUMENT, 1))]);
    let mut fits = Vec::new();
    layout
        .references::<ValueError>(&value.encode(&layout).unwrap(), |_, reference, expected| {
            fits.push(expected.accepts(reference));
            Ok(())
        })
        .unwrap();
    assert_eq!(fits, [false]);
}

#[test]
fn a_string_is_found_by_the_positions_of_its_fields() {
    let key = record(&[("n", list(Type::Uint32)), ("key", Type::String), ("after", Type::Bool)]);
    let ty = record(&[("first", optional(Type::Int64)), ("data", key)]);
    let layout = layout(&ty);
    let bytes = postcard::to_allocvec(&(Some(-9_i64), (vec![1_u32, 1000], "found", true))).unwrap();
    assert_eq!(layout.string_at(&bytes, &[1, 1]).unwrap(), "found");
    assert!(layout.string_at(&bytes, &[1, 2]).is_err(), "a bool");
    assert!(layout.string_at(&bytes, &[1, 9]).is_err(), "no such field");
    assert!(layout.string_at(&bytes, &[0, 0]).is_err(), "no record");
    assert!(layout.string_at(&bytes[..4], &[1, 1]).is_err(), "cut off");
}

#[test]
fn a_record_is_cut_into_its_fields() {
    let ty = record(&[("a", list(thread())), ("b", Type::Unit), ("c", point())]);
    let layout = layout(&ty);
    let bytes = postcard::to_allocvec(&(vec![object(THREAD, 1)], (), (-1, 300))).unwrap();
    let fields = layout.fields(&bytes).unwrap();
    assert_eq!(fields, [&bytes[..21], &[], &bytes[21..]]);
    let error = layout.fields(&bytes[..bytes.len() - 1]).unwrap_err();
    assert_eq!(error.path, "c.y");
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(layout.fields(&longer).unwrap_err().fault, Fault::Trailing { count: 1 });
    assert!(Layout::of(&definitions(), &Type::Bool).fields(&[1]).is_err(), "no record");
}

#[test]
fn types_beyond_all_measure_have_no_values() {
    let mut deep = Type::Bool;
    for _ in 0..100_000 {
        deep = list(deep);
    }
    let deep_layout = layout(&deep);
    assert_eq!(Value::decode(&[0], &deep_layout).unwrap_err().fault, Fault::Unusable);
    // Dropped by hand, level by level: the type itself is nested as deeply.
    while let Type::List(inner) = deep {
        deep = *inner;
    }

    // Each named type has the one before twice: small to write, endless to read.
    let mut definitions = definitions();
    let first = u32::try_from(definitions.types.len()).unwrap();
    for at in first..first + 40 {
        let before = Type::Named(TypeIndex(at - 1));
        definitions.types.push(NamedType {
            name: format!("T{at}"),
            package: PackageIndex(0),
            ty: record(&[("a", before.clone()), ("b", before)]),
            place: Place { source: SourceId(0), start: 0, end: 0 },
        });
    }
    let wide = Layout::of(&definitions, &Type::Named(TypeIndex(first + 39)));
    assert_eq!(wide.check(&[0]).unwrap_err().fault, Fault::Unusable);
    let fine = Layout::of(&definitions, &Type::Named(TypeIndex(first + 5)));
    assert!(fine.check(&[0; 128]).is_ok());
}

#[test]
fn an_optional_of_what_json_shows_as_null_has_no_values() {
    for inner in [Type::Unit, optional(Type::Bool)] {
        assert_eq!(fault(&[0], &optional(inner)).2, Fault::Unusable);
    }
}

#[test]
fn an_edge_names_what_it_may_lead_to() {
    use quixos_runtime::value::Expected;
    use quixos_schema::EdgeTarget;
    let definitions = definitions();
    let expected = Expected::edge(&definitions, &EdgeTarget::Atom(AtomIndex(1)));
    assert_eq!(expected.noun(), "Agent");
    assert!(expected.accepts(object(AGENT, 1)) && !expected.accepts(object(THREAD, 1)));
}

proptest! {
    #[test]
    fn what_is_written_is_read((layout, value) in any_typed()) {
        let bytes = value.encode(&layout).unwrap();
        prop_assert_eq!(&Value::decode(&bytes, &layout).unwrap(), &value);
    }

    /// Whatever is read has the form that would be written, so the form is the only one.
    #[test]
    fn random_bytes_are_refused_or_are_the_one_form(
        ty in any_type(),
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let layout = layout(&ty);
        if let Ok(value) = Value::decode(&bytes, &layout) {
            prop_assert_eq!(value.encode(&layout).unwrap(), bytes);
        }
    }

    #[test]
    fn a_changed_byte_never_panics(
        (layout, value) in any_typed(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = value.encode(&layout).unwrap();
        if !whole.is_empty() {
            let part = &whole[..cut.index(whole.len())];
            prop_assert!(Value::decode(part, &layout).is_err());
            let mut changed = whole.clone();
            changed[at.index(whole.len())] = byte;
            if let Ok(read) = Value::decode(&changed, &layout) {
                prop_assert_eq!(read.encode(&layout).unwrap(), changed);
            }
        }
    }
}
