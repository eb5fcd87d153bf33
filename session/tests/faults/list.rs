//! The list of faults, and where each is tried.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The numbers of all faults on the list.
const FAULTS: [u32; 63] = [
    1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 17, 18, 19, 21, 23, 24, 27, 28, 29, 30, 31, 32, 35,
    36, 37, 38, 39, 41, 42, 43, 44, 46, 48, 50, 51, 52, 55, 56, 58, 59, 62, 63, 64, 65, 67, 68, 69,
    70, 71, 72, 73, 75, 77, 78, 80, 81, 83, 84, 86, 87, 92,
];

/// The tests here.
const HERE: [&str; 9] = [
    include_str!("clock.rs"),
    include_str!("delegations.rs"),
    include_str!("log.rs"),
    include_str!("models.rs"),
    include_str!("pauses.rs"),
    include_str!("restart.rs"),
    include_str!("tools.rs"),
    include_str!("tree.rs"),
    include_str!("turns.rs"),
];

/// The faults of what does the work outside of the state machine: the file, and the test in it.
const ELSEWHERE: [(u32, &str, &str); 6] = [
    (10, "engine/tests/worker_http.rs", "silence_ends_an_answer_and_slowness_does_not"),
    (35, "engine/tests/provider_http.rs", "a_reply_that_is_not_whole_may_be_whole_later"),
    (
        37,
        "engine/src/http/events.rs",
        "a_space_after_the_colon_is_no_part_of_a_value_and_need_not_be_there",
    ),
    (39, "host/tests/events.rs", "whoever_no_longer_reads_a_stream_is_no_listener_of_it"),
    (83, "engine/tests/worker_http.rs", "the_bytes_that_are_signed_are_those_that_are_sent"),
    (87, "host/tests/events.rs", "a_host_that_is_stopped_while_it_is_read_ends_well"),
];

/// Returns the numbers that the tests here are named by.
fn tried_here() -> BTreeSet<u32> {
    let names = HERE.iter().flat_map(|module| module.split("async fn f").skip(1));
    names.filter_map(|name| name.get(..2)?.parse().ok()).collect()
}

#[test]
fn each_fault_on_the_list_is_tried() {
    let (here, listed) = (tried_here(), BTreeSet::from(FAULTS));
    let elsewhere: BTreeSet<u32> = ELSEWHERE.iter().map(|(number, ..)| *number).collect();
    let tried: BTreeSet<u32> = here.union(&elsewhere).copied().collect();
    let missing: Vec<&u32> = listed.difference(&tried).collect();
    assert!(missing.is_empty(), "nothing tries the faults {missing:?}");
    let unlisted: Vec<&u32> = tried.difference(&listed).collect();
    assert!(unlisted.is_empty(), "the list has no faults {unlisted:?}");
}

#[test]
fn what_is_tried_elsewhere_is_there() {
    for (number, file, test) in ELSEWHERE {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        let text = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            text.contains(&format!("fn {test}(")),
            "{file} has no `{test}`, which tries {number}"
        );
    }
}
