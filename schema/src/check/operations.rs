//! Operations: what they take and give, how they run, where, and on what.

use super::once::Twice;
use super::{Checker, Scope};
use crate::ast::{self, Name};
use crate::code::Code;
use crate::definitions::{Execution, Mode, Operation, Receiver, Target};
use crate::diagnostic::Diagnostic;
use crate::resolve::listed;

const MODE: (&str, Code) = ("mode", Code::UnknownMode);
const EXECUTION: (&str, Code) = ("execution", Code::UnknownExecution);
const RECEIVER: (&str, Code) = ("receiver", Code::UnknownReceiver);
const TARGET: (&str, Code) = ("target", Code::UnknownTarget);

const TWICE: Twice<'_> =
    Twice { code: Code::RepeatedTarget, message: "{} is given twice", help: None };

impl Checker<'_, '_, '_> {
    /// Makes the operations. Which slots their creations fill comes when atoms are complete.
    pub(super) fn operations(&mut self) {
        for owned in &self.names.operations {
            let ast = owned.ast;
            let scope = Scope::of(owned.package);
            let input = self.payload(scope, &ast.input);
            let output = self.payload(scope, &ast.output);
            let mode = self.word(&ast.mode, MODE, &[("call", Mode::Call)]);
            let execution = self.word(
                &ast.execution,
                EXECUTION,
                &[("transaction", Execution::Transaction), ("query", Execution::Query)],
            );
            let targets = self.targets(&ast.targets);
            let receiver = self.word(&ast.receiver, RECEIVER, &[("any", Receiver::Any)]);
            let requirements = self.requirements(scope, ast, execution);
            self.made.operations.push(Operation {
                name: ast.name.value.clone(),
                id: ast.id.value.clone(),
                package: owned.package,
                input,
                output,
                mode: mode.unwrap_or(Mode::Call),
                execution: execution.unwrap_or(Execution::Transaction),
                targets,
                receiver: receiver.unwrap_or(Receiver::Any),
                requirements,
                receivers: Vec::new(),
                place: ast.place,
            });
        }
    }

    /// Returns what a word of a fixed set means.
    fn word<T: Copy>(
        &mut self,
        word: &Name,
        (what, code): (&str, Code),
        known: &[(&str, T)],
    ) -> Option<T> {
        let found = known.iter().find(|(it, _)| *it == word.value).map(|(_, means)| *means);
        if found.is_none() {
            let words: Vec<_> = known.iter().map(|(it, _)| *it).collect();
            let help =
                self.report.did_you_mean(&word.value, words.iter().copied()).unwrap_or_else(|| {
                    match words.as_slice() {
                        [only] => format!("the only {what} is `{only}`"),
                        _ => format!("the {what}s are {}", listed(&words)),
                    }
                });
            let message = format!("no {what} `{}`", word.value);
            self.report.push(Diagnostic::new(code, word.place, message).help(help));
        }
        found
    }

    fn targets(&mut self, written: &ast::Verbs) -> Vec<Target> {
        let known =
            [("server", Target::Server), ("worker", Target::Worker), ("client", Target::Client)];
        let mut targets = Vec::new();
        let names = written.words.iter().map(|it| (it.value.as_str(), it.place));
        let new = self.once(names, &TWICE);
        for (word, _) in written.words.iter().zip(new).filter(|(_, new)| *new) {
            targets.extend(self.word(word, TARGET, &known));
        }
        targets.sort();
        targets
    }
}
