//! A shell that is connected to a host: what the host asks is asked here, what waits is ended here,
//! and what goes wrong on the way is told. That scripts print the same is held by `scripts.rs`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use std::io::{self, Read as _, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use quixos_host::OperatorDoor;
use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Runtime, SystemClock};
use quixos_shell::{Ask, Connection, Exit, Flow, Format, Output, RemoteShell, Style};
use serde_json::{Value, json};
use support::{Place, Serving, TOKEN, client, door};

const BEGIN: &str = "$w = create workspace {data: {name: \"Home\"}}
$d = call $w.install {instructions: \"\", settings: \"{}\"}
$t = $d.initialThread
$r = call $t.send {text: \"Hi\", sourceKind: \"user\", sourceLabel: \"\", createdAt: $now, contexts: [], causalDepth: 0}";

/// Answers as it was told, and remembers what it was asked.
#[derive(Clone, Default)]
struct Person {
    says: Arc<Mutex<Vec<bool>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Ask for Person {
    fn ask(&mut self, question: &str) -> bool {
        self.asked.lock().unwrap().push(question.to_owned());
        self.says.lock().unwrap().pop().unwrap_or(false)
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

struct Stage {
    door: OperatorDoor,
    url: String,
}

impl Stage {
    fn new() -> Self {
        let packages = quixos_package::packages();
        let builder =
            packages.into_iter().fold(Runtime::builder(), |it, package| it.package(package));
        let runtime = builder.open(Arc::new(MemoryStore::new())).unwrap();
        let (door, url) = door(&runtime, Arc::new(SystemClock));
        Self { door, url }
    }

    fn shell(&self) -> (RemoteShell, Output, Page) {
        shell(&self.url)
    }
}

fn shell(url: &str) -> (RemoteShell, Output, Page) {
    let page = Page::default();
    let streams = (Box::new(page.clone()), Box::new(page.clone()));
    let output = Output::new(Format::Text, Style::default(), streams.0, streams.1);
    let connection = Connection::new(url, TOKEN, "anna").unwrap();
    (RemoteShell::begin(connection).unwrap(), output, page)
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.door.close();
    }
}

#[test]
fn what_the_host_asks_is_asked_here_and_the_script_goes_on_where_it_stood() {
    let stage = Stage::new();
    let person = Person::default();
    let (shell, mut output, page) = stage.shell();
    let mut shell = shell.with_asker(Box::new(person.clone()));
    shell.run("line", BEGIN, &mut output).unwrap();
    assert!(person.asked.lock().unwrap().is_empty(), "nothing of this needs to be asked");
    page.take();

    let failure = shell.run("line", "$x = 1; call $r.cancel; $x = 2", &mut output).unwrap_err();
    assert_eq!((failure.exit, failure.message.as_str()), (Exit::Interrupted, "not done"));
    assert_eq!(failure.origin.unwrap().line_and_column(), (1, 9));
    let shown = page.take();
    assert!(shown.contains("queued -> cancelled"), "it shows what would change: {shown}");
    shell.run("line", "$r.progress.status; $x", &mut output).unwrap();
    assert_eq!(page.take(), "queued\n1\n");
    assert_eq!(person.asked.lock().unwrap().len(), 1);

    // Each question is asked for itself, and what stands before one is not done twice.
    *person.says.lock().unwrap() = vec![false, true];
    let text = "$x = call $t.allocateItem $now --internal --yes\ncall $r.cancel; $x; call $t.archive true; $x";
    shell.run("line", text, &mut output).unwrap_err();
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 3);
    assert!(asked[1].starts_with("cancel this request (") && asked[2].starts_with("archive this"));
    page.take();
    shell
        .run(
            "line",
            "$r.progress.status; $t.data.archived; call $t.allocateItem $now --internal --yes",
            &mut output,
        )
        .unwrap();
    let shown = page.take();
    assert!(shown.starts_with("cancelled\nfalse\n"), "{shown}");
}

/// What a program is answered that does without a shell.
async fn told(stage: &Stage, path: &str, body: Value) -> Vec<Value> {
    let request = client().post(format!("{}{path}", stage.url)).bearer_auth(TOKEN);
    let response = request.body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status(), 200, "{body}");
    let text = response.text().await.unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_told_answers_questions_and_failures_line_by_line() {
    let stage = Stage::new();
    let shell = async |body: Value| told(&stage, "/operator/shell", body).await;
    let begun = shell(json!({ "text": BEGIN, "shell": "s" })).await;
    // Of each command that answers its answer; `$t` is only set.
    assert_eq!((begun.len(), &begun[3]), (4, &json!({ "exit": 0 })));
    let cancel = json!({ "text": "$x = 1; call $r.cancel; $x", "shell": "s" });
    let asked = shell(cancel.clone()).await;
    assert_eq!((asked.len(), &asked[0]["answer"]["dryRun"]), (3, &json!(true)), "{asked:?}");
    assert!(asked[1]["ask"].as_str().unwrap().starts_with("cancel this request (atom:"));
    assert_eq!((&asked[1]["at"], &asked[2]), (&json!(8), &json!({ "exit": 130 })));
    let mut confirmed = cancel;
    confirmed["from"] = json!(8);
    confirmed["confirmed"] = json!(true);
    let done = shell(confirmed).await;
    assert_eq!(done, [json!({ "answer": true }), json!({ "answer": 1 }), json!({ "exit": 0 })]);
    let status = json!({ "text": "$r.progress.status", "shell": "s", "format": "text" });
    assert_eq!(shell(status).await[0], json!({ "answer": "cancelled", "text": "cancelled\n" }));
    let failed = shell(json!({ "text": "vars\nlist no" })).await;
    assert_eq!((failed.len(), &failed[2]), (3, &json!({ "exit": 2 })), "{failed:?}");
    let error = &failed[1]["error"];
    assert_eq!(
        (&error["code"], &error["line"], &error["column"]),
        (&json!("usage"), &json!(2), &json!(6))
    );
    assert_eq!(shell(json!({ "text": "exit" })).await, [json!({ "exit": 0, "end": true })]);

    let typed = json!({ "text": "call $r.can", "shell": "s" });
    let offered = &told(&stage, "/operator/complete", typed).await[0];
    assert_eq!(offered[0]["text"], "cancel", "{offered}");
    assert_eq!((&offered[0]["start"], &offered[0]["end"]), (&json!(8), &json!(11)));
    // Nobody knows what another shell keeps.
    let typed = json!({ "text": "call $r.can", "shell": "other" });
    assert_eq!(told(&stage, "/operator/complete", typed).await, [json!([])]);
}

#[test]
fn variables_are_those_of_one_shell() {
    let stage = Stage::new();
    let (mut one, mut output, page) = stage.shell();
    let (mut other, mut others, _) = stage.shell();
    one.run("line", "$x = {a: [1, 2]}", &mut output).unwrap();
    one.run("line", "$x.a.1", &mut output).unwrap();
    assert_eq!(page.take(), "2\n");
    let failure = other.run("line", "$x", &mut others).unwrap_err();
    assert_eq!(failure.exit, Exit::Usage);
    assert_eq!(one.run("line", "exit; $x", &mut output).unwrap(), Flow::End);
    assert_eq!(page.take(), "");
}

#[test]
fn following_shows_what_comes_later() {
    let stage = Stage::new();
    let (mut shell, mut output, page) = stage.shell();
    shell.run("line", BEGIN, &mut output).unwrap();
    shell.run("line", "$r", &mut output).unwrap();
    let request = page.take().lines().last().unwrap().to_owned();
    let url = stage.url.clone();
    let later = thread::spawn(move || {
        let (mut other, mut others, _) = self::shell(&url);
        thread::sleep(Duration::from_millis(100));
        let text = format!("call {request}.cancel; call {request}.publishCompletion");
        other.run("line", &text, &mut others).unwrap();
    });
    shell.run("line", "follow $d.defaultAgent.completions limit 1", &mut output).unwrap();
    let shown = page.take();
    assert!(shown.contains("\"status\":\"cancelled\""), "{shown}");
    assert!(shown.ends_with("1 event; the next is 1\n"), "{shown}");
    later.join().unwrap();
}

#[test]
fn a_host_that_stops_ends_what_waits_and_says_so() {
    let stage = Stage::new();
    let (mut shell, mut output, _) = stage.shell();
    shell.run("line", BEGIN, &mut output).unwrap();
    let door = stage.door.clone();
    let later = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        door.close();
    });
    let failure = shell.run("line", "follow $d.defaultAgent.completions", &mut output).unwrap_err();
    assert_eq!(
        (failure.exit, failure.message.as_str()),
        (Exit::Unavailable, "the host is about to stop")
    );
    later.join().unwrap();
    // It listens no longer, sooner or later.
    let failure = loop {
        match shell.run("line", "vars", &mut output) {
            Ok(_) => thread::sleep(Duration::from_millis(20)),
            Err(failure) if failure.message == "the host is about to stop" => {
                thread::sleep(Duration::from_millis(20));
            }
            Err(failure) => break failure,
        }
    };
    assert_eq!(failure.exit, Exit::Unavailable, "{failure:?}");
    assert!(failure.message.starts_with("cannot reach http://127.0.0.1:"), "{failure:?}");
}

#[test]
fn an_answer_that_ends_early_is_no_answer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answers = [
        "{}",
        "{\"answer\":1}\n",
        "{\"answer\":1}\n{\"what\":2}\n",
        "{\"answer\":1}\n{\"error\":{\"code\":\"of-later\",\"exit\":99,\"message\":\"m\",\"span\":[0,99]}}\n{\"exit\":99}\n",
    ];
    let said = thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
            stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
        }
    });
    let mut shell = RemoteShell::begin(Connection::new(&url, TOKEN, "anna").unwrap()).unwrap();
    let page = Page::default();
    let mut output =
        Output::new(Format::Text, Style::default(), Box::new(page.clone()), Box::new(page));
    let mut failed = || shell.run("line", "1", &mut output).unwrap_err();
    assert!(failed().message.contains("it ended its answer early"));
    assert_eq!(failed().exit, Exit::Mismatch);
    // A code and a place that are not known here are no reason to fail in another way.
    let failure = failed();
    assert_eq!((failure.exit, failure.message.as_str()), (Exit::Io, "m"));
    said.join().unwrap();
}

