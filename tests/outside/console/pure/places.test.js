// Places, references, times, long lists.

import assert from "node:assert/strict";
import { test } from "node:test";
import { candidates } from "../console/lib/find.js";
import * as reference from "../console/lib/reference.js";
import { credentials, ofObject, parse, to, typed } from "../console/lib/route.js";
import { latest } from "../console/lib/quiet.js";
import { ago, span } from "../console/lib/time.js";
import { merge, reveal, shown, step } from "../console/lib/window.js";

const FULL = "atom:org.quixos.agent:request/01ARZ3NDEKTSV4RRFFQ69G5FAV";
const SHORT = "request/01ARZ3NDEKTSV4RRFFQ69G5FAV";

test("references in full and in short are the same object", () => {
  assert.ok(reference.isReference(FULL) && reference.isReference(SHORT));
  for (const text of [
    "request/01ARZ",
    `${SHORT} `,
    `${FULL}x`,
    "request/01ARZ3NDEKTSV4RRFFQ69G5FAU",
    null,
    7,
  ])
    assert.ok(!reference.isReference(text), String(text));
  assert.equal(reference.short(FULL), SHORT);
  assert.ok(reference.same(FULL, SHORT));
  assert.equal(
    reference.kindOf("atom:org.quixos.agent:completion-stream/01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    "completion-stream",
  );
  assert.equal(new Date(reference.madeAt(SHORT)).toISOString(), "2016-07-30T23:54:10.259Z");
  assert.deepEqual(reference.split(`a ${FULL}, b`), [{ text: "a " }, { reference: FULL }, { text: ", b" }]);
  assert.deepEqual(reference.split("<b>"), [{ text: "<b>" }]);
});

test("a place is written and read back, whatever its name has in it", () => {
  for (const name of ["", SHORT, `${SHORT}.events`, "a?b&c#d", "ä/ö", "%"]) {
    for (const query of [{}, { status: "running", text: "a&b=c #d" }])
      assert.deepEqual(parse(to("requests", name, query)), { page: "requests", name, query });
  }
  assert.equal(ofObject(FULL), `#/${"request"}/${SHORT}`);
  assert.equal(
    ofObject("atom:x:strange/01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    "#/object/strange/01ARZ3NDEKTSV4RRFFQ69G5FAV",
  );
  assert.deepEqual(parse(""), { page: "overview", name: "", query: {} });
  assert.equal(parse("#/%E0%A4%A").page, "%E0%A4%A");
  assert.equal(typed(` ${SHORT} `), ofObject(SHORT));
});

test("a token in the fragment is taken, a place is none", () => {
  assert.deepEqual(credentials("#token=a%2Bb&operator=Zo%C3%AB"), { token: "a+b", operator: "Zoë" });
  assert.equal(credentials("#/requests?token=x"), null);
  assert.equal(credentials("#operator=anna"), null);
});

test("spans and times are short", () => {
  assert.deepEqual([0, 80, 3200, 12_000, 64_000, 3_900_000, 93_600_000].map(span), [
    "0ms",
    "80ms",
    "3.2s",
    "12s",
    "1m 4s",
    "1h 5m",
    "1d 2h",
  ]);
  const now = Date.parse("2026-01-01T12:00:00Z");
  assert.deepEqual(
    [
      "2026-01-01T11:59:59Z",
      "2026-01-01T11:56:00Z",
      "2026-01-01T12:00:20Z",
      "9999-12-31T00:00:00Z",
      "x",
      null,
    ].map((it) => ago(it, now)),
    ["now", "4m ago", "in 20s", "never", "x", ""],
  );
});

test("of ten thousand rows those that are seen are drawn", () => {
  const { first, last } = shown({ scroll: 180_000, height: 720, row: 36, count: 10_000 });
  assert.ok(first <= 5000 && last >= 5020 && last - first < 60);
  assert.deepEqual(shown({ scroll: 0, height: 700, row: 36, count: 0 }), { first: 0, last: 0 });
  assert.deepEqual(shown({ scroll: 99_999, height: 700, row: 36, count: 3 }), { first: 3, last: 3 });
});

test("keys lead through a list and stop at its ends", () => {
  const at = { index: 0, count: 100, page: 10 };
  assert.deepEqual(
    ["j", "ArrowDown", "k", "PageDown", "End", "Home", "q"].map((key) => step(key, at)),
    [1, 1, 0, 10, 99, 0, null],
  );
  assert.equal(step("j", { index: 0, count: 0, page: 1 }), null);
  assert.equal(reveal({ index: 50, scroll: 0, height: 360, row: 36 }), 51 * 36 - 360);
  assert.equal(reveal({ index: 2, scroll: 0, height: 360, row: 36 }), 0);
});

test("what is new joins what is known without a gap and without a repetition", () => {
  const key = (it) => it;
  assert.deepEqual(merge([3, 2, 1], [5, 4, 3, 2], key), { rows: [5, 4, 3, 2, 1], added: 2, joined: true });
  assert.deepEqual(merge([3, 2, 1], [9, 8], key), { rows: [9, 8, 3, 2, 1], added: 2, joined: false });
  assert.deepEqual(merge([], [2, 1], key), { rows: [2, 1], added: 2, joined: true });
});

test("a search finds pages, names, ids and commits", () => {
  const known = [
    { reference: FULL, name: "concierge" },
    { reference: "session/01BX5ZZKBKACTAV9WEVGEMMVRZ", name: "<b>bold</b>" },
  ];
  const places = [{ label: "Requests", href: "#/requests" }];
  const hrefs = (text) => candidates(text, { known, places }).map((it) => it.href);
  assert.deepEqual(hrefs("req"), ["#/requests"]);
  assert.deepEqual(hrefs("CIERGE"), [ofObject(FULL)]);
  assert.deepEqual(hrefs("g5fav"), [ofObject(FULL)]);
  assert.deepEqual(hrefs("<b>"), ["#/session/session/01BX5ZZKBKACTAV9WEVGEMMVRZ"]);
  assert.deepEqual(hrefs("#41"), ["#/history?before=42"]);
  assert.deepEqual(hrefs(SHORT)[0], ofObject(SHORT));
});

test("what was done last leaves out signs of life, however many there are, and looks no further than it must", async () => {
  const all = Array.from({ length: 300 }, (_, at) => ({
    commit: at + 1,
    operation: at % 50 === 0 ? "thread_send" : "registry_lease",
  }));
  const asked = [];
  const page = async (before, limit) => (
    asked.push(limit),
    all.filter((it) => before === null || it.commit < before).slice(-limit)
  );
  const first = await latest(page, [], 3);
  assert.deepEqual(
    [first.map((it) => it.commit), asked],
    [
      [251, 201, 151],
      [40, 200],
    ],
  );
  all.push({ commit: 301, operation: "agent_update" });
  asked.length = 0;
  assert.deepEqual(
    (await latest(page, first, 3)).map((it) => it.commit),
    [301, 251, 201],
  );
  assert.equal(asked.length, 2);
});
