//! `quixos shell`, without a terminal: commands in, answers out, variables between.
//!
//! A script is read whole before any of it runs, and stops at the first command that fails; what
//! ran before has happened. Whoever drives it (a terminal, a file, a test) gives the text, the
//! clock and the output.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quixos_runtime::{Caller, Clock, Runtime, Session, blocking};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::completion::Suggestion;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::language::{Command, Fault, Flags, Path, Verb, parse};
use crate::live;
use crate::output::{Answer, Output};
use crate::scope::{Kept, Scope, span_of};
use crate::stop::Stop;
use crate::{lookup, verb};

/// Whether there is more to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next command, please.
    On,
    /// `exit` was said.
    End,
}

/// Asks a person before something is done that cannot be undone.
pub trait Ask {
    /// Asks, and tells whether the answer was yes.
    fn ask(&mut self, question: &str) -> bool;
}

/// Whoever runs commands: a shell over a store, or one whose commands run elsewhere.
pub(crate) trait Runs {
    /// Runs the commands of a text that is called `name`.
    fn run(&mut self, name: &str, text: &str, output: &mut Output) -> Result<Flow, Failure>;
    /// Asks somebody from here on.
    fn ask_with(&mut self, asker: Box<dyn Ask>);
    /// Returns what knows what may follow where somebody types.
    fn suggests(&self) -> Box<dyn Suggest>;
}

/// What knows what may follow where somebody types.
pub(crate) trait Suggest: Send {
    /// Returns what may follow at a position of a text, the most likely first.
    fn suggest(&self, text: &str, at: usize) -> Vec<Suggestion>;
}

/// Where in a text to begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begin {
    /// The byte: what begins before it is not run.
    pub(crate) at: usize,
    /// Whether the command that begins there was asked about, and the answer was yes.
    pub(crate) confirmed: bool,
}

/// A shell over a runtime.
pub struct Shell {
    pub(crate) runtime: Runtime,
    pub(crate) session: Session,
    clock: Arc<dyn Clock>,
    kept: Arc<Mutex<Kept>>,
    pub(crate) asker: Option<Box<dyn Ask>>,
    /// What ends a shell that nobody sits at: without it, ctrl-c does.
    until: Option<CancellationToken>,
}

impl Shell {
    /// A shell for an operator. `clock` tells `$now`; it should be the runtime's.
    #[must_use]
    pub fn new(runtime: Runtime, clock: Arc<dyn Clock>, actor: &str) -> Self {
        let session = runtime.session(Caller::operator(actor));
        Self { runtime, session, clock, kept: Arc::default(), asker: None, until: None }
    }

    /// The same, with someone to ask. Without one, nothing is asked.
    #[must_use]
    pub fn with_asker(mut self, asker: Box<dyn Ask>) -> Self {
        self.asker = Some(asker);
        self
    }

    /// The same, with variables that others may have, too.
    pub(crate) fn with_variables(self, kept: Arc<Mutex<Kept>>) -> Self {
        Self { kept, ..self }
    }

    /// The same, ended by a token instead of ctrl-c.
    pub(crate) fn until(self, token: CancellationToken) -> Self {
        Self { until: Some(token), ..self }
    }

    /// Returns what ends a command that waits.
    ///
    /// # Errors
    /// When the system lets nobody listen to ctrl-c.
    pub(crate) fn interrupt(&self) -> Result<Interrupt, Failure> {
        match &self.until {
            Some(token) => Ok(Interrupt::token(token.clone())),
            None => Interrupt::new().map_err(|error| {
                Failure::new(Exit::Io, format!("cannot wait for ctrl-c: {error}"))
            }),
        }
    }

    /// Returns the runtime.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Runs the commands of a text that is called `name`.
    ///
    /// # Errors
    /// The first command that fails, with its place; if the text is not well formed, nothing runs.
    pub fn run(&mut self, name: &str, text: &str, output: &mut Output) -> Result<Flow, Failure> {
        self.run_from(name, text, Begin::default(), output)
    }

