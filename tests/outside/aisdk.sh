#!/usr/bin/env bash
# The published AI SDK against `quixos serve --demo`: text, thoughts, a tool, a tool of the client, an
# approval, a failure, a stream that is taken up again. Needs Rust, Node 20 or newer, npm.
source "$(dirname "$0")/demo.sh"
packages ai@6.0.326
demo
cp "$here/fronts/aisdk.test.mjs" "$here/fronts/turns.mjs" "$outside/"
CASES=$root/host/tests/turns node --test --test-timeout=120000 "$outside/aisdk.test.mjs"
