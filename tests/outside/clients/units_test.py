"""What the Python client makes of a host that fails it: run by tests/outside/clients.sh."""

import json
import socket
import ssl
import threading
import unittest
from http.client import InvalidURL
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, Optional
from unittest import mock

from quixos_client import Client, ConnectionLost, Patience

PATIENCE = Patience(first=0.001, longest=0.002, tries=3)


class WhatFails(unittest.TestCase):
    def host(self, asked: Callable[[bytes], Optional[bytes]]) -> str:
        """Returns the address of a host that hands on the body of each request, says to it what comes
        of that, if anything, and leaves."""

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                said = asked(self.rfile.read(int(self.headers["content-length"])))
                self.wfile.write(said or b"")

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

    def test_what_no_further_try_mends_is_told_as_it_is_at_once(self) -> None:
        token, refused = mock.Mock(return_value="t"), PermissionError("nobody is signed in")
        nobody = ConnectionRefusedError("nobody is there")
        with mock.patch("http.client.HTTPConnection.connect", side_effect=nobody) as connect:
            token.side_effect = [refused] + ["t"] * 9
            with self.assertRaises(PermissionError) as raised:
                Client("http://host", token, PATIENCE).send("a", "hi").finished()
            self.assertIs(raised.exception, refused)
            with self.assertRaises(InvalidURL):
                Client("http://host/a b", token, PATIENCE).send("a", "hi").finished()
            with self.assertRaises(ValueError):
                Client("http://host", token, PATIENCE).send("a", "hi", key="no\nheader").finished()
        self.assertEqual((token.call_count, connect.call_count), (3, 0))
        for error in (socket.gaierror("no such host"), ssl.SSLCertVerificationError("not its own")):
            # At first it is for the caller; on a line that had gone as far before, it may pass.
            for errors, asks in (([error] * 9, 1), ([ConnectionResetError()] + [error] * 9, 4)):
                with mock.patch("http.client.HTTPConnection.connect", side_effect=errors) as connect:
                    with self.assertRaises(type(error) if asks == 1 else ConnectionLost):
                        Client("http://host", "t", PATIENCE).send("a", "hi").finished()
                self.assertEqual(connect.call_count, asks)

    def test_a_host_that_never_was_there_is_given_up_soon_and_one_that_was_is_waited_for(self) -> None:
        opened = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
        for answers, asks in (([], 5), ([opened], 13)):
            said, asked = iter(answers), mock.Mock()
            asked.side_effect = lambda _, said=said: next(said, None)
            client = Client(self.host(asked), "t", Patience(first=0.001, longest=0.002))
            with self.assertRaises(ConnectionLost):
                client.send("a", "hi").finished()
            self.assertEqual(asked.call_count, asks)

    def test_a_host_that_takes_the_connection_and_says_nothing_is_left(self) -> None:
        over, asked = threading.Event(), mock.Mock()
        self.addCleanup(over.set)
        asked.side_effect = lambda _: over.wait(10) and None
        patience = Patience(first=0.001, longest=0.002, tries=3, silence=0.03)
        with self.assertRaises(ConnectionLost) as lost:
            Client(self.host(asked), "t", patience).send("a", "hi").finished()
        self.assertIsInstance(lost.exception.__cause__, socket.timeout)
        self.assertEqual(asked.call_count, 4)


if __name__ == "__main__":
    unittest.main()
