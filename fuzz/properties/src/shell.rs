//! Commands, as anybody types them.

use std::io;
use std::sync::Arc;

use quixos_runtime::{Clock, reference_text};
use quixos_shell::{Exit, Failure, Flow, Format, Names, Output, Shell, Style};

use crate::calls::assert_clean;
use crate::world::{Start, World};

/// How many lines are played.
const LINES: usize = 24;

/// Reads a text as a script, then plays each of its lines in the small world. It must be that
///
/// - a script with a fault says where in its text it is, and nothing of it runs;
/// - a line that fails leaves the store as it was, byte for byte;
/// - no line breaks off, and none finds the store damaged;
/// - `verify` finds nothing in the end, as after [`calls`](crate::calls()).
pub fn shell(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let world = World::new();
    let clock = Arc::clone(&world.clock) as Arc<dyn Clock>;
    let mut shell = Shell::new(world.runtime.clone(), clock, "anna");
    // All of a script is read before any of it runs, so behind `exit` it is only read.
    let before = world.entries();
    check(shell.run("script", &format!("exit\n{text}"), &mut output(Format::Text)));
    assert!(before == world.entries(), "a script ran that was only to be read");

    let definitions = Arc::clone(world.runtime.definitions());
    for (name, object) in &Start::get().objects {
        let setting = format!("${name} = {}", reference_text(&definitions, *object));
        shell.run("setup", &setting, &mut output(Format::Text)).expect("a reference is a value");
    }
    for (line, format) in
        text.lines().zip([Format::Text, Format::Json].into_iter().cycle()).take(LINES)
    {
        // Following a stream ends when someone ends it.
        if line.contains("follow") {
            continue;
        }
        let before = world.entries();
        let failed = check(shell.run("line", line, &mut output(format)));
        // Of several commands in a line, those before the one that fails have happened.
        let kept = !failed || line.contains(';') || before == world.entries();
        assert!(kept, "a failed line left a trace: {line}");
    }
    drop(shell);
    assert_clean(&world, text.contains("--internal"));
    world.runtime.close();
}

/// Checks how a text ended, and tells whether it failed.
fn check(ended: Result<Flow, Failure>) -> bool {
    let Err(failure) = ended else { return false };
    assert!(!failure.message.contains("broke off"), "a panic: {}", failure.message);
    let broken = [Exit::Corrupt, Exit::Storage, Exit::Mismatch, Exit::Io, Exit::Interrupted];
    assert!(!broken.contains(&failure.exit), "{}: {}", failure.exit.code(), failure.message);
    if let Some(origin) = &failure.origin {
        assert!(origin.text.get(origin.span.clone()).is_some(), "outside the text: {failure:?}");
    }
    let mut output = output(Format::Text);
    output.fail(&failure);
    true
}

/// An output that is written, for whatever that takes, and seen by nobody.
fn output(format: Format) -> Output {
    let streams = (Box::new(io::sink()), Box::new(io::sink()));
    let style = Style { colour: true, width: Some(80) };
    Output::new(format, style, streams.0, streams.1).with_names(Names::assigned())
}
