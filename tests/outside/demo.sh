# Sourced by the scripts here. Gives `outside`, a folder below the target folder for what they install;
# `packages NAME@VERSION…`, which installs packages of npm into it; and `demo`, which builds quixos,
# starts the demo on a free port of this machine, and leaves URL and TOKEN. It ends with the script.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
outside=$target/outside
mkdir -p "$outside"

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "$tool is not here, and this script needs it" >&2; exit 1; }
    done
}

packages() {
    need node npm
    [ -f "$outside/package.json" ] || echo '{"name":"outside","private":true,"type":"module"}' >"$outside/package.json"
    (cd "$outside" && npm install --no-audit --no-fund --ignore-scripts --save-exact --loglevel=error "$@")
}

demo() {
    local log=$outside/demo.json
    if [ -z "${QUIXOS:-}" ]; then
        cargo build --quiet --locked --manifest-path "$root/Cargo.toml" --package quixos-shell
        QUIXOS=$target/debug/quixos
    fi
    "$QUIXOS" --json serve --demo --listen 127.0.0.1:0 >"$log" 2>"$outside/demo.log" &
    demo_pid=$!
    trap 'kill $demo_pid 2>/dev/null || true' EXIT
    for _ in $(seq 200); do
        if node -e 'JSON.parse(require("fs").readFileSync(process.argv[1]))' "$log" 2>/dev/null; then break; fi
        kill -0 $demo_pid 2>/dev/null || { cat "$outside/demo.log" >&2; exit 1; }
        sleep 0.1
    done
    URL=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).address' "$log")
    TOKEN=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).token' "$log")
    export URL TOKEN
}
