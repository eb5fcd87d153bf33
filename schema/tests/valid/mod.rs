//! Random definitions that mean something: whatever is drawn, checking finds no fault in it.
//!
//! A definition is made of a list of numbers, each of which decides the next thing; where the list
//! ends, the plainest is taken. So a shorter list with smaller numbers is a smaller definition, and
//! a list can be drawn by whatever draws numbers.
//!
//! Names are of the kind that trouble a parser or a generator of Rust: words of either language,
//! and some that differ in their case alone. The tests of `codegen` generate from it, too.
#![allow(dead_code, reason = "each test file uses its part of what it shares")]

use std::collections::BTreeSet;
use std::slice;

/// A definition, item by item, since their order has no meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Valid {
    /// The name of the package, and its block.
    pub(crate) package: (String, String),
    /// All other items.
    pub(crate) items: Vec<String>,
}

impl Valid {
    /// Makes a definition.
    pub(crate) fn of(choices: &[u16]) -> Self {
        Maker { choices: choices.iter(), taken: BTreeSet::new() }.definition()
    }

    /// One file with everything.
    pub(crate) fn text(&self) -> String {
        format!("{}\n{}", self.items.join("\n"), self.package.1)
    }
}

/// What names are made of.
const STEMS: &[&str] = &[
    "data",
    "self",
    "type",
    "match",
    "camelCase",
    "snake_case",
    "fn",
    "len",
    "new",
    "clone",
    "input",
    "output",
    "context",
    "on",
    "get",
    "all",
    "value",
    "hash",
    "state",
    "edge",
    "crate",
    "super",
    "Self",
    "ok",
    "Some",
    "index",
    "key",
    "target",
    "receiver",
    "instant",
    "async",
    "X",
    "_1",
    "HTTPServer",
    "record",
    "requires",
    "from",
    "keyed",
    "atom",
    "unit",
];
const TYPE_STEMS: &[&str] = &[
    "Thing",
    "String",
    "Option",
    "Vec",
    "Result",
    "Call",
    "Handler",
    "Context",
    "Input",
    "Ref",
    "HTTPServer",
    "lower",
    "Box",
    "Some",
    "Ok",
    "None",
    "Default",
    "snake_case",
    "Serialize",
    "Id",
];

struct Maker<'c> {
    choices: slice::Iter<'c, u16>,
    /// Names that are gone, as Rust would tell them apart at worst.
    taken: BTreeSet<String>,
}

#[derive(Clone)]
enum Target {
    Atom(usize),
    Interface(usize),
}

#[derive(Clone)]
struct Edge {
    cardinality: &'static str,
    keyed: bool,
    target: Target,
}

enum Kind {
    /// The type, and whether it is a record that begins with a label.
    State(String, bool),
    Edge(Edge),
    Stream(String),
    Operation {
        input: String,
        output: String,
        internal: bool,
    },
    /// An append to the stream with this name.
    Append {
        stream: String,
        event: String,
    },
}

struct Member {
    name: String,
    kind: Kind,
}

struct Interface {
    name: String,
    members: Vec<Member>,
}

struct Atom {
    name: String,
    implements: Vec<usize>,
    /// A state of its own.
    own: Option<(String, String)>,
    root: bool,
}

