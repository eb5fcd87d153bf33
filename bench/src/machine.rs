//! The machine that a run was made on, as the system tells it.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;

use serde::{Deserialize, Serialize};

/// A machine, as far as it matters. What the system does not tell is absent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: Option<String>,
    /// How many threads run at once.
    pub cores: usize,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The system and its release.
    pub system: String,
    /// The file system of the folder that was written to.
    pub filesystem: Option<String>,
}

impl Machine {
    /// Finds out about this machine, with the file system of a folder.
    ///
    /// # Errors
    /// When the folder is not there.
    pub fn here(folder: &Path) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        let read = |path: &str| fs::read_to_string(path).ok();
        let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
        Ok(Self {
            processor: read("/proc/cpuinfo").and_then(|text| field(&text, "model name")),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory: read("/proc/meminfo").and_then(|text| kibibytes(&text, "MemTotal")),
            system: format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned(),
            filesystem: read("/proc/self/mounts").and_then(|text| filesystem(&text, &folder)),
        })
    }

    /// Tells whether what is synced stays in memory all the same.
    #[must_use]
    pub fn syncs_nothing(&self) -> bool {
        matches!(self.filesystem.as_deref(), Some("tmpfs" | "ramfs"))
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(processor) = &self.processor {
            write!(f, "{processor}, ")?;
        }
        write!(f, "{} cores, ", self.cores)?;
        if let Some(memory) = self.memory {
            write!(f, "{} GiB memory, ", memory >> 30)?;
        }
        let filesystem = self.filesystem.as_deref().unwrap_or("unknown file system");
        write!(f, "{}, {filesystem}", self.system)
    }
}

/// Returns what stands behind a name and a colon.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let count: u64 = field(text, name)?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(count << 10)
}

/// Returns the type of the file system that is mounted nearest above a folder.
fn filesystem(mounts: &str, folder: &Path) -> Option<String> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        folder.starts_with(place).then_some((place.len(), kind))
    });
    // Of two at one place, the later hides the earlier.
    mounts.max_by_key(|(length, _)| *length).map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_counts_and_of_two_the_later() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /data xfs rw 0 0\n\
                      /dev/c /data btrfs rw 0 0\n";
        let of = |folder: &str| filesystem(mounts, Path::new(folder)).unwrap();
        assert_eq!([of("/home"), of("/tmp/x"), of("/data/y")], ["ext4", "tmpfs", "btrfs"]);
        assert_eq!(of("/tmpfile"), "ext4");
    }

    #[test]
    fn what_the_system_says_is_read() {
        assert_eq!(kibibytes("MemTotal:       2048 kB\n", "MemTotal"), Some(2 << 20));
        assert_eq!(field("model name\t: A B\n", "model name").as_deref(), Some("A B"));
        assert!(Machine::here(Path::new(".")).unwrap().cores > 0);
    }
}
