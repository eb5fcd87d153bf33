//! What may be written in a config, and how what may not is shown.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use expect_test::expect;
use quixos_host::config::{Code, Faults, Surroundings};
use quixos_host::{Config, TelemetryConfig};

const EXAMPLE: &str = include_str!("../../examples/quixos.toml");

fn read(text: &str) -> Result<Config, Faults> {
    let variable = |name: &str| {
        let is_set = name != "UNSET" && !name.starts_with("OTEL_");
        is_set.then(|| format!("the value of {name}, which is long enough").replace(' ', "-"))
    };
    Config::read(text, Surroundings { folder: Path::new("folder"), variable: &variable })
}

#[test]
fn the_example_is_good() {
    let config = read(EXAMPLE).unwrap_or_else(|it| panic!("{}", it.render("f", EXAMPLE, false)));
    let names: Vec<_> = config.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["support", "researcher"]);
    assert_eq!(config.agents[0].config.tools().len(), 2);
    assert_eq!(config.providers.len(), 3);
    assert_eq!(config.store.as_deref(), Some(Path::new("folder/quixos-data")));
    assert_eq!(config.operator.unwrap().address, "127.0.0.1:8081".parse().unwrap());
    assert_eq!(config.grace.as_secs(), 10);
    // Secrets are not shown.
    assert!(!format!("{config:?}").contains("the-value-of"), "{config:?}");
}

/// A config that is good, and a hole for one that is not.
fn around(rest: &str) -> String {
    format!(
        "[tenants.a]\nkey_env = \"KEY\"\n[tokens]\nsecret_env = \"SECRET\"\n[[providers]]\n\
         kind = \"scripted\"\nmodels = [\"demo\"]\n{rest}"
    )
}

fn agent(rest: &str) -> String {
    around(&format!("[[agents]]\nname = \"a\"\nmodel = \"demo\"\nworker = \"demo\"\n{rest}"))
}

#[test]
fn each_fault_has_its_code() {
    assert!(read(&agent("")).is_ok());
    let cases = [
        (Code::Syntax, agent("x = \n")),
        (Code::Syntax, agent("name = \"b\"\n")),
        (Code::UnknownKey, agent("modle = \"b\"\n")),
        (Code::Value, agent("stream = \"yes\"\n")),
        (Code::Value, agent("handler = \"client\"\n")),
        (Code::Value, agent("max_cost = \"much\"\n")),
        (Code::Value, around("[listen]\naddress = \"here\"\n")),
        (Code::Value, around("[limits]\nbody_bytes = 1\n")),
        (Code::Value, around("[durable]\nappend_bytes = 4194304\n")),
        (Code::Value, around("[durable]\nopen = true\n[listen]\naddress = \"0.0.0.0:80\"\n")),
        (Code::Value, around("[limits]\ntext_bytes = 0\n")),
        (Code::Value, around("[limits]\nrequests_per_minute = 0\n")),
        (Code::Value, around("[limits]\nopen_streams = 0\n")),
        (Code::Value, around("[limits]\nstream_timeout_secs = 0\n")),
        (Code::Value, around("[[providers]]\nkind = \"openai\"\nmodels = []\nbase_url = \"x\"\n")),
        (Code::Missing, around("[[agents]]\nname = \"a\"\nmodel = \"demo\"\n")),
        (Code::Missing, agent("retry = { max_retries = 1, backoff_base_secs = 1 }\n")),
        (Code::Missing, String::new()),
        (Code::Missing, around("[operator]\nlisten = \"127.0.0.1:1\"\n")),
        (Code::Value, around("[operator]\nlisten = \"here\"\ntoken_env = \"OTHER\"\n")),
        (Code::Value, around("[operator]\ntoken_env = \"A\"\ntoken_hash = \"B\"\n")),
        (Code::Value, around("[operator]\ntoken_hash = \"1234\"\n")),
        (Code::Variable, around("[operator]\ntoken_env = \"UNSET\"\n")),
        (Code::UnknownKey, around("[operator]\ntoken_env = \"A\"\nadress = \"x\"\n")),
        (Code::Clash, around("[operator]\ntoken_env = \"KEY\"\n")),
        (
            Code::Clash,
            around(
                "[listen]\naddress = \"[::1]:5\"\n[operator]\nlisten = \"[::1]:5\"\ntoken_env = \"A\"\n",
            ),
        ),
        (Code::Variable, around("[tenants.b]\nkey_env = \"UNSET\"\n")),
        (Code::Clash, around("[tenants.b]\nkey_env = \"KEY\"\n")),
        (Code::Clash, around("[tenants.b]\nkey_env = [\"NEW\", \"NEW\"]\n")),
        (Code::Variable, around("[tenants.b]\nkey_env = [\"NEW\", \"UNSET\"]\n")),
        (Code::Value, around("[tenants.b]\nkey_hash = [\"12\"]\n")),
        (Code::Value, around("[limits]\nconnections = 0\n")),
        (Code::Value, around("[telemetry]\nendpoint = \"here\"\n")),
        (Code::Clash, agent("sub_agents = [\"a\", \"a\"]\n")),
        (Code::Clash, agent("tools = [{ name = \"a\" }]\nsub_agents = [\"a\"]\n")),
        (Code::NoAgent, agent("sub_agents = [\"b\"]\n")),
        (Code::Format, agent("format = \"openai\"\n")),
        (Code::File, agent("tools_file = \"none.json\"\n")),
        (Code::NoProvider, around("[[agents]]\nname = \"a\"\nmodel = \"m\"\nworker = \"demo\"\n")),
        (
            Code::NoTool,
            around(
                "[[agents]]\nname = \"a\"\nmodel = \"demo\"\nworker = \"echo\"\n\
                 tools = [{ name = \"t\" }]\n",
            ),
        ),
    ];
    for (code, text) in &cases {
        let faults = read(text).expect_err(text);
        let codes: Vec<_> = faults.as_slice().iter().map(|fault| fault.code).collect();
        assert!(codes.contains(code), "{text}\n{}", faults.render("f", text, false));
    }
    let open = "[durable]\nopen = true\nopen_to_all = true\n[listen]\naddress = \"[::]:80\"\n";
    assert!(read(&around(open)).is_ok());
    for code in Code::ALL {
        assert!(cases.iter().any(|(tried, _)| *tried == code), "{code:?} is not tried");
    }
}

