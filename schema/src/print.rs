//! The one way to print a tree: lines, indentation, and where the comments go.
//!
//! A tree is printed as entries, each beginning its own line ([`Entry`]). What an entry consists
//! of stands on its line as long as it fits; a record or list that does not fit gets a line for
//! each of its own entries. A comment stays where it stands: above an entry, behind it, behind
//! the bracket that opens a block, before the one that closes it. One in the middle of a line
//! moves above the line.
//!
//! Without comments and without a width this is the canonical form (`canonical.rs`); with both it
//! is the formatter (`format.rs`).
//!
//! Invariant: comments are printed in their order, each once ([`Printer::comments`] only
//! shrinks, from the front, and [`Printer::finish`] leaves none).

mod atom;
mod interface;
mod item;
mod package;
mod types;

use crate::ast::{Comment, Name, Text};
use crate::literal::quoted;
use crate::source::Place;

/// Something that begins its own line.
trait Entry {
    /// The whole entry.
    fn place(&self) -> Place;

    /// The parts that may have a line for each of their own entries, in order.
    fn blocks(&self) -> Vec<Place>;

    /// Prints it, without the line end.
    fn print(&self, printer: &mut Printer<'_>);

    /// An empty line sets it off from its neighbours.
    fn apart(&self) -> bool {
        false
    }
}

/// What has been printed, and the comments that have not.
pub(crate) struct Printer<'a> {
    out: String,
    depth: usize,
    /// How many characters a line may have, if it matters.
    width: Option<usize>,
    /// The text that the tree was read from; empty if its layout does not matter.
    text: &'a str,
    comments: &'a [Comment],
    /// Behind the last thing of the text that was printed.
    behind: usize,
}

impl<'a> Printer<'a> {
    /// Prints with the comments and empty lines of a text.
    pub(crate) fn formatting(text: &'a str, comments: &'a [Comment], width: usize) -> Self {
        let out = String::with_capacity(text.len());
        Self { out, depth: 0, width: Some(width), text, comments, behind: 0 }
    }

    /// Prints what matters only.
    pub(crate) fn canonical() -> Self {
        Self { out: String::new(), depth: 0, width: None, text: "", comments: &[], behind: 0 }
    }

    /// Prints the items of a file and everything that is left.
    pub(crate) fn finish(mut self, items: &[crate::ast::Item]) -> String {
        self.entries(items, self.text.len(), "");
        self.out
    }

