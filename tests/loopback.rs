//! A disk of our own: a file system in a file, mounted through a loop device.
//!
//! What a program has written lies in the system's memory until it is synced, or until the system
//! finds the time; the file behind the device has only what has left that memory. A copy of that
//! file is therefore what a disk holds when the power is cut.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// How large the disk is, in MiB.
const SIZE: &str = "192M";

/// A mounted disk. It is unmounted, and gone, when it is dropped.
pub(crate) struct Disk {
    folder: TempDir,
}

impl Disk {
    /// Makes an empty disk and mounts it.
    pub(crate) fn make() -> Self {
        let disk = Self { folder: tempfile::tempdir().unwrap() };
        run("truncate", [OsStr::new("-s"), OsStr::new(SIZE), disk.image().as_os_str()]);
        run("mkfs.ext4", [OsStr::new("-q"), disk.image().as_os_str()]);
        disk.mount()
    }

    /// Returns the disk as it would be if the power were cut now.
    pub(crate) fn cut(&self) -> Self {
        let cut = Self { folder: tempfile::tempdir().unwrap() };
        let sparse = OsStr::new("--sparse=always");
        run("cp", [sparse, self.image().as_os_str(), cut.image().as_os_str()]);
        cut.mount()
    }

    /// Returns where the disk is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    fn mount(self) -> Self {
        std::fs::create_dir(self.path()).unwrap();
        let (image, path) = (self.image(), self.path());
        run("mount", [OsStr::new("-o"), OsStr::new("loop"), image.as_os_str(), path.as_os_str()]);
        self
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        unmount(&self.path());
    }
}

fn unmount(path: &Path) {
    // Something of a process just killed may hold it a moment longer.
    for _ in 0..50 {
        if Command::new("umount").arg(path).output().is_ok_and(|done| done.status.success()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

fn run<'a>(program: &str, arguments: impl IntoIterator<Item = &'a OsStr>) {
    let done = Command::new(program).args(arguments).output().unwrap();
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
}
