//! A shell here whose commands run in a host.
//!
//! What the host says is printed as it comes. What it asks is asked here, and the script goes on
//! where it stood; ctrl-c goes away from what runs, which ends it if it waits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quixos_host::{CommandBody, CompleteBody, Form};
use reqwest::Response;
use serde_json::Value;
use tokio::time::timeout;
use ulid::Ulid;

use super::connection::{Connection, causes};
use super::frame::Frame;
use super::suggest;
use crate::completion::Suggestion;
use crate::exit::Exit;
use crate::failure::{Failure, Origin};
use crate::interrupt::Interrupt;
use crate::names::Names;
use crate::output::{Answer, Format, Output};
use crate::shell::{Ask, Flow, Runs, Suggest};

const SHELL: &str = "/operator/shell";
const COMPLETE: &str = "/operator/complete";

/// How long a host may say nothing at all: it shows every few seconds that it lives.
const SILENCE: Duration = Duration::from_secs(60);

/// How long what may follow may take, while somebody types.
const PROMPT: Duration = Duration::from_secs(2);

/// A shell whose commands run in a host.
pub struct RemoteShell {
    connection: Arc<Connection>,
    /// What the host keeps the variables by.
    id: String,
    words: BTreeMap<String, String>,
    asker: Option<Box<dyn Ask>>,
}

/// What came of a request.
enum Ended {
    Flow(Flow),
    /// A question, and the byte where the command begins that asks it.
    Asked(String, usize),
}

impl RemoteShell {
    /// Begins a shell in a host.
    ///
    /// # Errors
    /// The host is not reached, or does not take the token.
    pub fn begin(connection: Connection) -> Result<Self, Failure> {
        let greeting = connection.runtime.block_on(async {
            let response = connection.get(SHELL).await?;
            response.text().await.map_err(|error| broken(&causes(&error)))
        })?;
        let greeting: Value = serde_json::from_str(&greeting).unwrap_or_default();
        let words = serde_json::from_value(greeting["names"].clone()).unwrap_or_default();
        let id = Ulid::generate().to_string();
        Ok(Self { connection: Arc::new(connection), id, words, asker: None })
    }

    /// The same, with someone to ask. Without one, nothing is asked.
    #[must_use]
    pub fn with_asker(mut self, asker: Box<dyn Ask>) -> Self {
        self.asker = Some(asker);
        self
    }

    /// Returns the names that references go by in the host.
    #[must_use]
    pub fn names(&self) -> Names {
        Names::of_words(self.words.clone())
    }

    /// Runs the commands of a text that is called `name`.
    ///
    /// # Errors
    /// The first command that fails, with its place; if the text is not well formed, nothing runs.
    /// `unavailable` when the host goes away.
    pub fn run(&mut self, name: &str, text: &str, output: &mut Output) -> Result<Flow, Failure> {
        let mut body = CommandBody {
            text: text.to_owned(),
            shell: Some(self.id.clone()),
            yes: self.asker.is_none(),
            format: if output.format() == Format::Json { Form::Json } else { Form::Blocks },
            ..CommandBody::default()
        };
        loop {
            let ended = self.connection.runtime.block_on(self.request(name, &body, output))?;
            let (question, at) = match ended {
                Ended::Flow(flow) => return Ok(flow),
                Ended::Asked(question, at) => (question, at),
            };
            let question = output.named(&question);
            if !self.asker.as_mut().is_some_and(|asker| asker.ask(&question)) {
                let (name, text) = (name.to_owned(), text.to_owned());
                let origin = Origin { name, text, span: at..at, label: None };
                return Err(Failure::new(Exit::Interrupted, "not done").at(origin));
            }
            body.from = at;
            body.confirmed = true;
        }
    }

    async fn request(
        &self,
        name: &str,
        body: &CommandBody,
        output: &mut Output,
    ) -> Result<Ended, Failure> {
        let mut interrupt = Interrupt::new()
            .map_err(|error| Failure::new(Exit::Io, format!("cannot wait for ctrl-c: {error}")))?;
        let said = async {
            let response = self.connection.post(SHELL, body).await?;
            self.hear(name, body, response, output).await
        };
        tokio::select! {
            biased;
            // What is dropped here is seen there.
            () = interrupt.pressed() => Err(Failure::said(Exit::Interrupted)),
            ended = said => ended,
        }
    }

