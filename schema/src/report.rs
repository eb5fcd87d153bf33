//! Where the faults of a run are gathered.
//!
//! Three rules keep one fault from making ten reports. What did not resolve is taken for right by
//! everything that uses it (`check/unknown.rs`). That something is *missing* is not said when it
//! may well stand in a text that could not be read: see [`Report::push_absent`]. And a place
//! that could not be read is not blamed for its meaning: see [`Report::is_unread`].

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::lexer::{TokenKind, lex};
use crate::literal::unescape;
use crate::source::{Place, SourceId, Sources};
use crate::suggest::meant;

/// In how many other places a report shows that something is missed.
const SHOWN: usize = 6;

/// How many faults get advice.
const ADVISED: usize = 500;

/// The faults found so far.
pub(crate) struct Report<'a> {
    sources: &'a Sources,
    found: Vec<Diagnostic>,
    /// What is missing, by its name.
    absent: Vec<(String, Diagnostic)>,
    /// Faults of characters, tokens and grammar.
    unread: Vec<Diagnostic>,
    unread_places: BTreeMap<SourceId, Ranges>,
    distrusted: BTreeSet<SourceId>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(sources: &'a Sources) -> Self {
        Self {
            sources,
            found: Vec::new(),
            absent: Vec::new(),
            unread: Vec::new(),
            unread_places: BTreeMap::new(),
            distrusted: BTreeSet::new(),
        }
    }

    /// Adds the faults of a text that could not be read whole.
    pub(crate) fn push_unread(&mut self, source: SourceId, faults: Vec<Diagnostic>) {
        if !faults.is_empty() {
            self.distrusted.insert(source);
            self.unread_places.insert(source, Ranges::of(faults.iter().map(|it| it.place)));
            self.unread.extend(faults);
        }
    }

    /// Tells whether something in a place, or next to it, could not be read, so that nothing
    /// follows from what was.
    pub(crate) fn is_unread(&self, place: Place) -> bool {
        self.unread_places.get(&place.source).is_some_and(|ranges| ranges.touch(place))
    }

    /// Adds a fault.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Adds the fault that something of this name is missing.
    ///
    /// It is dropped if a distrusted text has the name at another place: there it may be
    /// defined. What is missed in several places is one fault.
    pub(crate) fn push_absent(&mut self, name: &str, diagnostic: Diagnostic) {
        self.absent.push((name.to_owned(), diagnostic));
    }

    /// Returns ``did you mean `NAME`?`` for the known name that a wrong one may stand for, if any.
    pub(crate) fn did_you_mean<'n>(
        &self,
        wrong: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Option<String> {
        self.meant(wrong, known).map(|name| format!("did you mean `{name}`?"))
    }

    /// Returns the known name that a wrong one may stand for, if any. Once there are more faults
    /// than anybody reads, there is no more advice: comparing tens of thousands of names with as
    /// many would take minutes.
    pub(crate) fn meant<'n>(
        &self,
        wrong: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        (self.found.len() + self.absent.len() < ADVISED).then(|| meant(wrong, known))?
    }

    /// Says that a text did not give all that stands in it.
    pub(crate) fn distrust(&mut self, source: SourceId) {
        self.distrusted.insert(source);
    }

    /// Tells whether a text did not give all that stands in it.
    pub(crate) fn distrusts(&self, source: SourceId) -> bool {
        self.distrusted.contains(&source)
    }

    /// Tells whether every text gave all that stands in it.
    pub(crate) fn trusts_all(&self) -> bool {
        self.distrusted.is_empty()
    }

    /// Tells whether there is an error so far.
    pub(crate) fn has_errors(&self) -> bool {
        !self.unread.is_empty()
            || !self.absent.is_empty()
            || self.found.iter().any(|it| it.code.severity() == Severity::Error)
    }

    /// Returns everything in the order of the sources, each fault once.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.add_absent();
        let mut all = std::mem::take(&mut self.found);
        all.retain(|it| !self.is_unread(it.place));
        all.append(&mut self.unread);
        in_order(&mut all);
        all
    }

    /// Adds what is missing for sure.
    fn add_absent(&mut self) {
        let words = self.words_of_distrusted();
        let mut missed: Vec<_> = std::mem::take(&mut self.absent)
            .into_iter()
            .filter(|(name, it)| {
                words.get(name).is_none_or(|places| places.iter().all(|at| within(*at, it.place)))
            })
            .map(|(_, it)| it)
            .collect();
        in_order(&mut missed);
        let mut places: BTreeMap<(Code, String), Vec<Place>> = BTreeMap::new();
        for diagnostic in missed {
            let key = (diagnostic.code, diagnostic.message.clone());
            let others = places.entry(key).or_default();
            others.push(diagnostic.place);
            if others.len() == 1 {
                self.found.push(diagnostic);
            }
        }
        for diagnostic in &mut self.found {
            let key = (diagnostic.code, diagnostic.message.clone());
            // Taken out, since another fault may say the same.
            let Some(places) = places.remove(&key) else { continue };
            diagnostic.labels.extend(also_missed(&places[1..]));
        }
    }

    /// Returns where the distrusted texts have which words, in comments too, since one may not
    /// have been meant to be so long; and which strings, which may be ids.
    fn words_of_distrusted(&self) -> BTreeMap<String, Vec<Place>> {
        let mut words: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        for source in &self.distrusted {
            let text = &self.sources.get(*source).text;
            let strings = lex(*source, text).tokens.into_iter();
            for token in strings.filter(|it| it.kind == TokenKind::Text) {
                let (value, _) = unescape(self.sources.text_at(token.place));
                words.entry(value).or_default().push(token.place);
            }
            let mut start = 0;
            for piece in text.split_inclusive(is_between) {
                let word = piece.trim_end_matches(is_between);
                let place = Place {
                    source: *source,
                    start: offset(start),
                    end: offset(start + word.len()),
                };
                words.entry(word.to_owned()).or_default().push(place);
                start += piece.len();
            }
        }
        words
    }
}

