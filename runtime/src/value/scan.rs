//! Reading the bytes of a value without making one.
//!
//! One walk serves all: it takes nothing on trust, so what it let pass can be handed to postcard,
//! whose own reading would accept numbers longer than they need be and lists of nothing without
//! end.

use crate::reference::ObjectRef;
use crate::value::{Expected, Fault, FieldLayout, Layout, Path, Shape, ValueError};

/// How many parts the items of lists in one value may have together when none of them takes a byte.
const MAX_HOLLOW: u64 = 1 << 16;

impl Layout {
    /// Checks that bytes are a value of this type, in the one form that it has.
    ///
    /// # Errors
    /// What is wrong, with the path and the offset.
    pub fn check(&self, bytes: &[u8]) -> Result<(), ValueError> {
        self.walk(bytes, |_, _, _| Ok(()))
    }

    /// Hands out every reference in a value, in the order of the definition, with where it is and
    /// what it may lead to. Nothing is read when the type has no references.
    ///
    /// # Errors
    /// The first error of `visit`, or that the bytes are no value of this type.
    pub fn references<E: From<ValueError>>(
        &self,
        bytes: &[u8],
        visit: impl FnMut(&Path<'_>, ObjectRef, &Expected) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.has_references() { self.walk(bytes, visit) } else { Ok(()) }
    }

    /// The same, and checks that the bytes are a value of this type.
    ///
    /// # Errors
    /// As [`Layout::references`].
    pub fn walk<E: From<ValueError>>(
        &self,
        bytes: &[u8],
        mut visit: impl FnMut(&Path<'_>, ObjectRef, &Expected) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reader = Reader::new(bytes);
        reader.value(self, &Path::Whole, &mut visit)?;
        Ok(reader.end()?)
    }

    /// Returns the string at the end of a way through records, by the positions of the fields. The
    /// text of strings before it is not looked at.
    ///
    /// # Errors
    /// When the bytes up to there are no value of this type, or there is no string there.
    pub fn string_at<'b>(&self, bytes: &'b [u8], fields: &[usize]) -> Result<&'b str, ValueError> {
        let mut reader = Reader::new(bytes);
        let mut layout = self;
        for &position in fields {
            let Shape::Record(all) = layout.shape() else { return Err(no_string(layout)) };
            let Some(field) = all.get(position) else { return Err(no_string(layout)) };
            for before in &all[..position] {
                reader.skip(before)?;
            }
            layout = &field.layout;
        }
        if *layout.shape() != Shape::String {
            return Err(no_string(layout));
        }
        reader.string(&Path::Whole)
    }

    /// Cuts the bytes of a record into those of its fields. The text of strings is not looked at.
    ///
    /// # Errors
    /// When it is no record, or the bytes are no value of it.
    pub fn fields<'b>(&self, bytes: &'b [u8]) -> Result<Vec<&'b [u8]>, ValueError> {
        let Shape::Record(fields) = self.shape() else {
            let fault = Fault::Mismatch { expected: "a record", found: self.shape().noun() };
            return Err(ValueError::new(&Path::Whole, None, fault));
        };
        let mut reader = Reader::new(bytes);
        let parts = fields.iter().map(|field| {
            let start = reader.at;
            reader.skip(field)?;
            Ok(&bytes[start..reader.at])
        });
        let parts = parts.collect::<Result<_, ValueError>>()?;
        reader.end()?;
        Ok(parts)
    }
}

fn no_string(layout: &Layout) -> ValueError {
    let fault = Fault::Mismatch { expected: "a string", found: layout.shape().noun() };
    ValueError::new(&Path::Whole, None, fault)
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    /// How many parts may still come that take no byte. A limit for each list would bound nothing
    /// where lists are items of a list.
    hollow: u64,
    /// Whether texts are only stepped over.
    skips: bool,
}

