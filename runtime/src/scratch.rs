//! Encoding into memory that is used again.
//!
//! What the length of a value will be is known when it is encoded. Each thread keeps a buffer that
//! has grown to what it once needed, and what is given out is as long as it must be: a buffer that
//! begins with nothing is moved several times before it is long enough.

use std::cell::Cell;

use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// The most that a thread keeps.
const KEPT: usize = 64 << 10;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Encodes a value.
pub(crate) fn encoded<T: Serialize + ?Sized>(value: &T) -> postcard::Result<Vec<u8>> {
    // One that is encoded while another is, finds an empty buffer.
    let mut buffer = BUFFER.take();
    buffer.clear();
    let buffer = postcard::serialize_with_flavor(value, Scratch(buffer))?;
    let bytes = buffer.as_slice().to_vec();
    if buffer.capacity() <= KEPT {
        BUFFER.set(buffer);
    }
    Ok(bytes)
}

struct Scratch(Vec<u8>);

impl Flavor for Scratch {
    type Output = Vec<u8>;

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}
