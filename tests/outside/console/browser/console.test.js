// The console as operators use it: by keyboard and by mouse, in light and dark, on a phone, over a
// network that is slow or gone.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { HOSTILE, say, seed, shell, start, wire } from "../host.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const OPERATOR = "Zoë";
/** How long anything may take on a slow machine. */
const PATIENCE = 20_000;

let host;
let line;
let browser;
let at;
const troubles = [];

before(
  async () => {
    host = await start();
    at = await seed(host);
    line = await wire(host.operators);
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  },
  { timeout: 180_000 },
);

after(async () => {
  await browser?.close();
  line?.close();
  host?.stop();
});

const short = (reference) => `${/([a-z-]+)\/[^/]+$/.exec(reference)[1]}/${reference.split("/").pop()}`;
const place = (reference) => `#/${short(reference).split("/")[0]}/${short(reference)}`;

/** Opens the console in a tab of its own, signed in, at a place. */
async function open(hash = "#/overview", { width = 1280, height = 800, ...how } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, ...how });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on("pageerror", (error) => troubles.push(`${hash}: ${error.stack}`));
  page.on(
    "console",
    (message) =>
      /Content Security|Trusted/i.test(message.text()) && troubles.push(`${hash}: ${message.text()}`),
  );
  page.on("dialog", (dialog) => troubles.push(`a dialog: ${dialog.message()}`));
  await page.goto(
    `${line.url}#token=${encodeURIComponent(host.operatorToken)}&operator=${encodeURIComponent(OPERATOR)}`,
  );
  await page.waitForSelector(".nav a");
  if (hash !== "#/overview") await page.evaluate((it) => (location.hash = it), hash);
  page.ready = () =>
    page.waitForFunction(
      () =>
        document.querySelector("main .page") &&
        !document.querySelector("main .loading, main [aria-busy=true]"),
    );
  page.done = () => context.close();
  await page.ready();
  return page;
}

const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

test("one signs in with a token and a name, and the token stays in the tab", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(line.url);
  await page.getByLabel("Your name").fill(OPERATOR);
  await page.getByLabel("Token").fill("not the token");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("does not know this token").waitFor();
  await page.getByLabel("Token").fill(host.operatorToken);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".nav a");
  const kept = await page.evaluate(() =>
    [JSON.stringify({ ...localStorage }), location.href, document.cookie].join(),
  );
  assert.ok(!kept.includes(host.operatorToken));
  await page.reload();
  await page.waitForSelector(".nav a");
  await page.getByLabel("Sign out").click();
  await page.getByLabel("Token").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await context.close();
});

test("a link hands a token over once, and it is gone from the URL", async () => {
  const page = await open();
  assert.ok(!page.url().includes("token"));
  await page.getByText("live", { exact: true }).waitFor();
  await page.done();
});

test("the overview says who waits, what runs, and what was done", async () => {
  const page = await open();
  await page.getByRole("link", { name: "Who is the summary for?" }).waitFor();
  for (const text of ["librarian", "archivist", "concierge", "And translate it into Norwegian"])
    await page.getByText(text).first().waitFor();
  const figures = await page.locator(".figure").allInnerTexts();
  assert.match(figures.join(" "), /2\s*open questions/);
  await page.done();
});

test("what is done elsewhere shows by itself", async () => {
  const page = await open("#/requests");
  await page.getByRole("row").filter({ hasText: "Summarise the annual" }).waitFor();
  const before = await page.getByRole("row").count();
  await shell(
    host,
    `call ${at.report}.send {text: "Said elsewhere", sourceKind: "user", sourceLabel: "ben", createdAt: $now, contexts: [], causalDepth: 0}`,
  );
  await page.getByRole("row").filter({ hasText: "Said elsewhere" }).waitFor();
  assert.equal(await page.getByRole("row").count(), before + 1);
  await page.getByRole("row").filter({ hasText: "Said elsewhere" }).getByText("queued").waitFor();
  await page.done();
});

