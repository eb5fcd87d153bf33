"""The Python client against the demo, over connections that are cut: run by tests/outside/clients.sh."""

import os
import random
import socket
import threading
import unittest
from urllib.parse import urlsplit

from quixos_client import Client, Content, Patience, RequestError
from quixos_client.sse import SseParser

AGENT = "concierge"
URL, TOKEN = os.environ["URL"], os.environ["TOKEN"]


class Proxy:
    """Cuts each connection after some bytes of the answer, counted from behind its first event; of
    the first ones, as many as are to be lost, nothing comes through."""

    def __init__(self, seed: int, most: int = 1500, lost: int = 0) -> None:
        self._random, self._most, self._lost = random.Random(seed), most, lost
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        parts = urlsplit(URL)
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            host = socket.create_connection((parts.hostname, parts.port))
            left = -1 if self._lost > 0 else self._random.randrange(self._most)
            self._lost -= 1
            threading.Thread(target=self._up, args=(client, host), daemon=True).start()
            threading.Thread(target=self._down, args=(client, host, left), daemon=True).start()

    @staticmethod
    def _up(client: socket.socket, host: socket.socket) -> None:
        try:
            while True:
                chunk = client.recv(65536)
                if not chunk:
                    break
                host.sendall(chunk)
        except OSError:
            pass

    @staticmethod
    def _down(client: socket.socket, host: socket.socket, left: int) -> None:
        seen, counts = b"", False
        try:
            while True:
                chunk = host.recv(65536)
                if not chunk or left < 0:
                    break
                if not counts:
                    seen += chunk
                    _, _, body = seen.partition(b"\r\n\r\n")
                    counts = b"\n\n" in body
                    client.sendall(chunk)
                    continue
                client.sendall(chunk[:left])
                left -= len(chunk)
                if left <= 0:
                    break
        except OSError:
            pass
        for end in (client, host):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class TheClient(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(URL, TOKEN)

    def broken(self, seed: int, most: int = 1500, lost: int = 0) -> Client:
        proxy = Proxy(seed, most, lost)
        self.addCleanup(proxy.close)
        return Client(proxy.url, TOKEN, Patience(first=0.005, longest=0.02, tries=50))

    def test_a_text(self) -> None:
        with self.client.send(AGENT, "Hi!") as turn:
            events = list(turn)
        self.assertEqual(events[0]["event"], "metadata")
        self.assertEqual(turn.message.end["finishReason"], "stop")
        self.assertRegex(turn.message.text, "^Hello! Ask me")

    def test_a_tool_and_what_it_brought(self) -> None:
        turn = self.client.send(AGENT, "weather")
        turn.finished()
        kinds = [block["type"] for block in turn.message.content]
        self.assertEqual(kinds[:3], ["thinking", "tool_use", "tool_result"])
        self.assertEqual(turn.message.blocks[1].args, {"city": "Oslo"})

    def test_what_the_client_is_asked(self) -> None:
        turn = self.client.send(AGENT, "book")
        self.assertEqual(turn.finished()["finishReason"], "action_required")
        action = turn.message.continuations[0]
        result = {"actionId": action["actionId"], "kind": action["kind"], "status": "success"}
        answered = self.client.answer(AGENT, turn.thread_id, [{**result, "data": "yes"}])
        answered.finished()
        self.assertEqual(answered.message.text, "It is booked.")

    def test_a_failure(self) -> None:
        self.assertEqual(self.client.send(AGENT, "fail").finished()["code"], "agent_error")

    def test_a_turn_that_is_stopped(self) -> None:
        turn = self.client.send(AGENT, "story")
        for event in turn:
            if event["event"] == "text" and event["stage"] == "delta":
                turn.abort()
        self.assertEqual(turn.message.end["event"], "aborted")

    def test_what_is_refused(self) -> None:
        with self.assertRaises(RequestError) as refused:
            Client(URL, lambda: "nobody's").send(AGENT, "Hi!").finished()
        self.assertEqual((refused.exception.status, refused.exception.code), (401, "auth_failed"))

    def test_a_story_that_is_cut_at_random_is_told_whole(self) -> None:
        whole = self.client.send(AGENT, "story")
        whole.finished()
        reconnects = 0
        for seed in range(4):
            turn = self.broken(seed).send(AGENT, "story")
            turn.finished()
            reconnects += turn.reconnects
            told = [block.text for block in turn.message.blocks]
            self.assertEqual(told, [block.text for block in whole.message.blocks])
            self.assertEqual(turn.message.content, whole.message.content)
            again = self.client.follow(turn.request_id)
            again.finished()
            self.assertEqual(again.message.content, turn.message.content)
        self.assertGreaterEqual(reconnects, 8)

    def test_what_is_sent_again_because_its_answer_was_lost_is_one_turn(self) -> None:
        def threads() -> set:
            listed = self.client.call("GET", "/v1/threads?limit=100")["threads"]
            return {thread["threadId"] for thread in listed}

        before = threads()
        turn = self.broken(7, lost=3).send(AGENT, "book")
        self.assertEqual(turn.finished()["finishReason"], "action_required")
        self.assertGreaterEqual(turn.reconnects, 3)
        self.assertEqual(threads() - before, {turn.thread_id})
        action = turn.message.continuations[0]
        result = {"actionId": action["actionId"], "kind": action["kind"], "status": "success"}
        results = [{**result, "data": "yes"}]
        answered = self.broken(8, lost=3).answer(AGENT, turn.thread_id, results)
        answered.finished()
        self.assertEqual(answered.message.text, "It is booked.")
        self.assertEqual(answered.request_id, turn.request_id)
        one = self.client.send(AGENT, "Hi!", key=turn.thread_id)
        two = self.client.send(AGENT, "Hi!", key=turn.thread_id)
        one.finished(), two.finished()
        self.assertEqual(one.request_id, two.request_id)

    def test_threads_are_listed(self) -> None:
        turn = self.client.send(AGENT, "Hi!")
        turn.finished()
        self.assertIn(turn.thread_id, str(self.client.call("GET", "/v1/threads")))


class ItsParts(unittest.TestCase):
    def test_events_are_the_same_wherever_a_stream_is_cut(self) -> None:
        text = "\ufeff: hi\n\nretry: 70\nid: 1\nevent: a\ndata: é\ndata:  y\n\nid: 2\n\ndata\n\nid\ndata:z\n\n"
        expected = [("1", "a", "é\n y"), ("2", "message", ""), ("", "message", "z")]
        for end in ("\n", "\r\n", "\r"):
            data = (text.replace("\n", end) + ":").encode()
            for size in range(1, 20):
                parser, frames = SseParser(), []
                for at in range(0, len(data), size):
                    frames += parser.push(data[at : at + size])
                self.assertEqual([tuple(frame) for frame in frames], expected)
                self.assertEqual(parser.retry, 70)

    def test_a_block_that_is_sent_again_replaces_what_was_there(self) -> None:
        content = Content()
        about = {"event": "text", "requestId": "r", "messageId": "m", "blockId": "b"}
        for stage, delta, index in (
            ("start", None, 0),
            ("delta", "Hel", 0),
            ("start", None, 0),
            ("delta", "Hello", 0),
            ("delta", "Hello", 0),
            ("stop", None, 0),
        ):
            event = {**about, "stage": stage, "delta": delta, "deltaIndex": index}
            self.assertTrue(content.apply(event))
        self.assertEqual(content.content, [{"type": "text", "text": "Hello"}])
        self.assertFalse(content.apply({**about, "blockId": "c", "stage": "delta", "delta": "x"}))


if __name__ == "__main__":
    unittest.main()
