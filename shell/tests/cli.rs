//! The binary, from outside: exit codes, streams, scripts, JSON, stores that do not open.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use assert_cmd::Command;
use quixos_runtime::store::{SledOptions, SledStore};
use quixos_shell::Exit;
use serde_json::Value;
use tempfile::TempDir;

const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../package");

/// What a run came to.
struct Run {
    exit: i32,
    out: String,
    err: String,
}

impl Run {
    #[track_caller]
    fn ends(self, exit: Exit) -> Self {
        assert_eq!(self.exit, i32::from(exit.number()), "out: {}\nerr: {}", self.out, self.err);
        self
    }

    /// The answers, one a line.
    #[track_caller]
    fn json(&self) -> Vec<Value> {
        let line =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        self.out.lines().map(line).collect()
    }
}

/// A folder with room for a store.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &[&str], stdin: &str) -> Run {
        let output = Command::cargo_bin("quixos")
            .unwrap()
            .current_dir(self.0.path())
            .args(arguments)
            .write_stdin(stdin)
            .output()
            .unwrap();
        Run {
            exit: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn script(&self, text: &str) -> Run {
        self.run(&["shell", "-c", text])
    }
}

const INSTALL: &str = "$w = create workspace {data: {name: \"Home\"}}; $d = call $w.install \
                       {instructions: \"\", settings: \"{}\"}; $t = $d.initialThread; $r = call \
                       $t.send {text: \"Hi\", sourceKind: \"user\", sourceLabel: \"\", createdAt: \
                       $now, contexts: [], causalDepth: 0}";

#[test]
fn the_operations_are_listed_for_programs() {
    let place = Place::new();
    let run = place.run(&["shell", "-c", "describe operations", "--json"]).ends(Exit::Good);
    let answers = run.json();
    let operations = answers[0].as_array().unwrap();
    assert_eq!((answers.len(), operations.len()), (1, 33));
    for operation in operations {
        assert_eq!(operation["package"], "package:org.quixos.agent:runtime");
        assert_eq!(operation["revision"], "package:org.quixos.agent:runtime@1");
        assert!(operation["member"]["name"].is_string(), "{operation}");
        assert!(!operation["atoms"].as_array().unwrap().is_empty(), "{operation}");
    }
    let internal = operations.iter().filter(|it| it["member"]["internal"] == true);
    assert_eq!(internal.count(), 7);
}

#[test]
fn a_script_comes_from_the_command_line_a_file_or_standard_input() {
    let place = Place::new();
    let script = "$x = 1\n$x\n";
    assert_eq!(place.script(script).ends(Exit::Good).out, "1\n");
    assert_eq!(place.run_with(&["shell"], script).ends(Exit::Good).out, "1\n");
    assert_eq!(place.run_with(&["shell", "-"], script).ends(Exit::Good).out, "1\n");
    place.write("it.quixos-script", script);
    assert_eq!(place.run(&["shell", "it.quixos-script"]).ends(Exit::Good).out, "1\n");
    place.run(&["shell", "missing"]).ends(Exit::Io);
}

#[test]
fn a_script_stops_at_the_first_command_that_fails_and_names_its_line() {
    let place = Place::new();
    let text = format!(
        "{INSTALL}\n# next\ncall $r.claim {{attempt: \"\", expectedGeneration: 0,\n  startedAt: $now, recover: false}}\n$r.progress.status"
    );
    let run = place.script(&text).ends(Exit::Invalid);
    assert!(run.err.contains("-c:3:25"), "{}", run.err);
    assert!(run.err.contains("error[invalid]"), "{}", run.err);
    assert!(!run.out.contains("queued"), "{}", run.out);

    // What ran before has happened.
    let run = place.run(&["shell", "-c", "list request", "--json"]).ends(Exit::Good);
    assert_eq!(run.json()[0]["objects"].as_array().unwrap().len(), 1);
}

#[test]
fn a_script_that_is_not_well_formed_does_nothing() {
    let place = Place::new();
    let run = place.script("create workspace {data: {name: \"Home\"}}\ncal it").ends(Exit::Usage);
    assert!(!place.path("quixos-data").exists(), "a store was made for it");
    assert!(run.err.contains("-c:2:1") && run.err.contains("did you mean `call`?"), "{}", run.err);
    assert!(place.script("list workspace").out.contains("no `WorkspaceObject`"));
}

