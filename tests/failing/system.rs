//! A process whose system calls fail on the files of its store: sled's own reading and writing, which
//! no trait of ours stands before. `strace` makes the n-th call of a thread fail, or all from the
//! n-th on; a limit on the length of a file makes a write stop short at any byte, and none after it
//! go through.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::trial::Heard;

/// The system calls that are made to fail, with the errors that they give.
pub(crate) const SYSTEM_CALLS: [(&str, &[&str]); 12] = [
    ("openat", &["EIO", "ENOSPC"]),
    ("read", &["EIO"]),
    ("pread64", &[]),
    ("write", &["EIO", "ENOSPC"]),
    ("pwrite64", &["EIO", "ENOSPC"]),
    ("fsync", &["EIO"]),
    ("fdatasync", &["EIO"]),
    ("sync_file_range", &["EIO"]),
    ("ftruncate", &["EIO"]),
    ("fallocate", &["ENOSPC"]),
    ("mkdir", &["ENOSPC"]),
    ("rename", &["EIO"]),
];

/// How long a process may take before it is said to hang. sled may wait ten seconds at each close.
const PATIENCE: Duration = Duration::from_secs(180);

/// What the process says before what it has heard.
const SAYS: &str = "heard ";

/// Says what this process has heard.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub(crate) fn say(heard: &Heard) {
    println!("\n{SAYS}{}", serde_json::to_string(heard).unwrap());
}

/// Tells whether system calls can be traced here.
pub(crate) fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    tried.is_ok_and(|status| status.success())
}

/// Which call of which kind fails, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Injected {
    pub(crate) call: &'static str,
    pub(crate) error: &'static str,
    /// Which call of a thread, from 1.
    pub(crate) nth: u64,
    /// Whether those after it fail too.
    pub(crate) lasts: bool,
}

/// The calls that a process makes on the files of its store.
#[derive(Debug)]
pub(crate) struct Traced {
    /// The most that one thread makes of each.
    pub(crate) most: BTreeMap<&'static str, u64>,
    /// The files, from the store's folder on.
    paths: BTreeSet<String>,
}

impl Traced {
    /// Counts what a process does that meets no fault.
    pub(crate) fn count(child: &Command, folder: &Path) -> Self {
        let log = folder.with_extension("trace");
        let names: Vec<_> = SYSTEM_CALLS.iter().map(|(name, _)| *name).collect();
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-qq", "-s", "0", "-o"]).arg(&log);
        command.arg("-e").arg(format!("trace={}", names.join(",")));
        let heard = run(follow(command, child)).expect("nothing fails");
        assert!(heard.refusals.is_empty(), "{heard:#?}");
        let folder = folder.to_str().unwrap();
        let mut made: BTreeMap<(&str, &'static str), u64> = BTreeMap::new();
        let mut paths = BTreeSet::new();
        let log = std::fs::read_to_string(log).unwrap();
        for line in log.lines() {
            let Some((thread, line)) = line.split_once(char::is_whitespace) else { continue };
            let Some((_, rest)) = line.split_once(folder) else { continue };
            let Some((name, _)) = line.trim_start().split_once('(') else { continue };
            let Some(name) = names.iter().find(|it| **it == name) else { continue };
            *made.entry((thread, name)).or_default() += 1;
            let path = rest.split(['>', '"']).next().unwrap();
            paths.insert(path.trim_start_matches('/').to_owned());
        }
        let mut most = BTreeMap::new();
        for ((_, name), made) in made {
            let most = most.entry(name).or_default();
            *most = made.max(*most);
        }
        Self { most, paths }
    }

    /// Runs a process that meets a fault, and returns what it heard; nothing, if it ended early.
    pub(crate) fn meet(&self, fault: &Injected, child: &Command, folder: &Path) -> Option<Heard> {
        let Injected { call, error, nth, lasts } = fault;
        let lasts = if *lasts { "+" } else { "" };
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e"]).arg(format!("trace={call}"));
        command.arg("-e").arg(format!("inject={call}:error={error}:when={nth}{lasts}"));
        for path in &self.paths {
            command.arg("-P").arg(folder.join(path));
        }
        run(follow(command, child))
    }

    /// Returns the same for one file of the store.
    pub(crate) fn of(self, path: &str) -> Self {
        Self { paths: BTreeSet::from([path.to_owned()]), ..self }
    }
}

/// A process no file of which may grow beyond so many blocks.
pub(crate) struct Limited(pub(crate) u64);

impl Limited {
    /// Runs it, and returns what it heard; nothing, if it ended early.
    pub(crate) fn meet(&self, child: &Command) -> Option<Heard> {
        let mut command = Command::new("sh");
        // The signal that comes with a write beyond the limit is ignored; the write fails.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", self.0);
        command.arg("-c").arg(script);
        run(follow(command, child))
    }
}

/// Has a command start a process.
fn follow(mut command: Command, child: &Command) -> Command {
    command.arg(child.get_program()).args(child.get_args());
    command.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn run(mut command: Command) -> Option<Heard> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let reading = thread::spawn(move || {
        let mut said = String::new();
        // What was said before the process ended is all there is.
        let _ = out.read_to_string(&mut said);
        said
    });
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("hangs: {command:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
    let said = reading.join().unwrap();
    let heard = said.lines().find_map(|line| line.strip_prefix(SAYS))?;
    Some(serde_json::from_str(heard).unwrap())
}