    /// Prints what a host says.
    async fn hear(
        &self,
        name: &str,
        body: &CommandBody,
        response: Response,
        output: &mut Output,
    ) -> Result<Ended, Failure> {
        let mut lines = Lines { response, buffer: Vec::new(), seen: 0 };
        let mut failed = None;
        let mut asked = None;
        while let Some(line) = lines.next().await? {
            let frame = serde_json::from_slice(&line).map_err(|error| {
                let message = format!("the host says what is not understood: {error}");
                Failure::new(Exit::Mismatch, message)
            })?;
            match frame {
                Frame::Answer { answer, blocks, .. } => {
                    let blocks = blocks.unwrap_or_default();
                    output.print(&Answer { json: answer, blocks })?;
                }
                Frame::Name { name, value } => output.name(&name, &value)?,
                Frame::Ask { ask, at } => asked = Some((ask, at)),
                Frame::Error { error } => failed = Some(error.failure(name, &body.text)),
                Frame::Exit { exit, end } => {
                    return match (failed, asked) {
                        (Some(failure), _) => Err(failure),
                        (None, Some((question, at))) => Ok(Ended::Asked(question, at)),
                        (None, None) if exit == Exit::Good.number() => {
                            Ok(Ended::Flow(if end { Flow::End } else { Flow::On }))
                        }
                        // All is said; only what waited and was ended says nothing.
                        (None, None) => Err(Failure::said(Exit::Interrupted)),
                    };
                }
            }
        }
        Err(broken("it ended its answer early"))
    }
}

/// The lines of an answer.
struct Lines {
    response: Response,
    /// What came behind the last line.
    buffer: Vec<u8>,
    /// How much of that has no end of a line.
    seen: usize,
}

impl Lines {
    /// Returns the next line that says something.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            while let Some(end) = self.buffer[self.seen..].iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=self.seen + end).collect();
                self.seen = 0;
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(line));
                }
            }
            self.seen = self.buffer.len();
            let piece = timeout(SILENCE, self.response.chunk()).await;
            let piece = piece.map_err(|_| broken("it says nothing any more"))?;
            match piece.map_err(|error| broken(&causes(&error)))? {
                Some(piece) => self.buffer.extend_from_slice(&piece),
                None => return Ok(None),
            }
        }
    }
}

fn broken(why: &str) -> Failure {
    let failure = Failure::new(Exit::Unavailable, format!("the host went away: {why}"));
    failure.help("what was asked may have happened: `history` says")
}

impl Runs for RemoteShell {
    fn run(&mut self, name: &str, text: &str, output: &mut Output) -> Result<Flow, Failure> {
        Self::run(self, name, text, output)
    }

    fn ask_with(&mut self, asker: Box<dyn Ask>) {
        self.asker = Some(asker);
    }

    fn suggests(&self) -> Box<dyn Suggest> {
        let (connection, shell) = (Arc::clone(&self.connection), self.id.clone());
        Box::new(Asks { connection, shell })
    }
}

/// Asks a host what may follow.
struct Asks {
    connection: Arc<Connection>,
    shell: String,
}

impl Suggest for Asks {
    fn suggest(&self, text: &str, at: usize) -> Vec<Suggestion> {
        let shell = Some(self.shell.clone());
        let body = CompleteBody { text: text.to_owned(), at: Some(at), shell };
        let asked = async { self.connection.post(COMPLETE, &body).await.ok()?.text().await.ok() };
        // Only within the runtime is there a clock for the time-out.
        let said = self.connection.runtime.block_on(async { timeout(PROMPT, asked).await });
        // Whoever types is not told why nothing is suggested; the command will say.
        let said = said.ok().flatten().and_then(|text| serde_json::from_str(&text).ok());
        suggest::from_json(&said.unwrap_or_default(), text)
    }
}
