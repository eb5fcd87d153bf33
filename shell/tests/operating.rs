//! docs/operating.md, done: its config, and its `sh` blocks as one script.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::net::TcpListener;
use std::process::Command;

const PAGE: &str = include_str!("../../docs/operating.md");

/// Returns the blocks of the page that are of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    let begun = PAGE.split(opening.as_str()).skip(1);
    begun.map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_page_works_from_top_to_bottom() {
    let folder = tempfile::tempdir().unwrap();
    // Two ports that are free, for those of the page.
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [clients, operators] = listeners.map(|it| it.local_addr().unwrap().port().to_string());
    let here = |text: &str| text.replace("8080", &clients).replace("8081", &operators);
    let [config] = blocks("toml").try_into().unwrap();
    fs::write(folder.path().join("quixos.toml"), here(config)).unwrap();
    let script = blocks("sh");
    assert!(script.len() > 5, "{script:?}");
    // Whatever happens, no host is left behind.
    let script = format!(
        "set -eu\ntrap 'kill -9 ${{host:-}} 2> /dev/null || true' EXIT\n{}",
        here(&script.join("\n"))
    );
    let quixos = assert_cmd::cargo::cargo_bin("quixos");
    let path = format!("{}:{}", quixos.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .arg("-c")
        .arg(&script)
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    let log = fs::read_to_string(folder.path().join("serve.log")).unwrap_or_default();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}\n{log}");
    assert!(out.contains("concierge") && out.contains("nothing was changed"), "{out}");
    assert!(out.contains("anna"), "{out}");
    assert!(out.contains("up to commit"), "{out}");
    assert!(folder.path().join("monday.backup").exists());
    assert!(folder.path().join("restored").exists());
}