/// The names that types can be made of.
struct Known {
    records: Vec<String>,
    atoms: Vec<String>,
    interfaces: Vec<String>,
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// Returns the first of a name, name1, name2 … that is not taken.
fn fresh(stem: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (1..).map(|at| format!("{stem}{at}"));
    let mut all = [stem.to_owned()].into_iter().chain(numbered);
    all.find(|name| taken.insert(folded(name))).expect("numbers do not end")
}

fn slot_id(name: &str) -> String {
    format!("slot é\\n/{name}")
}

impl Maker<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.choices.next().map_or(0, |choice| usize::from(*choice) % end.max(1))
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 1
    }

    fn name(&mut self) -> String {
        let stem = STEMS[self.below(STEMS.len())];
        fresh(stem, &mut self.taken)
    }

    fn type_name(&mut self) -> String {
        let stem = TYPE_STEMS[self.below(TYPE_STEMS.len())];
        fresh(stem, &mut self.taken)
    }

    /// Some of several, at least as many as said.
    fn some(&mut self, of: usize, least: usize) -> Vec<usize> {
        let chosen: Vec<_> = (0..of).filter(|_| self.yes()).collect();
        if chosen.len() < least { (0..least.min(of)).collect() } else { chosen }
    }

    fn ty(&mut self, known: &Known, depth: usize) -> String {
        const SCALARS: [&str; 8] =
            ["string", "bool", "uint32", "int64", "uint64", "int32", "float64", "bytes"];
        match self.below(if depth == 0 { 12 } else { 20 }) {
            at @ 0..8 => SCALARS[at].to_owned(),
            8 | 9 if !known.records.is_empty() => {
                known.records[self.below(known.records.len())].clone()
            }
            10 => format!("atom-ref<{}>", known.atoms[self.below(known.atoms.len())]),
            11 => {
                format!("interface-ref<{}>", known.interfaces[self.below(known.interfaces.len())])
            }
            12..14 => match self.ty(known, depth - 1) {
                inner if inner.starts_with("optional<") => inner,
                inner => format!("optional<{inner}>"),
            },
            14..17 => format!("list<{}>", self.ty(known, depth - 1)),
            17..20 => self.record(known, depth - 1, &[]),
            _ => "string".to_owned(),
        }
    }

    fn record(&mut self, known: &Known, depth: usize, begin: &[&str]) -> String {
        let mut taken = BTreeSet::from(["label".to_owned()]);
        let mut fields: Vec<String> = begin.iter().map(|it| (*it).to_owned()).collect();
        for _ in 0..=self.below(3) {
            let name = fresh(STEMS[self.below(STEMS.len())], &mut taken);
            fields.push(format!("{name}: {};", self.ty(known, depth)));
        }
        format!("record {{{}}}", fields.join(" "))
    }

    fn edge(&mut self, known: &Known) -> Edge {
        let cardinality = ["many-unique", "optional-one", "one"][self.below(3)];
        let keyed = cardinality == "many-unique" && self.yes();
        let target = if self.yes() {
            Target::Interface(self.below(known.interfaces.len()))
        } else {
            Target::Atom(self.below(known.atoms.len()))
        };
        Edge { cardinality, keyed, target }
    }

    fn members(&mut self, known: &Known, labelled: &[String]) -> Vec<Member> {
        let mut members: Vec<Member> = Vec::new();
        for _ in 0..=self.below(6) {
            let kind = match self.below(6) {
                0 => {
                    let input = if self.yes() { self.ty(known, 2) } else { "unit".into() };
                    let output = if self.yes() { self.ty(known, 2) } else { "unit".into() };
                    Kind::Operation { input, output, internal: self.below(4) == 3 }
                }
                1 if !labelled.is_empty() => {
                    Kind::State(labelled[self.below(labelled.len())].clone(), true)
                }
                1 | 2 => Kind::State(self.ty(known, 2), false),
                3 | 4 => Kind::Edge(self.edge(known)),
                _ => {
                    let (stream, event) = (self.name(), self.ty(known, 1));
                    members
                        .push(Member { name: stream.clone(), kind: Kind::Stream(event.clone()) });
                    Kind::Append { stream, event }
                }
            };
            members.push(Member { name: self.name(), kind });
        }
        members
    }

    fn definition(mut self) -> Valid {
        let mut names = |least: usize, most: usize| -> Vec<String> {
            (0..least + self.below(most)).map(|_| self.type_name()).collect()
        };
        let (records, atoms, interfaces) = (names(1, 3), names(1, 3), names(1, 3));
        let package = self.type_name();
        let mut known = Known { records: Vec::new(), atoms, interfaces };
        let mut items = Vec::new();
        for name in &records {
            let record = self.record(&known, 2, &["label: string;"]);
            items.push(format!("type {name} = {record};"));
            known.records.push(name.clone());
        }
        let interfaces: Vec<_> = known
            .interfaces
            .iter()
            .map(|name| Interface { name: name.clone(), members: self.members(&known, &records) })
            .collect();
        let atoms: Vec<_> = known
            .atoms
            .iter()
            .map(|name| Atom {
                name: name.clone(),
                implements: self.some(interfaces.len(), 1),
                own: self.yes().then(|| (self.name(), self.ty(&known, 2))),
                root: self.yes(),
            })
            .collect();
        let world = World { known: &known, interfaces: &interfaces, atoms: &atoms };
        items.extend(interfaces.iter().map(|it| world.interface(it)));

        // What serves each operation member.
        let mut operations = Vec::new();
        let mut served = Vec::new();
        for (at, interface) in interfaces.iter().enumerate() {
            for member in &interface.members {
                if let Kind::Operation { input, output, .. } = &member.kind {
                    let name = self.name();
                    if atoms.iter().any(|atom| atom.implements.contains(&at)) {
                        operations.push(self.operation(&world, at, &name, input, output));
                    }
                    served.push((member.name.clone(), name));
                }
            }
        }
        let inverses = self.inverses(&world);
        for (at, atom) in atoms.iter().enumerate() {
            let inverses =
                inverses.iter().filter(|(of, _)| *of == at).map(|(_, text)| text.as_str());
            items.push(world.atom(atom, &served, &inverses.collect::<String>()));
        }
        let block = format!(
            "package {package} id \"package:test:{package}\" revision \"r\\u{{e9}}\\n\\\"1\\\"\" \
             {{\n{}}}",
            operations.concat()
        );
        Valid { package: (package, block), items }
    }

    /// Inverses, with the atom that each is a slot of.
    fn inverses(&mut self, world: &World<'_>) -> Vec<(usize, String)> {
        let mut inverses = Vec::new();
        for atom in world.atoms {
            let label = world
                .members_of(atom)
                .find(|member| matches!(member.kind, Kind::State(_, true)))
                .map(|member| member.name.clone());
            for member in world.members_of(atom) {
                let Kind::Edge(Edge { target: Target::Atom(target), .. }) = &member.kind else {
                    continue;
                };
                if self.yes() {
                    let (name, edge) = (self.name(), &member.name);
                    let key = label.as_ref().filter(|_| self.yes());
                    let key = key.map_or(String::new(), |state| format!(" keyed {state}.label"));
                    let id = slot_id(&name);
                    let text =
                        format!("  inverse {name} id \"{id}\": {}.{edge}{key};\n", atom.name);
                    inverses.push((*target, text));
                }
            }
        }
        inverses
    }

    fn operation(
        &mut self,
        world: &World<'_>,
        at: usize,
        name: &str,
        input: &str,
        output: &str,
    ) -> String {
        let query = self.below(4) == 3;
        let mut taken = BTreeSet::new();
        let mut requires = String::new();
        for member in &world.interfaces[at].members {
            if self.below(3) == 2 {
                continue;
            }
            let (kind, shape, verbs): (_, _, &[&str]) = match &member.kind {
                Kind::State(ty, _) => ("state", ty.clone(), &["read", "write"]),
                Kind::Edge(edge) if edge.cardinality == "one" => {
                    ("edge", world.shape(edge), &["resolve"])
                }
                Kind::Edge(edge) => {
                    ("edge", world.shape(edge), &["resolve", "connect", "disconnect"])
                }
                Kind::Stream(ty) => ("stream", ty.clone(), &["read", "append"]),
                Kind::Operation { .. } | Kind::Append { .. } => continue,
            };
            let verbs: Vec<_> = if query {
                vec![verbs[0]]
            } else {
                self.some(verbs.len(), 1).into_iter().map(|verb| verbs[verb]).collect()
            };
            let name = fresh(STEMS[self.below(STEMS.len())], &mut taken);
            let (id, verbs) = (slot_id(&member.name), verbs.join(", "));
            requires += &format!("    {kind} {name} id \"{id}\": {shape} [{verbs}];\n");
        }
        for atom in world.atoms {
            if !query && self.below(3) == 1 {
                let name = fresh(STEMS[self.below(STEMS.len())], &mut taken);
                let (of, input) = (&atom.name, world.creation(atom, self.yes()));
                requires += &format!("    creation {name} id \"{name}\": {of} input {input};\n");
            }
        }
        for interface in world.interfaces {
            let may: Vec<_> = interface
                .members
                .iter()
                .filter_map(|member| match &member.kind {
                    Kind::State(..) => Some(("get", member)),
                    Kind::Edge(_) => Some(("resolve", member)),
                    Kind::Stream(_) => Some(("read", member)),
                    Kind::Operation { .. } | Kind::Append { .. } => {
                        (!query).then_some(("call", member))
                    }
                })
                .collect();
            if !may.is_empty() && self.yes() {
                let using: Vec<_> = self
                    .some(may.len(), 1)
                    .into_iter()
                    .map(|at| format!("{}.{}", may[at].1.name, may[at].0))
                    .collect();
                let name = fresh(STEMS[self.below(STEMS.len())], &mut taken);
                let (of, using) = (&interface.name, using.join(", "));
                requires += &format!(
                    "    interface {name} id \"{name}\": {of} using [{using}] from input;\n"
                );
            }
        }
        let execution = if query { "query" } else { "transaction" };
        let targets = ["server", "server, worker", "client"][self.below(3)];
        format!(
            "  operation {name} id \"operation:{name}\": {input} -> {output} mode call execution \
             {execution} targets [{targets}] receiver any requires {{\n{requires}  }};\n"
        )
    }
}

