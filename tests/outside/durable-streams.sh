#!/usr/bin/env bash
# The public conformance suite of Durable Streams, and its client, against `quixos serve`.
#
# Installs both, pinned, into a folder below the target folder; starts a host that lets anybody write
# streams, over a new store on the disk; runs all tests; prints how many passed.
# Needs a Rust toolchain, Node 20 or newer, and a package registry. QUIXOS names another binary.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=@durable-streams/server-conformance-tests@0.3.6
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/outside/durable-streams"
folder=$(cd "$target/outside/durable-streams" && pwd)

if [ -z "${QUIXOS:-}" ]; then
    cargo build --release --locked -p quixos-shell
    QUIXOS=$(cd "$target/release" && pwd)/quixos
fi
if [ ! -e "$folder/installed-$(basename "$suite")" ]; then
    echo '{"name":"outside","private":true,"type":"module"}' >"$folder/package.json"
    (cd "$folder" && npm install --no-audit --no-fund --ignore-scripts "$suite" >/dev/null)
    touch "$folder/installed-$(basename "$suite")"
fi
cat >"$folder/conformance.test.mjs" <<'JS'
import { runConformanceTests } from "@durable-streams/server-conformance-tests";
runConformanceTests({ baseUrl: process.env.URL_UNDER_TEST });
JS
cp tests/outside/durable-streams-client.mjs "$folder/client.mjs"

rm -rf "$folder/data"
cat >"$folder/quixos.toml" <<TOML
[store]
folder = "data"
[tenants.suite]
key_env = "SUITE_KEY"
[tokens]
secret_env = "SUITE_SECRET"
# The suite sends no credential, and waits five seconds for what long polls answer.
[durable]
open = true
long_poll_secs = 2
TOML
export SUITE_KEY=a-key-that-is-long-enough SUITE_SECRET=a-secret-that-is-quite-long-enough
"$QUIXOS" serve --config "$folder/quixos.toml" --listen 127.0.0.1:0 >"$folder/host.log" 2>&1 &
host=$!
trap 'kill "$host" 2>/dev/null || true; wait "$host" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    URL_UNDER_TEST=$(sed -n 's/^listening on \(http[^ ]*\).*/\1/p' "$folder/host.log")
    [ -n "$URL_UNDER_TEST" ] && break
    kill -0 "$host" || { cat "$folder/host.log" >&2; exit 1; }
    sleep 0.1
done
export URL_UNDER_TEST

cd "$folder"
node client.mjs "$URL_UNDER_TEST"
node_modules/.bin/vitest run "$@" conformance.test.mjs
