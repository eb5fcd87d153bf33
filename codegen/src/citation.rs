//! Lines of the definition, as the documentation of generated code quotes them.
//!
//! They are written from the checked model and not cut from the text, so that layout and comments
//! of a definition don't change what is generated from it.

use quixos_schema::{
    Cardinality, Definitions, EdgeShape, EdgeTarget, Execution, Field, Interface, InterfaceType,
    Member, MemberKind, Mode, Operation, Receiver, Record, Requirement, RequirementKind, Target,
    Type, Verb,
};

/// `updatedAt: string`, perhaps in an interface with type parameters.
pub(crate) fn field(definitions: &Definitions, parameters: &[String], field: &Field) -> String {
    format!("{}: {}", field.name, Citation { definitions, parameters }.ty(&field.ty))
}

/// `state data: ThreadData [get];`
pub(crate) fn member(definitions: &Definitions, interface: &Interface, member: &Member) -> String {
    let cite = Citation { definitions, parameters: &interface.parameters };
    let internal = if member.internal { "internal " } else { "" };
    let name = &member.name;
    match &member.kind {
        MemberKind::State(ty) => format!("{internal}state {name}: {} [get];", cite.ty(ty)),
        MemberKind::Edge(shape) => {
            format!("{internal}edge {name}: {} [resolve];", cite.edge(shape))
        }
        MemberKind::Stream(ty) => format!("{internal}stream {name}: {} [read];", cite.ty(ty)),
        MemberKind::Operation { input, output } => {
            format!("{internal}operation {name}: {} -> {};", cite.ty(input), cite.ty(output))
        }
    }
}

/// `operation thread_rename: string -> unit`, and on a second line how it runs.
pub(crate) fn operation(definitions: &Definitions, operation: &Operation) -> String {
    let cite = Citation::new(definitions);
    let Operation { name, id, input, output, mode, execution, targets, receiver, .. } = operation;
    let mode = match mode {
        Mode::Call => "call",
    };
    let execution = match execution {
        Execution::Transaction => "transaction",
        Execution::Query => "query",
    };
    let receiver = match receiver {
        Receiver::Any => "any",
    };
    let targets: Vec<&str> = targets
        .iter()
        .map(|target| match target {
            Target::Server => "server",
            Target::Worker => "worker",
            Target::Client => "client",
        })
        .collect();
    format!(
        "operation {name} id {id:?}: {} -> {}\n  mode {mode} execution {execution} \
         targets [{}] receiver {receiver}",
        cite.ty(input),
        cite.ty(output),
        targets.join(", "),
    )
}

/// `state data id "data": ThreadData [read, write];`
pub(crate) fn requirement(definitions: &Definitions, requirement: &Requirement) -> String {
    let cite = Citation::new(definitions);
    let Requirement { name, id, kind, .. } = requirement;
    match kind {
        RequirementKind::State { ty, verbs } => {
            format!("state {name} id {id:?}: {} [{}];", cite.ty(ty), words(verbs))
        }
        RequirementKind::Edge { shape, verbs } => {
            format!("edge {name} id {id:?}: {} [{}];", cite.edge(shape), words(verbs))
        }
        RequirementKind::Stream { ty, verbs } => {
            format!("stream {name} id {id:?}: {} [{}];", cite.ty(ty), words(verbs))
        }
        RequirementKind::Creation(creation) => format!(
            "creation {name} id {id:?}: {} input {};",
            definitions.atom(creation.atom).name,
            cite.ty(&creation.input),
        ),
        RequirementKind::Interface { interface, using } => {
            let members = &definitions.interface(interface.interface).members;
            let using: Vec<String> =
                using.iter().map(|it| format!("{}.{}", members[it.member].name, it.verb)).collect();
            format!(
                "interface {name} id {id:?}: {} using [{}] from input;",
                cite.interface(interface),
                using.join(", "),
            )
        }
    }
}

fn words(verbs: &[Verb]) -> String {
    verbs.iter().map(|verb| verb.word()).collect::<Vec<_>>().join(", ")
}

