//! Inside of JSON: at which type the cursor stands, and what fits there.

use quixos_schema::{AtomIndex, Field, MemberKind, Record, Type};
use serde_json::Value;

use super::{Completer, Found, words};
use crate::language::{Page, Path, Token, TokenKind};
use crate::lookup;

/// Where the cursor stands in a value that is not yet whole.
#[derive(Debug)]
pub(super) struct Place {
    /// The open brackets, from the outside.
    frames: Vec<Frame>,
}

#[derive(Debug)]
enum Frame {
    Record { key: Option<String>, seen: Vec<String>, valued: bool },
    List { valued: bool },
}

/// Reads what stands before the cursor; nothing when no bracket is open.
pub(super) fn place(tokens: &[Token]) -> Option<Place> {
    let mut frames = Vec::new();
    for token in tokens {
        match &token.kind {
            TokenKind::Mark('{') => {
                frames.push(Frame::Record { key: None, seen: Vec::new(), valued: false });
            }
            TokenKind::Mark('[') => frames.push(Frame::List { valued: false }),
            TokenKind::Mark('}' | ']') => {
                frames.pop();
                value_ended(&mut frames);
            }
            TokenKind::Mark(',') => match frames.last_mut() {
                Some(Frame::Record { key, valued, .. }) => {
                    *key = None;
                    *valued = false;
                }
                Some(Frame::List { valued }) => *valued = false,
                None => {}
            },
            TokenKind::Word(name) | TokenKind::Text(name) => match frames.last_mut() {
                Some(Frame::Record { key: key @ None, seen, .. }) => {
                    seen.push(name.clone());
                    *key = Some(name.clone());
                }
                _ => value_ended(&mut frames),
            },
            TokenKind::Path(_) => value_ended(&mut frames),
            TokenKind::Mark(_) | TokenKind::Flag(_) | TokenKind::End => {}
        }
    }
    (!frames.is_empty()).then_some(Place { frames })
}

fn value_ended(frames: &mut [Frame]) {
    match frames.last_mut() {
        Some(Frame::Record { valued, .. } | Frame::List { valued }) => *valued = true,
        None => {}
    }
}

/// What the input of a command belongs to.
struct Owner {
    ty: Type,
    /// The operation that takes it.
    operation: Option<String>,
    /// The object that it is called on.
    receiver: Option<Path>,
}

