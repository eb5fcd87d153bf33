//! Which segments of a log are read before sled reads them: those that no snapshot covers.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use super::super::disk::Disk;
use super::{HEADER_BYTES, PIECE_BYTES, PLACE, PLACE_MASK, SEGMENT_BYTES, read_before};

/// Notes what is read: where, and how much.
#[derive(Debug, Default)]
struct Noting(Mutex<Vec<(u64, usize)>>);

impl Disk for Noting {
    fn read_at(&self, file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push((offset, bytes.len()));
        file.read_exact_at(bytes, offset).map(|()| bytes.len())
    }
}

/// Returns which segments of a log are read whole, each of which lies at the place that it has.
fn read(segments: usize, snapshots: &[&str]) -> Vec<usize> {
    let folder = tempfile::tempdir().unwrap();
    for snapshot in snapshots {
        fs::write(folder.path().join(snapshot), "").unwrap();
    }
    let path = folder.path().join("db");
    File::create(&path).unwrap().set_len((segments * SEGMENT_BYTES) as u64).unwrap();
    let log = File::options().read(true).write(true).open(&path).unwrap();
    for segment in 0..segments {
        let offset = (segment * SEGMENT_BYTES) as u64;
        let place = (offset as i64 ^ PLACE_MASK).to_le_bytes();
        log.write_all_at(&place, offset + PLACE.start as u64).unwrap();
    }
    let disk = Noting::default();
    read_before(&disk, &log, folder.path()).unwrap();
    let reads = disk.0.into_inner().unwrap();
    let headers = reads.iter().filter(|(_, bytes)| *bytes == HEADER_BYTES);
    assert_eq!(headers.count(), segments, "the header of each");
    let mut pieces = vec![0; segments];
    for (offset, _) in reads.iter().filter(|(_, bytes)| *bytes == PIECE_BYTES) {
        pieces[*offset as usize / SEGMENT_BYTES] += 1;
    }
    assert!(pieces.iter().all(|pieces| [0, SEGMENT_BYTES / PIECE_BYTES].contains(pieces)));
    (0..segments).filter(|segment| pieces[*segment] > 0).collect()
}

#[test]
fn what_a_snapshot_covers_is_not_read() {
    let within_the_second = format!("snap.{:016X}", SEGMENT_BYTES + 5);
    let older = "snap.0000000000000007";
    assert_eq!(read(3, &[&within_the_second]), [1, 2]);
    assert_eq!(read(3, &[older, &within_the_second]), [1, 2], "by the newest");
    assert_eq!(read(3, &[]), [0, 1, 2]);
    assert_eq!(read(2, &[older]), [0, 1]);
    assert_eq!(read(2, &["snap.odd", &within_the_second]), [0, 1], "by a name that says nothing");
    let unfinished = format!("snap.{:016X}.generating", SEGMENT_BYTES);
    assert_eq!(read(2, &[&unfinished]), [0, 1]);
}
