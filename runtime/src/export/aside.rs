//! Entries that are laid aside in a file until they can be written: in the order of their keys.

use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use bytes::Bytes;

use crate::error::CallError;
use crate::export::ExportError;
use crate::walk::Visitor;

/// A key with its value; none if it is gone.
pub(super) type Laid = (Bytes, Option<Bytes>);

/// A file that entries are laid aside in.
pub(super) struct Aside<F: Write>(BufWriter<F>);

/// The same, read from its begin.
pub(super) struct Taken<F> {
    from: BufReader<F>,
    /// The next entry, if there is one.
    next: Option<Laid>,
}

impl<F: Read + Write + Seek> Aside<F> {
    pub(super) fn new(file: F) -> Self {
        Self(BufWriter::new(file))
    }

    pub(super) fn put(&mut self, key: &[u8], value: Option<&[u8]>) -> io::Result<()> {
        self.piece(Some(key))?;
        self.piece(value)
    }

    /// A number that is the length and one more, or 0 for none; then the bytes.
    fn piece(&mut self, piece: Option<&[u8]>) -> io::Result<()> {
        let length = piece.map_or(0, |piece| piece.len() as u64 + 1);
        self.0.write_all(&length.to_be_bytes())?;
        self.0.write_all(piece.unwrap_or_default())
    }

    pub(super) fn taken(mut self) -> io::Result<Taken<F>> {
        // The end of it.
        self.piece(None)?;
        let mut file = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let mut taken = Taken { from: BufReader::new(file), next: None };
        taken.advance()?;
        Ok(taken)
    }
}

impl<F: Read> Taken<F> {
    pub(super) fn key(&self) -> Option<&Bytes> {
        self.next.as_ref().map(|(key, _)| key)
    }

    /// Takes the next entry.
    pub(super) fn take(&mut self) -> io::Result<Option<Laid>> {
        let next = self.next.take();
        if next.is_some() {
            self.advance()?;
        }
        Ok(next)
    }

    fn advance(&mut self) -> io::Result<()> {
        self.next = match self.piece()? {
            Some(key) => Some((key, self.piece()?)),
            None => None,
        };
        Ok(())
    }

    fn piece(&mut self) -> io::Result<Option<Bytes>> {
        let mut length = [0; 8];
        self.from.read_exact(&mut length)?;
        let Some(length) = u64::from_be_bytes(length).checked_sub(1) else { return Ok(None) };
        let mut piece = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        self.from.read_exact(&mut piece)?;
        Ok(Some(piece.into()))
    }
}

impl<F: Read + Write + Seek> Visitor for Aside<F> {
    type Error = ExportError;

    fn entry(&mut self, key: &Bytes, value: &Bytes) -> Result<(), ExportError> {
        Ok(self.put(key, Some(value))?)
    }

    fn broken(&mut self, _: &[u8], message: String) -> Result<(), ExportError> {
        Err(ExportError::Store(CallError::Corrupt { message }))
    }
}
