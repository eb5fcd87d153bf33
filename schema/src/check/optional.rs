//! Optionals of optionals, wherever a name or a parameter hides one of the two.

use std::collections::BTreeSet;

use super::Checker;
use crate::code::Code;
use crate::definitions::{EdgeShape, EdgeTarget, InterfaceType, MemberKind, Type};
use crate::diagnostic::Diagnostic;
use crate::source::Place;

/// What can be checked only when every type is known.
pub(super) enum Later {
    /// An optional of this type.
    Optional { inner: Type, place: Place },
    /// An interface with arguments.
    Instance { interface: InterfaceType, arguments: Vec<Place> },
}

/// A parameter of an interface, by positions.
type Parameter = (usize, usize);

impl Checker<'_, '_, '_> {
    /// Checks what had to wait until every type was known.
    pub(super) fn settle_types(&mut self) {
        let optional = self.optional_parameters();
        for later in std::mem::take(&mut self.later) {
            match later {
                Later::Optional { inner, place } => {
                    if matches!(self.shape(&inner), Some(Type::Optional(_))) {
                        self.report_nested(place);
                    }
                }
                Later::Instance { interface, arguments } => {
                    for (at, (argument, place)) in
                        interface.arguments.iter().zip(arguments).enumerate()
                    {
                        if optional.contains(&(interface.interface.get(), at))
                            && matches!(self.shape(argument), Some(Type::Optional(_)))
                        {
                            self.report_nested_argument(&interface, at, place);
                        }
                    }
                }
            }
        }
    }

    fn report_nested(&mut self, place: Place) {
        self.report.push(
            Diagnostic::new(
                Code::NestedOptional,
                place,
                "an optional of an optional has two ways to be absent, which JSON cannot tell \
                 apart",
            )
            .label("already optional")
            .help("remove one `optional`, or put a record between them"),
        );
    }

    fn report_nested_argument(&mut self, of: &InterfaceType, at: usize, place: Place) {
        let interface = self.names.interfaces[of.interface.get()].ast;
        let parameter = &interface.parameters[at];
        let message = format!(
            "`{}` makes `{}` optional, and this argument is optional already",
            interface.name.value, parameter.value
        );
        self.report.push(
            Diagnostic::new(Code::NestedOptional, place, message)
                .label("already optional")
                .also(parameter.place, "this parameter"),
        );
    }

    /// Returns the parameters that some interface makes optional, itself or by handing them to
    /// another interface that does.
    fn optional_parameters(&self) -> BTreeSet<Parameter> {
        let mut found = BTreeSet::new();
        loop {
            let before = found.len();
            for (at, interface) in self.made.interfaces.iter().enumerate() {
                for member in &interface.members {
                    for ty in member_types(&member.kind) {
                        made_optional(ty, at, &mut found);
                    }
                    if let MemberKind::Edge(EdgeShape {
                        target: EdgeTarget::Interface(of), ..
                    }) = &member.kind
                    {
                        handed_on(of, at, &mut found);
                    }
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }
}

/// Returns the types that stand in a member.
fn member_types(kind: &MemberKind) -> Vec<&Type> {
    match kind {
        MemberKind::State(ty) | MemberKind::Stream(ty) => vec![ty],
        MemberKind::Edge(_) => Vec::new(),
        MemberKind::Operation { input, output } => vec![input, output],
    }
}

/// Adds the parameters of the interface at a position that a type makes optional.
fn made_optional(ty: &Type, interface: usize, found: &mut BTreeSet<Parameter>) {
    match ty {
        Type::Optional(inner) => {
            if let Type::Parameter(at) = inner.as_ref() {
                found.insert((interface, *at as usize));
            }
            made_optional(inner, interface, found);
        }
        Type::List(inner) => made_optional(inner, interface, found),
        Type::Record(record) => {
            for field in &record.fields {
                made_optional(&field.ty, interface, found);
            }
        }
        Type::InterfaceRef(of) => handed_on(of, interface, found),
        Type::Unit
        | Type::Bool
        | Type::Int32
        | Type::Int64
        | Type::Uint32
        | Type::Uint64
        | Type::Float64
        | Type::String
        | Type::Bytes
        | Type::Named(_)
        | Type::AtomRef(_)
        | Type::Parameter(_) => {}
    }
}

/// Adds the parameters that an interface hands on to one that makes them optional.
fn handed_on(of: &InterfaceType, interface: usize, found: &mut BTreeSet<Parameter>) {
    for (at, argument) in of.arguments.iter().enumerate() {
        if let Type::Parameter(parameter) = argument
            && found.contains(&(of.interface.get(), at))
        {
            found.insert((interface, *parameter as usize));
        }
        made_optional(argument, interface, found);
    }
}
