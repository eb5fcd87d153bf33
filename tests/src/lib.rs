//! Tests that cross the members, and checks on the tree itself.
