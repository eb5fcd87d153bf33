"""What the Python client makes of a host that fails it: run by tests/outside/clients.sh."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable

from quixos_client import Client, ConnectionLost, Patience

PATIENCE = Patience(first=0.001, longest=0.002, tries=3)


class WhatFails(unittest.TestCase):
    def host(self, asked: Callable[[bytes], None]) -> str:
        """Returns the address of a host that leaves each request without an answer, once the body of
        it was handed on."""

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked(self.rfile.read(int(self.headers["content-length"])))

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return "http://127.0.0.1:%d" % server.server_address[1]

    def test_what_is_sent_again_is_the_same_bytes(self) -> None:
        bodies, context = [], {"seen": 0}

        def asked(body: bytes) -> None:
            bodies.append(body)
            context["seen"] += 1

        client = Client(self.host(asked), "t", PATIENCE)
        turn = client.send("a", "hi", context=context)
        context["seen"] += 1
        with self.assertRaises(ConnectionLost):
            turn.finished()
        self.assertEqual(len(bodies), 4)
        self.assertEqual(json.loads(bodies[0])["context"], {"seen": 0})
        self.assertEqual(len(set(bodies)), 1, bodies)


if __name__ == "__main__":
    unittest.main()
