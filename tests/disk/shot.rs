//! A photograph of a store's files.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// sled's log, in which everything is.
pub(super) const LOG: &str = "data/db";

/// The number of a recent batch.
pub(super) const PROGRESS: &str = "progress";

/// A store's files, and how far the runtime had told that it is durable before they were read.
#[derive(Clone)]
pub(crate) struct Shot {
    pub(crate) durable: u64,
    pub(super) files: BTreeMap<PathBuf, Vec<u8>>,
}

impl fmt::Debug for Shot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.files.iter().map(|(path, bytes)| (path, bytes.len()));
        write!(f, "durable {}, ", self.durable)?;
        f.debug_map().entries(sizes).finish()
    }
}

impl Shot {
    /// Reads a store's files. The progress first: it may not be ahead of the log.
    pub(crate) fn take(folder: &Path, durable: u64) -> Self {
        let mut files = BTreeMap::new();
        let progress = PathBuf::from(PROGRESS);
        files.insert(progress.clone(), fs::read(folder.join(&progress)).unwrap());
        read_into(&mut files, folder, Path::new(""));
        Self { durable, files }
    }

    pub(super) fn log(&self) -> &[u8] {
        &self.files[Path::new(LOG)]
    }

    /// Lays the files down in a folder.
    pub(crate) fn lay_down(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("data")).unwrap();
        for (path, bytes) in &self.files {
            fs::write(folder.path().join(path), bytes).unwrap();
        }
        folder
    }
}

fn read_into(files: &mut BTreeMap<PathBuf, Vec<u8>>, folder: &Path, under: &Path) {
    for entry in fs::read_dir(folder.join(under)).unwrap() {
        let entry = entry.unwrap();
        let path = under.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            read_into(files, folder, &path);
        } else if !files.contains_key(&path) {
            files.insert(path.clone(), fs::read(folder.join(&path)).unwrap());
        }
    }
}
