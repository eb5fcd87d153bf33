//! The definitions as the runtime uses them: names resolved to positions, tags and layouts, once,
//! when they are loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use quixos_schema::{
    Atom, AtomIndex, Cardinality, Creation, Definitions, EdgeSlot, Execution, Fill, InterfaceIndex,
    KeyPath, Operation, OperationIndex, Tag, Target,
};

use crate::capability::Plan;
use crate::observer::{Observer, Watch};
use crate::package::Handler;
use crate::reference::ObjectRef;
use crate::request::Deed;
use crate::value::{Expected, Layout, Shape, reference_text};

/// Everything that was loaded.
pub(crate) struct Model {
    pub(crate) definitions: Arc<Definitions>,
    atoms: Vec<AtomModel>,
    operations: Vec<OperationModel>,
    /// For each operation, what it may do on each of its receivers.
    plans: Vec<BTreeMap<Tag, Plan>>,
    interfaces: BTreeMap<String, InterfaceIndex>,
}

/// An atom.
pub(crate) struct AtomModel {
    pub(crate) index: AtomIndex,
    pub(crate) tag: Tag,
    pub(crate) states: Vec<StateModel>,
    pub(crate) edges: Vec<EdgeModel>,
    pub(crate) inverses: Vec<InverseModel>,
    pub(crate) streams: Vec<StreamModel>,
    pub(crate) root: Option<CreationModel>,
}

/// A state slot.
pub(crate) struct StateModel {
    pub(crate) name: String,
    pub(crate) tag: Tag,
    pub(crate) layout: Arc<Layout>,
    /// The edges of the same object whose inverse keys are found in this state.
    pub(crate) keys: Vec<KeyOf>,
}

/// An edge whose inverse has its key in a state.
pub(crate) struct KeyOf {
    /// The position of the edge.
    pub(crate) edge: usize,
    /// The atom whose inverse it is.
    pub(crate) target: Tag,
    /// The way to the key.
    pub(crate) fields: Vec<usize>,
}

/// An edge slot.
pub(crate) struct EdgeModel {
    pub(crate) name: String,
    pub(crate) tag: Tag,
    pub(crate) cardinality: Cardinality,
    pub(crate) keyed: bool,
    pub(crate) expected: Expected,
    /// Where the inverse key is found, for each atom whose inverse has one. An edge has one inverse
    /// on an atom at most, so one key.
    pub(crate) inverse_keys: BTreeMap<Tag, KeyPath>,
}

/// An inverse slot.
pub(crate) struct InverseModel {
    pub(crate) name: String,
    /// The atom that the edges come from.
    pub(crate) source: AtomIndex,
    pub(crate) source_tag: Tag,
    /// The slot of the edge there.
    pub(crate) edge_tag: Tag,
    pub(crate) key: Option<KeyPath>,
}

/// A stream slot.
pub(crate) struct StreamModel {
    pub(crate) name: String,
    pub(crate) tag: Tag,
    pub(crate) layout: Arc<Layout>,
    pub(crate) watch: Watch,
}

/// How an atom is created.
pub(crate) struct CreationModel {
    pub(crate) atom: AtomIndex,
    pub(crate) input: Arc<Layout>,
    pub(crate) fills: Vec<Fill>,
}

/// An operation with the code that runs it.
pub(crate) struct OperationModel {
    pub(crate) id: String,
    pub(crate) input: Arc<Layout>,
    pub(crate) output: Arc<Layout>,
    pub(crate) handler: Handler,
    pub(crate) execution: Execution,
    /// Whether this host is one of its targets.
    pub(crate) here: bool,
    pub(crate) watch: Watch,
}

impl Model {
    /// Makes the definitions ready for a kind of host. `handlers` are in the order of the
    /// operations.
    pub(crate) fn new(definitions: Arc<Definitions>, handlers: Vec<Handler>, host: Target) -> Self {
        let atoms = definitions.atoms().map(|(at, atom)| AtomModel::new(&definitions, at, atom));
        let operations = definitions
            .operations
            .iter()
            .zip(handlers)
            .map(|(operation, handler)| OperationModel::new(&definitions, operation, handler, host))
            .collect();
        let plans = definitions
            .operations
            .iter()
            .map(|operation| {
                let receivers = operation.receivers.iter();
                let plan = |at: &AtomIndex| {
                    (definitions.atom(*at).tag, Plan::new(&definitions, operation, *at))
                };
                receivers.map(plan).collect()
            })
            .collect();
        let interfaces =
            definitions.interfaces().map(|(at, interface)| (interface.id.clone(), at)).collect();
        Self { atoms: atoms.collect(), operations, plans, interfaces, definitions }
    }

    pub(crate) fn atom(&self, at: AtomIndex) -> &AtomModel {
        &self.atoms[at.get()]
    }

    pub(crate) fn atom_of(&self, tag: Tag) -> Option<&AtomModel> {
        self.definitions.atom_of_tag(tag).map(|at| self.atom(at))
    }