/// Returns labels for the other places where something is missed, few enough to be read.
fn also_missed(places: &[Place]) -> Vec<(Place, String)> {
    let (shown, rest) = places.split_at(places.len().min(SHOWN));
    let mut labels: Vec<_> = shown.iter().map(|it| (*it, "and here".to_owned())).collect();
    if let Some((_, label)) = labels.last_mut().filter(|_| !rest.is_empty()) {
        *label = format!("and here, and in {} more", rest.len());
    }
    labels
}

/// Ranges of one text, which may overlap.
struct Ranges {
    /// Where they start, in order.
    starts: Vec<u32>,
    /// The last end of each and all before it.
    ends: Vec<u32>,
}

impl Ranges {
    fn of(places: impl Iterator<Item = Place>) -> Self {
        let mut places: Vec<_> = places.collect();
        places.sort();
        let mut last = 0;
        let ends = places.iter().map(|it| {
            last = last.max(it.end);
            last
        });
        let ends = ends.collect();
        Self { starts: places.iter().map(|it| it.start).collect(), ends }
    }

    /// Tells whether one of them overlaps a place, or ends or begins where it does.
    fn touch(&self, place: Place) -> bool {
        let before = self.starts.partition_point(|start| *start <= place.end);
        before > 0 && self.ends[before - 1] >= place.start
    }
}

fn within(inner: Place, outer: Place) -> bool {
    inner.source == outer.source && outer.start <= inner.start && inner.end <= outer.end
}

/// Sorts by place, and drops what was found twice.
fn in_order(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|it| (it.place, it.code));
    diagnostics.dedup();
}

/// Tells whether a letter is of no word.
fn is_between(letter: char) -> bool {
    !letter.is_alphanumeric() && letter != '_' && letter != '-'
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("a text has fewer than 2^32 bytes")
}
