//! The disk as it is reads what is there, and says what it cannot.

use std::fs::{self, File};

use super::{Disk, SystemDisk};

#[test]
fn a_part_of_a_file_is_read_up_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "0123456789").unwrap();
    let file = File::open(path).unwrap();
    let read = |offset| {
        let mut bytes = [b'-'; 6];
        let there = SystemDisk.read_at(&file, offset, &mut bytes).unwrap();
        (there, String::from_utf8(bytes.to_vec()).unwrap())
    };
    assert_eq!(read(2), (6, "234567".to_owned()));
    assert_eq!(read(7), (3, "789---".to_owned()));
    assert_eq!(read(10), (0, "------".to_owned()));
    let no_file = File::open(folder.path()).unwrap();
    assert!(SystemDisk.read_at(&no_file, 0, &mut [0]).is_err());
}