test("by keyboard alone: to a list, a row, an answer with what it will change, and back", async () => {
  const page = await open();
  await press(page, "g", "r");
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  await page.getByRole("row").filter({ hasText: "Summarise the annual" }).waitFor();
  await press(page, "j");
  for (let steps = 0; steps < 30; steps += 1) {
    if ((await page.evaluate(() => document.activeElement.textContent)).includes("Summarise the annual"))
      break;
    await press(page, "j");
  }
  await press(page, "Enter");
  await page.getByRole("heading", { name: "Summarise the annual report in five lines" }).waitFor();
  await page.ready();
  await page.getByText("is waiting for an answer").first().waitFor();
  await press(page, "a");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Who is the summary for?").first().waitFor();
  assert.ok(await dialog.locator("#go").isDisabled());
  await press(page, "Space");
  await dialog.locator(".change").getByText("answered").waitFor();
  assert.equal(await dialog.locator(".change").getByRole("rowheader").count(), 2);
  const [untouched] = await shell(host, `get ${at.asks}.questions.audience.data.status`);
  assert.equal(untouched, "open");
  await press(page, "Enter");
  await page.getByText("Answer: done").waitFor();
  const [status, history] = await shell(
    host,
    `get ${at.asks}.questions.audience.data.status\nhistory limit 1 operation question_answer`,
  );
  assert.equal(status, "answered");
  assert.equal(history[0].actor, OPERATOR);
  await page.locator(".card").getByText("answered").waitFor();
  await press(page, "u");
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  await page.done();
});

