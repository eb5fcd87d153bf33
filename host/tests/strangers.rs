//! Every route of the OpenAPI document, tried by those who have no business there.
//!
//! A new route is tried as soon as it is in the document.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use quixos_host::config::Tenant;
use quixos_host::{Config, KeyHash};
use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Clock, SystemClock};
use serde_json::{Value, json};
use support::shapes::{Guarded, guarded};
use support::{KEY, Running, SECRET};

/// What Ann says, which nobody else is to read.
const SAID: &str = "the marked words of Ann";
/// The key of another tenant.
const OTHER_KEY: &str = "the key of another tenant";

/// Starts a host in which Ann has a session `s`, and another tenant nothing.
async fn host() -> Running {
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    config.tenants.push(Tenant { name: "other".into(), keys: vec![KeyHash::of(OTHER_KEY)] });
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let (status, _) = host.say("s", "t1", SAID).await;
    assert_eq!(status, 202);
    host.turn("s", "t1").await;
    host
}

fn claims() -> Value {
    let now = SystemClock.now().timestamp();
    json!({
        "iss": "quixos", "aud": "quixos", "exp": now + 60, "iat": now, "jti": "1",
        "tenant_id": Config::DEMO_TENANT, "sub": "ann",
    })
}

fn signed(algorithm: Algorithm, claims: &Value, secret: &str) -> String {
    let key = EncodingKey::from_secret(secret.as_bytes()).unwrap();
    encode(&Header::new(algorithm), claims, &key).unwrap()
}

fn with(field: &str, value: Value) -> String {
    let mut claims = claims();
    claims[field] = value;
    signed(Algorithm::HS256, &claims, SECRET)
}

/// Returns a token with another header, of the payload and signature of a good one.
fn headed(header: &Value) -> String {
    let good = signed(Algorithm::HS256, &claims(), SECRET);
    let rest = good.split_once('.').unwrap().1;
    format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()))
}

/// Returns what opens nothing anywhere.
fn nothing() -> Vec<(&'static str, Option<String>)> {
    let good = signed(Algorithm::HS256, &claims(), SECRET);
    let (unsigned, _) = good.rsplit_once('.').unwrap();
    let cut = &good[..good.len() - 4];
    let credentials = [
        ("another secret", signed(Algorithm::HS256, &claims(), "another secret, also long enough")),
        ("HS512", signed(Algorithm::HS512, &claims(), SECRET)),
        ("RS256", headed(&json!({ "alg": "RS256", "typ": "JWT" }))),
        ("ES256 with a key of its own", headed(&json!({ "alg": "ES256", "jwk": { "kty": "EC" } }))),
        ("none", headed(&json!({ "alg": "none" }))),
        ("None", headed(&json!({ "alg": "None" }))),
        ("no signature", format!("{unsigned}.")),
        ("two parts", unsigned.to_owned()),
        ("cut", cut.to_owned()),
        ("over", with("exp", json!(1))),
        ("over for a second", with("exp", json!(SystemClock.now().timestamp() - 1))),
        ("another issuer", with("iss", json!("other"))),
        ("another audience", with("aud", json!("other"))),
        ("nobody", with("sub", json!(" "))),
        ("no such tenant", with("tenant_id", json!("none"))),
        ("a tenant that is no text", with("tenant_id", json!(7))),
        ("nonsense", "nonsense".to_owned()),
        ("dots", "..".to_owned()),
        ("long", "x".repeat(4096)),
    ];
    let credentials = credentials.into_iter().map(|(what, it)| (what, Some(it)));
    std::iter::once(("nothing", None)).chain(credentials).collect()
}

