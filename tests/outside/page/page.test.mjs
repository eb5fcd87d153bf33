// The page of the demo, as somebody uses it: run by tests/outside/page.sh.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const { URL: url, TOKEN: token, CHROMIUM: executablePath, PICTURE: picture } = process.env;
const END = /it had been there before me\.$/;
let browser;
const faults = [];

before(async () => {
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});
after(() => browser.close());

async function open() {
  const context = await browser.newContext({ viewport: { width: 760, height: 640 }, deviceScaleFactor: 2 });
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    // What was cut is said to have failed.
    if (message.type() === "error" && !/net::ERR/.test(message.text())) faults.push(message.text());
  });
  await page.goto(`${url}/#${token}`);
  await page.waitForSelector("#say button:not([disabled])");
  return page;
}

async function say(page, text) {
  await page.fill("#text", text);
  await page.press("#text", "Enter");
}

async function ready(page) {
  await page.waitForFunction(() => document.querySelector("#state").textContent.startsWith("ready"));
}

function said(page) {
  return page.locator(".agent .text").allTextContents();
}

test("a story is told to its end over a line that is cut", async () => {
  const page = await open();
  await say(page, "Tell me a story.");
  for (const words of ["courier", "copy it", "bridge"]) {
    await page.waitForFunction((words) => document.body.textContent.includes(words), words);
    await page.click("#cut");
  }
  await ready(page);
  const [story, ...more] = await said(page);
  assert.match(story, END);
  assert.equal(story.match(/courier/g).length, 1);
  assert.deepEqual(more, []);
  assert.match(await page.textContent("#state"), /^ready, after ([2-9]|\d\d+) reconnects$/);
});

test("a page that loads again shows what was said, and goes on", async () => {
  const page = await open();
  await say(page, "How is the weather?");
  await ready(page);
  await say(page, "Tell me a story.");
  await page.waitForFunction(() => document.body.textContent.includes("courier"));
  await page.reload();
  await page.waitForFunction(() => document.body.textContent.includes("before me."));
  await ready(page);
  const [weather, story, ...more] = await said(page);
  assert.equal(weather, "I looked it up: 12 degrees and light rain in Oslo");
  assert.match(story, END);
  assert.deepEqual(more, []);
  assert.deepEqual(await page.locator(".user").allTextContents(), ["How is the weather?", "Tell me a story."]);
});

test("questions are answered by buttons, with the keyboard alone", async () => {
  const page = await open();
  for (const [words, answer] of [["Please book it.", "It is booked."], ["Sign the lease.", "It is signed."]]) {
    await say(page, words);
    await page.waitForFunction(() => document.activeElement?.closest(".ask"));
    await page.keyboard.press("Enter");
    await page.waitForFunction((answer) => document.body.textContent.includes(answer), answer);
    await ready(page);
  }
});

test("a failure is shown, and a turn can be stopped", async () => {
  const page = await open();
  await say(page, "Please fail.");
  await page.waitForSelector(".wrong");
  await say(page, "Tell me a story.");
  await page.waitForFunction(() => document.body.textContent.includes("courier"));
  await page.click("#stop");
  await page.waitForFunction(() => document.body.textContent.includes("stopped"));
});

test("a picture", { skip: !picture }, async () => {
  const page = await open();
  await say(page, "How is the weather?");
  await ready(page);
  await say(page, "Sign the lease.");
  await page.waitForSelector(".ask button");
  await page.click(".ask button");
  await page.waitForFunction(() => document.body.textContent.includes("It is signed."));
  await ready(page);
  await say(page, "Tell me a story.");
  await page.waitForFunction(() => document.body.textContent.includes("courier"));
  await page.click("#cut");
  await page.waitForFunction(() => document.body.textContent.includes("signed the copy") || document.body.textContent.includes("sign the copy"));
  await page.screenshot({ path: picture });
});

test("nothing went wrong in the page", () => assert.deepEqual(faults, []));
