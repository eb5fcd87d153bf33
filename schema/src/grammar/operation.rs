//! `operation NAME id "…": INPUT -> OUTPUT mode M execution E targets [T] receiver R requires {…};`

use super::package::OPERATIONS;
use super::requirement::{REQUIREMENTS, requirement};
use super::{id, type_expr, verbs};
use crate::ast::{Name, Operation, Requirement, Verbs};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::nearest::nearest;
use crate::parser::{Cursor, Fault, Parse};
use crate::source::Place;

/// A whole operation of a package.
pub(super) fn operation(cursor: &mut Cursor<'_>) -> Parse<Operation> {
    if !cursor.at_word("operation") {
        return Err(cursor.unexpected_entry(&OPERATIONS));
    }
    let start = cursor.bump().place;
    let name = cursor.name("the name of an operation")?;
    let id = id(cursor);
    cursor.mark(TokenKind::Colon);
    let input = type_expr::type_expr(cursor);
    cursor.mark(TokenKind::Arrow);
    let output = type_expr::type_expr(cursor);
    let clauses = clauses(cursor)?;
    cursor.semicolon();
    Ok(Operation {
        name,
        id,
        input,
        output,
        mode: clauses.mode,
        execution: clauses.execution,
        targets: clauses.targets,
        receiver: clauses.receiver,
        requirements: clauses.requirements,
        place: cursor.since(start),
    })
}

struct Clauses {
    mode: Name,
    execution: Name,
    targets: Verbs,
    receiver: Name,
    requirements: Vec<Requirement>,
}

/// The words of the clauses, in the one order in which they are written.
const WORDS: [&str; 5] = ["mode", "execution", "targets", "receiver", "requires"];

/// Clauses are read in any order, so that one in the wrong place is one diagnostic.
fn clauses(cursor: &mut Cursor<'_>) -> Parse<Clauses> {
    let (mut mode, mut execution, mut targets, mut receiver, mut requirements) =
        (None, None, None, None, None);
    let mut seen: [Option<Place>; WORDS.len()] = [None; WORDS.len()];
    while let Some(clause) = next_clause(cursor, &seen) {
        let place = cursor.bump().place;
        complain_of_order(cursor, clause, place, &seen);
        seen[clause] = Some(place);
        match clause {
            0 => mode = Some(cursor.any_word("`call`")?),
            1 => execution = Some(cursor.any_word("`transaction` or `query`")?),
            2 => targets = Some(verbs(cursor, "a target", "[server]")?),
            3 => receiver = Some(cursor.any_word("`any`")?),
            _ => requirements = Some(cursor.block(&REQUIREMENTS, requirement)?),
        }
    }
    match (mode, execution, targets, receiver, requirements) {
        (Some(mode), Some(execution), Some(targets), Some(receiver), Some(requirements)) => {
            Ok(Clauses { mode, execution, targets, receiver, requirements })
        }
        _ => Err(missing(cursor, &seen)),
    }
}

/// Returns which clause comes next. A word that is nearly one that is missing counts as it, and
/// is reported.
fn next_clause(cursor: &mut Cursor<'_>, seen: &[Option<Place>; WORDS.len()]) -> Option<usize> {
    let word = cursor.word()?;
    if let Some(clause) = WORDS.iter().position(|clause| *clause == word) {
        return Some(clause);
    }
    let missing = |clause: &usize| seen[*clause].is_none();
    let meant = nearest(word, (0..WORDS.len()).filter(missing).map(|clause| WORDS[clause]))?;
    let _ = cursor.unexpected(&format!("`{meant}`"), Some(format!("did you mean `{meant}`?")));
    WORDS.iter().position(|clause| *clause == meant)
}

fn complain_of_order(
    cursor: &mut Cursor<'_>,
    clause: usize,
    place: Place,
    seen: &[Option<Place>; WORDS.len()],
) {
    let word = WORDS[clause];
    let order = "the order is `mode`, `execution`, `targets`, `receiver`, `requires`";
    if let Some(first) = seen[clause] {
        cursor.report(
            Diagnostic::new(Code::ClauseOutOfPlace, place, format!("`{word}` stands here twice"))
                .also(first, "the first one"),
        );
    } else if let Some(later) = (clause + 1..WORDS.len()).find(|later| seen[*later].is_some()) {
        let mut diagnostic = Diagnostic::new(
            Code::ClauseOutOfPlace,
            place,
            format!("`{word}` stands before `{}`", WORDS[later]),
        )
        .help(order);
        if let Some(other) = seen[later] {
            diagnostic = diagnostic.also(other, "too early");
        }
        cursor.report(diagnostic);
    }
}

/// Reports what is missing, where it ought to stand.
fn missing(cursor: &mut Cursor<'_>, seen: &[Option<Place>; WORDS.len()]) -> Fault {
    let absent: Vec<usize> = (0..WORDS.len()).filter(|clause| seen[*clause].is_none()).collect();
    let words: Vec<_> = absent.iter().map(|clause| format!("`{}`", WORDS[*clause])).collect();
    let expected = words.join(", ");
    let help = "an operation says: `mode call execution transaction targets [server] receiver any \
                requires {…};`";
    let before = absent.first().and_then(|first| {
        (first + 1..WORDS.len()).find_map(|later| Some((WORDS[later], seen[later]?)))
    });
    match before {
        Some((word, place)) => {
            let message = format!("expected {expected}, found `{word}`");
            cursor.report(Diagnostic::new(Code::UnexpectedToken, place, message).help(help));
            Fault
        }
        None => cursor.unexpected(&expected, Some(help.to_owned())),
    }
}
