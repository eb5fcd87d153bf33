//! Operations: what handlers are written against.
//!
//! That callers see another input or output is told of the member, not of the operation that
//! serves it.

use super::roles::Role;
use super::{CALLERS, Diff, HANDLERS, Named, head};
use crate::definitions::{
    Definitions, Execution, Operation, Requirement, RequirementKind, Target, Verb,
};
use crate::difference::{In, same_interface};
use crate::source::Place;

impl Diff<'_> {
    pub(super) fn operations(&mut self) {
        let (before, after) = (self.old, self.new);
        for old in &before.operations {
            if self.is_gone(old.package) {
                continue;
            }
            match after.operations.iter().find(|it| it.id == old.id) {
                None => {
                    let message = format!("operation `{}` removed", old.name);
                    self.removed(message, named(old).head(before), &[HANDLERS]);
                }
                Some(new) => self.operation(old, new),
            }
        }
        for new in &after.operations {
            if !self.is_new(new.package) && before.operations.iter().all(|it| it.id != new.id) {
                let message = format!("operation `{}` added, which needs a handler", new.name);
                self.added(message, named(new).head(after), &[HANDLERS]);
            }
        }
    }

    fn operation(&mut self, old: &Operation, new: &Operation) {
        self.identity("operation", named(old), named(new), &[HANDLERS]);
        let places = (named(old).head(self.old), named(new).head(self.new));
        let subject = format!("operation `{}`", new.name);
        let types = (&old.input, &new.input);
        self.type_parts(&format!("input of {subject}"), types, places, &[Role::Taken]);
        let types = (&old.output, &new.output);
        self.type_parts(&format!("output of {subject}"), types, places, &[Role::Given]);
        if old.execution != new.execution {
            let word = |it| match it {
                Execution::Transaction => "transaction",
                Execution::Query => "query",
            };
            let message =
                format!("{subject}: was a {}, is a {}", word(old.execution), word(new.execution));
            self.changed(message, places.0, places.1, &[]);
        }
        for target in old.targets.iter().filter(|it| !new.targets.contains(it)) {
            let message = format!("{subject} no longer runs on a {}", target_word(*target));
            self.changed(message, places.0, places.1, &[CALLERS]);
        }
        for target in new.targets.iter().filter(|it| !old.targets.contains(it)) {
            let message = format!("{subject} also runs on a {}", target_word(*target));
            self.changed(message, places.0, places.1, &[]);
        }
        self.requirements(old, new);
    }

    fn requirements(&mut self, old: &Operation, new: &Operation) {
        for before in &old.requirements {
            match new.requirements.iter().find(|it| same_grant(it, before)) {
                Some(after) => self.requirement(new, before, after),
                None => {
                    let message = format!("`{}` no longer requires `{}`", new.name, before.name);
                    let place = head(&self.old.sources, before.place, &before.name);
                    self.removed(message, place, &[HANDLERS]);
                }
            }
        }
        for after in &new.requirements {
            if old.requirements.iter().all(|it| !same_grant(it, after)) {
                let message = format!("`{}` also requires `{}`", new.name, after.name);
                let place = head(&self.new.sources, after.place, &after.name);
                self.added(message, place, &[]);
            }
        }
    }

    fn requirement(&mut self, operation: &Operation, old: &Requirement, new: &Requirement) {
        let places = (
            head(&self.old.sources, old.place, &old.name),
            head(&self.new.sources, new.place, &new.name),
        );
        let subject = format!("`{}` in `{}`", new.name, operation.name);
        if old.name != new.name {
            let message =
                format!("`{}` in `{}` renamed to `{}`", old.name, operation.name, new.name);
            self.changed(message, places.0, places.1, &[HANDLERS]);
        }
        match (&old.kind, &new.kind) {
            (RequirementKind::State { ty: from, verbs }, RequirementKind::State { ty: to, .. })
            | (
                RequirementKind::Stream { ty: from, verbs },
                RequirementKind::Stream { ty: to, .. },
            ) => {
                self.type_parts(&subject, (from, to), places, &roles(verbs));
            }
            (
                RequirementKind::Edge { shape: from, .. },
                RequirementKind::Edge { shape: to, .. },
            ) => {
                if let Some(message) = self.shapes(&subject, from, to) {
                    self.changed(message, places.0, places.1, &[HANDLERS]);
                }
            }
            (RequirementKind::Creation(from), RequirementKind::Creation(to)) => {
                let (was, is) = (self.old.atom(from.atom), self.new.atom(to.atom));
                if was.id == is.id {
                    let types = (&from.input, &to.input);
                    self.type_parts(&format!("input of {subject}"), types, places, &[Role::Given]);
                } else {
                    let message =
                        format!("{subject}: created `{}`, creates `{}`", was.name, is.name);
                    self.changed(message, places.0, places.1, &[HANDLERS]);
                }
            }
            (
                RequirementKind::Interface { interface: from, .. },
                RequirementKind::Interface { interface: to, .. },
            ) => {
                if !same_interface(In::new(self.old, from), In::new(self.new, to)) {
                    let (was, is) = (self.old.interface_text(from), self.new.interface_text(to));
                    let message = format!("{subject}: was `{was}`, is `{is}`");
                    self.changed(message, places.0, places.1, &[HANDLERS]);
                    return;
                }
            }
            _ => {
                let message = format!("{subject}: was {}, is {}", kind(&old.kind), kind(&new.kind));
                self.changed(message, places.0, places.1, &[HANDLERS]);
                return;
            }
        }
        self.grants(&subject, old, new, places);
    }

    /// Reports verbs and members that are granted no more, or now.
    fn grants(
        &mut self,
        subject: &str,
        old: &Requirement,
        new: &Requirement,
        places: (Place, Place),
    ) {
        let (before, after) = (granted(self.old, old), granted(self.new, new));
        for word in before.iter().filter(|it| !after.contains(it)) {
            let message = format!("{subject} no longer grants `{word}`");
            self.changed(message, places.0, places.1, &[HANDLERS]);
        }
        for word in after.iter().filter(|it| !before.contains(it)) {
            let message = format!("{subject} also grants `{word}`");
            self.changed(message, places.0, places.1, &[]);
        }
    }
}

