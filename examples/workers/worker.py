"""A worker for `quixos serve`: it does what is proposed, and knows the weather.

Run it with `python3 examples/workers/worker.py [PORT]`; it needs nothing but Python. With
WORKER_SECRET in the environment, it answers only what is signed with it. docs/workers.md is the
protocol.
"""

import hashlib
import hmac
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WORKER_SECRET", "").encode()


def weather(city):
    return f"rain in {city}"


TOOLS = {"weather": weather}


def decide(request):
    """Answers a decision. What is proposed is right, unless a tool of ours is to be run."""
    trigger = request["trigger"]
    tool = TOOLS.get(trigger.get("name")) if trigger["type"] == "tool.execute" else None
    if tool is None or trigger["input"]["status"] != "valid":
        return request["proposed"]
    # A tool may be run twice: what it does elsewhere is to be keyed by the call's id and attempt.
    try:
        return {"actions": [{"type": "tool.result", "result": tool(**trigger["input"]["value"])}]}
    except Exception as error:  # The model is told, and may do better.
        return {"actions": [{"type": "tool.error", "error": str(error)}]}


class Worker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        given = self.headers.get("X-Substructure-Signature", "")
        if SECRET and not hmac.compare_digest(given, signature):
            self.answer(401, {"error": "the signature is wrong"})
        else:
            self.answer(200, decide(json.loads(body)))

    def answer(self, status, value):
        answer = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8700
    server = ThreadingHTTPServer(("127.0.0.1", port), Worker)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
