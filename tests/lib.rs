//! What the tests on the tree share: where it is, and what is in it.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root of the tree.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this member has a parent").to_owned()
}

/// Returns the text of a file of the tree.
///
/// # Panics
/// When it is not there: the test that asked names a file that must be.
#[must_use]
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns every file below a folder of the tree whose name ends so, by path from the root,
/// sorted. A folder that is not there has none.
#[must_use]
pub fn files(folder: &str, ending: &str) -> Vec<String> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                let path = path.strip_prefix(&root).expect("found below the root");
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// Returns the checked definitions of `package/`, `session/` and `streams/`.
///
/// # Panics
/// When they have errors; the schema's own tests say which.
#[must_use]
pub fn definitions() -> quixos_schema::Definitions {
    let mut sources = quixos_schema::Sources::new();
    let folders = ["package", "session", "streams"];
    for path in folders.iter().flat_map(|folder| files(folder, ".quixos")) {
        let text = read(&path);
        sources.add(path, text);
    }
    quixos_schema::check(sources).definitions.expect("the definitions are good")
}
