//! Generated code with handlers, run by the runtime on a store in memory.
//!
//! The package is the case `counter`: what its definition grants, handlers do here, and what its
//! interfaces offer, a host does through the generated clients.

use std::sync::Arc;

use quixos_runtime::store::MemoryStore;
use quixos_runtime::{CallError, Caller, Ref, Runtime, Session};

/// The generated module.
pub mod counting {
    include!("cases/counter/counting.rs");
}

use counting::{Counter, Counting, Settings, Shelf, Shelving};

/// The handlers.
struct Handlers;

impl counting::counter_count::Handler for Handlers {
    fn handle(cx: &counting::counter_count::Context<'_>, times: u32) -> Result<u64, CallError> {
        let value = cx.value().read()? + u64::from(cx.settings().read()?.step * times);
        cx.value().write(value)?;
        cx.ticks().append(&counting::Tick { by: cx.receiver(), value })?;
        if let Some(next) = cx.next().resolve()? {
            cx.counting(next).count(times)?;
        }
        Ok(value)
    }
}

impl counting::counter_follow::Handler for Handlers {
    fn handle(
        cx: &counting::counter_follow::Context<'_>,
        next: counting::counter_follow::Input,
    ) -> Result<bool, CallError> {
        if let Some(before) = cx.next().resolve()? {
            cx.next().disconnect(before)?;
        }
        cx.next().connect(next)
    }
}

impl counting::counter_describe::Handler for Handlers {
    fn handle(
        cx: &counting::counter_describe::Context<'_>,
        (): counting::counter_describe::Input,
    ) -> Result<String, CallError> {
        let label = cx.settings().read()?.label.unwrap_or_default();
        let last = cx.ticks().len()?.saturating_sub(1);
        let last: Vec<u64> = cx.ticks().read(last, 1)?.iter().map(|tick| tick.value).collect();
        Ok(format!("{label} {} {last:?}", cx.reference_text(cx.receiver()).len()))
    }
}

impl counting::counter_reset::Handler for Handlers {
    fn handle(
        cx: &counting::counter_reset::Context<'_>,
        (): counting::counter_reset::Input,
    ) -> Result<(), CallError> {
        cx.value().write(0)
    }
}

impl counting::shelf_add::Handler for Handlers {
    fn handle(
        cx: &counting::shelf_add::Context<'_>,
        input: counting::shelf_add::Input,
    ) -> Result<Ref<Counter>, CallError> {
        if let Some(there) = cx.counters().get(&input.key)? {
            return Ok(there);
        }
        let created = cx.create_counter(&counting::shelf_add::CreateCounter {
            value: 0,
            settings: input.settings,
            shelf: cx.receiver(),
        })?;
        cx.counters().connect(&input.key, created)?;
        Ok(created)
    }
}

impl counting::shelf_clear::Handler for Handlers {
    fn handle(
        cx: &counting::shelf_clear::Context<'_>,
        key: String,
    ) -> Result<Option<u64>, CallError> {
        let Some(counter) = cx.counters().disconnect(&key)? else { return Ok(None) };
        let value = cx.counting(counter).value()?;
        cx.counting(counter).reset()?;
        Ok(Some(value))
    }
}

impl counting::shelf_total::Handler for Handlers {
    fn handle(
        cx: &counting::shelf_total::Context<'_>,
        (): counting::shelf_total::Input,
    ) -> Result<counting::shelf_total::Output, CallError> {
        let mut total = counting::shelf_total::Output { counters: 0, value: 0 };
        for counter in cx.all().all()? {
            total.counters += 1;
            total.value += cx.counting(counter).value()?;
        }
        Ok(total)
    }
}

fn open() -> Runtime {
    Runtime::builder()
        .package(counting::package::<Handlers>())
        .open(Arc::new(MemoryStore::new()))
        .expect("the code was generated from the definitions that it carries")
}

async fn counter(session: &Session, shelf: Ref<Shelf>, key: &str, step: u32) -> Ref<Counter> {
    let settings = Settings { step, label: Some(key.to_owned()) };
    let input = counting::shelf_add::Input { key: key.to_owned(), settings };
    Shelving::on(session, shelf).add(&input).await.expect("a counter can always be added")
}

#[tokio::test]
async fn handlers_do_what_is_granted_and_hosts_what_is_offered() {
    let runtime = open();
    let session = runtime.session(Caller::operator("anna"));
    let shelf = Shelf::create(&session).await.unwrap();
    let one = counter(&session, shelf, "one", 1).await;
    let ten = counter(&session, shelf, "ten", 10).await;
    assert_eq!(counter(&session, shelf, "one", 5).await, one, "a key has one counter");

    // A state, an edge, a stream, and a nested call along a reference to an interface.
    assert!(Counting::on(&session, one).follow(ten.into()).await.unwrap());
    assert_eq!(Counting::on(&session, one).count(3).await.unwrap(), 3);
    assert_eq!(Counting::on(&session, ten).value().await.unwrap(), 30);
    let next = Counting::on(&session, one).next().await.unwrap().unwrap();
    assert_eq!(Counting::on(&session, next).settings().await.unwrap().step, 10);
    assert_eq!(Counting::on(&session, ten).shelf().await.unwrap(), shelf);
    let ticks = Counting::on(&session, ten).ticks(0, 10).await.unwrap();
    assert_eq!(ticks, [counting::Tick { by: ten, value: 30 }]);

    // Queries, and the inverse that the runtime keeps.
    let described = Counting::on(&session, one).describe().await.unwrap();
    assert_eq!(described, "one 48 [3]");
    let total = Shelving::on(&session, shelf).total().await.unwrap();
    assert_eq!(total, counting::shelf_total::Output { counters: 2, value: 33 });

    // Many, in their ways.
    let shelving = Shelving::on(&session, shelf);
    let all = vec![("one".to_owned(), one), ("ten".to_owned(), ten)];
    assert_eq!(shelving.counters().await.unwrap(), all);
    assert_eq!(shelving.counters_at("ten").await.unwrap(), [ten]);
    assert_eq!(shelving.counters_page(Some("one"), 5).await.unwrap(), all[1..]);
    assert!(shelving.all_contains(one).await.unwrap());
    assert_eq!(shelving.all_page(Some(one), 5).await.unwrap(), [ten]);

    // What is taken off the shelf still counts for it, since the inverse follows another edge.
    assert_eq!(shelving.clear("ten").await.unwrap(), Some(30));
    assert_eq!(shelving.clear("ten").await.unwrap(), None);
    assert_eq!(shelving.total().await.unwrap().value, 3);
}

#[tokio::test]
async fn a_client_asks_only_what_the_object_offers() {
    let runtime = open();
    let session = runtime.session(Caller::operator("anna"));
    let shelf = Shelf::create(&session).await.unwrap();
    // The type says counter; the object is a shelf. Whoever makes a reference by hand is told.
    let forged = quixos_runtime::InterfaceRef::<Counting>::from_object(shelf.object());
    let error = Counting::on(&session, forged).value().await.unwrap_err();
    assert_eq!(error.code(), "not-found", "{error}");
}

#[test]
fn generated_records_have_the_bytes_of_the_definition() {
    let tick = counting::Settings { step: 300, label: Some("ab".to_owned()) };
    let bytes = quixos_runtime::dispatch::encode_output(&tick).unwrap();
    assert_eq!(bytes, [0xAC, 0x02, 1, 2, b'a', b'b']);
    let read: Settings = quixos_runtime::dispatch::decode_input(&bytes).unwrap();
    assert_eq!(read, tick);
}