test("what is refused is said, and nothing is done", async () => {
  const page = await open(place(at.librarian));
  await press(page, "e");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("librarian of the reading room");
  await dialog.locator(".change").getByText("data.name").waitFor();
  await page.route("**/operator/shell", (route) =>
    route.request().postData().includes("--dry-run")
      ? route.continue()
      : route.fulfill({
          body: '{"error":{"code":"busy","exit":13,"message":"the store is closing"}}\n{"exit":13}\n',
        }),
  );
  await dialog.locator("#go").click();
  await dialog.getByText("the store is closing").waitFor();
  await press(page, "Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal((await shell(host, `get ${at.librarian}.data.name`))[0], "librarian");
  await page.done();
});

test("an agent is enabled, a thread renamed and archived, a request cancelled and retried, each with a preview", async () => {
  const done = async (page, key, label, fill) => {
    await page.ready();
    await press(page, key);
    const dialog = page.getByRole("dialog");
    if (fill) await dialog.locator("input[type=text]").first().fill(fill);
    await dialog.locator(".change").first().waitFor();
    await dialog.locator("#go").click();
    await page.getByText(`${label}: done`).waitFor();
  };
  let page = await open(place(at.archivist));
  await done(page, "x", "Enable");
  assert.equal((await shell(host, `get ${at.archivist}.data.enabled`))[0], true);
  await page.locator(".page-head").getByText("enabled").waitFor();
  await page.done();
  page = await open(place(at.report));
  await done(page, "e", "Rename", 'A "quoted" <title>; exit');
  assert.equal((await shell(host, `get ${at.report}.data.title`))[0], 'A "quoted" <title>; exit');
  await done(page, "x", "Archive");
  await page.locator(".page-head").getByText("archived").waitFor();
  await done(page, "x", "Bring back");
  assert.equal((await shell(host, `get ${at.report}.data.archived`))[0], false);
  await page.done();
  page = await open(place(at.waits));
  await done(page, "c", "Cancel");
  await page.locator(".page-head").getByText("cancelled").first().waitFor();
  await done(page, "r", "Retry");
  const [again] = await shell(host, `list request limit 1 --newest`);
  const [retryOf, text] = await shell(
    host,
    `get ${again.objects[0].object}.retryOf\nget ${again.objects[0].object}.admission.text`,
  );
  assert.deepEqual([retryOf, text], [at.waits, "And translate it into Norwegian"]);
  await page.done();
});

test("a request of a session shows its attempts, calls and messages along time", async () => {
  const page = await open(place(at.turn));
  const lanes = await page.locator(".lane-label").allInnerTexts();
  for (const label of ["attempts", "decisions", "model demo", "tool weather"])
    assert.ok(
      lanes.some((it) => it.startsWith(label)),
      `${label} in ${lanes}`,
    );
  await page.locator(".moment").filter({ hasText: "Tool weather answered" }).waitFor();
  const bars = await page
    .locator(".bar")
    .evaluateAll((all) =>
      all.map((it) => [it.getBoundingClientRect().width, it.parentElement.getBoundingClientRect().width]),
    );
  assert.ok(bars.length >= 4 && bars.every(([bar, whole]) => bar > 0 && bar <= whole + 1));
  await page.locator(".moment-where a").filter({ hasText: "event" }).first().click();
  await page.getByRole("heading", { name: "Stream" }).waitFor();
  await page.done();
});

test("a session's tree has its branch beside the way to the head, and folds by keys", async () => {
  const page = await open(place(at.session("weather")));
  const tree = page.getByRole("tree");
  await tree.getByText("And what is the weather in Bergen?").waitFor();
  const branch = tree.getByRole("treeitem").filter({ hasText: "And tomorrow" });
  assert.equal(await branch.getAttribute("aria-expanded"), "false");
  const folded = await tree.getByRole("treeitem").count();
  await tree.locator('[tabindex="0"]').focus();
  await press(page, "Home");
  while (!(await page.evaluate(() => document.activeElement.textContent)).includes("And tomorrow"))
    await press(page, "ArrowDown");
  await press(page, "ArrowRight");
  assert.equal(await branch.getAttribute("aria-expanded"), "true");
  assert.equal(await tree.getByRole("treeitem").count(), folded + 3);
  await press(page, "ArrowDown", "ArrowLeft");
  assert.equal(await tree.getByRole("treeitem").count(), folded);
  assert.equal(await tree.locator(".head").count(), 1);
  await page.done();
});

test("a session says what it waits for, and its client's call is answered", async () => {
  const page = await open(place(at.session("booking")));
  await page.getByText("the tool approve is asked, run by the client").waitFor();
  await page.locator(".waits").getByRole("button", { name: "Answer" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator("textarea").fill("yes");
  await dialog.locator(".change").first().waitFor();
  await dialog.locator("#go").click();
  await page.getByRole("tree").getByText("It is booked.").waitFor();
  await page.done();
});

test("a stream is followed while it is written", async () => {
  const page = await open(`#/stream/${short(at.session("research"))}.events`);
  await page.getByText("following").waitFor();
  const newest = async () => Number(await page.locator(".tbody .tr .c-offset").first().innerText());
  await page.locator(".tbody .tr").first().waitFor();
  const before = await newest();
  await say(host, "research", "Say hello");
  await page.waitForFunction(
    (it) => Number(document.querySelector(".tbody .tr .c-offset").textContent) > it,
    before,
  );
  await press(page, "j", "Enter");
  await page
    .getByRole("dialog")
    .getByText(/Event \d+/)
    .waitFor();
  await press(page, "Escape");
  await page.done();
});

test("the history is filtered, by fields and by link, and goes on into the past", async () => {
  const page = await open(`#/history?operation=request_claim`);
  await page.getByRole("row").filter({ hasText: "AgentRequest.claim" }).first().waitFor();
  const cells = await page.locator(".tbody .c-what").allInnerTexts();
  assert.ok(cells.length >= 3 && cells.every((it) => it === "AgentRequest.claim"), String(cells));
  await page.getByLabel("What").fill("");
  await page.getByLabel("Who").fill(OPERATOR);
  await press(page, "Enter");
  await page.waitForURL(/actor=Zo/);
  await page.ready();
  await page.locator(".tbody .tr").first().waitFor();
  const who = await page.locator(".tbody .c-actor").allInnerTexts();
  assert.ok(
    who.every((it) => it === OPERATOR),
    String(who),
  );
  await page.goBack();
  await page.waitForURL(/request_claim/);
  await page.done();
});

test("one jumps to an id, to a name, and into the command line", async () => {
  const page = await open();
  await press(page, "/");
  await page.keyboard.type(at.runs.split("/").pop());
  await page.getByRole("option").filter({ hasText: "Request" }).first().waitFor();
  await press(page, "Enter");
  await page.getByRole("heading", { name: "Which harbours are in the tables?" }).waitFor();
  await press(page, "Control+k");
  await page.keyboard.type("booking");
  await page.getByRole("option").filter({ hasText: "session" }).waitFor();
  await press(page, "Enter");
  await page.getByRole("heading", { name: "booking" }).waitFor();
  await press(page, ":");
  await page.keyboard.type("list age");
  await press(page, "Tab");
  await page.waitForFunction(() => document.querySelector(".shell-input").value.trim() === "list agent");
  await press(page, "Enter");
  await page.getByRole("log").getByText("concierge").waitFor();
  await page.keyboard.type(`call ${short(at.runs)}.cancel`);
  await press(page, "Enter");
  await page.getByRole("log").getByText("cancel this request").waitFor();
  await page.getByRole("log").getByRole("button", { name: "No" }).click();
  assert.equal((await shell(host, `get ${at.runs}.progress.cancelRequested`))[0], false);
  await press(page, "Escape");
  await page.getByRole("log").waitFor({ state: "hidden" });
  await press(page, "?");
  await page.getByRole("dialog").getByText("Go to").waitFor();
  await press(page, "Escape");
  await page.done();
});

test("a link leads anywhere, and back leads back", async () => {
  const page = await open(place(at.fails));
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "<script>" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "<script>" }).waitFor();
  await page.evaluate(() => (location.hash = "#/agents"));
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "<script>" }).waitFor();
  await page.evaluate(() => (location.hash = "#/request/request/01ARZ3NDEKTSV4RRFFQ69G5FAV"));
  await page.getByRole("alert").getByText("not-found").waitFor();
  await page.evaluate(() => (location.hash = "#/nowhere"));
  await page.getByText("There is no such page").waitFor();
  await page.done();
});