/// A host over a store with something in it.
fn serving() -> (Place, Serving) {
    let place = Place::new(0, 1);
    let host = place.serve(&[]);
    (place, host)
}

fn stop(host: Serving) {
    host.signal("-KILL");
    host.ended();
}

#[test]
fn scripts_work_as_on_a_store() {
    let (place, host) = serving();
    let shell = |arguments: &[&str]| {
        place.run(&[&["shell", "--connect", host.operator()], arguments].concat())
    };
    assert_eq!(shell(&["-c", "$x = 1; $x"]).ends(Exit::Good).out, "1\n");
    place.write("it.quixos-script", "$x = 2\n$x\n");
    assert_eq!(shell(&["it.quixos-script"]).ends(Exit::Good).out, "2\n");
    let mut child = place
        .command(&["shell", "--connect", host.operator(), "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"$x = [3]\n$x").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"[3]\n");

    // Objects go by short names for people, by their own for programs.
    let run = shell(&["-c", "list agent"]).ends(Exit::Good);
    assert!(run.out.contains("\nagent/"), "{}", run.out);
    let run = shell(&["-c", "list agent", "--json"]).ends(Exit::Good);
    let agent = run.json()[0]["objects"][0]["object"].as_str().unwrap().to_owned();
    assert!(agent.starts_with("atom:org.quixos.agent:agent/"), "{agent}");

    // Nothing runs of what is not well formed; what fails is told with its place and its code.
    let run = shell(&["-c", "$x = 1\ncal it"]).ends(Exit::Usage);
    assert!(run.err.contains("-c:2:1") && run.err.contains("did you mean `call`?"), "{}", run.err);
    let text = format!("vars\ncall {agent}.update {{enabled: 1}}");
    let run = shell(&["-c", &text]).ends(Exit::Invalid);
    assert!(run.err.contains("-c:2:") && run.err.contains("error[invalid]"), "{}", run.err);
    let run = shell(&["-c", &text, "--json"]).ends(Exit::Invalid);
    let error: Value = serde_json::from_str(run.err.trim()).unwrap();
    assert_eq!((&error["error"]["code"], &error["error"]["line"]), (&json!("invalid"), &json!(2)));

    // A script asks nothing, and the history says who it was.
    let text = format!("call {agent}.update {{enabled: false}}");
    shell(&["--actor", "Zoë", "-c", &text]).ends(Exit::Good);
    let run = shell(&["-c", "history limit 1", "--json"]).ends(Exit::Good);
    assert_eq!(run.json()[0][0]["actor"], "Zoë");
    shell(&["-c", "verify; history verify"]).ends(Exit::Good);
    stop(host);
}

#[test]
fn ctrl_c_ends_a_follow() {
    let (place, host) = serving();
    let list = ["shell", "--connect", host.operator(), "--json", "-c", "list agent"];
    let run = place.run(&list).ends(Exit::Good);
    let agent = run.json()[0]["objects"][0]["object"].as_str().unwrap().to_owned();
    let text = format!("\"begins\"; follow {agent}.completions; \"not this\"");
    let mut child = place
        .command(&["shell", "--connect", host.operator(), "-c", &text])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut begun = [0; 7];
    out.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"begins\n");
    thread::sleep(Duration::from_millis(200));
    let pid = child.id().to_string();
    std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(i32::from(Exit::Interrupted.number())));
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    stop(host);
}

