//! `atom NAME id "…" { … }`: what an object of this kind has, and which interfaces it has.

use super::{edge, id, type_expr};
use crate::ast::{
    Atom, AtomPart, Binding, EdgeSlot, Implements, InverseSlot, Name, Root, StateSlot, StreamSlot,
};
use crate::lexer::TokenKind;
use crate::parser::{Cursor, Level, Parse};

static PARTS: Level = Level {
    entry: "a part of an atom",
    words: &["state", "edge", "inverse", "stream", "root", "implements"],
    mark: None,
    deeper: &[],
    inline: false,
    blocks: true,
};

static BINDINGS: Level = Level {
    entry: "a member that is served",
    words: &[],
    mark: Some(TokenKind::Equals),
    deeper: &[],
    inline: false,
    blocks: false,
};

/// A whole atom.
pub(super) fn atom(cursor: &mut Cursor<'_>) -> Parse<Atom> {
    let start = cursor.expect_word("atom")?;
    let name = cursor.name("the name of an atom")?;
    let id = id(cursor);
    let parts = cursor.block(&PARTS, part)?;
    Ok(Atom { name, id, parts, place: cursor.since(start) })
}

fn part(cursor: &mut Cursor<'_>) -> Parse<AtomPart> {
    match cursor.word() {
        Some("state") => state(cursor).map(AtomPart::State),
        Some("edge") => edge_slot(cursor).map(AtomPart::Edge),
        Some("inverse") => inverse(cursor).map(AtomPart::Inverse),
        Some("stream") => stream(cursor).map(AtomPart::Stream),
        Some("root") => root(cursor).map(AtomPart::Root),
        Some("implements") => implements(cursor).map(AtomPart::Implements),
        _ => Err(cursor.unexpected_entry(&PARTS)),
    }
}

/// `state NAME id "…": TYPE;`
fn state(cursor: &mut Cursor<'_>) -> Parse<StateSlot> {
    let start = cursor.expect_word("state")?;
    let name = cursor.name("the name of a state slot")?;
    let id = id(cursor);
    cursor.mark(TokenKind::Colon);
    let ty = type_expr::type_expr(cursor);
    cursor.semicolon();
    Ok(StateSlot { name, id, ty, place: cursor.since(start) })
}

/// `edge NAME id "…": SHAPE;`
fn edge_slot(cursor: &mut Cursor<'_>) -> Parse<EdgeSlot> {
    let start = cursor.expect_word("edge")?;
    let name = cursor.name("the name of an edge slot")?;
    let id = id(cursor);
    cursor.mark(TokenKind::Colon);
    let shape = edge::shape(cursor)?;
    cursor.semicolon();
    Ok(EdgeSlot { name, id, shape, place: cursor.since(start) })
}

/// `inverse NAME id "…": ATOM.EDGE [keyed STATE.FIELD];`
fn inverse(cursor: &mut Cursor<'_>) -> Parse<InverseSlot> {
    let start = cursor.expect_word("inverse")?;
    let name = cursor.name("the name of an inverse slot")?;
    let id = id(cursor);
    cursor.mark(TokenKind::Colon);
    let atom = cursor.name("the atom that the edges come from")?;
    cursor.expect(TokenKind::Dot)?;
    let edge = cursor.name("the edge of that atom")?;
    let key = match cursor.eat_word("keyed") {
        Some(_) => Some(key_path(cursor)?),
        None => None,
    };
    cursor.semicolon();
    Ok(InverseSlot { name, id, atom, edge, key, place: cursor.since(start) })
}

/// `STATE.FIELD`
fn key_path(cursor: &mut Cursor<'_>) -> Parse<Vec<Name>> {
    let mut path = vec![cursor.name("the state that has the key")?];
    while cursor.eat(TokenKind::Dot).is_some() {
        path.push(cursor.name("a field")?);
    }
    Ok(path)
}

/// `stream NAME id "…": TYPE;`
fn stream(cursor: &mut Cursor<'_>) -> Parse<StreamSlot> {
    let start = cursor.expect_word("stream")?;
    let name = cursor.name("the name of a stream slot")?;
    let id = id(cursor);
    cursor.mark(TokenKind::Colon);
    let ty = type_expr::type_expr(cursor);
    cursor.semicolon();
    Ok(StreamSlot { name, id, ty, place: cursor.since(start) })
}

/// `root input TYPE;`
fn root(cursor: &mut Cursor<'_>) -> Parse<Root> {
    let start = cursor.expect_word("root")?;
    cursor.expect_word("input")?;
    let input = type_expr::type_expr(cursor);
    cursor.semicolon();
    Ok(Root { input, place: cursor.since(start) })
}

/// `implements I<…> { … }` or `implements I<…>;`
fn implements(cursor: &mut Cursor<'_>) -> Parse<Implements> {
    let start = cursor.expect_word("implements")?;
    let interface = type_expr::interface_expr(cursor)?;
    let bindings = if cursor.eat(TokenKind::Semicolon).is_some() {
        Vec::new()
    } else {
        cursor.block(&BINDINGS, binding)?
    };
    Ok(Implements { interface, bindings, place: cursor.since(start) })
}

/// `MEMBER = NAME;` or `MEMBER = STREAM.append;`
fn binding(cursor: &mut Cursor<'_>) -> Parse<Binding> {
    let start = cursor.here();
    let member = cursor.name("the name of a member")?;
    cursor.mark(TokenKind::Equals);
    let source = cursor.name("the operation or slot that serves it")?;
    let builtin = match cursor.eat(TokenKind::Dot) {
        Some(_) => Some(cursor.name("`append`")?),
        None => None,
    };
    cursor.semicolon();
    Ok(Binding { member, source, builtin, place: cursor.since(start) })
}
