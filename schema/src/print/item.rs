//! The items of a file.

use super::types::records;
use super::{Entry, Printer};
use crate::ast::{ImportKind, Item};
use crate::source::Place;

impl Entry for Item {
    fn place(&self) -> Place {
        match self {
            Self::PartOf(it) => it.place,
            Self::ExternalAtom(it) => it.place,
            Self::Import(it) => it.place,
            Self::TypeAlias(it) => it.place,
            Self::Interface(it) => it.place,
            Self::Atom(it) => it.place,
            Self::Package(it) => it.place,
        }
    }

    fn blocks(&self) -> Vec<Place> {
        match self {
            Self::PartOf(_) | Self::ExternalAtom(_) | Self::Import(_) => Vec::new(),
            Self::TypeAlias(it) => records(&it.ty),
            Self::Interface(it) => vec![it.block()],
            Self::Atom(it) => vec![it.block()],
            Self::Package(it) => vec![it.block()],
        }
    }

    fn print(&self, printer: &mut Printer<'_>) {
        match self {
            Self::PartOf(it) => {
                printer.push("part of ");
                printer.name(&it.package);
                printer.push(";");
            }
            Self::ExternalAtom(it) => {
                printer.heading("external atom", &it.name, &it.id);
                printer.push(";");
            }
            Self::Import(it) => {
                printer.push(match it.kind.value {
                    ImportKind::Interface => "import interface ",
                    ImportKind::Type => "import type ",
                    ImportKind::Operation => "import operation ",
                });
                printer.name(&it.name);
                if let Some(package) = &it.from {
                    printer.push(" from ");
                    printer.name(package);
                }
                printer.push(";");
            }
            Self::TypeAlias(it) => {
                printer.push("type ");
                printer.name(&it.name);
                printer.push(" = ");
                printer.ty(&it.ty, 1);
                printer.push(";");
            }
            Self::Interface(it) => it.print(printer),
            Self::Atom(it) => it.print(printer),
            Self::Package(it) => it.print(printer),
        }
    }

    fn apart(&self) -> bool {
        match self {
            Self::PartOf(_) | Self::Interface(_) | Self::Atom(_) | Self::Package(_) => true,
            Self::ExternalAtom(_) | Self::Import(_) | Self::TypeAlias(_) => false,
        }
    }
}
