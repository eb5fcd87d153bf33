//! Calls, as a program sends them that speaks JSON.
//!
//! | line | what it does |
//! | --- | --- |
//! | `request.claim {…}` | uses a member of an object of the small world, with an input or none |
//! | `!thread.activate "@request"` | the same as an operator who may call what is internal |
//! | `create WorkspaceObject {…}` | creates |
//! | `+90` | moves the clock by as many minutes |
//!
//! `@thread` stands for a reference, so that an input does not depend on ids; `_` is what was
//! answered last, if that was one.

use std::collections::BTreeMap;
use std::time::Duration;

use quixos_runtime::verify::{Finding, VerifyKind};
use quixos_runtime::{CallError, ObjectRef, blocking, parse_reference, reference_text};
use serde_json::Value as Json;

use crate::sound::assert_expected;
use crate::world::{Start, World};

/// How many lines are played.
const LINES: usize = 48;

/// A line for every operation.
pub const EVERY_OPERATION: &str = include_str!("../../corpus/calls/every_operation");

/// Plays lines in the small world. It must be that
///
/// - no call breaks off, and none finds the store damaged;
/// - a call that fails leaves the store as it was, byte for byte;
/// - a preview comes to the same, and leaves the store as it was;
/// - `verify` finds nothing in the end; where something internal was called, nothing but broken
///   promises of a package, which are then the caller's to keep.
pub fn calls(bytes: &[u8]) {
    let world = World::new();
    let text = String::from_utf8_lossy(bytes);
    Lines::new(&world, &Start::get().objects, true).run(&text);
    assert_clean(&world, text.lines().any(|line| line.starts_with('!')));
    world.runtime.close();
}

/// Checks that `verify` finds nothing, or nothing but what an internal call may have broken.
pub(crate) fn assert_clean(world: &World, internal: bool) {
    let report = blocking(world.runtime.verify()).expect("a store in memory can be read");
    let is_broken = |it: &Finding| !internal || it.kind != VerifyKind::Invariant;
    let broken: Vec<_> = report.findings.into_iter().filter(is_broken).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Lines being played.
pub(crate) struct Lines<'w> {
    world: &'w World,
    objects: BTreeMap<&'static str, ObjectRef>,
    /// Whether nothing is wrong with the store.
    is_clean: bool,
}

/// What a line asks for.
enum Asked<'l> {
    Create { atom: &'l str },
    Member { on: ObjectRef, member: &'l str },
}

impl<'w> Lines<'w> {
    pub(crate) fn new(
        world: &'w World,
        objects: &BTreeMap<&'static str, ObjectRef>,
        is_clean: bool,
    ) -> Self {
        Self { world, objects: objects.clone(), is_clean }
    }

    pub(crate) fn run(&mut self, text: &str) {
        for line in text.lines().take(LINES) {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        if let Some(minutes) = line.strip_prefix('+') {
            let minutes = minutes.trim().parse::<u16>().unwrap_or_default();
            return self.world.clock.advance(Duration::from_secs(60 * u64::from(minutes)));
        }
        let (line, internal) = match line.strip_prefix('!') {
            Some(line) => (line, true),
            None => (line, false),
        };
        let (name, rest) = line.split_once([' ', '.']).unwrap_or((line, ""));
        let (member, input) = rest.split_once(' ').unwrap_or((rest, "null"));
        let Ok(input) = serde_json::from_str::<Json>(input) else { return };
        let input = self.filled(input);
        let asked = match self.objects.get(name) {
            Some(on) => Asked::Member { on: *on, member },
            None if name == "create" => Asked::Create { atom: member },
            None => return,
        };
        self.ask(&asked, &input, internal);
    }

    /// Puts references where their names stand.
    fn filled(&self, input: Json) -> Json {
        match input {
            Json::String(text) => {
                match text.strip_prefix('@').and_then(|it| self.objects.get(it)) {
                    Some(on) => reference_text(self.world.runtime.definitions(), *on).into(),
                    None => text.into(),
                }
            }
            Json::Array(items) => items.into_iter().map(|it| self.filled(it)).collect(),
            Json::Object(members) => Json::Object(
                members.into_iter().map(|(name, it)| (name, self.filled(it))).collect(),
            ),
            Json::Null | Json::Bool(_) | Json::Number(_) => input,
        }
    }

    fn ask(&mut self, asked: &Asked<'_>, input: &Json, internal: bool) {
        let session = &self.world.session;
        let session = if internal { &session.with_internal() } else { session };
        let before = self.world.entries();
        let preview = match asked {
            Asked::Create { atom } => blocking(session.preview_create_json(atom, input)),
            Asked::Member { on, member } => blocking(session.preview_json(*on, member, input)),
        };
        assert!(before == self.world.entries(), "a preview left a trace");
        let answer = match asked {
            Asked::Create { atom } => blocking(session.create_json(atom, input)),
            Asked::Member { on, member } => blocking(session.invoke_json(*on, member, input)),
        };
        // A preview also reads what a call would overwrite, which may be damaged.
        let same = preview.as_ref().err().map(CallError::code)
            == answer.as_ref().err().map(CallError::code);
        assert!(same || !self.is_clean, "a preview comes to {preview:?}, the call to {answer:?}");
        match answer {
            Ok(answer) => {
                let text = answer.value.as_str().unwrap_or_default();
                if let Ok(made) = parse_reference(self.world.runtime.definitions(), text) {
                    self.objects.insert("_", made);
                }
            }
            Err(error) => {
                assert_expected(&error, self.is_clean);
                assert!(before == self.world.entries(), "a failed call left a trace: {error}");
            }
        }
    }
}