#[test]
fn failures_are_json_for_programs_and_end_with_their_code() {
    let place = Place::new();
    let claim =
        "call $r.claim {attempt: \"a\", expectedGeneration: 0, startedAt: $now, recover: false}";
    for (text, exit) in [
        (
            format!(
                "{INSTALL}; {claim}; call $r.steer {{attempt: \"b\", generation: 1, key: \"k\", text: \"\", createdAt: $now}}"
            ),
            Exit::StaleFence,
        ),
        (
            format!(
                "{INSTALL}; call $t.archive true; call $t.send {{text: \"Hi\", sourceKind: \"user\", sourceLabel: \"\", createdAt: $now, contexts: [], causalDepth: 0}}"
            ),
            Exit::Refused,
        ),
        (
            format!(
                "{INSTALL}; call $r.correct {{errors: [], maxCorrections: 1, createdAt: $now}}"
            ),
            Exit::Conflict,
        ),
        (format!("{INSTALL}; call $t.allocateItem $now"), Exit::Capability),
        ("show thread/01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(), Exit::NotFound),
        ("get thread/01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(), Exit::NotFound),
        ("get thread/01ARZ3NDEKTSV4RRFFQ69G5FAV.data".to_owned(), Exit::NotFound),
        ("$t = thread/01ARZ3NDEKTSV4RRFFQ69G5FAV; get $t".to_owned(), Exit::NotFound),
        ("call $nobody.cancel".to_owned(), Exit::Usage),
    ] {
        let run = place.run(&["shell", "-c", &text, "--json"]).ends(exit);
        let error: Value = serde_json::from_str(run.err.lines().last().unwrap()).unwrap();
        assert_eq!(error["error"]["code"], exit.code(), "{error}");
        assert_eq!(error["error"]["line"], 1, "{error}");
        assert_eq!(error["error"]["exit"], exit.number(), "{error}");
        run.json();
    }
}

#[test]
fn every_failure_of_a_call_is_explained() {
    let place = Place::new();
    let of_a_call = |it: &&Exit| (10..22).contains(&it.number());
    for exit in Exit::ALL.iter().filter(of_a_call) {
        let text = format!("explain {}", exit.code());
        let run = place.run(&["shell", "-c", &text, "--json"]).ends(Exit::Good);
        assert_eq!(run.json()[0]["subject"], exit.code());
        assert!(run.json()[0]["releases"][0]["text"].is_string(), "{}", run.out);
    }
    let run = place.script("explain stale-fense").ends(Exit::Usage);
    assert!(run.err.contains("did you mean `stale-fence`?"), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_script_also_after_it_followed_a_stream() {
    use std::io::{BufRead as _, BufReader};

    let place = Place::new();
    let follow = "follow $d.defaultAgent.completions limit 0";
    let script = format!("{INSTALL}; {follow}; \"followed\"; {}", "verify; ".repeat(20_000));
    place.write("long", &script);
    let mut child = Process::new(assert_cmd::cargo::cargo_bin("quixos"))
        .current_dir(place.0.path())
        .args(["shell", "long"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap() == "followed"));
    Process::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    // What it still says is read, for it not to wait.
    lines.for_each(|line| drop(line.unwrap()));
    assert_eq!(child.wait().unwrap().code(), Some(i32::from(Exit::Interrupted.number())));
    place.run(&["verify"]).ends(Exit::Good);
}

#[test]
fn wrong_arguments_are_usage() {
    let place = Place::new();
    for arguments in
        [&["shel"][..], &["check", "--strict"], &["export"], &["shell", "-c", "vars", "file"]]
    {
        place.run(arguments).ends(Exit::Usage);
        let arguments = [&["--json"], arguments].concat();
        let run = place.run(&arguments).ends(Exit::Usage);
        let error: Value = serde_json::from_str(&run.err).unwrap();
        assert_eq!(error["error"]["code"], "usage", "{error}");
        assert!(!error["error"]["message"].as_str().unwrap().contains('\n'), "{error}");
    }
    let run = place.run(&["shel", "--json"]).ends(Exit::Usage);
    let error: Value = serde_json::from_str(&run.err).unwrap();
    assert!(error["error"]["help"].as_str().unwrap().contains("shell"), "{error}");
    assert!(place.run(&["--json"]).ends(Exit::Usage).err.starts_with("{\"error\""));
    assert!(place.run(&["shel"]).err.starts_with("error: "));
    let help = place.run(&["--help", "--json"]).ends(Exit::Good);
    assert!(help.out.contains("Usage:") && help.err.is_empty(), "{}", help.out);
}

#[test]
fn who_acts_has_a_name() {
    let place = Place::new();
    place.run(&["--actor", "", "shell", "-c", "vars"]).ends(Exit::Usage);
}

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::new();
    let help = place.run(&["--help"]).ends(Exit::Good).out;
    for exit in Exit::ALL {
        assert!(help.contains(exit.code()), "{} is not in --help", exit.code());
    }
    for command in [
        "check",
        "fmt",
        "generate",
        "digest",
        "diff",
        "tour",
        "shell",
        "verify",
        "export",
        "import",
        "serve",
        "backup",
        "restore",
        "completions",
    ] {
        assert!(help.contains(command), "{command} is not in --help");
        let help = place.run(&[command, "--help"]).ends(Exit::Good).out;
        assert!(help.contains("Examples:"), "{help}");
        assert!(help.contains("--store") && help.contains("--json"), "{help}");
    }
}

#[test]
fn completions_are_made_for_three_shells() {
    let place = Place::new();
    for (shell, sign) in
        [("bash", "complete -F"), ("zsh", "#compdef quixos"), ("fish", "complete -c quixos")]
    {
        let run = place.run(&["completions", shell]).ends(Exit::Good);
        assert!(run.out.contains(sign), "{shell}: {}", run.out);
    }
    place.run(&["completions", "tcsh"]).ends(Exit::Usage);
}

#[test]
fn definitions_are_checked_digested_and_formatted() {
    let place = Place::new();
    let run = place.run(&["check", PACKAGE, "--json"]).ends(Exit::Good);
    let answer = &run.json()[0];
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["packages"][0]["operations"], 33);
    let digests = place.run(&["digest", PACKAGE, "--json"]).ends(Exit::Good).json();
    assert_eq!(digests[0][0]["digest"], answer["packages"][0]["digest"]);

    let path = place.write("it/a.quixos", "interface  Talker id \"interface:x:talker\" { }\n");
    place.run(&["fmt", "--check", "it"]).ends(Exit::Findings);
    assert!(fs::read_to_string(&path).unwrap().contains("interface  Talker"));
    place.run(&["fmt", "it"]).ends(Exit::Good);
    assert!(fs::read_to_string(&path).unwrap().contains("interface Talker"));
    place.run(&["fmt", "--check", "it", "--json"]).ends(Exit::Good).json();
    place.run(&["check", "nowhere"]).ends(Exit::Io);
    fs::create_dir(place.path("empty")).unwrap();
    place.run(&["check", "empty"]).ends(Exit::Usage);
}

#[test]
#[cfg(unix)]
fn a_file_is_formatted_whole_under_its_permissions_and_behind_its_links() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    let place = Place::new();
    let text = "interface  Talker id \"interface:x:talker\" { }\n";
    let file = place.write("elsewhere/a.quixos", text);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(place.path("it")).unwrap();
    let link = place.path("it/a.quixos");
    symlink(&file, &link).unwrap();
    let before = fs::metadata(&file).unwrap().ino();

    place.run(&["fmt", "it/a.quixos"]).ends(Exit::Good);
    assert!(fs::read_to_string(&file).unwrap().contains("interface Talker"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let after = fs::metadata(&file).unwrap();
    assert_eq!(after.permissions().mode() & 0o777, 0o640);
    // Another file took its name: the old one was never half written.
    assert_ne!(after.ino(), before);
    assert_eq!(fs::read_dir(place.path("elsewhere")).unwrap().count(), 1, "something was left");
}

#[test]
fn definitions_with_errors_are_shown_and_nothing_is_made_of_them() {
    let place = Place::new();
    let broken = "package P id \"package:p\" revision \"package:p@1\" {\n  operation o id \"p:o\": Nothing -> unit mode call execution transaction targets [server] receiver any requires {};\n}\n";
    let path = place.write("it/p.quixos", broken);
    let run = place.run(&["check", "it"]).ends(Exit::Findings);
    assert!(run.err.contains("error[S") && run.err.contains("Nothing"), "{}", run.err);
    let run = place.run(&["check", "it", "--json"]).ends(Exit::Findings);
    assert_eq!(run.json()[0]["ok"], false);
    assert!(!run.json()[0]["diagnostics"].as_array().unwrap().is_empty());
    place.run(&["generate", "it", "--out", "out"]).ends(Exit::Findings);
    assert!(!place.path("out").exists());
    place.run(&["digest", "it"]).ends(Exit::Findings);

    fs::write(&path, "package ¿").unwrap();
    place.run(&["fmt", "it"]).ends(Exit::Findings);
    assert_eq!(fs::read_to_string(&path).unwrap(), "package ¿");
}

#[test]
fn a_file_that_is_no_text_does_not_hide_what_the_others_say() {
    let place = Place::new();
    let bytes = place.write("it/a.quixos", "");
    fs::write(&bytes, b"// caf\xe9\n").unwrap();
    place.write("it/b.quixos", "package \u{bf}");
    let spaced = place.write("it/c.quixos", "interface  Talker id \"interface:x:talker\" { }\n");
    for command in ["check", "fmt"] {
        let run = place.run(&[command, "it"]).ends(Exit::Findings);
        assert!(run.err.contains("error[io]") && run.err.contains("a.quixos"), "{}", run.err);
        assert!(run.err.contains("b.quixos"), "{}", run.err);
        let run = place.run(&[command, "it", "--json"]).ends(Exit::Findings);
        assert_eq!(run.err, "");
        let answer = &run.json()[0];
        assert_eq!(answer["ok"], false);
        let unread = if command == "check" { &answer["unread"][0] } else { &answer["faulty"][0] };
        assert_eq!(unread["error"]["code"], "io", "{answer}");
        assert!(unread["file"].as_str().unwrap().ends_with("a.quixos"), "{answer}");
        assert!(answer.to_string().contains("b.quixos"), "{answer}");
    }
    assert!(fs::read_to_string(spaced).unwrap().contains("interface Talker"));
    assert_eq!(fs::read(bytes).unwrap(), b"// caf\xe9\n");
    fs::remove_file(place.path("it/b.quixos")).unwrap();
    place.run(&["check", "it"]).ends(Exit::Findings);
    place.run(&["digest", "it"]).ends(Exit::Io);
}

#[test]
fn the_same_definitions_generate_the_same_files() {
    let place = Place::new();
    for out in ["one", "two"] {
        place.run(&["generate", PACKAGE, "--out", out]).ends(Exit::Good);
    }
    for file in ["agent_runtime.rs", "workspace.rs"] {
        let read = |out: &str| fs::read_to_string(place.path(out).join(file)).unwrap();
        assert_eq!(read("one"), read("two"));
        assert!(read("one").contains("do not edit"));
        // The code finds the definitions from where it is.
        let code = read("one");
        let found: Vec<&str> = code
            .split("include_str!(\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
            .collect();
        assert!(!found.is_empty());
        for way in found {
            assert!(place.path("one").join(way).is_file(), "{way}");
        }
    }
}

#[test]
fn a_difference_says_whether_it_is_safe() {
    let place = Place::new();
    for (folder, state) in [("old", ""), ("same", "// a comment\n"), ("new", "")] {
        for name in ["agent-runtime", "objects", "workspace"] {
            let text = fs::read_to_string(format!("{PACKAGE}/{name}.quixos")).unwrap();
            let text = match (folder, name) {
                ("new", "workspace") => {
                    text.replace("name: string;};", "name: string; colour: string;};")
                }
                _ => format!("{text}{state}"),
            };
            place.write(&format!("{folder}/{name}.quixos"), &text);
        }
    }
    let run = place.run(&["diff", "old", "same", "--json"]).ends(Exit::Good);
    assert_eq!(run.json()[0]["safe"], true);
    let run = place.run(&["diff", "old", "new"]).ends(Exit::Findings);
    assert!(run.out.contains("colour") || run.out.contains("WorkspaceData"), "{}", run.out);
    let run = place.run(&["diff", "old", "new", "--json"]).ends(Exit::Findings);
    assert_eq!(run.json()[0]["safe"], false);
}

#[test]
fn the_tour_goes_its_way() {
    let place = Place::new();
    let run = place.run(&["tour"]).ends(Exit::Good);
    assert!(run.out.contains("stale-fence") && run.out.contains("nothing is wrong"), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'), "colours, and no terminal");
    assert!(!place.path("quixos-data").exists(), "its store is thrown away");

    let run = place.run(&["--store", "kept", "tour", "--json"]).ends(Exit::Good);
    let steps = run.json();
    assert!(steps.iter().all(|step| step["ok"] == true));
    place.run(&["--store", "kept", "verify"]).ends(Exit::Good);
    place.run(&["--store", "kept", "tour"]).ends(Exit::Conflict);
}

#[test]
fn a_store_is_made_by_the_shell_alone() {
    let place = Place::new();
    for arguments in [&["verify"][..], &["export", "file"]] {
        let run = place.run(arguments).ends(Exit::NotFound);
        assert!(run.err.contains("quixos-data"), "{}", run.err);
    }
    assert!(!place.path("quixos-data").exists());
    let run = place.script("vars").ends(Exit::Good);
    assert!(run.err.contains("made a new store in `./quixos-data`"), "{}", run.err);
    assert_eq!(place.script("vars").ends(Exit::Good).err, "");
}

#[test]
fn a_second_process_is_told_that_the_store_is_in_use() {
    let place = Place::new();
    place.script("vars").ends(Exit::Good);
    let held = SledStore::open(place.path("quixos-data"), SledOptions::default()).unwrap();
    let run = place.script("vars").ends(Exit::Busy);
    assert!(run.err.contains("in use"), "{}", run.err);
    drop(held);
    place.script("vars").ends(Exit::Good);
}

#[test]
fn a_folder_that_is_no_store_is_left_alone() {
    let place = Place::new();
    place.write("mine/letter.txt", "Dear Anna");
    let run = place.run(&["--store", "mine", "shell", "-c", "vars"]).ends(Exit::Mismatch);
    assert!(run.err.contains("not a store"), "{}", run.err);
    assert_eq!(fs::read_dir(place.path("mine")).unwrap().count(), 1);
}

#[test]
fn a_damaged_store_is_refused_or_found_and_never_repaired() {
    let place = Place::new();
    place.script(INSTALL).ends(Exit::Good);
    let data = largest_file(&place.path("quixos-data"));
    let bytes = fs::read(&data).unwrap();
    let mut damaged = 0;
    for part in [4, 2] {
        fs::write(&data, &bytes[..bytes.len() / part]).unwrap();
        for arguments in [&["verify"][..], &["shell", "-c", "list request; verify"]] {
            let run = place.run(arguments);
            assert!(!run.err.contains("panicked"), "{}", run.err);
            damaged += i32::from(run.exit != 0);
            if run.exit != 0 {
                assert!(run.err.contains("error[") || run.out.contains("finding"), "{}", run.err);
            }
        }
    }
    assert!(damaged > 0, "a store that was cut in half passes for whole");
}

#[test]
fn a_store_that_says_nonsense_of_itself_is_corrupt() {
    let place = Place::new();
    place.script("vars").ends(Exit::Good);
    let marker = place.path("quixos-data/store.json");
    let text = fs::read_to_string(&marker).unwrap();
    fs::write(&marker, "{").unwrap();
    let run = place.run(&["verify", "--json"]).ends(Exit::Corrupt);
    let error: Value = serde_json::from_str(&run.err).unwrap();
    assert!(error["error"]["message"].as_str().unwrap().contains("store.json"), "{error}");
    assert!(error["error"]["help"].is_string(), "{error}");
    fs::write(&marker, text.replace("\"format\": 1", "\"format\": 99")).unwrap();
    place.run(&["verify"]).ends(Exit::Mismatch);
}

/// The largest file under a folder: what the engine keeps the data in.
fn largest_file(folder: &Path) -> PathBuf {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                files.push((entry.metadata().unwrap().len(), entry.path()));
            }
        }
    }
    files.into_iter().max().unwrap().1
}

#[test]
fn an_export_makes_the_same_store_again() {
    let place = Place::new();
    place.script(INSTALL).ends(Exit::Good);
    place.run(&["export", "file"]).ends(Exit::Good);
    place.run(&["export", "file"]).ends(Exit::Conflict);
    place.run(&["export", "file", "--force", "--json"]).ends(Exit::Good).json();
    place.run(&["--store", "again", "import", "file", "--json"]).ends(Exit::Good).json();
    place.run(&["--store", "again", "verify", "--json"]).ends(Exit::Good).json();
    let list = |store: &str| {
        place
            .run(&["--store", store, "shell", "-c", "list request; history", "--json"])
            .ends(Exit::Good)
            .out
    };
    assert_eq!(list("quixos-data"), list("again"));

    // Into a store that is there, nothing is imported; nor from a file that is not whole.
    place.run(&["--store", "again", "import", "file"]).ends(Exit::Conflict);
    let mut bytes = fs::read(place.path("file")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(place.path("edited"), &bytes).unwrap();
    let run = place.run(&["--store", "third", "import", "edited"]).ends(Exit::Corrupt);
    assert!(run.err.contains("block"), "{}", run.err);
    place.write("letter", "Dear Anna");
    place.run(&["--store", "fourth", "import", "letter"]).ends(Exit::Mismatch);
}

#[test]
fn who_acts_is_in_the_history() {
    let place = Place::new();
    place.run(&["--actor", "otto", "shell", "-c", INSTALL]).ends(Exit::Good);
    let run = place.run(&["shell", "-c", "history", "--json"]).ends(Exit::Good);
    for entry in run.json()[0].as_array().unwrap() {
        assert_eq!(entry["actor"], "otto");
        assert!(entry["hash"].as_str().unwrap().len() == 64, "{entry}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::new();
    place.script(INSTALL).ends(Exit::Good);
    let mut child = Process::new(assert_cmd::cargo::cargo_bin("quixos"))
        .current_dir(place.0.path())
        .args(["shell", "-c", "describe operations; describe operations", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
