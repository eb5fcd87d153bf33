//! Good checksums over bad contents: what someone would make who wants to be believed, and what
//! nobody would ever come upon by changing bytes.

use quixos_runtime::key::Kind;

/// What an export begins with.
const FIRST_LINE: &[u8] = b"quixos export 1\n";

/// The kind of the block that ends an export.
const END: u8 = 3;

/// Returns the blocks of an export, or of what there is of one, each with the checksum that it
/// should have, and with an end that counts what is there.
#[must_use]
pub fn sealed(file: &[u8]) -> Vec<u8> {
    let mut writer = Writer { file: FIRST_LINE.to_vec(), number: 0 };
    let mut rest = match file.iter().position(|byte| *byte == b'\n') {
        Some(at) => &file[at + 1..],
        None => file,
    };
    let mut counts = [0_u64; Kind::ALL.len()];
    while let Some(([kind, length @ ..], behind)) = rest.split_first_chunk::<5>() {
        let length = (u32::from_be_bytes(*length) as usize).min(behind.len());
        let (payload, behind) = behind.split_at(length);
        rest = behind.get(32..).unwrap_or_default();
        if *kind != END {
            count(payload, &mut counts);
            writer.block(*kind, payload);
        }
    }
    let total = *blake3::hash(&writer.file).as_bytes();
    let end = postcard::to_allocvec(&(counts.to_vec(), total)).unwrap_or_default();
    writer.block(END, &end);
    writer.file
}

/// Counts the entries of a block, as far as they can be read.
fn count(mut payload: &[u8], counts: &mut [u64]) {
    while let Ok(((key, _), behind)) = postcard::take_from_bytes::<(&[u8], &[u8])>(payload) {
        let kind = key.first().and_then(|byte| Kind::of(*byte));
        if let Some(at) = Kind::ALL.into_iter().position(|it| Some(it) == kind) {
            counts[at] += 1;
        }
        payload = behind;
    }
}

struct Writer {
    file: Vec<u8>,
    number: u64,
}

impl Writer {
    fn block(&mut self, kind: u8, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
        let [a, b, c, d] = length;
        let head = [kind, a, b, c, d];
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.number.to_be_bytes()).update(&head).update(payload);
        self.file.extend(head);
        self.file.extend(payload);
        self.file.extend(hasher.finalize().as_bytes());
        self.number += 1;
    }
}
