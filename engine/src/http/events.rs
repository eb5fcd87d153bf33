//! Server-sent events, as they come.
//!
//! Lines are split by a parser that knows all the ends a line may have. What is here puts lines
//! together to events, and minds how long one may grow. Data are bytes: whoever reads them says
//! whether they are text.

use bytes::BytesMut;
use sseer::parser::{RawEventLineOwned, parse_line_from_buffer};

use super::{Body, BodyFault};

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its name; `message` if it has none.
    pub(crate) name: String,
    /// Its data; several lines are joined.
    pub(crate) data: Vec<u8>,
}

/// The events of a body.
pub(crate) struct Events<'s> {
    body: Body<'s>,
    parser: Parser,
    has_ended: bool,
}

impl<'s> Events<'s> {
    /// Returns the events of a body, of which one may have `limit` bytes.
    pub(crate) fn new(body: Body<'s>, limit: usize) -> Self {
        Self { body, parser: Parser::new(limit), has_ended: false }
    }

    /// Returns the next event, or none at the end. One that the body ends in the midst of is none.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, BodyFault> {
        loop {
            if let Some(event) = self.parser.next()? {
                return Ok(Some(event));
            }
            if self.has_ended {
                return Ok(None);
            }
            match self.body.piece().await? {
                Some(piece) => self.parser.push(&piece),
                None => {
                    self.has_ended = true;
                    self.parser.end();
                }
            }
        }
    }
}

/// The mark that a text may begin with, and which is not part of it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

struct Parser {
    buffer: BytesMut,
    /// How much of the buffer has been looked through for the end of a line.
    scanned: usize,
    has_begun: bool,
    name: String,
    data: Option<Vec<u8>>,
    limit: usize,
}

impl Parser {
    fn new(limit: usize) -> Self {
        let (name, buffer) = (String::new(), BytesMut::new());
        Self { buffer, scanned: 0, has_begun: false, name, data: None, limit }
    }

    fn push(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
    }

    /// Says that nothing more comes: a return at the end is the end of a line, then.
    fn end(&mut self) {
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.extend_from_slice(b"\n");
        }
    }

    fn next(&mut self) -> Result<Option<Event>, BodyFault> {
        if !self.has_begun && !self.begin() {
            return Ok(None);
        }
        while let Some(line) = parse_line_from_buffer(&mut self.buffer, &mut self.scanned) {
            let event = self.line(line);
            self.mind(0)?;
            if event.is_some() {
                return Ok(event);
            }
        }
        self.mind(self.buffer.len())?;
        Ok(None)
    }

    /// Drops the mark at the beginning, if it is there. Returns whether that is known yet.
    fn begin(&mut self) -> bool {
        if self.buffer.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&self.buffer) {
            return false;
        }
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            let _mark = self.buffer.split_to(BYTE_ORDER_MARK.len());
        }
        self.has_begun = true;
        true
    }

    fn line(&mut self, line: RawEventLineOwned) -> Option<Event> {
        let (name, value) = match line {
            RawEventLineOwned::Comment => return None,
            RawEventLineOwned::Empty => {
                let name = std::mem::take(&mut self.name);
                let name = if name.is_empty() { "message".to_owned() } else { name };
                return self.data.take().map(|data| Event { name, data });
            }
            RawEventLineOwned::Field { field_name, field_value } => {
                (field_name, field_value.unwrap_or_default())
            }
        };
        match &*name {
            b"event" => self.name = String::from_utf8_lossy(&value).into_owned(),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(&value);
                }
                None => self.data = Some(value.to_vec()),
            },
            // To be taken up again is nothing that the other side can offer.
            _ => {}
        }
        None
    }

    /// Refuses an event that grows too long, with what has come of its next line.
    fn mind(&self, more: usize) -> Result<(), BodyFault> {
        let data = self.data.as_ref().map_or(0, Vec::len);
        let size = data.saturating_add(self.name.len()).saturating_add(more);
        if size > self.limit { Err(BodyFault::TooLarge(self.limit)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use super::*;

    fn read(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<(String, String)> {
        let mut parser = Parser::new(1 << 20);
        let mut events = Vec::new();
        let mut drain = |parser: &mut Parser| {
            while let Some(event) = parser.next().unwrap() {
                events.push((event.name, String::from_utf8_lossy(&event.data).into_owned()));
            }
        };
        for piece in pieces {
            parser.push(piece.as_ref());
            drain(&mut parser);
        }
        parser.end();
        drain(&mut parser);
        events
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    #[test]
    fn a_space_after_the_colon_is_no_part_of_a_value_and_need_not_be_there() {
        assert_eq!(read(["event:a\ndata:x\n\n"]), [event("a", "x")]);
        assert_eq!(read(["event: a\ndata:  x\n\n"]), [event("a", " x")]);
    }

    #[test]
    fn lines_end_in_any_way_and_data_in_several_are_joined() {
        for end in ["\n", "\r\n", "\r"] {
            let text =
                ["event: a", "data: 1", ": note", "data", "data: 2", "id: 7", "", ""].join(end);
            assert_eq!(read([&text]), [event("a", "1\n\n2")], "{end:?}");
        }
    }

    #[test]
    fn an_event_without_data_is_none_and_leaves_no_name_behind() {
        assert_eq!(read(["event: a\n\ndata: x\n\n"]), [event("message", "x")]);
        assert_eq!(read(["retry: 3\n\n:\n\n"]), []);
    }

    #[test]
    fn bytes_may_come_one_by_one() {
        let text = "\u{feff}event: a\r\ndata: häß\u{1f980}\r\n\r\ndata: y\n\n";
        let whole = read([text]);
        assert_eq!(whole, [event("a", "häß\u{1f980}"), event("message", "y")]);
        assert_eq!(read(text.as_bytes().chunks(1)), whole);
    }

    #[test]
    fn an_event_that_is_cut_off_is_none() {
        assert_eq!(read(["data: x\n"]), []);
        assert_eq!(read(["data: x\n\ndata: y"]), [event("message", "x")]);
        assert_eq!(read(["data: x\r\r"]), [event("message", "x")]);
    }

    #[test]
    fn an_event_grows_no_longer_than_its_limit() {
        let line = format!("data: {}\n", "x".repeat(40));
        let mut parser = Parser::new(100);
        parser.push(line.repeat(2).as_bytes());
        assert!(parser.next().unwrap().is_none());
        parser.push(line.as_bytes());
        assert!(matches!(parser.next(), Err(BodyFault::TooLarge(100))));
        let mut endless = Parser::new(100);
        endless.push("x".repeat(101).as_bytes());
        assert!(matches!(endless.next(), Err(BodyFault::TooLarge(100))));
        let mut many = Parser::new(100);
        many.push("data: x\n\n".repeat(50).as_bytes());
        assert_eq!((0..50).filter(|_| many.next().unwrap().is_some()).count(), 50);
        assert!(many.next().unwrap().is_none());
    }
}