impl Completer<'_> {
    /// Where a whole input may stand.
    pub(super) fn whole_input(&mut self, page: &Page, rest: &[Token]) {
        let Some(owner) = self.owner(page, rest) else { return };
        if let Type::Record(record) = self.definitions.shape(&owner.ty) {
            let fields: Vec<String> = record
                .fields
                .iter()
                .filter(|field| !matches!(self.definitions.shape(&field.ty), Type::Optional(_)))
                .map(|field| format!("{}: {}", field.name, self.sample(&owner, field)))
                .collect();
            self.suggest(format!("{{{}}}", fields.join(", ")), "every field that is needed", true);
            self.suggest("{", "a record", false);
        } else {
            let ty = owner.ty.clone();
            self.value(&owner, "", &ty);
        }
    }

    /// Something that fits a field, to be edited.
    fn sample(&self, owner: &Owner, field: &Field) -> String {
        if let Some(stored) = self.stored(owner, &field.name) {
            return stored;
        }
        if let Some(word) = words::of(owner.operation.as_deref(), &field.name).first() {
            return Value::from(*word).to_string();
        }
        match self.definitions.shape(&field.ty) {
            Type::Bool => "false".to_owned(),
            Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => {
                "0".to_owned()
            }
            Type::List(_) => "[]".to_owned(),
            Type::Record(_) => "{}".to_owned(),
            Type::String if field.name.ends_with("At") => time(&field.name).to_owned(),
            Type::Unit | Type::Optional(_) => "null".to_owned(),
            Type::AtomRef(_) | Type::InterfaceRef(_) => "$".to_owned(),
            Type::String | Type::Bytes | Type::Named(_) | Type::Parameter(_) => "\"\"".to_owned(),
        }
    }

    /// Inside of an input.
    pub(super) fn input(&mut self, page: &Page, rest: &[Token], place: &Place) {
        let Some(owner) = self.owner(page, rest) else { return };
        let mut ty = owner.ty.clone();
        let mut field = String::new();
        let mut frames = place.frames.iter().peekable();
        while let Some(frame) = frames.next() {
            let inner = frames.peek().is_some();
            match (frame, self.inside(&ty)) {
                (Frame::Record { key, seen, valued }, Type::Record(record)) => match key {
                    Some(_) if *valued && !inner => return,
                    Some(key) => {
                        let Some(found) = record.fields.iter().find(|it| it.name == *key) else {
                            return;
                        };
                        field.clone_from(&found.name);
                        ty = found.ty.clone();
                    }
                    None => return self.fields(&record, seen),
                },
                (Frame::List { valued }, Type::List(item)) => {
                    if *valued && !inner {
                        return;
                    }
                    ty = *item;
                }
                _ => return,
            }
        }
        self.value(&owner, &field, &ty);
    }

    /// The shape of a type, an optional one as what it may hold.
    fn inside(&self, ty: &Type) -> Type {
        let shape = self.definitions.shape(ty);
        if let Type::Optional(inner) = shape { self.inside(inner) } else { shape.clone() }
    }

    fn fields(&mut self, record: &Record, seen: &[String]) {
        let quoted = self.typed.starts_with('"');
        let optional = |it: &Field| matches!(self.definitions.shape(&it.ty), Type::Optional(_));
        let mut fields: Vec<&Field> =
            record.fields.iter().filter(|it| !seen.contains(&it.name)).collect();
        fields.sort_by_key(|it| optional(it));
        for field in fields {
            let name =
                if quoted { format!("{:?}:", field.name) } else { format!("{}:", field.name) };
            self.suggest(name, self.definitions.type_text(&field.ty), true);
        }
    }

    fn value(&mut self, owner: &Owner, field: &str, ty: &Type) {
        let definitions = self.definitions;
        match definitions.shape(ty).clone() {
            Type::Optional(inner) => {
                self.value(owner, field, &inner);
                self.suggest("null", "nothing", false);
            }
            Type::Bool => {
                for word in ["true", "false"] {
                    self.suggest(word, "", false);
                }
            }
            Type::AtomRef(atom) => self.references_to(&[atom]),
            Type::InterfaceRef(of) => {
                let atoms: Vec<AtomIndex> = definitions
                    .atoms()
                    .map(|(at, _)| at)
                    .filter(|at| definitions.implementation(*at, &of).is_some())
                    .collect();
                self.references_to(&atoms);
            }
            Type::Record(_) => self.suggest("{", "a record", false),
            Type::List(_) => self.suggest("[", "a list", false),
            Type::String => {
                for word in words::of(owner.operation.as_deref(), field) {
                    self.suggest(Value::from(*word).to_string(), "", false);
                }
                if field.ends_with("At") {
                    self.suggest(time(field), "a time", false);
                }
                self.stored_value(owner, field);
                self.variables(Value::is_string);
            }
            Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => {
                self.stored_value(owner, field);
                self.variables(Value::is_number);
            }
            Type::Unit | Type::Bytes | Type::Named(_) | Type::Parameter(_) => {}
        }
    }

    fn stored_value(&mut self, owner: &Owner, field: &str) {
        if let Some(stored) = self.stored(owner, field) {
            self.suggest(stored, "as stored", false);
        }
    }

    /// What the receiver's state has under the same name: its attempt, its generation.
    fn stored(&self, owner: &Owner, field: &str) -> Option<String> {
        let name = match field.strip_prefix("expected") {
            Some(rest) => rest.to_lowercase(),
            None => field.to_owned(),
        };
        let receiver = owner.receiver.as_ref()?;
        let states = self.live.state(receiver);
        let found = states.iter().find_map(|state| state.get(&name))?;
        let plain = found.is_number() || found.as_str().is_some_and(|it| !it.is_empty());
        plain.then(|| found.to_string())
    }

    /// Variables that hold a reference to one of some atoms, and the newest of their objects.
    fn references_to(&mut self, atoms: &[AtomIndex]) {
        let ids: Vec<&str> =
            atoms.iter().map(|at| self.definitions.atom(*at).id.as_str()).collect();
        self.variables(|value| {
            let atom = value.as_str().and_then(|it| it.rsplit_once('/')).map(|(atom, _)| atom);
            atom.is_some_and(|atom| ids.contains(&atom))
        });
        let quoted = self.typed.starts_with('"');
        for atom in atoms {
            for (reference, about) in self.live.objects(*atom) {
                let text = if quoted { format!("{reference:?}") } else { reference };
                self.suggest(text, about, false);
            }
        }
    }

    /// What takes the input that a command is given.
    fn owner(&self, page: &Page, rest: &[Token]) -> Option<Owner> {
        let definitions = self.definitions;
        let first = rest.first()?;
        match (page.name, &first.kind) {
            ("create", TokenKind::Word(word)) => {
                let atom = *lookup::atoms(definitions, word).first()?;
                let root = definitions.atom(atom).root.as_ref()?;
                Some(Owner { ty: root.input.clone(), operation: None, receiver: None })
            }
            ("call", TokenKind::Word(word)) => {
                let at = lookup::operation(definitions, word)?;
                let operation = definitions.operation(at);
                let receiver = rest.get(2).and_then(Token::path).cloned();
                let name = Some(operation.name.clone());
                Some(Owner { ty: operation.input.clone(), operation: name, receiver })
            }
            ("call", TokenKind::Path(path)) => self.member_owner(path),
            _ => None,
        }
    }

    fn member_owner(&self, path: &Path) -> Option<Owner> {
        let mut receiver = path.clone();
        let member = receiver.segments.pop()?;
        let mut interface = None;
        let mut found = self.live.find(&receiver);
        if found.is_none() {
            interface = receiver.segments.pop();
            found = self.live.find(&receiver);
        }
        let Some(Found::Object(atom)) = found else { return None };
        let interface = interface.as_ref().map(|it| it.name.as_str());
        let of = lookup::members(self.definitions, atom, interface, &member.name);
        let of = of.into_iter().next()?;
        let MemberKind::Operation { input, .. } = of.kind else { return None };
        let operation = self.definitions.operations.iter().find(|it| {
            lookup::door(self.definitions, it).is_some_and(|door| {
                door.interface_id == of.interface.id && door.member == of.member.name
            })
        });
        let operation = operation.map(|it| it.name.clone());
        Some(Owner { ty: input, operation, receiver: Some(receiver) })
    }
}

/// The time that a field of a time probably wants.
fn time(field: &str) -> &'static str {
    if field == "expiresAt" { "$now+10m" } else { "$now" }
}
