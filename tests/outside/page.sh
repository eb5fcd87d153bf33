#!/usr/bin/env bash
# The page of the demo in a real browser: a conversation that goes on over a line that is cut and over
# a reload. Needs Rust, Node 20 or newer, npm, and Chromium (`apt-get install chromium`; CHROMIUM names
# another one). With `--picture FILE` it leaves a picture of the page.
source "$(dirname "$0")/demo.sh"
CHROMIUM=${CHROMIUM:-chromium}
need "$CHROMIUM"
packages playwright-core@1.65.1
demo
cp "$here/page/page.test.mjs" "$outside/"
[ "${1:-}" = --picture ] && export PICTURE=$(realpath "$2")
CHROMIUM=$(command -v "$CHROMIUM") node --test --test-timeout=120000 "$outside/page.test.mjs"
