//! A conversation at a terminal: line editing, history, completion, questions.
//!
//! A failed command is shown and the conversation goes on. An open bracket or quote goes on in the
//! next line.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use reedline::{
    ColumnarMenu, Completer, CompletionResult, DefaultHinter, Emacs, FileBackedHistory, KeyCode,
    KeyModifiers, MenuBuilder as _, Prompt, PromptEditMode, PromptHistorySearch, Reedline,
    ReedlineEvent, ReedlineMenu, Signal, Span, Suggestion, ValidationResult, Validator,
    default_emacs_keybindings,
};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Format, Output};
use crate::shell::{Ask, Flow, Runs, Suggest, is_whole};

const MENU: &str = "completion";

/// How many lines of earlier conversations are kept.
const LINES: usize = 2_000;

/// Talks until `exit` or ctrl-d.
///
/// # Errors
/// When the terminal cannot be read or written.
pub(crate) fn run(shell: &mut dyn Runs, output: &mut Output) -> Result<(), Failure> {
    shell.ask_with(Box::new(Person));
    let mut editor = editor(shell.suggests(), output.style().colour)?;
    if output.format() == Format::Text {
        output.remark("`help` lists the commands, tab completes, ctrl-d ends.");
    }
    loop {
        let line = match editor.read_line(&Mark) {
            Ok(Signal::Success(line)) => line,
            Ok(Signal::CtrlD) => return Ok(()),
            Ok(Signal::CtrlC | Signal::HostCommand(_) | Signal::ExternalBreak(_)) => continue,
            // More kinds of signals may come.
            Ok(_) => continue,
            Err(error) => {
                return Err(Failure::new(Exit::Io, format!("cannot read the terminal: {error}")));
            }
        };
        match shell.run("line", &line, output) {
            Ok(Flow::On) => {}
            Ok(Flow::End) => return Ok(()),
            // Said at the terminal itself, and so nothing that went wrong.
            Err(failure) if failure.exit == Exit::Interrupted => output.remark(&failure.message),
            Err(failure) => output.fail(&failure),
        }
    }
}

fn editor(suggests: Box<dyn Suggest>, colour: bool) -> Result<Reedline, Failure> {
    let mut keys = default_emacs_keybindings();
    keys.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]),
    );
    let menu = ColumnarMenu::default().with_name(MENU).with_columns(1);
    let mut editor = Reedline::create()
        .with_ansi_colors(colour)
        .with_completer(Box::new(Completing(suggests)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_hinter(Box::new(DefaultHinter::default()))
        .with_validator(Box::new(Whole))
        .with_edit_mode(Box::new(Emacs::new(keys)));
    if let Some(path) = history_file() {
        let history = FileBackedHistory::with_file(LINES, path)
            .map_err(|error| Failure::new(Exit::Io, format!("cannot keep a history: {error}")))?;
        editor = editor.with_history(Box::new(history));
    }
    Ok(editor)
}

/// Where earlier conversations are kept: with the user's state, not with the store, which others
/// may read.
fn history_file() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    let folder = state.join("quixos");
    private(&folder).ok()?;
    Some(folder.join("shell-history"))
}

/// Makes a folder that only its owner reads: what was typed may be nobody else's business.
fn private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Asks at the terminal.
struct Person;

impl Ask for Person {
    fn ask(&mut self, question: &str) -> bool {
        let mut terminal = io::stderr();
        let asked = write!(terminal, "{question} [y/N] ").and_then(|()| terminal.flush());
        let mut line = String::new();
        // Whoever cannot be asked has not said yes.
        asked.is_ok()
            && io::stdin().read_line(&mut line).is_ok()
            && matches!(line.trim(), "y" | "Y" | "yes")
    }
}

struct Completing(Box<dyn Suggest>);

impl Completer for Completing {
    fn complete(&mut self, line: &str, at: usize) -> CompletionResult {
        let found = self.0.suggest(line, at).into_iter();
        let suggestions: Vec<Suggestion> = found
            .map(|it| Suggestion {
                value: it.text,
                description: (!it.about.is_empty()).then_some(it.about),
                span: Span { start: it.span.start, end: it.span.end },
                append_whitespace: it.ends,
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}

struct Whole;

impl Validator for Whole {
    fn validate(&self, line: &str) -> ValidationResult {
        if is_whole(line) { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

struct Mark;

impl Prompt for Mark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("quixos")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("      | ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("search `{}`: ", search.term))
    }
}
