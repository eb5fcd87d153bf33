//! docs/config.md has each code of a fault, with an example that has that fault and one that has none.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use quixos_host::Config;
use quixos_host::config::{Code, Faults, Surroundings};

const PAGE: &str = include_str!("../../docs/config.md");

/// What every example stands behind.
const BEFORE: &str = "[tenants.acme]\nkey_env = \"ACME_KEY\"\n[tokens]\nsecret_env = \"SECRET\"\n\
                      [[providers]]\nkind = \"scripted\"\nmodels = [\"demo\"]\n";

fn read(example: &str) -> Result<Config, Faults> {
    let variable = |name: &str| {
        let is_set = name != "NOT_SET" && !name.starts_with("OTEL_");
        is_set.then(|| format!("the-value-of-{name}-which-is-long-enough"))
    };
    let text = format!("{BEFORE}{example}");
    Config::read(&text, Surroundings { folder: Path::new("folder"), variable: &variable })
}

#[test]
fn each_code_has_its_part_of_the_page_in_order() {
    let headings = PAGE.lines().filter_map(|line| line.strip_prefix("## "));
    let told: Vec<_> = headings.filter_map(|it| it.split_once(':')).map(|it| it.0).collect();
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(told, codes);
}

#[test]
fn each_example_is_what_the_page_says() {
    for part in PAGE.split("\n## ").skip(1) {
        let (code, _) = part.split_once(':').unwrap();
        let mut kinds = Vec::new();
        for block in part.split("```toml").skip(1) {
            let (kind, rest) = block.split_once('\n').unwrap();
            let (example, _) = rest.split_once("```").unwrap();
            kinds.push(kind.trim().to_owned());
            match read(example) {
                Ok(_) => assert_eq!(kind, "", "{code}: this has no fault:\n{example}"),
                Err(faults) => {
                    let all = faults.as_slice().iter().all(|fault| fault.code.as_str() == code);
                    assert!(all && !kind.is_empty(), "{code}: this has\n{faults}\n{example}");
                }
            }
        }
        assert_eq!(kinds, [format!("error={code}"), String::new()], "the examples of {code}");
    }
}
