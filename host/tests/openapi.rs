//! The OpenAPI document is the file that is here, and says what is served.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use expect_test::expect_file;
use reqwest::Method;
use serde_json::Value;
use support::Running;

#[test]
fn the_document_is_as_it_was() {
    let document = serde_json::to_string_pretty(&quixos_host::openapi::document()).unwrap();
    expect_file!["../openapi.json"].assert_eq(&format!("{document}\n"));
}

#[test]
fn each_reference_is_to_something() {
    let document = quixos_host::openapi::document();
    let mut open = vec![&document];
    let mut found = 0;
    while let Some(value) = open.pop() {
        if let Some(target) = value.get("$ref").and_then(Value::as_str) {
            found += 1;
            assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target}");
        }
        match value {
            Value::Object(fields) => open.extend(fields.values()),
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn each_route_says_how_it_refuses_what_any_of_its_kind_does() {
    let document = quixos_host::openapi::document();
    let mut clients = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(security) = operation.get("security").and_then(Value::as_array) else {
                continue;
            };
            let is_clients = security.iter().any(|it| it.get("client").is_some());
            clients += usize::from(is_clients);
            let has_body = operation.get("requestBody").is_some();
            let has_query =
                operation["parameters"].as_array().unwrap().iter().any(|it| it["in"] == "query");
            let reads = has_body || has_query || path.contains('{');
            for (status, is_told) in [
                ("401", true),
                ("429", is_clients),
                ("400", reads),
                ("408", has_body),
                ("413", has_body),
                ("422", has_body && path.starts_with("/api/")),
                ("500", true),
                ("503", true),
            ] {
                let told = &operation["responses"][status];
                assert!(told.is_object() || !is_told, "{method} {path} {status}");
                let later = &told["headers"]["Retry-After"]["required"];
                assert_eq!(later == true, told.is_object() && ["429", "503"].contains(&status));
            }
        }
    }
    assert!(clients > 10, "{clients}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_route_is_served_and_asks_who_it_is() {
    let host = Running::demo().await;
    let document = quixos_host::openapi::document();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if !operation.is_object() || operation.get("responses").is_none() {
                continue;
            }
            let method: Method = method.to_uppercase().parse().unwrap();
            let at = path.replace("{id}", "s").replace("{name}", "a").replace("{path}", "s");
            let at = at.replace("{thread}", "t");
            // What is wrong with it is nothing for strangers.
            let body = operation.get("requestBody").map(|_| "nonsense".to_owned());
            let status = host.ask(method.clone(), &at, None, body).await.status().as_u16();
            let expected = if operation.get("security").is_some() { 401 } else { 200 };
            assert_eq!(status, expected, "{method} {path}");
        }
    }
    host.stop().await;
}
