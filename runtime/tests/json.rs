//! Values as JSON: nothing is lost either way, and a fault says where it is and what would be
//! right.

mod values;

use proptest::prelude::*;
use quixos_runtime::{CallError, Layout, Value, parse_reference, reference_text};
use quixos_schema::{Definitions, Type};
use serde_json::{Value as Json, json};
use values::{
    AGENT, DOCUMENT, THREAD, any_type, any_typed, definitions, list, object, optional, point,
    record, stream_of, subject, thread,
};

const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn read(ty: &Type, json: Json) -> Result<Value, CallError> {
    let definitions = definitions();
    Value::from_json(&json, &Layout::of(&definitions, ty), &definitions)
}

/// The path and the message of what is wrong with a text.
fn fault(ty: &Type, text: &str) -> String {
    match read(ty, serde_json::from_str(text).expect("the text is JSON")) {
        Err(CallError::Invalid { path, message }) => format!("{path}: {message}"),
        other => panic!("{other:?}"),
    }
}

fn submission() -> Type {
    record(&[
        ("title", Type::String),
        ("count", Type::Uint32),
        ("note", optional(Type::String)),
        ("contexts", list(subject())),
        ("at", point()),
    ])
}

#[test]
fn a_record_takes_all_its_fields_and_no_others() {
    let ty = record(&[("submission", submission())]);
    let at = r#""at": {"x": 1, "y": 2}"#;
    assert_eq!(
        fault(&ty, r#"{"submission": {"titel": "t", "count": "no"}}"#),
        "submission.titel: unknown field; did you mean `title`?"
    );
    assert_eq!(
        fault(&ty, r#"{"submission": {"colour": 1}}"#),
        "submission.colour: unknown field; there are `title`, `count`, `note`, `contexts`, `at`"
    );
    assert_eq!(
        fault(&ty, &format!(r#"{{"submission": {{"title": "t", "contexts": [], {at}}}}}"#)),
        "submission.count: missing, must be a number (a uint32)"
    );
    assert_eq!(fault(&ty, "{}"), "submission: missing, must be an object");
    assert_eq!(fault(&record(&[]), r#"{"a": 1}"#), "a: unknown field; the record has no fields");
}

#[test]
fn the_first_fault_in_the_document_is_reported() {
    let ty = submission();
    assert_eq!(
        fault(&ty, r#"{"contexts": 1, "count": "x", "title": 2}"#),
        "contexts: must be an array, is a number"
    );
    assert_eq!(
        fault(&ty, r#"{"count": "x", "contexts": 1, "title": 2}"#),
        "count: must be a number (a uint32), is a string"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_told_what_it_must_be() {
    for (ty, text, expected) in [
        (Type::Unit, "{}", "$: must be null, is an object"),
        (Type::Bool, "1", "$: must be true or false, is a number"),
        (Type::String, "null", "$: must be a string, is null"),
        (optional(Type::String), "1", "$: must be a string, is a number"),
        (
            list(list(Type::Bool)),
            "[[true], [true, 0]]",
            "$[1][1]: must be true or false, is a number",
        ),
        (point(), "[1, 2]", "$: must be an object, is an array"),
        (thread(), "7", "$: must be a reference to Thread, \"atom-id/ULID\", is a number"),
        (
            subject(),
            "null",
            "$: must be a reference to an atom that implements Subject, \"atom-id/ULID\", is null",
        ),
        (Type::Bytes, "[1]", "$: must be a string of base64, is an array"),
    ] {
        assert_eq!(fault(&ty, text), expected);
    }
}

#[test]
fn integers_are_whole_and_in_range() {
    for (ty, text, expected) in [
        (Type::Uint32, "-1", "$: must be a uint32, from 0 to 4294967295, is -1"),
        (Type::Uint32, "4294967296", "$: must be a uint32, from 0 to 4294967295, is 4294967296"),
        (
            Type::Int32,
            "2147483648",
            "$: must be an int32, from -2147483648 to 2147483647, is 2147483648",
        ),
        (
            Type::Int64,
            "9223372036854775808",
            "$: must be an int64, from -9223372036854775808 to 9223372036854775807, \
             is 9223372036854775808",
        ),
        (
            Type::Uint32,
            "1.0",
            "$: must be a uint32, a number from 0 to 4294967295 without fraction and exponent, \
             is 1.0",
        ),
    ] {
        assert_eq!(fault(&ty, text), expected);
    }
    assert_eq!(read(&Type::Uint64, json!(u64::MAX)).unwrap(), Value::Uint64(u64::MAX));
    assert_eq!(read(&Type::Int64, json!(i64::MIN)).unwrap(), Value::Int64(i64::MIN));
    assert_eq!(read(&Type::Float64, json!(3)).unwrap(), Value::Float64(3.0));
}

#[test]
fn bytes_are_base64_in_one_form() {
    assert_eq!(read(&Type::Bytes, json!("AP8=")).unwrap(), Value::Bytes(vec![0, 255]));
    for text in ["AP8", "AP9=", "AP8=\n", "-_8=", "%"] {
        let message = fault(&Type::Bytes, &json!(text).to_string());
        assert!(message.starts_with("$: must be base64 with padding: "), "{text}: {message}");
    }
}

#[test]
fn a_reference_is_told_apart_from_what_is_none() {
    let ty = record(&[("contexts", list(subject())), ("thread", optional(thread()))]);
    let contexts =
        |text: &str| fault(&ty, &json!({"contexts": [format!("{THREAD}/{ID}"), text]}).to_string());
    assert_eq!(
        contexts("thread"),
        "contexts[1]: `thread` is no reference: an atom's id, `/`, and a ULID"
    );
    assert_eq!(
        contexts(&format!("atom:test:thred/{ID}")),
        "contexts[1]: no atom has the id `atom:test:thred`; did you mean `atom:test:thread`?"
    );
    assert_eq!(contexts(&format!("nothing/{ID}")), "contexts[1]: no atom has the id `nothing`");
    assert_eq!(
        contexts(&format!("{AGENT}/{ID}")),
        "contexts[1]: must be a reference to an atom that implements Subject, is one to Agent"
    );
    let ulid = "is no ULID: 26 of 0-9 and A-Z without I, L, O and U, the first at most 7";
    for bad in [
        "",
        "01ARZ",
        &ID.to_lowercase(),
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
    ] {
        assert_eq!(contexts(&format!("{THREAD}/{bad}")), format!("contexts[1]: `{bad}` {ulid}"));
    }
    assert_eq!(
        fault(&ty, &json!({"contexts": [], "thread": format!("{DOCUMENT}/{ID}")}).to_string()),
        "thread: must be a reference to Thread, is one to Document"
    );
}

#[test]
fn an_interface_is_told_apart_by_its_arguments() {
    let reference = json!(format!("{DOCUMENT}/{ID}"));
    assert!(read(&stream_of(Type::Uint64), reference.clone()).is_ok());
    assert_eq!(
        fault(&stream_of(list(Type::String)), &reference.to_string()),
        "$: must be a reference to an atom that implements Stream<list<string>>, is one to Document"
    );
}

#[test]
fn a_long_text_is_shortened_in_a_message() {
    let message = fault(&thread(), &json!("x/".repeat(100_000)).to_string());
    assert!(message.len() < 300, "{}", message.len());
    let message = fault(&point(), &json!({ "é".repeat(100_000): 1 }).to_string());
    assert!(message.len() < 300, "{}", message.len());
}

#[test]
fn a_reference_has_one_text() {
    let definitions = definitions();
    let text = format!("{THREAD}/{ID}");
    let reference = parse_reference(&definitions, &text).unwrap();
    assert_eq!(reference_text(&definitions, reference), text);
    let unknown = reference_text(&Definitions::default(), reference);
    assert!(unknown.starts_with('?') && unknown.ends_with(ID), "{unknown}");
    assert!(parse_reference(&definitions, &unknown).is_err());
}

#[test]
fn an_optional_may_be_left_out() {
    let ty = record(&[("a", optional(Type::Bool))]);
    let none = Value::Record(vec![Value::Optional(None)]);
    assert_eq!(read(&ty, json!({})).unwrap(), none);
    assert_eq!(read(&ty, json!({"a": null})).unwrap(), none);
}

#[test]
fn fields_come_in_the_order_of_the_definition() {
    let definitions = definitions();
    let ty = record(&[("z", Type::Bool), ("a", optional(thread())), ("m", Type::Bytes)]);
    let layout = Layout::of(&definitions, &ty);
    let value = Value::Record(vec![
        Value::Bool(true),
        Value::Optional(Some(Box::new(Value::Reference(object(THREAD, 1))))),
        Value::Bytes(vec![1]),
    ]);
    let text = value.to_json(&layout, &definitions).to_string();
    let id = "00000000000000000000000001";
    assert_eq!(text, format!(r#"{{"z":true,"a":"atom:test:thread/{id}","m":"AQ=="}}"#));
}

fn any_json() -> impl Strategy<Value = Json> {
    let names = prop_oneof![Just("field0".to_owned()), Just("field1".to_owned()), Just("x".into())];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        Just(json!(format!("{THREAD}/{ID}"))),
    ];
    leaf.prop_recursive(4, 20, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::btree_map(names.clone(), inner, 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Through the text, since that is what is sent.
    #[test]
    fn what_is_printed_is_read((layout, value) in any_typed()) {
        let definitions = definitions();
        let text = value.to_json(&layout, &definitions).to_string();
        let json = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(Value::from_json(&json, &layout, &definitions).unwrap(), value);
    }

    #[test]
    fn random_json_is_read_or_refused(ty in any_type(), json in any_json()) {
        match read(&ty, json) {
            Ok(value) => {
                let definitions = definitions();
                let layout = Layout::of(&definitions, &ty);
                prop_assert!(value.encode(&layout).is_ok());
            }
            Err(error) => prop_assert_eq!(error.code(), "invalid"),
        }
    }

    /// A text with a part of it gone, or another in its place, as it comes from a hand or a wire.
    #[test]
    fn a_changed_text_is_read_or_refused(
        (layout, value) in any_typed(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        with in "[-0-9.eE\"{}\\[\\],:a-z/ ]{0,6}",
    ) {
        let definitions = definitions();
        let text: Vec<char> = value.to_json(&layout, &definitions).to_string().chars().collect();
        let (a, b) = (from.index(text.len()), to.index(text.len()));
        let (before, after) = (&text[..a.min(b)], &text[a.max(b)..]);
        let changed: String =
            before.iter().copied().chain(with.chars()).chain(after.iter().copied()).collect();
        let Ok(json) = serde_json::from_str::<Json>(&changed) else { return Ok(()) };
        match Value::from_json(&json, &layout, &definitions) {
            Ok(read) => {
                // What was read has a text that reads the same.
                let again = read.to_json(&layout, &definitions);
                prop_assert_eq!(Value::from_json(&again, &layout, &definitions).unwrap(), read);
            }
            Err(error) => prop_assert_eq!(error.code(), "invalid"),
        }
    }

    #[test]
    fn random_text_is_no_reference_or_its_one_text(text in "(atom:test:thread/)?[0-9A-Z/]{0,27}") {
        let definitions = definitions();
        if let Ok(reference) = parse_reference(&definitions, &text) {
            prop_assert_eq!(reference_text(&definitions, reference), text);
        }
    }
}