impl<'b> Reader<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0, hollow: MAX_HOLLOW, skips: false }
    }

    /// Reads over a field of the outermost record.
    fn skip(&mut self, field: &FieldLayout) -> Result<(), ValueError> {
        self.skips = true;
        let skipped =
            self.value(&field.layout, &Path::Whole.field(&field.name), &mut |_, _, _| Ok(()));
        self.skips = false;
        skipped
    }

    fn end(&self) -> Result<(), ValueError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            count => Err(self.fault(&Path::Whole, Fault::Trailing { count })),
        }
    }

    fn value<E: From<ValueError>>(
        &mut self,
        layout: &Layout,
        path: &Path<'_>,
        visit: &mut impl FnMut(&Path<'_>, ObjectRef, &Expected) -> Result<(), E>,
    ) -> Result<(), E> {
        match layout.shape() {
            Shape::Unit => {}
            Shape::Bool => {
                self.tag(path, "bool")?;
            }
            Shape::Int32 => {
                self.varint(path, 32, "an int32")?;
            }
            Shape::Uint32 => {
                self.varint(path, 32, "a uint32")?;
            }
            Shape::Int64 => {
                self.varint(path, 64, "an int64")?;
            }
            Shape::Uint64 => {
                self.varint(path, 64, "a uint64")?;
            }
            Shape::Float64 => self.float(path)?,
            Shape::String if self.skips => {
                self.sized(path, "a string")?;
            }
            Shape::String => {
                self.string(path)?;
            }
            Shape::Bytes => {
                self.sized(path, "bytes")?;
            }
            Shape::Optional(inner) => {
                if self.tag(path, "tag of an optional")? {
                    self.value(inner, path, visit)?;
                }
            }
            Shape::List(item) => self.list(item, path, visit)?,
            Shape::Record(fields) => {
                for field in fields {
                    self.value(&field.layout, &path.field(&field.name), visit)?;
                }
            }
            Shape::Reference(expected) => {
                let bytes = self.fixed::<{ ObjectRef::LEN }>(path, "a reference")?;
                visit(path, ObjectRef::from_bytes(bytes), expected)?;
            }
            Shape::Unusable => return Err(self.fault(path, Fault::Unusable).into()),
        }
        Ok(())
    }

    fn list<E: From<ValueError>>(
        &mut self,
        item: &Layout,
        path: &Path<'_>,
        visit: &mut impl FnMut(&Path<'_>, ObjectRef, &Expected) -> Result<(), E>,
    ) -> Result<(), E> {
        let length = self.varint(path, 64, "the length of a list")?;
        if item.is_hollow() {
            // Nothing to read, and no bytes that would bound the length.
            let parts = u64::from(item.parts());
            let limit = self.hollow / parts;
            if length > limit {
                return Err(self.fault(path, Fault::TooMany { length, limit }).into());
            }
            self.hollow -= length * parts;
            return Ok(());
        }
        for at in 0..length {
            // Each item takes at least a byte, so a length that lies ends here soon.
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            self.value(item, &path.item(at), visit)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        path: &Path<'_>,
        count: u64,
        noun: &'static str,
    ) -> Result<&'b [u8], ValueError> {
        let rest = &self.bytes[self.at..];
        match usize::try_from(count).ok().and_then(|count| rest.get(..count)) {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => Err(self.fault(path, Fault::Truncated { noun })),
        }
    }

    fn fixed<const N: usize>(
        &mut self,
        path: &Path<'_>,
        noun: &'static str,
    ) -> Result<[u8; N], ValueError> {
        let taken = self.take(path, N as u64, noun)?;
        Ok(taken.try_into().expect("as many were taken"))
    }

    fn tag(&mut self, path: &Path<'_>, what: &'static str) -> Result<bool, ValueError> {
        let start = self.at;
        match self.fixed::<1>(path, what)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [byte] => {
                self.at = start;
                Err(self.fault(path, Fault::BadTag { what, byte }))
            }
        }
    }

    /// Seven bits a byte, the lowest first, the high bit on all but the last.
    fn varint(
        &mut self,
        path: &Path<'_>,
        bits: u32,
        noun: &'static str,
    ) -> Result<u64, ValueError> {
        if let Some(byte) = self.bytes.get(self.at).filter(|byte| **byte < 0x80) {
            // As most are.
            self.at += 1;
            return Ok(u64::from(*byte));
        }
        let start = self.at;
        let fail = |fault| Err(ValueError::new(path, Some(start), fault));
        let mut number = 0_u64;
        for shift in (0..bits).step_by(7) {
            let [byte] = self.fixed::<1>(path, noun)?;
            let low = u64::from(byte & 0x7F);
            if shift + 7 > bits && low >> (bits - shift) != 0 {
                return fail(Fault::OutOfRange { noun });
            }
            number |= low << shift;
            if byte & 0x80 == 0 {
                let overlong = byte == 0 && shift > 0;
                return if overlong { fail(Fault::Overlong) } else { Ok(number) };
            }
        }
        fail(Fault::OutOfRange { noun })
    }

    fn float(&mut self, path: &Path<'_>) -> Result<(), ValueError> {
        let start = self.at;
        let float = f64::from_le_bytes(self.fixed(path, "a float64")?);
        if float.is_finite() {
            return Ok(());
        }
        self.at = start;
        Err(self.fault(path, Fault::NotFinite))
    }

    fn sized(&mut self, path: &Path<'_>, noun: &'static str) -> Result<&'b [u8], ValueError> {
        let length = self.varint(path, 64, "a length")?;
        self.take(path, length, noun)
    }

    fn string(&mut self, path: &Path<'_>) -> Result<&'b str, ValueError> {
        let bytes = self.sized(path, "a string")?;
        std::str::from_utf8(bytes).map_err(|_| {
            let start = self.at - bytes.len();
            ValueError::new(path, Some(start), Fault::BadUtf8)
        })
    }

    fn fault(&self, path: &Path<'_>, fault: Fault) -> ValueError {
        ValueError::new(path, Some(self.at), fault)
    }
}
