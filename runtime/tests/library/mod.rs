//! A small package with one of everything that a store can hold, and a store filled by its calls:
//! shelves with books, in a set, in a map, as a keyed inverse, told of on a stream.

#![allow(dead_code, reason = "each test file uses its part of this")]

use std::sync::Arc;

use bytes::Bytes;
use chrono::DateTime;
use quixos_runtime::store::{Batch, Durability, MemoryStore, Store};
use quixos_runtime::{
    Builder, Call, CallError, Caller, Handler, ManualClock, ObjectRef, PackageCode, Runtime,
    SeededIds,
};
use quixos_schema::{Sources, Tag, check};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

pub(crate) const ID: &str = "package:test:library";
pub(crate) const SHELF: &str = "atom:test:shelf";
pub(crate) const BOOK: &str = "atom:test:book";

const NAME: &str = "library.quixos";
const TEXT: &str = r#"
type ShelfData = record {name: string; favourite: optional<atom-ref<BookObject>>; related: list<interface-ref<Readable>>;};
type BookData = record {title: string; pages: uint32;};

interface Readable id "interface:test:readable" {
}

interface Shelf id "interface:test:shelf" {
  operation add: BookData -> atom-ref<BookObject>;
  operation favour: atom-ref<BookObject> -> unit;
}

interface Book id "interface:test:book" {
  operation rename: string -> unit;
}

atom ShelfObject id "atom:test:shelf" {
  state data id "data": ShelfData;
  edge books id "books": many-unique atom BookObject;
  edge byTitle id "byTitle": many-unique atom BookObject keyed "string";
  edge current id "current": optional-one interface Readable;
  inverse kept id "kept": BookObject.home keyed data.title;
  stream events id "events": record {book: atom-ref<BookObject>; title: string;};
  root input record {data: ShelfData;};
  implements Shelf {
    add = shelf_add;
    favour = shelf_favour;
  }
}

atom BookObject id "atom:test:book" {
  state data id "data": BookData;
  state note id "note": optional<string>;
  edge home id "home": one atom ShelfObject;
  implements Readable;
  implements Book {
    rename = book_rename;
  }
}

package Library id "package:test:library" revision "package:test:library@1" {
  operation shelf_add id "test:shelf_add": BookData -> atom-ref<BookObject> mode call execution transaction targets [server] receiver any requires {
    creation create_book id "create_book": BookObject input record {data: BookData; home: atom-ref<ShelfObject>;};
    edge books id "books": many-unique atom BookObject [connect];
    edge byTitle id "byTitle": many-unique atom BookObject keyed "string" [connect];
    edge current id "current": optional-one interface Readable [resolve, connect];
    stream events id "events": record {book: atom-ref<BookObject>; title: string;} [append];
  };
  operation shelf_favour id "test:shelf_favour": atom-ref<BookObject> -> unit mode call execution transaction targets [server] receiver any requires {
    state data id "data": ShelfData [read, write];
  };
  operation book_rename id "test:book_rename": string -> unit mode call execution transaction targets [server] receiver any requires {
    state data id "data": BookData [read, write];
    state note id "note": optional<string> [write];
  };
}
"#;