    // Pieces of a line.

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, name: &Name) {
        self.out.push_str(&name.value);
    }

    /// `NAME id "…"`, a kind before it.
    fn heading(&mut self, kind: &str, name: &Name, id: &Text) {
        self.push(kind);
        self.push(" ");
        self.name(name);
        self.push(" id ");
        self.push(&quoted(&id.value));
    }

    /// Tells whether a text of so many characters still fits on this line.
    fn fits(&self, characters: usize) -> bool {
        let Some(width) = self.width else { return true };
        let line = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.out[line..].chars().count() + characters <= width
    }

    fn start_line(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    // Blocks and their entries.

    /// Prints entries between brackets, one a line. `end` is where the block ends in the text.
    fn block<E: Entry>(&mut self, brackets: [&str; 2], entries: &[E], end: usize, mark: &str) {
        let [opening, closing] = brackets;
        self.push(opening);
        if entries.is_empty() && !self.comment_before(end) {
            self.push(closing);
            return;
        }
        let first = entries.first().map_or(end, |entry| start(entry.place()));
        self.comment_behind_bracket(opening, first);
        self.push("\n");
        self.depth += 1;
        self.entries(entries, end, mark);
        self.depth -= 1;
        self.start_line();
        self.push(closing);
    }

    fn entries<E: Entry>(&mut self, entries: &[E], end: usize, mark: &str) {
        let mut before: Option<&E> = None;
        for entry in entries {
            let place = entry.place();
            let hoisted = entry
                .blocks()
                .into_iter()
                .find(|block| self.comment_in(*block))
                .map_or(place.end as usize, start);
            let mut gap = match before {
                None => Gap::Top,
                Some(before) if before.apart() || entry.apart() => Gap::Wanted,
                Some(_) => Gap::AsWritten,
            };
            self.comments_above(hoisted, &mut gap);
            self.gap(start(place), gap);
            self.start_line();
            entry.print(self);
            self.push(mark);
            self.comments_behind(place);
            self.push("\n");
            before = Some(entry);
        }
        let mut gap = if before.is_some() { Gap::AsWritten } else { Gap::Top };
        self.comments_above(end, &mut gap);
    }

    // Comments and empty lines.

    fn comment_before(&self, end: usize) -> bool {
        self.comments.first().is_some_and(|comment| start(comment.place) < end)
    }

    fn comment_in(&self, block: Place) -> bool {
        let range = block.range();
        self.comments.iter().map(|comment| start(comment.place)).any(|at| range.contains(&at))
    }

    /// Takes and prints the next comment.
    fn comment(&mut self) {
        let Some((comment, rest)) = self.comments.split_first() else { return };
        for (at, line) in comment.text.lines().enumerate() {
            self.push(if at == 0 { "" } else { "\n" });
            self.push(line.trim_end());
        }
        self.comments = rest;
        self.behind = self.behind.max(comment.place.end as usize);
    }

    /// Prints every comment that begins before an offset on a line of its own.
    fn comments_above(&mut self, end: usize, gap: &mut Gap) {
        while let Some(comment) = self.comments.first()
            && start(comment.place) < end
        {
            self.gap(start(comment.place), std::mem::replace(gap, Gap::AsWritten));
            self.start_line();
            self.comment();
            self.push("\n");
        }
    }

    /// Prints the comments that are left of an entry, and those behind it on its line. Nothing can
    /// stand behind a line comment: what comes then is left to the lines below.
    fn comments_behind(&mut self, place: Place) {
        let end = place.end as usize;
        self.behind = self.behind.max(end);
        while let Some(comment) = self.comments.first() {
            let at = start(comment.place);
            let same_line = at >= self.behind && !self.text[self.behind..at].contains('\n');
            if at >= end && !(same_line && self.ends_line()) {
                return;
            }
            self.push(" ");
            self.comment();
            if comment.text.starts_with("//") {
                return;
            }
        }
    }

    /// Prints a comment that stands behind the bracket that opens a block.
    fn comment_behind_bracket(&mut self, bracket: &str, first: usize) {
        if let Some(comment) = self.comments.first() {
            let at = start(comment.place);
            let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let bracket = bracket.trim_start_matches(|c: char| c.is_alphabetic() || c == ' ');
            if at < first && self.text[line..at].trim_end().ends_with(bracket) && self.ends_line() {
                self.push(" ");
                self.comment();
            }
        }
    }

    /// Tells whether nothing but comments stands between the next comment and the end of its line.
    fn ends_line(&self) -> bool {
        let Some((comment, later)) = self.comments.split_first() else { return false };
        let mut at = comment.place.end as usize;
        for next in later {
            let between = &self.text[at..start(next.place)];
            if between.contains('\n') || !between.trim().is_empty() {
                break;
            }
            at = next.place.end as usize;
        }
        let rest = &self.text[at..];
        rest[..rest.find('\n').unwrap_or(rest.len())].trim().is_empty()
    }

    /// Prints the empty line before what begins at an offset, if there is to be one.
    fn gap(&mut self, at: usize, gap: Gap) {
        let empty = match gap {
            Gap::Top => false,
            Gap::Wanted => true,
            Gap::AsWritten => {
                self.behind < at && self.text.get(self.behind..at).is_some_and(has_empty_line)
            }
        };
        if empty {
            self.push("\n");
        }
    }
}

/// Whether an empty line comes next.
#[derive(Clone, Copy)]
enum Gap {
    /// None: a block or file begins here.
    Top,
    /// One, if there are any in the text.
    AsWritten,
    /// One.
    Wanted,
}

fn start(place: Place) -> usize {
    place.start as usize
}

fn has_empty_line(text: &str) -> bool {
    let mut lines = text.split('\n');
    // The first and the last part are the rest and the beginning of lines with something on them.
    lines.next();
    lines.next_back();
    lines.any(|line| line.trim().is_empty())
}