/// Returns what a handler does with a type under some verbs.
fn roles(verbs: &[Verb]) -> Vec<Role> {
    let role = |verb: &Verb| if *verb == Verb::Read { Role::Taken } else { Role::Given };
    verbs.iter().map(role).collect()
}

fn named(operation: &Operation) -> Named<'_> {
    Named { name: &operation.name, package: operation.package, place: operation.place }
}

/// Returns what a requirement grants: verbs, or members with theirs.
fn granted(of: &Definitions, requirement: &Requirement) -> Vec<String> {
    match &requirement.kind {
        RequirementKind::State { verbs, .. }
        | RequirementKind::Edge { verbs, .. }
        | RequirementKind::Stream { verbs, .. } => verbs.iter().map(ToString::to_string).collect(),
        RequirementKind::Creation(_) => Vec::new(),
        RequirementKind::Interface { interface, using } => {
            let members = &of.interface(interface.interface).members;
            using.iter().map(|it| format!("{}.{}", members[it.member].name, it.verb)).collect()
        }
    }
}

/// Tells whether two requirements grant the same: a slot, a creation or an interface of one id.
fn same_grant(one: &Requirement, other: &Requirement) -> bool {
    let family = |kind: &RequirementKind| match kind {
        RequirementKind::State { .. }
        | RequirementKind::Edge { .. }
        | RequirementKind::Stream { .. } => 0,
        RequirementKind::Creation(_) => 1,
        RequirementKind::Interface { .. } => 2,
    };
    one.id == other.id && family(&one.kind) == family(&other.kind)
}

fn kind(of: &RequirementKind) -> &'static str {
    match of {
        RequirementKind::State { .. } => "a state",
        RequirementKind::Edge { .. } => "an edge",
        RequirementKind::Stream { .. } => "a stream",
        RequirementKind::Creation(_) => "a creation",
        RequirementKind::Interface { .. } => "an interface",
    }
}

fn target_word(target: Target) -> &'static str {
    match target {
        Target::Server => "server",
        Target::Worker => "worker",
        Target::Client => "client",
    }
}
