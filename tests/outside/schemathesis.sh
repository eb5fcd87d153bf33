#!/usr/bin/env bash
# Tries a host by its own OpenAPI document, with Schemathesis: requests that fit it and requests that
# do not, for every route of clients, of programs and of anybody. Each has to be answered as the
# document says, and never with a 5xx that it does not say. Streams are read to their first events.
#
#   tests/outside/schemathesis.sh [cases for each route, 50 if it is not said]
#
# Needs Rust, Python 3.10 or newer, and curl. QUIXOS names another binary.
set -euo pipefail
cd "$(dirname "$0")/../.."
cases=${1:-50}
version=4.32.5
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/outside/schemathesis"
folder=$(cd "$target/outside/schemathesis" && pwd)
if ! "$folder/bin/schemathesis" --version 2>/dev/null | grep -q "$version"; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi
if [ -z "${QUIXOS:-}" ]; then
    cargo build --quiet --locked -p quixos-shell
    QUIXOS=$(cd "$target/debug" && pwd)/quixos
fi

# A host like the demo's, whose key is known, and whose limits let a flood in.
rm -rf "$folder/data"
cat >"$folder/quixos.toml" <<'TOML'
[store]
folder = "data"
[tenants.suite]
key_env = "SUITE_KEY"
[tokens]
secret_env = "SUITE_SECRET"
ttl_secs = 86400
[limits]
requests_per_minute = 60000
open_streams = 1000
[durable]
long_poll_secs = 1
[[providers]]
kind = "scripted"
models = ["demo"]
[[agents]]
name = "helper"
model = "demo"
worker = "echo"
TOML
export SUITE_KEY=a-key-that-is-long-enough SUITE_SECRET=a-secret-that-is-quite-long-enough
"$QUIXOS" serve --config "$folder/quixos.toml" --listen 127.0.0.1:0 >"$folder/host.log" 2>&1 &
host=$!
trap 'kill "$host" 2>/dev/null || true; wait "$host" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    url=$(sed -n 's/^listening on \(http[^ ]*\).*/\1/p' "$folder/host.log")
    [ -n "$url" ] && break
    kill -0 "$host" || { cat "$folder/host.log" >&2; exit 1; }
    sleep 0.1
done
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
TOKEN=$(curl -sf "$url/api/machine/client-tokens" -H "Authorization: Bearer $SUITE_KEY" \
    -H 'Content-Type: application/json' -d '{"identity":{"id":"somebody"}}' | field token)

# Something that is there, so that not all is answered with 404: a thread, a turn, a session, a stream.
export TOKEN
turn=$(curl -sfN "$url/v1/agents/helper/stream" -H "Authorization: Bearer $TOKEN" \
    -H 'Accept: application/x-ndjson' -H 'Content-Type: application/json' \
    -d '{"messages":[{"content":[{"type":"text","text":"hello"}]}]}' | sed -n 1p)
THREAD=$(printf %s "$turn" | field threadId)
REQUEST=$(printf %s "$turn" | field requestId)
export THREAD REQUEST
curl -sf -X PUT "$url/v1/stream/some/stream" -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' >/dev/null

cat >"$folder/schemathesis.toml" <<'TOML'
seed = 1
request-timeout = 10
# With more, CPython 3.11 fails now and then where Hypothesis reads its own source.
workers = 1
# Who reads on waits for what comes.
max-stream-events = 3

[auth.openapi]
client = { bearer = "${TOKEN}" }
machine = { bearer = "${SUITE_KEY}" }

[[operations]]
include-path-regex = "^/(api/(client|machine)/sessions|v1/threads)/"
parameters = { "path.id" = "${THREAD}" }

[[operations]]
include-path-regex = "^/v1/requests/"
parameters = { "path.id" = "${REQUEST}" }

[[operations]]
include-path-regex = "^/v1/agents/"
parameters = { "path.name" = "helper" }

# What no document can say, so that what fits it may still be refused: from where a list goes on is what
# was answered, and no other text; inputs agree with each other and with the log, and name something;
# of the headers of streams some need or exclude others.
[[operations]]
include-path-regex = "^/(v1/(threads|agents|stream)|api/(client/sessions/input|machine/(sessions/submit|workers/submit)))"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404", "405", "409", "410", "413", "422"]
TOML
"$folder/bin/schemathesis" --config-file "$folder/schemathesis.toml" run "$url/openapi.json" \
    --checks all --max-examples "$cases"