#[test]
fn all_faults_are_shown_at_once_with_their_places() {
    let text =
        agent("sub_agents = [\"b\"]\nstreem = true\n") + "[tenants.b]\nkey_env = \"UNSET\"\n";
    let shown = read(&text).unwrap_err().render("quixos.toml", &text, false);
    expect![[r#"
        error[C0107]: there is no agent `b` to delegate to
          --> quixos.toml:12:15
           |
        12 | sub_agents = ["b"]
           |               ^^^

        error[C0102]: `streem` is not known in `[[agents]]`
          --> quixos.toml:13:1
           |
        13 | streem = true
           | ^^^^^^
           |
           = help: did you mean `stream`?

        error[C0105]: the environment variable `UNSET` is not set
          --> quixos.toml:15:11
           |
        15 | key_env = "UNSET"
           |           ^^^^^^^
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_tenant_may_have_several_keys_and_tokens_several_secrets() {
    let hash = quixos_host::KeyHash::of("another key").to_string();
    let text = format!(
        "[tenants.a]\nkey_env = [\"NEW\", \"OLD\"]\nkey_hash = \"{hash}\"\n[tokens]\n\
         secret_env = \"SECRET\"\nprevious_secret_env = [\"ONE\", \"TWO\"]\n"
    );
    let config = read(&text).unwrap_or_else(|it| panic!("{}", it.render("f", &text, false)));
    assert_eq!(config.tenants[0].keys.len(), 3);
    assert_eq!(config.tokens.previous.len(), 2);
    // An old secret is as long as any.
    let short = text.replace("\"TWO\"", "\"UNSET\"");
    let faults = read(&short).unwrap_err();
    let shown = faults.render("quixos.toml", &short, false);
    assert!(shown.contains("quixos.toml:6:"), "{shown}");
}

#[test]
fn variables_say_where_traces_go() {
    let of = |pairs: &[(&str, &str)], file: Option<&str>| {
        let pairs: Vec<_> = pairs.iter().map(|(name, it)| (*name, (*it).to_owned())).collect();
        let variable = |name: &str| pairs.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        let telemetry = TelemetryConfig::of(file.map(str::to_owned), None, &variable);
        telemetry.map(|it| (it.endpoint, it.service))
    };
    let told = |endpoint: &str, service: &str| Some((endpoint.to_owned(), service.to_owned()));
    assert_eq!(of(&[], None), None);
    assert_eq!(of(&[], Some("http://c:4318/")), told("http://c:4318/v1/traces", "quixos"));
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://d:4318");
    let name = ("OTEL_SERVICE_NAME", "mine");
    assert_eq!(of(&[base, name], Some("http://c")), told("http://d:4318/v1/traces", "mine"));
    let whole = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://e/spans");
    assert_eq!(of(&[base, whole], None), told("http://e/spans", "quixos"));
    assert_eq!(of(&[base, ("OTEL_SDK_DISABLED", "true")], Some("http://c")), None);
}

/// However a config is cut off, it is read or has a fault, and nothing else happens.
#[test]
fn a_config_that_is_cut_off_is_shown() {
    for end in (0..EXAMPLE.len()).filter(|end| EXAMPLE.is_char_boundary(*end)).step_by(7) {
        let text = &EXAMPLE[..end];
        if let Err(faults) = read(text) {
            assert!(!faults.as_slice().is_empty(), "{text}");
            assert!(!faults.render("quixos.toml", text, false).is_empty());
        }
    }
}
