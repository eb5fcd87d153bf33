//! Whatever a test is answered is something that the OpenAPI document says of the route.

use std::sync::LazyLock;

use reqwest::{Method, Response};
use serde_json::Value;

static DOCUMENT: LazyLock<Value> = LazyLock::new(quixos_host::openapi::document);

/// Checks the status of an answer, and the headers that belong to it. What is no route of the
/// document promises nothing, and another method of one is none.
pub(crate) fn kept(method: &Method, path: &str, response: &Response) {
    let path = path.split('?').next().unwrap_or(path);
    let routes = DOCUMENT["paths"].as_object().unwrap();
    let found = routes.keys().filter(|template| fits(template, path));
    // A word that is written out says more than a place for any.
    let Some(template) = found.min_by_key(|template| template.matches('{').count()) else { return };
    let status = response.status();
    let Some(operation) = routes[template].get(method.as_str().to_lowercase()) else {
        // Whatever goes with each route is not said of one: what a browser asks first, and a look.
        let goes_along = [Method::OPTIONS, Method::HEAD].contains(method);
        assert!(goes_along || status == 405, "{template} does not say {method}: {status}");
        return;
    };
    let told = &operation["responses"][status.as_str()];
    assert!(told.is_object(), "{method} {template} does not say {status}");
    for (name, header) in told["headers"].as_object().into_iter().flatten() {
        let is_there = response.headers().contains_key(name.as_str());
        assert!(is_there || header["required"] != true, "{method} {template} {status}: no {name}");
    }
}

/// Tells whether a path is one of a template. The path of a public stream may have slashes.
fn fits(template: &str, path: &str) -> bool {
    let (mut words, mut rest) = (template.split('/'), path.split('/'));
    loop {
        match (words.next(), rest.next()) {
            (Some("{path}"), Some(_)) => return true,
            (Some(word), Some(found)) if word == found || word.starts_with('{') => {}
            (None, None) => return true,
            (Some(_) | None, _) => return false,
        }
    }
}
