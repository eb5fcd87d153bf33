//! The order of writes, syncs and answers, as the system saw them.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

/// What the traced process writes when it has been told something.
const MARK: &str = "mark ";

/// Marks a moment in the trace.
pub(crate) fn tell(what: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{MARK}{what}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Event {
    /// A write, or a change of a file's length, has ended.
    Written(String),
    /// A folder has another name in it: a file, a folder, or one that was called otherwise before.
    Named(String),
    /// A sync began, by its process.
    Syncing(String, u64),
    /// A sync has ended well.
    Synced(String, u64),
    Mark(String),
}

/// What was done, in order.
pub(crate) struct Trace(Vec<Event>);

impl Trace {
    /// Reads what `strace -f -y` wrote.
    pub(crate) fn read(log: &str) -> Self {
        let mut events = Vec::new();
        // What each thread is in the middle of.
        let mut begun: HashMap<u64, (String, String)> = HashMap::new();
        for line in log.lines() {
            let Some((thread, line)) = line.split_once(char::is_whitespace) else { continue };
            let Ok(thread) = thread.parse() else { continue };
            let line = line.trim_start();
            if line.starts_with("<... ") {
                let Some((name, path)) = begun.remove(&thread) else { continue };
                ended(&mut events, thread, &name, path, line);
                continue;
            }
            let Some((name, rest)) = line.split_once('(') else { continue };
            if rest.contains(&format!("\"{MARK}")) {
                let what = rest.split(MARK).nth(1).unwrap_or_default();
                events.push(Event::Mark(what.split('\\').next().unwrap().to_owned()));
                continue;
            }
            let path = if names(name, rest) {
                folder_of(rest)
            } else {
                rest.split_once('<').and_then(|(_, rest)| Some(rest.split_once('>')?.0))
            };
            let Some(path) = path else { continue };
            if name.ends_with("sync") {
                events.push(Event::Syncing(path.to_owned(), thread));
            }
            if line.ends_with("<unfinished ...>") {
                begun.insert(thread, (name.to_owned(), path.to_owned()));
            } else {
                ended(&mut events, thread, name, path.to_owned(), line);
            }
        }
        Self(events)
    }

    /// Holds each mark to this: of every file in the folder that was written before it, a sync
    /// began after the last write had ended, and has ended; and of every folder in which a name is
    /// new while the store is made, the same. And where a store is opened, nothing is written to
    /// sled's files before the log that was found there is synced. Returns how many answers were
    /// marked.
    pub(crate) fn check(&self, folder: &Path) -> usize {
        let (data, log) = (folder.join("data"), folder.join(super::shot::LOG));
        let log = log.to_str().unwrap();
        let mut answers = 0;
        let mut opening = 0;
        let mut written: HashMap<&str, usize> = HashMap::new();
        let mut named: HashMap<&str, usize> = HashMap::new();
        let mut syncing: HashMap<(&str, u64), usize> = HashMap::new();
        let mut synced: HashMap<&str, usize> = HashMap::new();
        for (at, event) in self.0.iter().enumerate() {
            match event {
                Event::Written(path) => {
                    let is_found = answers > 0 && Path::new(path).starts_with(&data);
                    let synced = synced.get(log);
                    assert!(
                        !is_found || synced.is_some_and(|sync| *sync > opening),
                        "{path} was written before what was found was synced"
                    );
                    written.insert(path, at);
                }
                // What sled makes later are snapshots, which it can do without.
                Event::Named(folder) if answers == 0 => drop(named.insert(folder, at)),
                Event::Named(_) => {}
                Event::Mark(what) if what == "opening" => opening = at,
                Event::Syncing(path, thread) => drop(syncing.insert((path, *thread), at)),
                Event::Synced(path, thread) => {
                    let began = syncing[&(path.as_str(), *thread)];
                    let newest = synced.entry(path).or_insert(began);
                    *newest = began.max(*newest);
                }
                Event::Mark(what) => {
                    answers += usize::from(what == "told");
                    assert!(written.contains_key(log), "nothing was written");
                    assert!(named.contains_key(data.to_str().unwrap()), "nothing was made");
                    for (path, last) in written.iter().chain(&named) {
                        // What is in `progress` may lag behind; nothing is told because of it.
                        let is_ours = Path::new(path).starts_with(folder)
                            && !path.ends_with(super::shot::PROGRESS)
                            || folder.parent() == Some(Path::new(path));
                        let sync = synced.get(path);
                        assert!(
                            !is_ours || sync.is_some_and(|sync| sync > last),
                            "`{what}` was told while {path} was not synced: {:#?}",
                            &self.0[at.saturating_sub(20)..=at]
                        );
                    }
                }
            }
        }
        answers
    }
}

/// Tells whether a call gives a name to something.
fn names(call: &str, arguments: &str) -> bool {
    call.starts_with("mkdir")
        || call.starts_with("rename")
        || call == "openat" && arguments.contains("O_CREAT")
}

/// Returns the folder of the last path among the arguments of a call.
fn folder_of(arguments: &str) -> Option<&str> {
    let (before, _) = arguments.rsplit_once('"')?;
    let (_, path) = before.rsplit_once('"')?;
    Path::new(path).parent()?.to_str()
}

fn ended(events: &mut Vec<Event>, thread: u64, name: &str, path: String, line: &str) {
    let result = line.rsplit_once(" = ").map(|(_, result)| result);
    let is_good = result.is_some_and(|result| !result.starts_with('-'));
    if name.ends_with("sync") {
        if is_good {
            events.push(Event::Synced(path, thread));
        }
    } else if name.starts_with("mkdir") || name.starts_with("rename") || name == "openat" {
        if is_good {
            events.push(Event::Named(path));
        }
    } else {
        events.push(Event::Written(path));
    }
}