test("what the wire cuts is found again, and nothing is lost", async () => {
  const page = await open("#/threads");
  await page.getByText("live", { exact: true }).waitFor();
  line.cut();
  await page.getByText("reconnecting").waitFor();
  await shell(
    host,
    `call ${at.librarian}.createThread {title: "Made in the dark", kind: "chat", createdAt: $now, contexts: []}`,
  );
  line.mend();
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByRole("row").filter({ hasText: "Made in the dark" }).waitFor();
  await page.done();
});

test("a slow answer shows that it loads, a failed one why, and it can be tried again", async () => {
  const page = await open("#/agents");
  let answer = "slow";
  await page.route("**/operator/shell", async (route) => {
    if (answer === "fails")
      return route.fulfill({
        status: 500,
        contentType: "application/json",
        body: '{"error":"the disk is full","code":"storage"}',
      });
    if (answer === "slow") await new Promise((done) => setTimeout(done, 1200));
    return route.continue();
  });
  await page.evaluate((it) => (location.hash = it), place(at.librarian));
  await page.locator("main .loading").waitFor();
  await page.getByRole("heading", { name: "librarian" }).waitFor();
  answer = "fails";
  await page.evaluate((it) => (location.hash = it), place(at.archivist));
  await page.getByRole("alert").getByText("the disk is full").waitFor();
  answer = "good";
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "archivist" }).waitFor();
  await page.done();
});

