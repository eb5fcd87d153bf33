//! What is offered where the cursor stands.

use serde_json::json;

use quixos_schema::Definitions;

use super::*;

const REQUEST: &str = "atom:org.quixos.agent:request/01ARZ3NDEKTSV4RRFFQ69G5FAV";
const THREAD: &str = "atom:org.quixos.agent:thread/01ARZ3NDEKTSV4RRFFQ69G5FAW";

struct Store(Definitions);

impl Live for Store {
    fn variables(&self) -> Vec<(String, Value)> {
        vec![("r".to_owned(), json!(REQUEST)), ("n".to_owned(), json!(3))]
    }
    fn objects(&self, atom: AtomIndex) -> Vec<(String, String)> {
        let thread = self.0.atom(atom).id == "atom:org.quixos.agent:thread";
        if thread { vec![(THREAD.to_owned(), "main".to_owned())] } else { Vec::new() }
    }
    fn find(&self, path: &Path) -> Option<Found> {
        let known = path.segments.is_empty()
            && path.base == crate::language::Base::Variable("r".to_owned());
        known.then(|| Found::Object(lookup::atoms(&self.0, "request")[0]))
    }
    fn state(&self, _: &Path) -> Vec<Value> {
        vec![json!({"attempt": "a1", "generation": 7, "status": "running"})]
    }
    fn sessions(&self, begin: &str) -> Vec<(String, String)> {
        let all = ["s1", "s2", "by mail"].map(|id| (id.to_owned(), "idle".to_owned()));
        all.into_iter().filter(|(id, _)| id.starts_with(begin)).collect()
    }
    fn open(&self, session: &Named) -> Vec<(String, String)> {
        let is_first = matches!(session, Named::Id(id) if id.name == "s1");
        if is_first { vec![("int_1".to_owned(), "why?".to_owned())] } else { Vec::new() }
    }
    fn agents(&self) -> Vec<(String, String)> {
        vec![("concierge".to_owned(), String::new())]
    }
}

fn store() -> Store {
    let mut sources = quixos_schema::Sources::new();
    for name in ["agent-runtime", "objects", "workspace"] {
        let path = format!("{}/../package/{name}.quixos", env!("CARGO_MANIFEST_DIR"));
        sources.add(name, std::fs::read_to_string(path).unwrap());
    }
    Store(quixos_schema::check(sources).definitions.unwrap())
}

/// What may follow at the end of a text.
fn after(text: &str) -> Vec<String> {
    let store = store();
    let found = complete(text, text.len(), &store.0, &store);
    found
        .into_iter()
        .map(|it| {
            assert!(it.text.len() >= it.span.len() || it.span.is_empty(), "{it:?}");
            it.text
        })
        .collect()
}

#[test]
fn commands_then_members_then_fields_then_values() {
    assert_eq!(after("ca"), ["call"]);
    assert_eq!(after("$x = cr"), ["create"]);
    assert_eq!(after("call $r.cl"), ["claim"]);
    assert_eq!(after("call $r.reserve"), ["reserveChild"]);
    assert_eq!(
        after("call $r.claim {"),
        ["attempt:", "expectedGeneration:", "startedAt:", "recover:"]
    );
    assert_eq!(after("call $r.claim {attempt: \"a\", re"), ["recover:"]);
    assert_eq!(after("call $r.claim {recover: t"), ["true"]);
    assert_eq!(after("call request_claim on $r {recover: f"), ["false"]);
}

#[test]
fn words_of_a_status_are_those_of_the_operation() {
    assert_eq!(
        after("call $r.finish {status: "),
        ["\"completed\"", "\"failed\"", "\"cancelled\"", "\"running\"", "$r"]
    );
    assert_eq!(after("call $r.transition {status: \"wa"), ["\"waiting\""]);
}

#[test]
fn a_fence_is_offered_as_it_is_stored_and_a_time_as_now() {
    assert_eq!(after("call $r.claim {expectedGeneration: "), ["7", "$n"]);
    assert_eq!(after("call $r.finish {attempt: \"a"), ["\"a1\""]);
    assert_eq!(after("call $r.ask {expiresAt: $n"), ["$now+10m"]);
}

#[test]
fn references_are_of_the_type_that_is_asked_for() {
    assert_eq!(after("call directory_admit on $d {thread: "), [THREAD, "null"]);
    assert_eq!(after("call directory_admit on $d {submission: {root: "), ["$r", "null"]);
    assert_eq!(after("call directory_admit on $d {submission: {contexts: ["), Vec::<String>::new());
    assert_eq!(after("show thread/"), [format!("thread/{}", &THREAD[THREAD.len() - 26..])]);
}

#[test]
fn a_whole_input_is_offered_with_what_is_known() {
    assert_eq!(
        after("call $r.claim ")[0],
        "{attempt: \"a1\", expectedGeneration: 7, startedAt: $now, recover: false}"
    );
}

#[test]
fn flags_options_and_names_of_the_definition() {
    assert_eq!(after("call $r.claim --d"), ["--dry-run"]);
    assert_eq!(after("list thread l"), ["limit"]);
    assert_eq!(after("describe request_cl"), ["request_claim"]);
    assert_eq!(after("describe AgentRequest.cl"), ["AgentRequest.claim"]);
    assert_eq!(after("create "), ["workspace"]);
}

#[test]
fn sessions_go_by_their_ids_and_what_is_open_in_them_is_offered() {
    assert_eq!(after("sess"), ["sessions", "session"]);
    assert_eq!(after("session fo"), ["follow"]);
    assert_eq!(after("session show s"), ["s1", "s2"]);
    assert_eq!(after("session show \"by"), ["\"by mail\""]);
    assert_eq!(after("session answer s1 int"), ["int_1"]);
    assert_eq!(after("session answer s2 int"), Vec::<String>::new());
    assert_eq!(after("session cancel s1 t"), ["turn"]);
    assert_eq!(after("sessions st"), ["status"]);
    assert_eq!(after("sessions status work"), ["working"]);
    assert_eq!(after("sessions limit 3 agent c"), ["concierge"]);
    assert_eq!(after("sessions after s1"), ["s1"]);
    assert_eq!(after("help session re"), ["replay"]);
}

#[test]
fn nonsense_completes_to_nothing_and_does_not_stop() {
    for text in [
        "call $r.claim {{{",
        "call }",
        "list ] [",
        "$ = ",
        "call $x.y {a:",
        "describe a b c ",
        "'",
        "call $r.claim {attempt: {a: ",
    ] {
        after(text);
    }
}
