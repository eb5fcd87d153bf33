//! The schema that workers in other languages are written against is the one of these types.

use expect_test::expect_file;
use quixos_protocol::schema;

/// `UPDATE_EXPECT=1` rewrites the file; the diff is the review.
#[test]
fn the_schema_in_the_tree_is_the_one_of_the_types() {
    let text = serde_json::to_string_pretty(&schema::document()).unwrap() + "\n";
    expect_file!["../schema/decision-protocol.json"].assert_eq(&text);
}
