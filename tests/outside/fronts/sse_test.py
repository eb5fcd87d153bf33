"""httpx-sse on the streams of the host: run by tests/outside/sse.sh."""

import json
import os
import unittest

import httpx
from httpx_sse import connect_sse

URL = os.environ["URL"]
HEADERS = {"authorization": "Bearer " + os.environ["TOKEN"], "accept": "text/event-stream"}


class Streams(unittest.TestCase):
    def read(self, method: str, path: str, **about: object) -> list:
        with httpx.Client(timeout=30, headers=HEADERS) as client:
            with connect_sse(client, method, URL + path, **about) as source:
                return list(source.iter_sse())

    def test_a_turn_and_its_rest(self) -> None:
        request = {"messages": [{"content": [{"type": "text", "text": "How is the weather?"}]}]}
        events = self.read("POST", "/v1/agents/concierge/stream", json=request)
        told = [json.loads(event.data) for event in events]
        self.assertEqual([event.event for event in events], [event["event"] for event in told])
        self.assertEqual((told[0]["event"], told[-1]["event"]), ("metadata", "done"))
        self.assertTrue(all(event.data for event in events), "none is empty")
        path = "/v1/requests/%s/stream" % told[0]["requestId"]
        at = next(i for i, event in enumerate(told) if event["event"] == "tool_result")
        rest = self.read("GET", path, headers={"last-event-id": events[at].id})
        self.assertEqual(json.loads(rest[-1].data)["content"], told[-1]["content"])
        self.assertNotIn("tool_call", [event.event for event in rest])


if __name__ == "__main__":
    unittest.main()
