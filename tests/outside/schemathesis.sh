#!/bin/sh
# Tries a host by its own OpenAPI document, with Schemathesis: requests that fit it and requests that
# do not, each answered as the document says, and never with a 5xx that it does not say.
#
#   tests/outside/schemathesis.sh [examples per operation, 50 if it is not said]
#
# Needs Python 3.10 or later and the PyPI registry; installs into a folder under the target folder.
set -eu
cd "$(dirname "$0")/../.."
examples=${1:-50}
target=${CARGO_TARGET_DIR:-target}
tools=$target/outside/schemathesis
if [ ! -x "$tools/bin/schemathesis" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check schemathesis==4.32.5
fi
cargo build --quiet -p quixos-shell
said=$(mktemp)
"$target/debug/quixos" --json serve --demo --listen 127.0.0.1:0 >"$said" &
host=$!
trap 'kill "$host" 2>/dev/null; rm -f "$said"' EXIT
until grep -q token "$said"; do
    kill -0 "$host"
    sleep 0.1
done
field() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$said" "$1"
}
url=$(field address)
token=$(field token)
# Streams do not end by themselves, so each request has a time limit, and they are left out.
"$tools/bin/schemathesis" run "$url/openapi.json" \
    --header "Authorization: Bearer $token" \
    --exclude-path-regex 'stream$' \
    --include-path-regex '^/(api/client|v1|health|ready|openapi|schemas)' \
    --max-examples "$examples" --seed 1 --request-timeout 10 --workers 2 \
    --checks all --exclude-checks ignored_auth