    /// Returns what a deed is called: the operation's name, or what is done where none is called.
    pub(crate) fn deed(&self, deed: Deed) -> &str {
        match deed {
            Deed::Call { operation, .. } => &self.definitions.operation(operation).name,
            Deed::Append { .. } => "append",
            Deed::Create { .. } => "create",
            Deed::Advance { .. } => "advance",
        }
    }

    /// Marks the operations and streams that somebody wants to be told of.
    pub(crate) fn watch(&mut self, observer: &dyn Observer) {
        let watch = |name: String| observer.watches(&name).then(|| name.into());
        for (model, operation) in self.operations.iter_mut().zip(&self.definitions.operations) {
            model.watch = watch(operation.name.clone());
        }
        for atom in &mut self.atoms {
            let name = &self.definitions.atom(atom.index).name;
            for stream in &mut atom.streams {
                stream.watch = watch(format!("{name}.{}", stream.name));
            }
        }
    }

    pub(crate) fn operation(&self, at: OperationIndex) -> &OperationModel {
        &self.operations[at.get()]
    }

    /// Returns what an operation may do on a receiver, if it may be bound to it.
    pub(crate) fn plan(&self, operation: OperationIndex, receiver: Tag) -> Option<&Plan> {
        self.plans[operation.get()].get(&receiver)
    }

    /// Returns the canonical text of a reference.
    pub(crate) fn text(&self, reference: ObjectRef) -> String {
        reference_text(&self.definitions, reference)
    }

    pub(crate) fn interface(&self, id: &str) -> Option<InterfaceIndex> {
        self.interfaces.get(id).copied()
    }
}

impl AtomModel {
    fn new(definitions: &Definitions, index: AtomIndex, atom: &Atom) -> Self {
        let states = atom.states.iter().map(|slot| StateModel {
            name: slot.name.clone(),
            tag: slot.tag,
            layout: Layout::of(definitions, &slot.ty),
            keys: Vec::new(),
        });
        let mut states: Vec<_> = states.collect();
        let edges: Vec<_> = (0..)
            .zip(&atom.edges)
            .map(|(at, e)| EdgeModel::new(definitions, index, at, e))
            .collect();
        for (at, edge) in edges.iter().enumerate() {
            for (target, path) in &edge.inverse_keys {
                let fields = path.fields.clone();
                states[path.state].keys.push(KeyOf { edge: at, target: *target, fields });
            }
        }
        let inverses = atom.inverses.iter().map(|slot| {
            let source = definitions.atom(slot.atom);
            InverseModel {
                name: slot.name.clone(),
                source: slot.atom,
                source_tag: source.tag,
                edge_tag: source.edges[slot.edge].tag,
                key: slot.key.clone(),
            }
        });
        let streams = atom.streams.iter().map(|slot| StreamModel {
            name: slot.name.clone(),
            tag: slot.tag,
            layout: Layout::of(definitions, &slot.ty),
            watch: None,
        });
        Self {
            index,
            tag: atom.tag,
            states,
            edges,
            inverses: inverses.collect(),
            streams: streams.collect(),
            root: atom.root.as_ref().map(|root| CreationModel::new(definitions, root)),
        }
    }
}

impl StateModel {
    /// Tells whether an object can be without it: a slot that holds an optional may have been
    /// added after the object was created, and holds nothing then.
    pub(crate) fn may_be_absent(&self) -> bool {
        matches!(self.layout.shape(), Shape::Optional(_))
    }
}

impl EdgeModel {
    fn new(definitions: &Definitions, source: AtomIndex, at: usize, slot: &EdgeSlot) -> Self {
        let inverse_keys = definitions.atoms.iter().flat_map(|target| {
            let of_this = target.inverses.iter().filter(|it| it.atom == source && it.edge == at);
            of_this.filter_map(|it| Some((target.tag, it.key.clone()?)))
        });
        Self {
            name: slot.name.clone(),
            tag: slot.tag,
            cardinality: slot.shape.cardinality,
            keyed: slot.shape.keyed,
            expected: Expected::edge(definitions, &slot.shape.target),
            inverse_keys: inverse_keys.collect(),
        }
    }
}

impl CreationModel {
    pub(crate) fn new(definitions: &Definitions, creation: &Creation) -> Self {
        Self {
            atom: creation.atom,
            input: Layout::of(definitions, &creation.input),
            fills: creation.fills.clone(),
        }
    }
}

impl OperationModel {
    fn new(
        definitions: &Definitions,
        operation: &Operation,
        handler: Handler,
        host: Target,
    ) -> Self {
        Self {
            id: operation.id.clone(),
            input: Layout::of(definitions, &operation.input),
            output: Layout::of(definitions, &operation.output),
            handler,
            execution: operation.execution,
            here: operation.targets.contains(&host),
            watch: None,
        }
    }
}
