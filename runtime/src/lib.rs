//! Runs operations as serializable, durable transactions.
//!
//! Packages (definitions and handlers) and a [`store`] make a [`Runtime`]; a [`Session`] calls.
//! From the outside in: `runtime.rs`, `session.rs`, `lane.rs` (order and durability), `request.rs`
//! (the door), `call.rs` (what a handler may do), `transaction.rs` (all or nothing), `object.rs`,
//! `edge.rs`, `inverse.rs`, `stream.rs` (what is done), `key.rs` (what is stored).

mod admit;
mod blocking;
mod call;
mod caller;
mod capability;
mod clock;
mod counts;
pub mod dispatch;
mod dynamic;
mod edge;
mod error;
pub mod export;
mod follow;
mod header;
mod history;
mod ids;
mod inverse;
mod json;
pub mod key;
mod lane;
mod limits;
mod meta;
mod model;
mod object;
mod observer;
mod open;
mod overlay;
mod package;
mod preview;
mod reference;
mod request;
mod resolve;
mod runtime;
mod scratch;
mod session;
mod shared;
mod snapshot;
pub mod store;
mod stream;
mod trace;
mod transaction;
pub mod value;
pub mod verify;
mod walk;

pub use blocking::blocking;
pub use call::Call;
pub use caller::{Caller, Door, Rule};
pub use clock::{Clock, ManualClock, SystemClock};
pub use counts::{Counts, kind_word};
pub use dynamic::Answer;
pub use error::{CallError, Denied, Fence};
pub use export::{ExportError, ImportError, import};
pub use follow::{Feed, Follow, StreamHandle};
pub use history::{Action, Hash, HistoryEntry, Touched};
pub use ids::{IdSource, RandomIds, SeededIds};
pub use inverse::Holder;
pub use limits::Limits;
pub use meta::{FORMAT, Head, StoredPackage};
pub use object::Created;
pub use observer::{AnsweredCall, Did, Figures, Observer, WrittenGroup};
pub use open::OpenError;
pub use package::{Check, Handler, Invariant, PackageCode};
pub use preview::{Change, Preview};
pub use quixos_schema::Tag;
pub use reference::{Atom, Entries, Implements, Interface, InterfaceRef, ObjectRef, Ref};
pub use runtime::{Builder, Runtime};
pub use session::Session;
pub use snapshot::{EdgeEntry, Snapshot};
pub use stream::Event;
pub use trace::Step;
pub use ulid::Ulid;
pub use value::{Layout, Value, parse_reference, reference_text};