/// Returns an answer without what differs from one time to the next: when it was given, and under
/// which new id.
async fn answer(
    host: &Running,
    route: &Guarded,
    id: &str,
    credential: Option<&str>,
) -> (u16, String) {
    let body = route.body.as_ref().map(Value::to_string);
    let response = host.ask(route.method.clone(), &route.at(id), credential, body).await;
    let status = response.status().as_u16();
    // What is let in may be a stream, which would not end.
    if status < 300 {
        return (status, String::new());
    }
    let text = response.text().await.unwrap();
    let Ok(mut body) = serde_json::from_str::<Value>(&text) else { return (status, text) };
    if let Value::Object(fields) = &mut body {
        fields.remove("timestamp");
        fields.remove("requestId");
    }
    (status, body.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_nothing_good_learns_nothing() {
    let host = host().await;
    let routes = guarded();
    assert!(routes.len() > 12, "{}", routes.len());
    for route in &routes {
        // A key opens no route of clients, and a token none of machines.
        let mut tried = nothing();
        if route.who == ["client"] {
            tried.push(("a key", Some(KEY.to_owned())));
        } else if route.who == ["machine"] {
            tried.push(("a token", Some(host.token().to_owned())));
        }
        let first = answer(&host, route, "s", None).await;
        assert_eq!(first.0, 401, "{} {}: {first:?}", route.method, route.path);
        for (what, credential) in &tried {
            // The same for what is there and for what is not, and for each way to be nobody.
            for id in ["s", "none"] {
                let told = answer(&host, route, id, credential.as_deref()).await;
                assert_eq!(told, first, "{} {} by {what}", route.method, route.at(id));
            }
        }
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_somebody_else_gets_nothing_of_anns() {
    let host = host().await;
    let bob = with("sub", json!("bob"));
    let foreign = {
        let mut claims = claims();
        claims["tenant_id"] = json!("other");
        signed(Algorithm::HS256, &claims, SECRET)
    };
    for route in guarded().iter().filter(|route| route.names_something()) {
        let is_of = |who: &str| route.who.iter().any(|it| it == who);
        let mut strangers = Vec::new();
        if is_of("client") {
            strangers.extend([("another owner", bob.as_str()), ("another tenant", &foreign)]);
        }
        if is_of("machine") {
            strangers.push(("another tenant", OTHER_KEY));
        }
        // Whoever comes to public streams has a space of its own, in which it may do anything.
        let is_own = route.path.starts_with("/v1/stream/");
        for (who, credential) in strangers {
            let (status, told) = answer(&host, route, "s", Some(credential)).await;
            let at = format!("{} {} by {who}: {status} {told}", route.method, route.path);
            assert!(is_own || [400, 403, 404, 422].contains(&status), "{at}");
            for secret in [SAID, "ann", "t1", Config::DEMO_AGENT] {
                assert!(!told.contains(secret), "{at}");
            }
        }
    }
    let (_, view) = host.get("/api/client/sessions/s").await;
    assert!(view.to_string().contains(SAID), "{view}");
    assert_eq!(view["status"], "done", "{view}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_secrets_are_replaced_without_turning_anybody_out() {
    let (new_key, new_secret) =
        ("the new key of the tenant", "the new secret of the demo's tokens");
    let store = Arc::new(MemoryStore::new());
    let mut config = Config::demo(new_key, new_secret.to_owned().into());
    config.tenants[0].keys.push(KeyHash::of(KEY));
    config.tokens.previous.push(SECRET.to_owned().into());
    let host = Running::with(config, store.clone()).await;
    let client = async |host: &Running, token: &str| {
        host.ask(reqwest::Method::GET, "/api/client/sessions/s", Some(token), None).await.status()
    };
    let machine = async |host: &Running, key: &str| {
        host.ask(reqwest::Method::GET, "/api/machine/sessions/s", Some(key), None).await.status()
    };
    let old = signed(Algorithm::HS256, &claims(), SECRET);
    // There is no session: who is let in is told so.
    assert_eq!(client(&host, &old).await, 404);
    assert_eq!(client(&host, host.token()).await, 404);
    assert_eq!(client(&host, &signed(Algorithm::HS256, &claims(), new_secret)).await, 404);
    assert_eq!(client(&host, &signed(Algorithm::HS512, &claims(), SECRET)).await, 401);
    assert_eq!(machine(&host, KEY).await, 404);
    assert_eq!(machine(&host, new_key).await, 404);
    host.stop().await;
    // The old ones are taken away.
    let config = Config::demo(new_key, new_secret.to_owned().into());
    let host = Running::with(config, store).await;
    assert_eq!(client(&host, &old).await, 401);
    assert_eq!(machine(&host, KEY).await, 401);
    assert_eq!(machine(&host, new_key).await, 404);
    host.stop().await;
}
