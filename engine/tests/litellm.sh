#!/bin/sh
# Runs our providers against LiteLLM, a server of both forms that others made.
#
# usage: litellm.sh LITELLM CONFIG
#   LITELLM  its command (of a virtual environment, say)
#   CONFIG   its config, with the models `mock`, `loop`, `limited` and `broken` and the key `sk-test`
set -eu
port=54000
LITELLM_LOCAL_MODEL_COST_MAP=True DISABLE_ADMIN_UI=True \
    "$1" --config "$2" --host 127.0.0.1 --port $port --telemetry False &
server=$!
trap 'kill $server' EXIT
until curl -s -o /dev/null "http://127.0.0.1:$port/health/liveliness"; do
    kill -0 $server
    sleep 1
done
MODELS_URL="http://127.0.0.1:$port" cargo test -p quixos-engine --test provider_http -- --ignored
