#!/usr/bin/env bash
# The operator's console in a real Chromium, over `quixos serve --demo`; its modules before, by node.
# Installs what it needs below the target folder, and Chromium from the system's packages where that
# is missing and one may. Run it from anywhere:
#
#   tests/outside/console.sh              # everything
#   tests/outside/console.sh --pictures   # and the pictures of docs/pictures anew
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
work=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/outside/console

command -v node >/dev/null || { echo 'node (20 or newer) is not here' >&2; exit 1; }
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$CHROMIUM" ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium fonts-dejavu-core) >/dev/null
    CHROMIUM=$(command -v chromium)
fi
[ -n "$CHROMIUM" ] || { echo 'Chromium is not here: install it, or say where it is with CHROMIUM=' >&2; exit 1; }
export CHROMIUM

mkdir -p "$work"
rm -rf "$work/console" "$work/pure" "$work/browser"
cp -r host/console "$work/console"
cp -r tests/outside/console/. "$work/"
(cd "$work" && npm ci --no-audit --no-fund --silent)

(cd "$work" && node --test pure/)

cargo build --quiet --package quixos-shell
QUIXOS=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/debug/quixos
export QUIXOS
if [ "${1:-}" = --pictures ]; then
    export PICTURES="$root/docs/pictures"
    mkdir -p "$PICTURES"
fi
(cd "$work" && node --test --test-concurrency=1 browser/)
if [ -n "${PICTURES:-}" ] && command -v pngquant >/dev/null; then
    pngquant --force --ext .png --strip 128 "$PICTURES"/console-*.png
fi
