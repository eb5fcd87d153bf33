#!/usr/bin/env bash
# The clients of the tree against a real host: `quixos serve --demo`, over connections that are cut in
# the middle. Needs Rust, Node 20.3 or newer with npm (for the TypeScript compiler), and Python 3.9 or
# newer. It also holds that clients/typescript/dist is what the compiler makes of src.
#
#   tests/outside/clients.sh            all of it
#   tests/outside/clients.sh --build    write clients/typescript/dist anew
source "$(dirname "$0")/demo.sh"
need node npm python3
packages typescript@5.9.3
tsc=$outside/node_modules/typescript/bin/tsc
client=$root/clients/typescript

if [ "${1:-}" = --build ]; then
    rm -rf "$client/dist"
    node "$tsc" -p "$client"
    exit
fi

built=$outside/client-dist
rm -rf "$built"
node "$tsc" -p "$client" --outDir "$built"
diff -r "$client/dist" "$built" || {
    echo 'clients/typescript/dist is not what src says: run tests/outside/clients.sh --build' >&2
    exit 1
}

demo
node --test --test-timeout=120000 "$here"/clients/*.test.mjs
PYTHONPATH=$root/clients/python python3 -W error::ResourceWarning -m unittest discover -s "$here/clients" -p '*_test.py' -v
