//! The page of the demo: a conversation that is streamed into a browser. Only the demo has it.
//!
//! It is examples/browser and the TypeScript client, as they are. The page has no rights of its own: a
//! token comes with the address, behind the `#`, which a browser keeps to itself.

use std::sync::Arc;

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::routing::get;

use crate::state::State;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// The files: where they are, what they are, and what is in them.
const FILES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("../../../examples/browser/index.html")),
    ("/page.css", CSS, include_str!("../../../examples/browser/page.css")),
    ("/page.js", JS, include_str!("../../../examples/browser/page.js")),
    ("/client/index.js", JS, include_str!("../../../clients/typescript/dist/index.js")),
    ("/client/client.js", JS, include_str!("../../../clients/typescript/dist/client.js")),
    ("/client/connection.js", JS, include_str!("../../../clients/typescript/dist/connection.js")),
    ("/client/content.js", JS, include_str!("../../../clients/typescript/dist/content.js")),
    ("/client/errors.js", JS, include_str!("../../../clients/typescript/dist/errors.js")),
    ("/client/sse.js", JS, include_str!("../../../clients/typescript/dist/sse.js")),
    ("/client/turn.js", JS, include_str!("../../../clients/typescript/dist/turn.js")),
];

/// What a page may do: use what comes from here, and nothing else.
const POLICY: &str = "default-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

pub(super) fn routes() -> Router<Arc<State>> {
    FILES.iter().fold(Router::new(), |routes, (path, kind, text)| {
        let headers = [
            (CONTENT_TYPE, *kind),
            (CONTENT_SECURITY_POLICY, POLICY),
            (CACHE_CONTROL, "no-cache"),
            (REFERRER_POLICY, "no-referrer"),
        ];
        routes.route(path, get(async move || (headers, *text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_files_name_is_there() {
        for (path, _, text) in FILES {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let scripts = text.split("from \"./").skip(1);
            let linked = ["href=\"", "src=\""].into_iter().flat_map(|key| text.split(key).skip(1));
            for rest in scripts.chain(linked.filter(|_| *path == "/")) {
                let name = rest.split('"').next().unwrap_or_default();
                if name.starts_with("data:") {
                    continue;
                }
                let named = format!("{folder}/{name}");
                assert!(FILES.iter().any(|(it, ..)| *it == named), "{path} names {named}");
            }
        }
    }
}