/// All that was drawn, to be written down.
struct World<'w> {
    known: &'w Known,
    interfaces: &'w [Interface],
    atoms: &'w [Atom],
}

impl<'w> World<'w> {
    fn members_of(&self, atom: &'w Atom) -> impl Iterator<Item = &'w Member> {
        atom.implements.iter().flat_map(|at| &self.interfaces[*at].members)
    }

    fn reference(&self, target: &Target) -> String {
        match target {
            Target::Atom(at) => format!("atom-ref<{}>", self.known.atoms[*at]),
            Target::Interface(at) => format!("interface-ref<{}>", self.known.interfaces[*at]),
        }
    }

    fn shape(&self, edge: &Edge) -> String {
        let target = match edge.target {
            Target::Atom(at) => format!("atom {}", self.known.atoms[at]),
            Target::Interface(at) => format!("interface {}", self.known.interfaces[at]),
        };
        let keyed = if edge.keyed { " keyed \"string\"" } else { "" };
        format!("{} {target}{keyed}", edge.cardinality)
    }

    fn interface(&self, interface: &Interface) -> String {
        let member = |Member { name, kind }: &Member| match kind {
            Kind::State(ty, _) => format!("  state {name}: {ty} [get];\n"),
            Kind::Edge(edge) => format!("  edge {name}: {} [resolve];\n", self.shape(edge)),
            Kind::Stream(ty) => format!("  stream {name}: {ty} [read];\n"),
            Kind::Operation { input, output, internal } => {
                let internal = if *internal { "internal " } else { "" };
                format!("  {internal}operation {name}: {input} -> {output};\n")
            }
            Kind::Append { event, .. } => format!("  operation {name}: {event} -> uint64;\n"),
        };
        let members: String = interface.members.iter().map(member).collect();
        let name = &interface.name;
        format!("interface {name} id \"interface:test:{name}\" {{\n{members}}}")
    }

    fn atom(&self, atom: &Atom, served: &[(String, String)], inverses: &str) -> String {
        let slot = |Member { name, kind }: &Member| {
            let id = slot_id(name);
            match kind {
                Kind::State(ty, _) => format!("  state {name} id \"{id}\": {ty};\n"),
                Kind::Edge(edge) => format!("  edge {name} id \"{id}\": {};\n", self.shape(edge)),
                Kind::Stream(ty) => format!("  stream {name} id \"{id}\": {ty};\n"),
                Kind::Operation { .. } | Kind::Append { .. } => String::new(),
            }
        };
        let slots: String = self.members_of(atom).map(slot).collect();
        let own = atom.own.as_ref().map_or(String::new(), |(name, ty)| {
            format!("  state {name} id \"{}\": {ty};\n", slot_id(name))
        });
        let root = if atom.root {
            format!("  root input {};\n", self.creation(atom, false))
        } else {
            String::new()
        };
        let implements: String = atom
            .implements
            .iter()
            .map(|at| {
                let Interface { name, members } = &self.interfaces[*at];
                let binding = |member: &Member| match &member.kind {
                    Kind::Operation { .. } => {
                        let found = served.iter().find(|(of, _)| *of == member.name);
                        let (of, operation) = found.expect("each operation member is served");
                        format!("    {of} = {operation};\n")
                    }
                    Kind::Append { stream, .. } => {
                        format!("    {} = {stream}.append;\n", member.name)
                    }
                    Kind::State(..) | Kind::Edge(_) | Kind::Stream(_) => String::new(),
                };
                let bindings: String = members.iter().map(binding).collect();
                if bindings.is_empty() {
                    return format!("  implements {name};\n");
                }
                format!("  implements {name} {{\n{bindings}  }}\n")
            })
            .collect();
        let name = &atom.name;
        format!(
            "atom {name} id \"atom:test:{name}\" {{\n{slots}{own}{inverses}{root}{implements}}}"
        )
    }

    /// What an atom is created from: all that must be there, or all that can be.
    fn creation(&self, atom: &'w Atom, all: bool) -> String {
        let field = |Member { name, kind }: &Member| match kind {
            Kind::State(ty, _) => format!("{name}: {ty}; "),
            Kind::Edge(edge) => {
                let to = self.reference(&edge.target);
                match (edge.cardinality, edge.keyed) {
                    ("one", _) => format!("{name}: {to}; "),
                    _ if !all => String::new(),
                    ("optional-one", _) => format!("{name}: optional<{to}>; "),
                    (_, false) => format!("{name}: list<{to}>; "),
                    (_, true) => {
                        format!("{name}: list<record {{key: string; target: {to};}}>; ")
                    }
                }
            }
            Kind::Stream(_) | Kind::Operation { .. } | Kind::Append { .. } => String::new(),
        };
        let fields: String = self.members_of(atom).map(field).collect();
        let own = atom.own.as_ref().map_or(String::new(), |(name, ty)| format!("{name}: {ty}; "));
        match format!("{fields}{own}").trim_end() {
            "" => "unit".to_owned(),
            fields => format!("record {{{fields}}}"),
        }
    }
}
