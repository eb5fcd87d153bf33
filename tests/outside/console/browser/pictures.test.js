// The pictures of docs/console.md and the README, of a host that has nothing strange in it.

import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { seed, start } from "../host.js";

const NAMES = { title: "Harbour lights", text: "Which lights are red?", from: "carla", session: "greeting" };

let host;
let browser;
let at;

before(
  async () => {
    if (!process.env.PICTURES) return;
    host = await start();
    at = await seed(host, NAMES);
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  },
  { timeout: 180_000 },
);

after(async () => {
  await browser?.close();
  host?.stop();
});

const place = (reference) => {
  const [, kind, id] = /([a-z-]+)\/([^/]+)$/.exec(reference);
  return `#/${kind}/${kind}/${id}`;
};

test("pictures", { skip: !process.env.PICTURES }, async () => {
  const picture = async (name, hash, { width, height, colorScheme = "light" }) => {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    await page.goto(`${host.operators}/#token=${host.operatorToken}&operator=anna`);
    await page.waitForSelector(".nav a");
    await page.evaluate((it) => (location.hash = it), hash);
    await page.waitForFunction(
      () =>
        document.querySelector("main .page") &&
        !document.querySelector("main .loading, main [aria-busy=true]"),
    );
    await page.waitForTimeout(1500);
    await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` });
    await page.close();
  };
  await picture("console-overview", "#/overview", { width: 1280, height: 760 });
  await picture("console-request", place(at.turn), { width: 1280, height: 860 });
  await picture("console-session", place(at.session("weather")), { width: 1280, height: 820 });
  await picture("console-phone", place(at.asks), { width: 390, height: 780, colorScheme: "dark" });
});
