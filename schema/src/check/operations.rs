//! Operations: what they take and give, how they run, where, and on what.

use super::{Checker, Scope};
use crate::ast::{self, Name};
use crate::code::Code;
use crate::definitions::{Execution, Mode, Operation, Receiver, Target};
use crate::diagnostic::Diagnostic;
use crate::resolve::listed;
use crate::suggest::did_you_mean;

impl Checker<'_, '_, '_> {
    /// Makes the operations. Which slots their creations fill comes when atoms are complete.
    pub(super) fn operations(&mut self) {
        for owned in &self.names.operations {
            let ast = owned.ast;
            let scope = Scope::of(owned.package);
            let input = self.payload(scope, &ast.input);
            let output = self.payload(scope, &ast.output);
            let mode = self.word(&ast.mode, &[("call", Mode::Call)], Code::UnknownMode);
            let execution = self.word(
                &ast.execution,
                &[("transaction", Execution::Transaction), ("query", Execution::Query)],
                Code::UnknownExecution,
            );
            let targets = self.targets(&ast.targets);
            let receiver =
                self.word(&ast.receiver, &[("any", Receiver::Any)], Code::UnknownReceiver);
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
    fn word<T: Copy>(&mut self, word: &Name, known: &[(&str, T)], code: Code) -> Option<T> {
        let found = known.iter().find(|(it, _)| *it == word.value).map(|(_, means)| *means);
        if found.is_none() {
            let what = match code {
                Code::UnknownMode => "mode",
                Code::UnknownExecution => "execution",
                Code::UnknownReceiver => "receiver",
                _ => "target",
            };
            let words: Vec<_> = known.iter().map(|(it, _)| *it).collect();
            let help = did_you_mean(&word.value, words.iter().copied()).unwrap_or_else(|| {
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
        if written.words.is_empty() {
            self.report.push(
                Diagnostic::new(Code::NoTarget, written.place, "this operation may run nowhere")
                    .help("the targets are `server`, `worker` and `client`"),
            );
        }
        let known =
            [("server", Target::Server), ("worker", Target::Worker), ("client", Target::Client)];
        let mut targets = Vec::new();
        for (at, word) in written.words.iter().enumerate() {
            if let Some(first) = written.words[..at].iter().find(|it| it.value == word.value) {
                let message = format!("`{}` is given twice", word.value);
                self.report.push(
                    Diagnostic::new(Code::RepeatedTarget, word.place, message)
                        .also(first.place, "the first stands here"),
                );
                continue;
            }
            targets.extend(self.word(word, &known, Code::UnknownTarget));
        }
        targets.sort();
        targets
    }
}
