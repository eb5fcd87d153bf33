//! `quixos shell` at a terminal, on a store and in a host: a process on a terminal of its own, whose keys
//! the test types.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use std::process::{Command, Stdio};
use std::time::Instant;

use quixos_shell::Exit;
use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};
use support::{PATIENCE, Place, Serving};

const PROMPT: &str = "quixos> ";
/// What a terminal is asked for, and answers: where its cursor is.
const WHERE: &str = "\u{1b}[6n";
const HERE: &str = "\u{1b}[1;1R";
const TAB: &str = "\t";
const ENTER: &str = "\r";

/// A terminal with a shell in it.
struct Terminal(PtySession);

impl Terminal {
    /// Begins a shell that is connected to a host.
    fn connect(place: &Place, host: &Serving) -> Self {
        Self::begin(place, &["shell", "--connect", host.operator()])
    }

    fn begin(place: &Place, arguments: &[&str]) -> Self {
        let mut command: Command = place.command(arguments);
        command
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env("XDG_STATE_HOME", place.path("state"))
            .stdin(Stdio::inherit());
        let patience = u64::try_from(PATIENCE.as_millis()).unwrap();
        Self(spawn_command(command, Some(patience)).unwrap())
    }

    /// Waits until the shell asks for a command, and returns what it showed before.
    fn prompted(&mut self) -> String {
        let shown = self.answers();
        self.shows(PROMPT);
        shown
    }

    /// Answers as a terminal does, and returns what was shown before it was asked.
    fn answers(&mut self) -> String {
        let shown = self.0.exp_string(WHERE).unwrap();
        self.types(HERE);
        shown
    }

    fn types(&mut self, keys: &str) {
        self.0.send(keys).unwrap();
        self.0.flush().unwrap();
    }

    fn holds(&mut self, key: char) {
        self.0.send_control(key).unwrap();
    }

    /// Waits until something is shown.
    fn shows(&mut self, what: &str) -> String {
        self.0.exp_string(what).unwrap()
    }

    /// Types the begin of something, and waits until it is completed.
    fn completes(&mut self, begin: &str, whole: &str) {
        self.types(begin);
        self.types(TAB);
        self.answers();
        self.shows(whole);
    }

    /// Types a command, and returns what came of it once the next is asked for.
    fn runs(&mut self, command: &str) -> String {
        self.types(command);
        self.types(ENTER);
        self.prompted()
    }

    /// Leaves, and returns how the shell ended.
    fn leaves(mut self) -> i32 {
        self.holds('d');
        self.0.exp_eof().unwrap();
        let WaitStatus::Exited(_, exit) = self.0.process().wait().unwrap() else {
            panic!("it did not end by itself")
        };
        exit
    }
}

fn serving() -> (Place, Serving) {
    let place = Place::new(0, 1);
    let host = place.serve(&[]);
    (place, host)
}

fn good() -> i32 {
    i32::from(Exit::Good.number())
}

/// Returns the agent that a list shows, as people name it.
fn agent(shown: &str) -> String {
    let (_, name) = shown.split_once("agent/").unwrap_or_else(|| panic!("no agent in {shown:?}"));
    let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
    format!("agent/{name}")
}

