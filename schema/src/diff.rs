//! What changed between two revisions, and who survives it.
//!
//! Things are the same thing if they have the same id: packages, interfaces, atoms and their
//! slots, operations and their requirements. Members and types have no id and go by name. A
//! change is told where it was made: of a named type once, not wherever the type is used.
//!
//! Three may have to follow a change: stored data, callers (who know members, roots and their
//! types by name, as JSON has them), and handlers (who know what is generated for them).

mod atoms;
mod implements;
mod interfaces;
mod operations;
mod parts;
mod render;
mod roles;
mod types;

use std::collections::BTreeMap;

use crate::definitions::{Definitions, PackageIndex};
use crate::source::{Place, Sources};

pub use render::{render_changes_json, render_changes_text};

/// How bad a change is for someone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Impact {
    /// Nothing has to follow.
    Safe,
    /// Stored data must be converted.
    NeedsMigration,
    /// Callers or handlers must be changed.
    Breaking,
}

/// Who may have to follow a change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Concern {
    /// What stores hold.
    Data,
    /// Hosts and clients that use members and roots.
    Callers,
    /// Operations, which are written against generated code.
    Handlers,
}

/// A difference between two revisions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// What is different: ``state `data` of `AgentObject` removed``.
    pub message: String,
    /// Who has to follow, and how far; those who need not are left out.
    pub effects: BTreeMap<Concern, Impact>,
    /// Where it stood in the old revision.
    pub old: Option<Place>,
    /// Where it stands in the new one.
    pub new: Option<Place>,
}

impl Change {
    /// Returns the worst of the effects.
    #[must_use]
    pub fn impact(&self) -> Impact {
        self.effects.values().copied().max().unwrap_or(Impact::Safe)
    }

    /// Returns the effect on someone.
    #[must_use]
    pub fn impact_on(&self, concern: Concern) -> Impact {
        self.effects.get(&concern).copied().unwrap_or(Impact::Safe)
    }
}

/// Returns what changed from one revision to another, the worst first.
#[must_use]
pub fn diff(old: &Definitions, new: &Definitions) -> Vec<Change> {
    let mut diff = Diff { old, new, changes: Vec::new() };
    diff.packages();
    diff.types();
    diff.interfaces();
    diff.atoms();
    diff.operations();
    let mut changes = diff.changes;
    changes.sort_by_key(|it| std::cmp::Reverse(it.impact()));
    changes
}

/// The state of a comparison.
struct Diff<'d> {
    old: &'d Definitions,
    new: &'d Definitions,
    changes: Vec<Change>,
}

/// Effects, as they are written down.
type Effects<'e> = &'e [(Concern, Impact)];

const HANDLERS: (Concern, Impact) = (Concern::Handlers, Impact::Breaking);
const CALLERS: (Concern, Impact) = (Concern::Callers, Impact::Breaking);
const DATA: (Concern, Impact) = (Concern::Data, Impact::NeedsMigration);

impl<'d> Diff<'d> {
    fn packages(&mut self) {
        for old in &self.old.packages {
            let place = head(&self.old.sources, old.place, &old.name);
            match self.new.packages.iter().find(|it| it.id == old.id) {
                None => {
                    let message = format!("package `{}` removed", old.name);
                    self.removed(message, place, &[DATA, CALLERS, HANDLERS]);
                }
                Some(new) if new.name != old.name => {
                    let message = format!("package `{}` renamed to `{}`", old.name, new.name);
                    let to = head(&self.new.sources, new.place, &new.name);
                    self.changed(message, place, to, &[HANDLERS]);
                }
                Some(_) => {}
            }
        }
        for new in &self.new.packages {
            if self.old.packages.iter().all(|it| it.id != new.id) {
                let message = format!("package `{}` added, with handlers of its own", new.name);
                self.added(message, head(&self.new.sources, new.place, &new.name), &[]);
            }
        }
    }

    /// Tells whether what a package defined is gone with the whole package.
    fn is_gone(&self, package: PackageIndex) -> bool {
        let id = &self.old.package(package).id;
        self.new.packages.iter().all(|it| it.id != *id)
    }

    /// Tells whether what a package defines came with the whole package.
    fn is_new(&self, package: PackageIndex) -> bool {
        let id = &self.new.package(package).id;
        self.old.packages.iter().all(|it| it.id != *id)
    }

    fn removed(&mut self, message: String, old: Place, effects: Effects<'_>) {
        self.push(message, Some(old), None, effects);
    }

    fn added(&mut self, message: String, new: Place, effects: Effects<'_>) {
        self.push(message, None, Some(new), effects);
    }

    fn changed(&mut self, message: String, old: Place, new: Place, effects: Effects<'_>) {
        self.push(message, Some(old), Some(new), effects);
    }

    fn push(
        &mut self,
        message: String,
        old: Option<Place>,
        new: Option<Place>,
        effects: Effects<'_>,
    ) {
        let mut worst = BTreeMap::new();
        for (concern, impact) in effects.iter().copied() {
            if impact > Impact::Safe {
                let known = worst.entry(concern).or_insert(impact);
                *known = impact.max(*known);
            }
        }
        self.changes.push(Change { message, effects: worst, old, new });
    }

    /// Reports that a thing of one id has another name or stands in another package, both of
    /// which generated code shows.
    fn identity(&mut self, kind: &str, old: Named<'_>, new: Named<'_>, effects: Effects<'_>) {
        let (from, to) = (old.head(self.old), new.head(self.new));
        if old.name != new.name {
            let message = format!("{kind} `{}` renamed to `{}`", old.name, new.name);
            self.changed(message, from, to, effects);
        }
        let packages = (self.old.package(old.package), self.new.package(new.package));
        if packages.0.id != packages.1.id {
            let message = format!(
                "{kind} `{}` moved from package `{}` to `{}`",
                new.name, packages.0.name, packages.1.name
            );
            self.changed(message, from, to, &[HANDLERS]);
        }
    }
}

/// A thing with a name.
#[derive(Clone, Copy)]
struct Named<'n> {
    name: &'n str,
    package: PackageIndex,
    place: Place,
}

impl Named<'_> {
    fn head(&self, of: &Definitions) -> Place {
        head(&of.sources, self.place, self.name)
    }
}

/// Returns the part of a place that ends with a name, so that it stays on a line.
fn head(sources: &Sources, place: Place, name: &str) -> Place {
    let end = sources.text_at(place).find(name).map_or(0, |at| at + name.len());
    let end = u32::try_from(end).expect("within a place");
    Place { end: place.start + end, ..place }
}