    /// Runs those commands of a text that do not begin before a place.
    ///
    /// # Errors
    /// As [`Shell::run`]; `interrupted` between two commands once the shell is ended.
    pub(crate) fn run_from(
        &mut self,
        name: &str,
        text: &str,
        begin: Begin,
        output: &mut Output,
    ) -> Result<Flow, Failure> {
        for command in script(name, text)?.iter_mut().filter(|it| it.span.start >= begin.at) {
            if self.until.as_ref().is_some_and(CancellationToken::is_cancelled) {
                return Err(Failure::said(Exit::Interrupted));
            }
            command.flags.yes |= begin.confirmed && command.span.start == begin.at;
            let done = self.command(command, output);
            let flow = done.map_err(|stop| stop.failure(name, text, &command.span))?;
            if flow == Flow::End {
                return Ok(Flow::End);
            }
        }
        Ok(Flow::On)
    }

    /// Runs one command and returns what it answers, unprinted.
    ///
    /// # Errors
    /// As [`Shell::run`].
    pub(crate) fn one(
        &mut self,
        name: &str,
        text: &str,
        output: &mut Output,
    ) -> Result<Answer, Failure> {
        let whole = 0..text.len();
        let failed = |stop: Stop| stop.failure(name, text, &whole);
        let commands = parse(text).map_err(|fault| failed(fault.into()))?;
        let command = commands.first().ok_or_else(|| Failure::usage("no command"))?;
        let mut answer = self.keep(command, output).map_err(failed)?.unwrap_or_default();
        if is_setting(command) {
            answer.blocks.clear();
        }
        Ok(answer)
    }

    fn command(&mut self, command: &Command, output: &mut Output) -> Result<Flow, Stop> {
        let Some(answer) = self.keep(command, output)? else { return Ok(Flow::End) };
        if !is_setting(command) {
            output.print(&answer)?;
        }
        Ok(Flow::On)
    }

    /// Does what a command says, and keeps what it answers.
    fn keep(&mut self, command: &Command, output: &mut Output) -> Result<Option<Answer>, Stop> {
        let Some(answer) = self.answer(&command.verb, command.flags, output)? else {
            return Ok(None);
        };
        self.kept().insert("_".to_owned(), answer.json.clone());
        if let Some(name) = &command.keep {
            output.name(&name.name, &answer.json)?;
            self.kept().insert(name.name.clone(), answer.json.clone());
        }
        Ok(Some(answer))
    }

