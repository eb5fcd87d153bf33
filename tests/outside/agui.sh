#!/usr/bin/env bash
# The published client of AG-UI against `quixos serve --demo`: text, thoughts, a tool, a tool of the
# client, a question, a failure, an abort, a run that is sent twice. Needs Rust, Node 20 or newer, npm.
source "$(dirname "$0")/demo.sh"
packages @ag-ui/client@1.0.0 @ag-ui/core@1.0.0
demo
cp "$here/fronts/agui.test.mjs" "$here/fronts/turns.mjs" "$outside/"
CASES=$root/host/tests/turns node --test --test-timeout=120000 "$outside/agui.test.mjs"
