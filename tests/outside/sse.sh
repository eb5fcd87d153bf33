#!/usr/bin/env bash
# Readers of server-sent events that others wrote (`eventsource`, `eventsource-parser`, `httpx-sse`)
# against the streams of `quixos serve --demo`. Needs Rust, Node 20 or newer, npm, Python 3 with venv.
source "$(dirname "$0")/demo.sh"
need python3
packages eventsource@4.1.1 eventsource-parser@3.1.1
[ -x "$outside/venv/bin/python" ] || python3 -m venv "$outside/venv"
"$outside/venv/bin/python" -m pip install --quiet --disable-pip-version-check httpx==0.28.1 httpx-sse==0.4.3
demo
cp "$here/fronts/sse.test.mjs" "$outside/"
node --test --test-timeout=120000 "$outside/sse.test.mjs"
"$outside/venv/bin/python" -m unittest -v "$here/fronts/sse_test.py"
