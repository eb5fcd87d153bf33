//! Threads whose names a client chooses.
//!
//! Two owners may choose the same name, and neither is to notice: a name is the owner's alone. So a
//! thread that is not there yet gets an id that follows from whose it is and what it is called, and
//! always follows again. An id that the host gave out is taken as it is, by its owner.

use quixos_engine::EngineError;
use quixos_session::sessions::Session;

use super::hash;
use crate::state::State;
use crate::tokens::Bearer;

/// What the ids are for, so that no other hash of the same texts is one of them.
const CONTEXT: &str = "quixos host 2026 threads that clients name";
/// How many digits of a hash an id has.
const DIGITS: usize = 40;

/// Returns the id of the thread that an owner calls so.
pub(crate) async fn thread_of(
    state: &State,
    bearer: &Bearer,
    name: &str,
) -> Result<String, EngineError> {
    let Some(session) = state.engine.session(name).await? else { return Ok(derived(bearer, name)) };
    let binding = Session::on(state.door(), session).binding().await?;
    let is_own = binding.tenant == bearer.tenant && binding.owner_id == bearer.identity.id;
    Ok(if is_own { name.to_owned() } else { derived(bearer, name) })
}

fn derived(bearer: &Bearer, name: &str) -> String {
    let hash = hash(CONTEXT, [bearer.tenant.as_str(), bearer.identity.id.as_str(), name]);
    format!("named-{}", hash.get(..DIGITS).unwrap_or(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Identity;

    fn bearer(tenant: &str, owner: &str) -> Bearer {
        let identity = Identity { id: owner.to_owned(), ..Identity::default() };
        Bearer { tenant: tenant.to_owned(), identity, agents: None }
    }

    #[test]
    fn a_name_is_its_owners_alone_and_always_the_same() {
        let of = |tenant, owner, name| derived(&bearer(tenant, owner), name);
        assert_eq!(of("a", "ann", "th1"), of("a", "ann", "th1"));
        let others = [of("a", "bob", "th1"), of("b", "ann", "th1"), of("a", "ann", "th2")];
        assert!(others.iter().all(|other| *other != of("a", "ann", "th1")), "{others:?}");
        // Where one part ends and the next begins counts.
        assert_ne!(of("a", "annt", "h1"), of("a", "ann", "th1"));
    }
}
