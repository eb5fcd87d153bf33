//! What a process takes of the machine: the processors' time, memory, and room on the disk.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::failure::Failure;

/// Returns what this process has taken of the processors, all its threads together; zero where the
/// system does not tell.
pub(crate) fn worked() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name stands in parentheses and may be anything; behind it the eleventh word and the next
    // count ticks, of its own work and of the system's for it. A tick is a hundredth of a second.
    let words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = words.skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Returns the greatest memory that this process has had at once, in bytes; 0 where the system does
/// not tell.
pub(crate) fn greatest_memory() -> u64 {
    memory("self", "VmHWM:")
}

/// Returns the memory that a process has at the moment, in bytes; 0 where the system does not tell.
pub(crate) fn memory_of(process: u32) -> u64 {
    memory(&process.to_string(), "VmRSS:")
}

fn memory(process: &str, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kibibytes = status.lines().find_map(|line| {
        let count = line.strip_prefix(name)?.trim().strip_suffix("kB")?;
        count.trim().parse::<u64>().ok()
    });
    kibibytes.unwrap_or(0) << 10
}

/// Returns what the files in a folder, and in those below, take of the disk.
pub(crate) fn on_disk(folder: &Path) -> Result<u64, Failure> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(Failure::file(folder))? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { on_disk(&entry.path())? } else { allocated(&about) };
    }
    Ok(bytes)
}

/// Files may have holes, which take no room.
#[cfg(unix)]
fn allocated(file: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    file.blocks() * 512
}

#[cfg(not(unix))]
fn allocated(file: &fs::Metadata) -> u64 {
    file.len()
}
