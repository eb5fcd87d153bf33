//! A file that is whole or not there.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::failure::Failure;

/// Writes a file under another name first. Under its own it is there once all of it is on the disk.
///
/// # Errors
/// When it cannot be written, or whoever writes it fails; then nothing of it is left.
pub(crate) fn whole_file<T>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let failed = |error| Failure::io("write", &part, &error);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&part)
        .map_err(failed)?;
    let written = write(&mut file).and_then(|done| {
        file.sync_all().map_err(failed)?;
        fs::rename(&part, path).map_err(failed)?;
        sync_folder(path)?;
        Ok(done)
    });
    if written.is_err() {
        // The first error is the one to tell; what is left is named for what it is.
        let _ = fs::remove_file(&part);
    }
    written
}

/// Writes a file that is there anew, under the permissions that it has. Where its name is a link, what
/// the link leads to is written, and the link stays.
///
/// # Errors
/// When it cannot be written; then it is as it was.
pub(crate) fn rewrite(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::io("write", path, &error);
    let target = fs::canonicalize(path).map_err(failed)?;
    // A rename asks the folder alone, and would pass over what the file itself forbids.
    let old = File::options().write(true).open(&target).map_err(failed)?;
    let permissions = old.metadata().map_err(failed)?.permissions();
    whole_file(&target, |file| {
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.set_permissions(permissions).map_err(failed)
    })
}

/// Puts the name on the disk, too, where the system has folders that can be synced.
fn sync_folder(path: &Path) -> Result<(), Failure> {
    if cfg!(windows) {
        return Ok(());
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Failure::io("sync", folder, &error))
}