    /// Does what a command says; nothing comes of `exit`.
    fn answer(
        &mut self,
        verb: &Verb,
        flags: Flags,
        output: &mut Output,
    ) -> Result<Option<Answer>, Stop> {
        Ok(Some(match verb {
            Verb::Exit => return Ok(None),
            Verb::Help(of) => verb::help::help(of.as_ref())?,
            Verb::Vars => self.variables(),
            Verb::Describe(subject) => {
                verb::describe::describe(self.runtime.definitions(), subject)?
            }
            Verb::Value(template) => Answer::value(self.read(|scope| scope.get(template))?),
            Verb::List { atom, limit, after } => self.read(|scope| {
                let at = lookup::atom(scope.definitions(), atom)?;
                let after = after.as_ref().map(|path| scope.object(path)).transpose()?;
                Ok(verb::list::list(scope, at, *limit, after.map(|it| it.id), flags.newest)?)
            })?,
            Verb::Show { object } => self.read(|scope| {
                let at = scope.object(object)?;
                verb::show::show(scope, at)
                    .map_err(|error| Stop::Call(error, Some((span_of(object), None))))
            })?,
            Verb::Create { atom, input } => verb::call::create(self, atom, input.as_ref(), flags)?,
            Verb::Call { call, input } => {
                verb::call::call(self, call, input.as_ref(), flags, output)?
            }
            Verb::Read { stream, from, limit } => self.read(|scope| {
                let (object, name) = scope.stream(stream)?;
                Ok(verb::stream::read(scope, object, &name, *from, *limit)?)
            })?,
            Verb::Follow { stream, from, limit } => {
                verb::follow::follow(self, stream, *from, *limit, output)?
            }
            Verb::Cursor { stream, name, advance } => {
                verb::follow::cursor(self, stream, name, *advance, flags)?
            }
            Verb::History { limit, before, actor, on, touching, operation } => {
                self.read(|scope| {
                    let object = |path: &Path| scope.object(path);
                    let filter = verb::history::Filter {
                        actor: actor.clone(),
                        on: on.as_ref().map(object).transpose()?,
                        touching: touching.as_ref().map(object).transpose()?,
                        operation: operation.clone(),
                    };
                    Ok(verb::history::list(scope, &filter, *before, *limit)?)
                })?
            }
            Verb::HistoryVerify => {
                self.read(|scope| Ok(verb::history::verify(scope.snapshot)??))?
            }
            Verb::Verify => verb::verify::verify(&self.runtime)?,
            Verb::Sessions(filter) => {
                self.read(|scope| verb::session::list::list(scope, filter))?
            }
            Verb::Session { session, deed } => {
                verb::session::act(self, session, deed, flags, output)?
            }
            Verb::Explain { what, on } => self.read(|scope| {
                let on = on.as_ref().map(|path| scope.object(path)).transpose()?;
                verb::explain::explain(scope, what, on)
            })?,
        }))
    }

    fn variables(&self) -> Answer {
        let kept = self.kept();
        let rows =
            kept.iter().map(|(name, value)| vec![format!("${name}"), verb::list::brief(value)]);
        let json = kept.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Answer::new(Value::Object(json)).table(&["variable", "value"], rows.collect())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Each change of it is whole, so it is whole even after a panic.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one version of everything.
    pub(crate) fn read<T>(&self, read: impl Fn(&Scope<'_>) -> Result<T, Stop>) -> Result<T, Stop> {
        let kept = self.kept().clone();
        let now = self.clock.now();
        let answer = self.runtime.read(|snapshot| {
            let scope = Scope { snapshot, kept: &kept, now };
            Ok(read(&scope))
        });
        blocking(answer)?
    }

    /// Asks, if there is someone to ask and nobody has answered for them.
    pub(crate) fn confirm(&mut self, question: &str, flags: Flags) -> Result<(), Stop> {
        match &mut self.asker {
            Some(asker) if !flags.yes => {
                if asker.ask(question) {
                    Ok(())
                } else {
                    Err(Failure::new(Exit::Interrupted, "not done").into())
                }
            }
            _ => Ok(()),
        }
    }
}

impl Runs for Shell {
    fn run(&mut self, name: &str, text: &str, output: &mut Output) -> Result<Flow, Failure> {
        Self::run(self, name, text, output)
    }

    fn ask_with(&mut self, asker: Box<dyn Ask>) {
        self.asker = Some(asker);
    }

    fn suggests(&self) -> Box<dyn Suggest> {
        let (runtime, clock) = (self.runtime.clone(), Arc::clone(&self.clock));
        Box::new(live::Session { runtime, clock, kept: Arc::clone(&self.kept) })
    }
}

/// Reads the commands of a text that is called `name`.
///
/// # Errors
/// The first fault, with its place.
pub(crate) fn script(name: &str, text: &str) -> Result<Vec<Command>, Failure> {
    parse(text).map_err(|fault| Stop::from(fault).failure(name, text, &(0..text.len())))
}

/// Tells whether a command only sets a variable to a value, which nobody waits to be shown.
fn is_setting(command: &Command) -> bool {
    command.keep.is_some() && matches!(command.verb, Verb::Value(_))
}

/// Tells whether a text is whole, or waits for a bracket or a quote to be closed.
pub(crate) fn is_whole(text: &str) -> bool {
    !matches!(parse(text), Err(Fault { unfinished: true, .. }))
}