#[test]
fn a_person_completes_a_command_reads_what_comes_of_it_and_leaves() {
    let (place, host) = serving();
    let mut terminal = Terminal::connect(&place, &host);
    let welcome = terminal.prompted();
    assert!(welcome.contains("tab completes, ctrl-d ends"), "{welcome}");

    // Only one command begins so, and what it may be about the host knows.
    terminal.completes("hel", "help ");
    terminal.completes("lis", "help list");
    terminal.types(ENTER);
    let told = terminal.prompted();
    assert!(told.contains("example: list request"), "{told}");
    let agent = agent(&terminal.runs("list agent"));
    terminal.completes(&format!("{agent}.dat"), &format!("{agent}.data"));
    terminal.types(".name");
    terminal.types(ENTER);
    let name = terminal.prompted();
    assert!(name.contains("\r\ndefault\r\n"), "{name:?}");

    // What is typed and not meant is gone.
    terminal.types("$x = 7; what is not whole (");
    terminal.shows("whole (");
    terminal.holds('c');
    terminal.prompted();
    let unknown = terminal.runs("$x");
    assert!(unknown.contains("$x") && unknown.contains("error"), "{unknown}");

    // A command that goes on ends, and the shell does not.
    terminal.types(&format!("\"begins\"; follow {agent}.completions"));
    terminal.types(ENTER);
    terminal.shows("\r\nbegins");
    terminal.holds('c');
    let told = terminal.prompted();
    assert!(!told.contains("error"), "{told}");
    assert!(terminal.runs("6; 7").contains("6\r\n7"));
    assert_eq!(terminal.leaves(), good());

    // What was typed is there the next time: the last command, by the key for it.
    let mut terminal = Terminal::connect(&place, &host);
    terminal.prompted();
    terminal.types("\u{1b}[A");
    terminal.shows("6; 7");
    terminal.holds('c');
    terminal.prompted();
    assert_eq!(terminal.leaves(), good());
    host.signal("-KILL");
    host.ended();
}

#[test]
fn a_person_is_asked_before_something_is_given_up() {
    let (place, host) = serving();
    let mut terminal = Terminal::connect(&place, &host);
    terminal.prompted();
    terminal.runs("$w = create workspace {data: {name: \"Home\"}}");
    terminal.runs("$d = call $w.install {instructions: \"\", settings: \"{}\"}");
    terminal.runs(
        "$r = call $d.initialThread.send {text: \"Hi\", sourceKind: \"user\", sourceLabel: \"\", \
         createdAt: $now, contexts: [], causalDepth: 0}",
    );
    for (answer, status) in [("", "queued"), ("n", "queued"), ("y", "cancelled")] {
        terminal.types("call $r.cancel");
        terminal.types(ENTER);
        let shown = terminal.shows("[y/N] ");
        assert!(shown.contains("queued -> cancelled"), "{shown}");
        terminal.runs(answer);
        let now = terminal.runs("$r.progress.status");
        assert!(now.contains(&format!("\r\n{status}\r\n")), "{answer}: {now}");
    }
    assert_eq!(terminal.leaves(), good());
    host.signal("-KILL");
    host.ended();
}

#[test]
fn a_host_that_stops_meanwhile_is_told_of_and_the_shell_stays() {
    let (place, host) = serving();
    let mut terminal = Terminal::connect(&place, &host);
    terminal.prompted();
    let agent = agent(&terminal.runs("list agent"));
    terminal.types(&format!("\"begins\"; follow {agent}.completions"));
    terminal.types(ENTER);
    terminal.shows("\r\nbegins");
    host.signal("-TERM");
    let told = terminal.prompted();
    assert!(told.contains("the host is about to stop"), "{told}");
    host.ended().ends(Exit::Good);
    let begun = Instant::now();
    let told = terminal.runs("vars");
    assert!(begun.elapsed() < PATIENCE / 2, "it is told at once");
    assert!(told.contains("cannot reach http://127.0.0.1:") && told.contains("help"), "{told}");

    assert_eq!(terminal.leaves(), good());
}

#[test]
fn on_a_store_it_is_the_same() {
    let place = Place::new(0, 1);
    let mut terminal = Terminal::begin(&place, &["shell"]);
    terminal.prompted();
    terminal.runs("$w = create workspace {data: {name: \"Home\"}}");
    terminal.completes("$w.inst", "$w.install");
    terminal.holds('c');
    terminal.prompted();
    let name = terminal.runs("$w.data.name");
    assert!(name.contains("\r\nHome\r\n"), "{name:?}");
    assert_eq!(terminal.leaves(), good());
    place.run(&["verify"]).ends(Exit::Good);
}
