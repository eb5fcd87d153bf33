//! What the tests of the stores share: short ways to write and read, and a second process.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(dead_code, reason = "each test file uses its part of this")]

use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bytes::Bytes;
use quixos_runtime::store::{
    Batch, CommitError, Direction, Durability, OpenError, SledOptions, SledStore, Store, View,
};

/// Set for the process that a test starts from its own binary: the store's folder.
pub(crate) const CHILD_FOLDER: &str = "QUIXOS_STORE_CHILD";

/// Options that do not depend on how full the disk is.
pub(crate) fn options() -> SledOptions {
    SledOptions { free_space_floor: 0, ..SledOptions::default() }
}

pub(crate) fn open(path: &Path) -> SledStore {
    SledStore::open(path, options()).unwrap()
}

pub(crate) fn open_error(path: &Path) -> OpenError {
    SledStore::open(path, options()).expect_err("it must not open")
}

pub(crate) fn batch(writes: &[(&str, Option<&str>)]) -> Batch {
    let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    let writes = writes.iter().map(|(key, value)| (bytes(key), value.map(bytes))).collect();
    Batch { writes, ..Batch::default() }
}

pub(crate) fn put(store: &dyn Store, key: &str, value: &str) -> Result<u64, CommitError> {
    store.commit(batch(&[(key, Some(value))]), Durability::Durable)
}

pub(crate) fn get(store: &dyn Store, key: &str) -> Option<String> {
    let value = store.view().unwrap().get(key.as_bytes()).unwrap();
    value.map(|value| String::from_utf8(value.into()).unwrap())
}

/// Returns everything in a view.
pub(crate) fn everything(view: &dyn View) -> Vec<(Bytes, Bytes)> {
    let page = view.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, usize::MAX);
    page.unwrap().entries
}

/// Returns a command that runs one test of this binary with a store's folder.
pub(crate) fn child(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(CHILD_FOLDER, folder).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Returns the folder, in a process that [`child`] started.
pub(crate) fn child_folder() -> Option<PathBuf> {
    std::env::var_os(CHILD_FOLDER).map(PathBuf::from)
}

/// Copies a folder, and what is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
