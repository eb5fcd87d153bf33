//! The shell as a person has it: it asks before what cannot be undone, keeps what was answered, and
//! shows what comes while it waits.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Runtime, SystemClock};
use quixos_shell::{Ask, Exit, Flow, Format, Output, Shell, Style};
use serde_json::{Value, json};

const BEGIN: &str = "$w = create workspace {data: {name: \"Home\"}}
$d = call $w.install {instructions: \"\", settings: \"{}\"}
$t = $d.initialThread
$r = call $t.send {text: \"Hi\", sourceKind: \"user\", sourceLabel: \"\", createdAt: $now, contexts: [], causalDepth: 0}";

/// Answers as it was told, and remembers what it was asked.
#[derive(Clone, Default)]
struct Person {
    says_yes: Arc<Mutex<bool>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Ask for Person {
    fn ask(&mut self, question: &str) -> bool {
        self.asked.lock().unwrap().push(question.to_owned());
        *self.says_yes.lock().unwrap()
    }
}

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

fn runtime() -> Runtime {
    let mut builder = Runtime::builder();
    for package in quixos_package::packages() {
        builder = builder.package(package);
    }
    builder.open(Arc::new(MemoryStore::new())).unwrap()
}

fn shell(runtime: Runtime) -> (Shell, Output, Page) {
    let page = Page::default();
    let output =
        Output::new(Format::Text, Style::default(), Box::new(page.clone()), Box::new(page.clone()));
    (Shell::new(runtime, Arc::new(SystemClock), "anna"), output, page)
}

#[test]
fn it_asks_before_it_ends_work_and_does_as_it_is_told() {
    let person = Person::default();
    let (shell, mut output, page) = shell(runtime());
    let mut shell = shell.with_asker(Box::new(person.clone()));
    shell.run("line", BEGIN, &mut output).unwrap();
    assert!(person.asked.lock().unwrap().is_empty(), "nothing of this needs to be asked");
    page.take();

    let failure = shell.run("line", "call $r.cancel", &mut output).unwrap_err();
    assert_eq!(failure.exit, Exit::Interrupted);
    let shown = page.take();
    assert!(shown.contains("queued -> cancelled"), "it shows what would change: {shown}");
    shell.run("line", "$r.progress.status", &mut output).unwrap();
    assert_eq!(page.take(), "queued\n");
    assert_eq!(person.asked.lock().unwrap().len(), 1);

    *person.says_yes.lock().unwrap() = true;
    shell.run("line", "call $r.cancel; $r.progress.status", &mut output).unwrap();
    assert!(page.take().ends_with("true\ncancelled\n"));
    assert_eq!(person.asked.lock().unwrap().len(), 2);
}

#[test]
fn it_does_not_ask_where_the_answer_is_given_or_nothing_is_done() {
    let person = Person::default();
    let (shell, mut output, page) = shell(runtime());
    let mut shell = shell.with_asker(Box::new(person.clone()));
    shell.run("line", BEGIN, &mut output).unwrap();
    for text in [
        "call $r.cancel --dry-run",
        "call $t.archive true --yes",
        "call $t.archive false",
        "call $t.allocateItem $now --internal --yes",
        "call $r.claim {attempt: \"a\", expectedGeneration: 0, startedAt: $now, recover: false}",
    ] {
        shell.run("line", text, &mut output).unwrap();
    }
    assert!(person.asked.lock().unwrap().is_empty());
    for text in [
        "call $t.archive true",
        "call $t.allocateItem $now --internal",
        "call $r.claim {attempt: \"b\", expectedGeneration: 1, startedAt: $now, recover: true}",
        "call $d.defaultAgent.update {enabled: false}",
        "cursor $d.defaultAgent.completions mailer advance 0",
        "call $r.finish {attempt: \"a\", generation: 1, status: \"failed\", reason: \"\", endedAt: $now}",
    ] {
        shell.run("line", text, &mut output).unwrap_err();
    }
    assert_eq!(person.asked.lock().unwrap().len(), 6);
    page.take();
}

#[test]
fn variables_live_as_long_as_the_conversation_and_exit_ends_it() {
    let (mut shell, mut output, page) = shell(runtime());
    assert_eq!(shell.run("line", "$x = {a: [1, 2]}", &mut output).unwrap(), Flow::On);
    shell.run("line", "$x.a.1", &mut output).unwrap();
    assert_eq!(page.take(), "2\n");
    assert_eq!(shell.run("line", "exit; $x", &mut output).unwrap(), Flow::End);
    assert_eq!(page.take(), "");
}

#[test]
fn following_shows_what_comes_later() {
    let runtime = runtime();
    let (mut shell, mut output, page) = shell(runtime.clone());
    shell.run("line", BEGIN, &mut output).unwrap();
    shell.run("line", "$r", &mut output).unwrap();
    let request = page.take().lines().last().unwrap().to_owned();
    let later = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        let (mut shell, mut output, page) = self::shell(runtime);
        let text = format!("call {request}.cancel; call {request}.publishCompletion");
        shell.run("line", &text, &mut output).unwrap();
        page.take()
    });
    shell.run("line", "follow $d.defaultAgent.completions limit 1", &mut output).unwrap();
    let shown = page.take();
    assert!(shown.contains("\"status\":\"cancelled\""), "{shown}");
    assert!(shown.ends_with("1 event; the next is 1\n"), "{shown}");
    assert_eq!(later.join().unwrap(), "true\ntrue\n");
}

const SESSIONS: &str = "$w = create workspace {data: {name: \"Home\"}}
$d = call $w.install {instructions: \"\", settings: \"{}\"}
create registry {leases: [], directory: $d}
session send s1 \"Hello\" agent default owner bert turn t1";

/// A shell on a store with a session, whoever reads.
fn with_a_session(format: Format) -> (Shell, Output, Page) {
    let mut builder = Runtime::builder();
    for package in quixos_package::packages().into_iter().chain([quixos_session::package()]) {
        builder = builder.package(package);
    }
    let runtime = builder.open(Arc::new(MemoryStore::new())).unwrap();
    let page = Page::default();
    let mut output =
        Output::new(format, Style::default(), Box::new(page.clone()), Box::new(page.clone()));
    let mut shell = Shell::new(runtime, Arc::new(SystemClock), "anna");
    shell.run("line", SESSIONS, &mut output).unwrap();
    page.take();
    (shell, output, page)
}

#[test]
fn a_turn_is_cancelled_and_a_session_closed_when_a_person_says_yes() {
    let person = Person::default();
    let (shell, mut output, page) = with_a_session(Format::Text);
    let mut shell = shell.with_asker(Box::new(person.clone()));
    for text in ["session cancel s1", "session close s1"] {
        let failure = shell.run("line", text, &mut output).unwrap_err();
        assert_eq!(failure.exit, Exit::Interrupted, "{text}");
        let shown = page.take();
        assert!(shown.contains("turn t1 is cancelled"), "it shows what would be logged: {shown}");
    }
    *person.says_yes.lock().unwrap() = true;
    shell.run("line", "session cancel s1; session close s1; sessions", &mut output).unwrap();
    assert!(page.take().contains("s1       cancelled"));
    assert_eq!(
        *person.asked.lock().unwrap(),
        [
            "cancel turn t1 of s1?",
            "cancel s1 for good?",
            "cancel turn t1 of s1?",
            "cancel s1 for good?"
        ]
    );
}

#[test]
fn sessions_are_told_to_programs_as_json() {
    let (mut shell, mut output, page) = with_a_session(Format::Json);
    let mut told = |text: &str| -> Vec<Value> {
        shell.run("line", text, &mut output).unwrap();
        page.take().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let list = &told("sessions owner bert")[0]["sessions"];
    assert_eq!(list[0]["session"], "s1");
    assert_eq!(list[0]["holds"][0], json!({ "hold": "unclaimed" }));
    let shown = &told("session show s1")[0];
    assert_eq!((&shown["owner"], &shown["standing"]["turn"]), (&json!("bert"), &json!("t1")));
    let events = told("session follow s1 from 2 limit 1");
    assert_eq!((&events[0]["type"], &events[1]["next"]), (&json!("turn.started"), &json!(3)));
    assert_eq!(told("session replay s1")[0], json!({ "ok": true, "events": 4 }));
    assert_eq!(told("session replay s1 at 3")[0]["state"]["turn"], "t1");
    assert_eq!(told("session explain s1")[0]["reasons"][0]["rule"], "unclaimed");
    let paused = &told("session pause s1 \"wait\"")[0];
    assert_eq!((&paused["applied"], &paused["driven"]), (&json!(true), &json!(false)));
}