#[test]
fn whoever_may_not_or_is_wrong_there_is_told_what_to_do() {
    let (place, host) = serving();
    let operator = host.operator().to_owned();
    let connect = |url: &str| place.run(&["shell", "--connect", url, "-c", "vars"]);
    let wrong = place
        .command(&["shell", "--connect", &operator, "-c", "vars"])
        .env("QUIXOS_OPERATOR_TOKEN", "another token")
        .output()
        .unwrap();
    let run = support::Run::from(wrong).ends(Exit::Capability);
    assert!(run.err.contains("does not take this token"), "{}", run.err);
    assert!(!run.err.contains("another token"), "{}", run.err);
    let none = place
        .command(&["shell", "--connect", &operator, "-c", "vars"])
        .env_remove("QUIXOS_OPERATOR_TOKEN")
        .output()
        .unwrap();
    let run = support::Run::from(none).ends(Exit::Usage);
    assert!(run.err.contains("QUIXOS_OPERATOR_TOKEN"), "{}", run.err);
    place.write("token", &format!("{TOKEN}\n"));
    let file = place
        .command(&["shell", "--connect", &operator, "--token-file", "token", "-c", "1"])
        .env_remove("QUIXOS_OPERATOR_TOKEN")
        .output()
        .unwrap();
    assert_eq!(support::Run::from(file).ends(Exit::Good).out, "1\n");

    let run = connect(host.url()).ends(Exit::Mismatch);
    assert!(run.err.contains("not a host's operator door"), "{}", run.err);
    connect("127.0.0.1:1").ends(Exit::Usage);
    connect("ftp://127.0.0.1").ends(Exit::Usage);
    let run = connect("http://127.0.0.1:1").ends(Exit::Unavailable);
    assert!(run.err.contains("cannot reach") && run.err.contains("help"), "{}", run.err);
    place.run(&["--store", "x", "shell", "--connect", &operator]).ends(Exit::Usage);
    place.run(&["shell", "--connect", &operator, "--actor", "host", "-c", "1"]).ends(Exit::Usage);

    // The store is in use, and by whom.
    let run = place.run(&["shell", "-c", "vars"]).ends(Exit::Busy);
    let advice = format!("quixos shell --connect {operator}");
    assert!(run.err.contains("a host serves") && run.err.contains(&advice), "{}", run.err);
    stop(host);
    // Whoever opens the store after the host was killed takes its note away.
    place.run(&["shell", "-c", "vars"]).ends(Exit::Good);
    assert!(!place.path("quixos-data/serving.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_gives_out_tokens_that_work() {
    let place = Place::new(0, 1);
    let host = place.serve(&["--demo", "--listen", "127.0.0.1:0"]);
    let sessions = format!("{}/api/client/sessions", host.url());
    let message = json!({ "role": "user", "content": "How is the weather?" });
    let input = json!({ "type": "client.message", "agent_id": "concierge", "message": message });
    let body = json!({ "session_id": "demo", "input": input }).to_string();
    let token = host.said["token"].as_str().unwrap();
    let post = client().post(format!("{sessions}/input")).body(body);
    assert_eq!(post.bearer_auth(token).send().await.unwrap().status(), 202);
    let seen = client().get(format!("{sessions}/demo")).bearer_auth(token).send().await.unwrap();
    assert_eq!(seen.status(), 200);
    let refused = client().get(format!("{sessions}/demo")).bearer_auth("x").send().await.unwrap();
    assert_eq!(refused.status(), 401);
    let token = host.said["operator_token"].as_str().unwrap().to_owned();
    let arguments = ["shell", "--connect", host.operator(), "-c", "list agent"];
    let listed = place.command(&arguments).env("QUIXOS_OPERATOR_TOKEN", token).output().unwrap();
    assert!(support::Run::from(listed).ends(Exit::Good).out.contains("concierge"));
    host.signal("-TERM");
    host.ended().ends(Exit::Good);
}
