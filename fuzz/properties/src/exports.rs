//! An export, as a file of anybody's.

use std::sync::Arc;

use quixos_runtime::import;
use quixos_runtime::store::{MemoryStore, Store};

use crate::seal::sealed;
use crate::sound::whatever_is_in;
use crate::world::entries;

/// Imports bytes as they are, and once more with checksums that fit. It must be that
///
/// - what is refused leaves nothing behind;
/// - what is taken is a store, for which holds whatever holds for any.
pub fn exports(bytes: &[u8]) {
    imported(bytes);
    imported(&sealed(bytes));
}

fn imported(file: &[u8]) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    match import(file, store.as_ref()) {
        Ok(imported) => {
            assert_eq!(imported.counts.total(), entries(store.as_ref()).len() as u64);
            whatever_is_in(store);
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(entries(store.as_ref()), [], "after {error}");
        }
    }
}
