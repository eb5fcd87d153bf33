//! Every diagnostic code, once.
//!
//! A code, once shipped, keeps its number and its meaning. Each has a page
//! `docs/diagnostics/CODE.md` and at least one golden case that provokes it; `tests/` checks both.
//! S00xx: characters and tokens. S01xx: grammar. S02xx: names and ids. S03xx: types.
//! S04xx: interfaces and atoms. S05xx: operations and requirements. S06xx: linking across atoms
//! and packages. S09xx: warnings.

use crate::diagnostic::Severity;

macro_rules! codes {
    ($($code:ident $name:ident $severity:ident $title:literal;)*) => {
        /// Which fault a diagnostic is about.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the stable text, like `S0201`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($code),)* }
            }

            /// Returns what the code is about, in a few words.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// Returns how bad it is.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    S0001 UnknownCharacter Error "a character that begins no token";
    S0002 UnclosedString Error "a string that does not end on its line";
    S0003 UnclosedComment Error "a comment that does not end";
    S0004 BadEscape Error "an escape that a string does not know";
    S0005 SourceTooLarge Error "a file that is larger than a definition may be";
    S0101 UnexpectedToken Error "something else was expected here";
    S0102 MissingSemicolon Error "a `;` is missing";
    S0103 Unclosed Error "a bracket that is not closed";
    S0104 StrayBracket Error "a closing bracket that closes nothing";
    S0105 NestedTooDeep Error "a type that is nested too deep";
    S0106 HyphenInName Error "a name with a hyphen";
    S0107 ClauseOutOfPlace Error "a clause of an operation that is out of order, or there twice";

    S0201 NoPackage Error "a file that belongs to no package";
    S0202 SecondPackage Error "a file that belongs to more than one package";
    S0203 UnknownPackage Error "a package that is not in the set";
    S0204 UnknownType Error "a type that is not defined";
    S0205 UnknownInterface Error "an interface that is not defined";
    S0206 UnknownAtom Error "an atom that is not defined";
    S0207 UnknownOperation Error "an operation that is not defined";
    S0208 OtherKind Error "a name of another kind than belongs here";
    S0209 DuplicateName Error "a name that is given twice";
    S0210 DuplicateId Error "an id that is given twice";
    S0211 TagCollision Error "two ids that a store could not tell apart";
    S0212 EmptyId Error "an id without text";
    S0213 UnknownAtomId Error "an external atom that no package defines";
    S0214 OtherExternalName Error "an external atom under another name than its package gives it";
    S0215 UnknownImport Error "an import that no package answers";
    S0216 AmbiguousImport Error "an import that several packages answer";
    S0217 BuiltInName Error "a definition under the name of a built-in type";

    S0301 RecursiveType Error "a type that contains itself without a reference between";
    S0302 DuplicateField Error "a record with two fields of one name";
    S0303 NestedOptional Error "an optional of an optional";
    S0304 UnitValue Error "`unit` where a value is needed";
    S0305 ArgumentCount Error "an interface with the wrong number of arguments";

    S0401 UnknownCardinality Error "a cardinality that does not exist";
    S0402 KeyedNotMany Error "a keyed edge that is not `many-unique`";
    S0403 KeyType Error "a key of another type than string";
    S0404 DuplicateMember Error "an interface with two members of one name";
    S0405 InternalNotOperation Error "an internal member that is not an operation";
    S0406 UnknownVerb Error "a verb that does not belong to its kind";
    S0407 RepeatedVerb Error "a verb that is given twice";
    S0408 DuplicateSlot Error "an atom with two slots of one name";
    S0409 UnknownEdge Error "an inverse of an edge that does not exist";
    S0410 InverseElsewhere Error "an inverse of an edge that leads elsewhere";
    S0411 DuplicateInverse Error "two inverses of one edge";
    S0412 InverseKey Error "an inverse key that does not lead to a string";
    S0413 Unserved Error "a member that nothing serves";
    S0414 UnknownMember Error "a member that the interface does not have";
    S0415 BoundTwice Error "a member that is bound twice";
    S0416 UnknownSlot Error "a slot that the atom does not have";
    S0417 OtherSource Error "a member bound to something of another kind";
    S0418 OtherShape Error "a member served by something of another shape";
    S0419 UnknownBuiltIn Error "a built-in operation that does not exist";
    S0420 ImplementedTwice Error "an interface that an atom implements twice";
    S0421 DuplicateRoot Error "an atom with two `root` lines";
    S0422 CreationInput Error "a creation from something that is neither `unit` nor a record";
    S0423 CreationField Error "a creation field that fills no slot";
    S0424 CreationType Error "a creation field of another type than its slot";
    S0425 CreationMissing Error "a creation that leaves a slot empty";

    S0501 UnknownMode Error "a mode that does not exist";
    S0502 UnknownExecution Error "an execution that does not exist";
    S0503 UnknownTarget Error "a target that does not exist";
    S0504 RepeatedTarget Error "a target that is given twice";
    S0505 UnknownReceiver Error "a receiver that does not exist";
    S0506 DuplicateRequirement Error "two requirements of one name";
    S0507 DuplicateGrant Error "two requirements of one id";
    S0508 UsedTwice Error "a member that is used twice";
    S0509 UnknownOrigin Error "references from somewhere else than the input";
    S0510 FixedEdge Error "a change of an edge that never changes";
    S0511 QueryWrites Error "a query that may write";

    S0601 MissingSlot Error "a requirement on a slot that the receiver does not have";
    S0602 OtherSlot Error "a requirement on a slot of another kind";
    S0603 OtherSlotShape Error "a requirement on a slot of another type or shape";
    S0604 InverseChanged Error "a requirement that changes an inverse";
    S0605 QueryCalls Error "a query that calls what may write";

    S0901 UnusedImport Warning "an import that is not used";
    S0902 UnboundOperation Warning "an operation that no atom binds";
    S0903 UnmetInterface Warning "a requirement on an interface that no atom implements";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