const PLACES = () => [
  "#/overview",
  "#/requests",
  "#/requests?show=open",
  "#/sessions",
  "#/threads",
  "#/agents",
  "#/directories",
  "#/history",
  "#/list/item",
  place(at.asks),
  place(at.fails),
  place(at.turn),
  place(at.session("weather")),
  place(at.session(HOSTILE.session)),
  place(at.report),
  place(at.librarian),
  `#/stream/${short(at.session("weather"))}.events`,
  `#/object/${short(at.fails)}`,
];

for (const [name, how] of [
  ["in light", { colorScheme: "light" }],
  ["in dark", { colorScheme: "dark" }],
  ["on a phone", { colorScheme: "dark", width: 360, height: 740, hasTouch: true, isMobile: true }],
]) {
  test(`every page is sound ${name}: for who sees it, hears it, or reads it on 360 pixels`, async () => {
    const page = await open("#/overview", { ...how, bypassCSP: true });
    await page.evaluate(AXE);
    const found = [];
    for (const hash of PLACES()) {
      await page.evaluate((it) => (location.hash = it), hash);
      await page.ready();
      await page.waitForTimeout(150);
      const result = await page.evaluate(() =>
        globalThis.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }),
      );
      for (const it of result.violations)
        found.push(
          `${hash} ${it.id}: ${it.nodes
            .map((node) => `${node.target} ${node.any[0]?.message ?? node.all[0]?.message ?? ""}`)
            .slice(0, 3)
            .join("; ")}`,
        );
      const wide = await page.evaluate(() => [
        document.scrollingElement.scrollWidth,
        document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth,
        innerWidth,
      ]);
      if (wide[0] > wide[2] || wide[1] > 0) found.push(`${hash} is wider than the page: ${wide}`);
    }
    assert.deepEqual(found, []);
    await page.done();
  });
}

test("the colours are those that were chosen", async () => {
  const page = await open("#/overview", { colorScheme: "light" });
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await colour();
  await press(page, "Shift+T", "Shift+T");
  assert.notEqual(await colour(), light);
  await page.reload();
  await page.waitForSelector(".nav a");
  assert.notEqual(await colour(), light);
  await page.done();
});

test(
  "among ten thousand rows few are drawn, and keys and filters reach all",
  { timeout: 240_000 },
  async () => {
    for (let from = 0; from < 10_000; from += 2000) {
      await shell(
        host,
        Array.from(
          { length: 2000 },
          (_, at_) =>
            `call ${short(at.librarian)}.createThread {title: "Shelf ${from + at_}", kind: "chat", createdAt: $now, contexts: []}`,
        ).join("\n"),
      );
    }
    const page = await open("#/threads");
    await page.getByRole("row").filter({ hasText: "Shelf 9999" }).waitFor();
    await press(page, "j");
    for (let tries = 0; tries < 200; tries += 1) {
      await press(page, "End");
      if (/^10,\d\d\d$/.test((await page.locator(".tfoot").innerText()).trim())) break;
      await page.waitForTimeout(80);
    }
    await press(page, "End");
    await page
      .getByRole("row")
      .filter({ hasText: "Annual" })
      .or(page.getByRole("row").filter({ hasText: "quoted" }))
      .or(page.locator(".tbody .tr"))
      .first()
      .waitFor();
    assert.ok((await page.locator(".tbody .tr").count()) < 120);
    assert.match(await page.locator(".tfoot").innerText(), /^10,\d\d\d$/);
    await page.getByLabel("Filter threads").fill("Shelf 1234");
    await page.getByRole("row").filter({ hasText: "Shelf 1234" }).waitFor();
    assert.equal(await page.locator(".tbody .tr").count(), 1);
    await page.done();
  },
);

test("no text was taken for HTML, and nothing went wrong in a page", async () => {
  const page = await open(place(at.fails));
  for (const hash of PLACES()) {
    await page.evaluate((it) => (location.hash = it), hash);
    await page.ready();
    assert.equal(await page.evaluate(() => globalThis.harmed), undefined, hash);
  }
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.deepEqual(troubles, []);
  await page.done();
});