struct Citation<'a> {
    definitions: &'a Definitions,
    /// Those of the interface that the type stands in.
    parameters: &'a [String],
}

impl<'a> Citation<'a> {
    fn new(definitions: &'a Definitions) -> Self {
        Self { definitions, parameters: &[] }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Unit => "unit".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Int32 => "int32".to_owned(),
            Type::Int64 => "int64".to_owned(),
            Type::Uint32 => "uint32".to_owned(),
            Type::Uint64 => "uint64".to_owned(),
            Type::Float64 => "float64".to_owned(),
            Type::String => "string".to_owned(),
            Type::Bytes => "bytes".to_owned(),
            Type::Optional(inner) => format!("optional<{}>", self.ty(inner)),
            Type::List(inner) => format!("list<{}>", self.ty(inner)),
            Type::Record(record) => self.record(record),
            Type::Named(at) => self.definitions.types[at.get()].name.clone(),
            Type::AtomRef(at) => format!("atom-ref<{}>", self.definitions.atom(*at).name),
            Type::InterfaceRef(of) => format!("interface-ref<{}>", self.interface(of)),
            Type::Parameter(at) => self.parameters[*at as usize].clone(),
        }
    }

    fn record(&self, record: &Record) -> String {
        let fields: Vec<String> = record
            .fields
            .iter()
            .map(|field| format!("{}: {};", field.name, self.ty(&field.ty)))
            .collect();
        format!("record {{{}}}", fields.join(" "))
    }

    fn interface(&self, of: &InterfaceType) -> String {
        let name = &self.definitions.interface(of.interface).name;
        if of.arguments.is_empty() {
            return name.clone();
        }
        let arguments: Vec<String> = of.arguments.iter().map(|ty| self.ty(ty)).collect();
        format!("{name}<{}>", arguments.join(", "))
    }

    fn edge(&self, shape: &EdgeShape) -> String {
        let cardinality = match shape.cardinality {
            Cardinality::One => "one",
            Cardinality::OptionalOne => "optional-one",
            Cardinality::ManyUnique => "many-unique",
        };
        let target = match &shape.target {
            EdgeTarget::Atom(at) => format!("atom {}", self.definitions.atom(*at).name),
            EdgeTarget::Interface(of) => format!("interface {}", self.interface(of)),
        };
        let keyed = if shape.keyed { " keyed \"string\"" } else { "" };
        format!("{cardinality} {target}{keyed}")
    }
}

/// Breaks a line that is too long to read: each field of its outermost records gets a line.
pub(crate) fn broken(line: &str) -> Vec<String> {
    const WIDTH: usize = 88;
    if line.chars().count() <= WIDTH {
        return vec![line.to_owned()];
    }
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut depth = 0;
    for piece in line.split_inclusive(['{', ';', '}']) {
        let begins = current.is_empty() && !lines.is_empty();
        let piece = if begins { piece.trim_start() } else { piece };
        if depth == 1 && piece == "}" {
            current.push_str(piece);
            depth = 0;
            continue;
        }
        if depth == 1 && begins {
            current.push_str("  ");
        }
        current.push_str(piece);
        match piece.chars().last() {
            Some('{') => depth += 1,
            Some('}') => depth -= 1,
            Some(_) | None => {}
        }
        let ends = piece.ends_with(['{', ';']);
        if depth == 1 && ends {
            lines.push(std::mem::take(&mut current));
        }
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_lines_break_at_the_fields_of_the_outermost_record() {
        let line = "creation create_item id \"create_item\": AgentItemObject input record {data: \
                    ItemData; control: optional<record {attempt: string; reason: string;}>; \
                    thread: atom-ref<AgentThreadObject>;};";
        assert_eq!(
            super::broken(line).join("\n"),
            "\
creation create_item id \"create_item\": AgentItemObject input record {
  data: ItemData;
  control: optional<record {attempt: string; reason: string;}>;
  thread: atom-ref<AgentThreadObject>;
};"
        );
        assert_eq!(super::broken("state a id \"a\": bool [read];").len(), 1);
    }
}