#[derive(Serialize, Deserialize)]
pub(crate) struct ShelfData {
    pub(crate) name: String,
    pub(crate) favourite: Option<ObjectRef>,
    pub(crate) related: Vec<ObjectRef>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct BookData {
    pub(crate) title: String,
    pub(crate) pages: u32,
}

fn shelf_add(call: &Call<'_>, input: &[u8]) -> Result<Vec<u8>, CallError> {
    let data: BookData = quixos_runtime::dispatch::decode_input(input)?;
    let book = call.create(0, &(&data, call.receiver()))?;
    call.edge_connect(1, book)?;
    call.edge_connect_at(2, &data.title, book)?;
    if call.edge_optional(3)?.is_none() {
        call.edge_connect(3, book)?;
    }
    call.stream_append(4, &(book, &data.title))?;
    quixos_runtime::dispatch::encode_output(&book)
}

fn shelf_favour(call: &Call<'_>, input: &[u8]) -> Result<Vec<u8>, CallError> {
    let book: ObjectRef = quixos_runtime::dispatch::decode_input(input)?;
    let data: ShelfData = call.state_read(0)?;
    let related = [&data.related[..], &[book]].concat();
    call.state_write(0, &ShelfData { favourite: Some(book), related, ..data })?;
    Ok(Vec::new())
}

fn book_rename(call: &Call<'_>, input: &[u8]) -> Result<Vec<u8>, CallError> {
    let title: String = quixos_runtime::dispatch::decode_input(input)?;
    let data: BookData = call.state_read(0)?;
    call.state_write(1, &Some(format!("was {}", data.title)))?;
    call.state_write(0, &BookData { title, ..data })?;
    Ok(Vec::new())
}

/// The package.
pub(crate) fn package() -> PackageCode {
    let mut sources = Sources::new();
    sources.add(NAME, TEXT);
    let checked = check(sources);
    let definitions = checked.definitions.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    PackageCode {
        id: ID,
        revision: "package:test:library@1",
        // Generated code has it as a constant.
        digest: definitions.packages[0].digest.clone().leak(),
        sources: &[(NAME, TEXT)],
        handlers: vec![
            ("test:shelf_add", shelf_add as Handler),
            ("test:shelf_favour", shelf_favour),
            ("test:book_rename", book_rename),
        ],
        invariants: Vec::new(),
    }
}

/// Opens a store with the package. Time stands still, ids come from a seed.
pub(crate) fn open(store: &Arc<dyn Store>) -> Runtime {
    open_with(store, package())
}

pub(crate) fn open_with(store: &Arc<dyn Store>, package: PackageCode) -> Runtime {
    builder(package).open(Arc::clone(store)).expect("the store is the package's")
}

pub(crate) fn builder(package: PackageCode) -> Builder {
    let instant = DateTime::from_timestamp(1_700_000_000, 0).expect("a valid instant");
    Runtime::builder()
        .package(package)
        .clock(Arc::new(ManualClock::at(instant)))
        .ids(Arc::new(SeededIds::new(1)))
}

/// A shelf and the first of its books.
#[derive(Clone, Copy)]
pub(crate) struct Filled {
    pub(crate) shelf: ObjectRef,
    pub(crate) book: ObjectRef,
    /// The id of the transaction that renamed the book.
    pub(crate) transaction: Ulid,
}

/// Fills a store: a shelf with books, the first of which is renamed and favoured; and a reader of
/// the stream. The runtime is closed when this returns.
pub(crate) fn fill(store: &Arc<dyn Store>, books: u32) -> Filled {
    block_on(fill_open(store, books))
}

async fn fill_open(store: &Arc<dyn Store>, books: u32) -> Filled {
    let runtime = open(store);
    let session = runtime.session(Caller::operator("anna"));
    let data = ShelfData { name: "fiction".into(), favourite: None, related: Vec::new() };
    let shelf = session.create_root(Tag::of(SHELF), &(data,)).await.expect("created");
    let mut all: Vec<ObjectRef> = Vec::new();
    for pages in 0..books {
        let data = BookData { title: format!("book {pages}"), pages };
        let book = session.member_call(shelf, "interface:test:shelf", 0, &data).await;
        all.push(book.expect("added"));
    }
    let book = all[0];
    let transaction = Ulid(77);
    let named = session.with_transaction_id(transaction);
    let renamed = named.member_call(book, "interface:test:book", 0, &"a\0b").await;
    let () = renamed.expect("renamed");
    let favoured = session.member_call(shelf, "interface:test:shelf", 1, &book).await;
    let () = favoured.expect("favoured");
    let stream = runtime.stream(shelf, "events").expect("a shelf has it");
    stream.advance(session.caller(), "reader", 1).await.expect("it has an event");
    runtime.close();
    Filled { shelf, book, transaction }
}

/// A store in memory, filled.
pub(crate) fn filled(books: u32) -> (Arc<dyn Store>, Filled) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let filled = fill(&store, books);
    (store, filled)
}

/// Writes under the runtime.
pub(crate) fn write(store: &dyn Store, writes: impl IntoIterator<Item = (Bytes, Option<Bytes>)>) {
    let mut writes: Vec<_> = writes.into_iter().collect();
    writes.sort();
    let read_version = store.view().expect("a view").version();
    let batch = Batch { read_version, writes, ..Batch::default() };
    store.commit(batch, Durability::Durable).expect("written");
}

pub(crate) fn encoded(value: &impl Serialize) -> Bytes {
    postcard::to_allocvec(value).expect("it has a form").into()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers starts")
        .block_on(future)
}
