//! `help`: the manual, or a page of it.

use serde_json::{Value, json};

use crate::language::{Fault, MANUAL, Page, Segment, group, page};
use crate::output::Answer;

/// Shows the manual, or the page of a command.
///
/// # Errors
/// A command that is none.
pub(crate) fn help(of: Option<&Segment>) -> Result<Answer, Fault> {
    let Some(word) = of else { return Ok(contents()) };
    let pages: Vec<&Page> = group(&word.name).map(|(_, page)| page).collect();
    match page(&word.name) {
        Some(page) => Ok(one(page)),
        None if !pages.is_empty() => Ok(listed(&pages)),
        None => Err(Fault::new(word.span.clone(), format!("no command `{}`", word.name))
            .help("`help` lists the commands")
            .suggest(&word.name, MANUAL.iter().map(|page| page.name))),
    }
}

fn contents() -> Answer {
    let pages: Vec<&Page> = MANUAL.iter().collect();
    listed(&pages)
        .line("")
        .line("`help COMMAND` says how one is written. Values are JSON; `$name` is a variable,")
        .line("`$name = COMMAND` sets one; `TYPE/ULID` is a reference, `'…'` a string without escapes.")
}

fn listed(pages: &[&Page]) -> Answer {
    let json = pages.iter().map(|page| page_json(page)).collect();
    let rows = pages.iter().map(|page| vec![page.name.to_owned(), page.summary.to_owned()]);
    Answer::new(json).table(&["command", ""], rows.collect())
}

fn one(page: &Page) -> Answer {
    let answer = Answer::new(page_json(page)).line(page.usage).line(format!("  {}", page.summary));
    let answer =
        if page.more.is_empty() { answer } else { answer.line(format!("  {}", page.more)) };
    let flags: Vec<String> = page.flags.iter().map(|flag| format!("--{flag}")).collect();
    let answer = if flags.is_empty() {
        answer
    } else {
        answer.line(format!("  flags: {}", flags.join(" ")))
    };
    answer.line(format!("  example: {}", page.example))
}

fn page_json(page: &Page) -> Value {
    json!({
        "command": page.name, "usage": page.usage, "summary": page.summary, "more": page.more,
        "flags": page.flags, "example": page.example,
    })
}
