//! The console's files: all are served with their types under a policy that lets nothing else in,
//! to anybody; and what they are a client of is served to nobody without a token.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use quixos_host::{
    CommandBody, Commands, CompleteBody, KeyHash, Lines, OperatorDoor, OperatorName,
};
use quixos_runtime::Runtime;
use quixos_runtime::store::MemoryStore;
use reqwest::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Commands that nobody here gets to.
struct Nothing;

impl Commands for Nothing {
    fn greeting(&self) -> Value {
        json!({})
    }

    fn run(&self, _: &OperatorName, _: &CommandBody, _: &Lines) {}

    fn complete(&self, _: &OperatorName, _: &CompleteBody) -> Value {
        json!([])
    }
}

async fn open() -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let packages = quixos_package::packages().into_iter();
    let builder = packages.fold(Runtime::builder(), |builder, package| builder.package(package));
    let runtime = builder.open(Arc::new(MemoryStore::new())).unwrap();
    let door = OperatorDoor::new(runtime, KeyHash::of("a token"), Arc::new(Nothing));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { door.serve(listener).await.unwrap() });
    url
}

/// The files in the tree, as paths from the console's root.
fn files() -> BTreeSet<String> {
    fn below(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, root, found);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("console");
    let mut found = BTreeSet::new();
    below(&root, &root, &mut found);
    found
}

fn header(response: &Response, name: reqwest::header::HeaderName) -> String {
    let value = response.headers().get(&name).unwrap_or_else(|| panic!("no {name}"));
    value.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_is_served_to_anybody_with_its_type_and_under_the_policy() {
    let (url, client) = (open().await, Client::new());
    let files = files();
    assert!(files.len() > 30, "the console is there");
    for path in files.iter().map(String::as_str).chain([""]) {
        let response = client.get(format!("{url}/{path}")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let kind = match path.rsplit_once('.').map_or("html", |(_, end)| end) {
            "html" => "text/html; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "svg" => "image/svg+xml",
            other => panic!("what is a {other}? {path}"),
        };
        assert_eq!(header(&response, CONTENT_TYPE), kind, "{path}");
        assert_eq!(header(&response, CACHE_CONTROL), "no-cache");
        assert_eq!(header(&response, X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(header(&response, REFERRER_POLICY), "no-referrer");
        let policy = header(&response, CONTENT_SECURITY_POLICY);
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.contains("trusted-types 'none'")
        );
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        let name = if path.is_empty() { "index.html" } else { path };
        let there = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("console").join(name));
        assert_eq!(response.bytes().await.unwrap(), there.unwrap(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_has_a_file_is_not_sent_it_again() {
    let (url, client) = (open().await, Client::new());
    let page = || client.get(format!("{url}/main.js"));
    let tag = header(&page().send().await.unwrap(), ETAG);
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let again = page().header(IF_NONE_MATCH, &known).send().await.unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
        assert_eq!(header(&again, ETAG), tag);
        assert_eq!(again.bytes().await.unwrap().len(), 0);
    }
    let other = page().header(IF_NONE_MATCH, "\"x\"").send().await.unwrap();
    assert_eq!(other.status(), StatusCode::OK);
    let style = client.get(format!("{url}/styles/base.css")).send().await.unwrap();
    assert_ne!(header(&style, ETAG), tag);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_else_is_a_file_and_nothing_is_done_without_a_token() {
    let (url, client) = (open().await, Client::new());
    for path in
        ["main.mjs", "lib", "lib/", "../Cargo.toml", "%2e%2e/Cargo.toml", "lib/../../Cargo.toml"]
    {
        let response = client.get(format!("{url}/{path}")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let posted = client.post(format!("{url}/index.html")).send().await.unwrap();
    assert_eq!(posted.status(), StatusCode::METHOD_NOT_ALLOWED);
    for path in ["shell", "changes", "backup"] {
        let response = client.get(format!("{url}/operator/{path}")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    for path in ["shell", "complete"] {
        let response =
            client.post(format!("{url}/operator/{path}")).body("{}").send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[test]
fn no_file_has_a_script_or_a_style_in_it_or_reaches_elsewhere() {
    for path in files() {
        let text =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("console").join(&path));
        let text = text.unwrap();
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "//cdn",
            "https://",
        ] {
            assert!(!text.contains(word), "{path} has `{word}`");
        }
        if path.ends_with(".html") {
            assert!(
                !text.contains("style=") && !text.contains("<style") && !text.contains(" on"),
                "{path}"
            );
            assert!(!text.contains("<script>"), "{path} has a script in it");
        }
    }
}
