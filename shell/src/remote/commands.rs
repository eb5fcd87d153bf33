//! In the host: the shell's own commands, for operators who are elsewhere.
//!
//! Each request has a shell of its own; what outlives it are the variables, by the name that the
//! asking shell gave itself. They are a convenience: those that nobody used for longest are
//! forgotten, as all are when the host stops.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use quixos_host::{CommandBody, Commands, CompleteBody, Form, Lines, OperatorName};
use quixos_runtime::{Clock, Runtime};
use serde_json::{Value, json};

use super::frame::{ErrorFrame, Frame};
use super::suggest;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::Session;
use crate::names::Names;
use crate::output::{Answer, Output, Reader};
use crate::scope::Kept;
use crate::shell::{Ask, Begin, Flow, Shell, Suggest as _};

/// Shells whose variables are kept.
const MOST: usize = 64;

/// What commands are called where they are to blame.
const NAME: &str = "line";

/// The shell's commands over the runtime of a host.
pub struct HostCommands {
    runtime: Runtime,
    clock: Arc<dyn Clock>,
    /// The variables of each shell of each operator, those of the last to ask at the end.
    shells: Mutex<VecDeque<(Key, Arc<Mutex<Kept>>)>>,
}

/// An operator, and the name of a shell.
type Key = (String, String);

impl HostCommands {
    /// Returns the commands. `clock` tells `$now`; it should be the runtime's.
    #[must_use]
    pub fn new(runtime: Runtime, clock: Arc<dyn Clock>) -> Self {
        Self { runtime, clock, shells: Mutex::default() }
    }

    /// Returns the variables of a shell.
    fn kept(&self, by: &OperatorName, shell: Option<&String>) -> Arc<Mutex<Kept>> {
        let Some(shell) = shell else { return Arc::default() };
        let key = (by.as_str().to_owned(), shell.clone());
        let mut shells = self.shells.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shells.iter().position(|(it, _)| *it == key).and_then(|at| shells.remove(at));
        let (key, kept) = known.unwrap_or_else(|| (key, Arc::default()));
        if shells.len() == MOST {
            shells.pop_front();
        }
        shells.push_back((key, Arc::clone(&kept)));
        kept
    }
}

impl Commands for HostCommands {
    fn greeting(&self) -> Value {
        let names = Names::short(self.runtime.definitions()).words();
        json!({ "version": env!("CARGO_PKG_VERSION"), "names": names })
    }

    fn run(&self, by: &OperatorName, body: &CommandBody, lines: &Lines) {
        let asked = Asked::default();
        let kept = self.kept(by, body.shell.as_ref());
        let shell = Shell::new(self.runtime.clone(), Arc::clone(&self.clock), by.as_str());
        let mut shell = shell.with_variables(kept).until(lines.over().clone());
        if !body.yes {
            shell = shell.with_asker(Box::new(asked.clone()));
        }
        let names = Names::short(self.runtime.definitions());
        let mut output =
            Output::to_reader(Box::new(Far { lines: lines.clone(), form: body.format, names }));
        let begin = Begin { at: body.from, confirmed: body.confirmed };
        let done = shell.run_from(NAME, &body.text, begin, &mut output);
        let exit = match done {
            Ok(flow) => Frame::Exit { exit: Exit::Good.number(), end: flow == Flow::End },
            Err(failure) => {
                let frame = match (asked.take(), &failure.origin) {
                    (Some(ask), Some(origin)) => Some(Frame::Ask { ask, at: origin.span.start }),
                    _ if lines.over().is_cancelled() => {
                        let failure = Failure::new(Exit::Unavailable, "the host is about to stop");
                        Some(Frame::Error { error: ErrorFrame::new(&failure) })
                    }
                    _ if failure.quiet => None,
                    _ => Some(Frame::Error { error: ErrorFrame::new(&failure) }),
                };
                // Whoever went away hears neither.
                let _ = frame.map(|frame| lines.say(&frame));
                Frame::Exit { exit: failure.exit.number(), end: false }
            }
        };
        let _ = lines.say(&exit);
    }

    fn complete(&self, by: &OperatorName, body: &CompleteBody) -> Value {
        let session = Session {
            runtime: self.runtime.clone(),
            clock: Arc::clone(&self.clock),
            kept: self.kept(by, body.shell.as_ref()),
        };
        suggest::to_json(&session.suggest(&body.text, body.at.unwrap_or(body.text.len())))
    }
}

/// Whoever asks is asked elsewhere: here the question is kept, and the command not done.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Option<String>>>);

impl Asked {
    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Ask for Asked {
    fn ask(&mut self, question: &str) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(question.to_owned());
        false
    }
}

/// Who reads what the commands print.
struct Far {
    lines: Lines,
    form: Form,
    names: Names,
}

impl Far {
    fn say(&self, frame: &Frame) -> io::Result<()> {
        self.lines.say(frame).map_err(|gone| io::Error::new(io::ErrorKind::BrokenPipe, gone))
    }
}

impl Reader for Far {
    fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        let text = (self.form == Form::Text).then(|| answer.text(&mut self.names));
        let blocks = (self.form == Form::Blocks).then(|| answer.blocks.clone());
        self.say(&Frame::Answer { answer: answer.json.clone(), text, blocks })
    }

    fn variable(&mut self, name: &str, value: &Value) -> io::Result<()> {
        match self.form {
            Form::Blocks => self.say(&Frame::Name { name: name.to_owned(), value: value.clone() }),
            Form::Json | Form::Text => Ok(()),
        }
    }
}
