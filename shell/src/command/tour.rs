//! `quixos tour`: the life of a request, on a fresh store, step by step.
//!
//! The steps are commands of `quixos shell`, each with what must come of it, so that whoever sees
//! them can type them, and a store that answers otherwise ends the tour with an error.

mod steps;

use serde_json::{Value, json};

use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::Names;
use crate::output::{Answer, Block, Format, Output};
use crate::shell::Shell;
use crate::store::{self, Opened};
use steps::{Line, STEPS, Step};

const EXAMPLES: &str = "\
Examples:
  quixos tour                        on a store that is thrown away
  quixos --store demo tour           on a new store that is kept, to look around in
  quixos tour --json                 each step as JSON

Ends with 1 if a step comes to anything but what it should.";

/// The arguments of `tour`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

/// Shows the life of a request.
///
/// # Errors
/// When the store cannot be made, or a step comes to something else than it should.
pub fn run(_: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    match &globals.chosen_store {
        Some(folder) => {
            tour(store::make(folder)?, output)?;
            output.remark(&format!(
                "the store is in `{0}`: look around with `quixos --store {0} shell`",
                folder.display()
            ));
        }
        None => {
            let temporary = tempfile::Builder::new()
                .prefix("quixos-tour-")
                .tempdir()
                .map_err(|error| Failure::io("write to", &std::env::temp_dir(), &error))?;
            tour(store::make(temporary.path())?, output)?;
            remove(temporary)?;
        }
    }
    Ok(Exit::Good)
}

fn remove(folder: tempfile::TempDir) -> Result<(), Failure> {
    let path = folder.path().to_path_buf();
    folder.close().map_err(|error| Failure::io("remove", &path, &error))
}

fn tour(opened: Opened, output: &mut Output) -> Result<(), Failure> {
    let mut shell = Shell::new(opened.runtime.clone(), opened.clock, "tour");
    // Names are for people; programs get the references.
    if output.format() == Format::Text {
        output.use_names(Names::assigned());
    }
    let done =
        STEPS.iter().enumerate().try_for_each(|(at, step)| take(&mut shell, at + 1, step, output));
    opened.runtime.close();
    done?;
    let text = format!("{} steps, and each came to what it should", STEPS.len());
    output.print(&Answer::new(json!({ "ok": true, "steps": STEPS.len() })).heading(text))
}

fn take(shell: &mut Shell, number: usize, step: &Step, output: &mut Output) -> Result<(), Failure> {
    let mut answer = Answer::new(Value::Null);
    if number > 1 {
        answer = answer.line("");
    }
    answer.blocks.push(Block::Heading(format!("{number}. {}", step.title)));
    answer = wrapped(step.about).into_iter().fold(answer, |it, line| it.line(format!("   {line}")));
    let mut commands = Vec::new();
    for line in step.lines {
        let came = shell.one("tour", line.command, output);
        let fits = line.expect.fits(&came);
        for (at, part) in wrapped(line.command).iter().enumerate() {
            answer = answer.line(format!("  {} {part}", if at == 0 { ">" } else { "   " }));
        }
        match came {
            Ok(came) => {
                commands.push(json!({ "command": line.command, "answer": came.json }));
                answer.blocks.push(Block::Within(came.blocks));
            }
            Err(failure) => {
                let mut json = failure.to_json();
                json["command"] = json!(line.command);
                commands.push(json);
                let line = format!("{}: {}", failure.exit.code(), failure.message);
                answer.blocks.push(Block::Within(vec![Block::Line(line)]));
            }
        }
        if !fits {
            answer.json = step_json(number, step, &commands, false);
            output.print(&answer)?;
            return Err(went_another_way(number, line));
        }
    }
    answer.json = step_json(number, step, &commands, true);
    output.print(&answer)
}

/// How wide a line of the tour is.
const WIDTH: usize = 92;

/// Breaks a text at spaces. Commands break where they may: in the brackets of their input.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + word.len() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn step_json(number: usize, step: &Step, commands: &[Value], good: bool) -> Value {
    json!({
        "step": number, "title": step.title, "about": step.about, "commands": commands, "ok": good,
    })
}

fn went_another_way(number: usize, line: &Line) -> Failure {
    let message =
        format!("step {number} went another way: `{}` should {}", line.command, line.expect);
    Failure::new(Exit::Findings, message)
        .help("`quixos verify` checks a store; if it is clean, this is a fault of this program")
}
