// The operator's console: a client of the operator door, and of nothing else.
//
// It knows no rule. What it shows comes by commands of the shell, and what it does is one of them,
// with the operator's name in the history. Start at `Console`.

import { fill, h } from "./lib/dom.js";
import { Door } from "./lib/door.js";
import { Live } from "./lib/live.js";
import { names } from "./lib/load.js";
import { credentials, parse, to } from "./lib/route.js";
import { chip, tick } from "./parts/bits.js";
import { act } from "./parts/dialog.js";
import { icon } from "./parts/icons.js";
import * as keys from "./parts/keys.js";
import { palette } from "./parts/palette.js";
import { CommandLine } from "./parts/shell.js";
import * as signin from "./parts/signin.js";
import * as theme from "./parts/theme.js";
import { toasts } from "./parts/toast.js";
import { agentView } from "./views/agent.js";
import { directoryView } from "./views/directory.js";
import { historyView } from "./views/history.js";
import { listView } from "./views/lists.js";
import { objectView } from "./views/object.js";
import { overviewView } from "./views/overview.js";
import { questionView } from "./views/question.js";
import { requestView } from "./views/request.js";
import { sessionView } from "./views/session.js";
import { streamView } from "./views/stream.js";
import { threadView } from "./views/thread.js";

const VIEWS = {
  overview: overviewView,
  requests: listView,
  sessions: listView,
  threads: listView,
  agents: listView,
  directories: listView,
  list: listView,
  request: requestView,
  session: sessionView,
  thread: threadView,
  agent: agentView,
  directory: directoryView,
  question: questionView,
  stream: streamView,
  history: historyView,
  object: objectView,
  item: objectView,
};

const PLACES = [
  ["overview", "Overview"],
  ["requests", "Requests"],
  ["sessions", "Sessions"],
  ["threads", "Threads"],
  ["agents", "Agents"],
  ["directories", "Directories"],
  ["history", "History"],
];
/** Which place a page belongs to, where it is none itself. */
const WITHIN = {
  request: "requests",
  question: "requests",
  session: "sessions",
  thread: "threads",
  agent: "agents",
  directory: "directories",
};
/** Between two looks at how long ago things were. */
const TICK = 5000;

class Console {
  #over = null;
  #actions = [];
  #list = null;
  #asking = false;

  constructor(place, { token, operator }) {
    this.notes = toasts();
    this.door = new Door({
      token,
      operator,
      refused: () => this.leave("The token is not, or no longer, good."),
    });
    this.live = new Live({ door: this.door, state: (state) => this.#connected(state) });
    this.state = h("span", { class: "connection", role: "status" }, chip("reconnecting", "connecting"));
    this.main = h("main", { id: "main", tabindex: "-1" });
    this.nav = h("nav", { class: "nav", "aria-label": "Places" });
    this.line = new CommandLine({ door: this.door, close: () => this.shell(false) });
    this.drawer = h("div", { class: "drawer", hidden: true });
    this.place = place;
    this.over = new AbortController();
    fill(place, this.#frame());
    this.live.run();
    window.addEventListener("hashchange", () => this.show(), { signal: this.over.signal });
    this.timer = setInterval(tick, TICK);
    this.show();
  }

  #frame() {
    const search = h(
      "button",
      { type: "button", class: "search", onclick: () => this.jump() },
      icon("search"),
      h("span", {}, "Search, or jump to an id"),
      h("kbd", { "aria-hidden": "true" }, "/"),
    );
    return [
      h(
        "a",
        { class: "skip", href: "#main", onclick: (event) => (event.preventDefault(), this.main.focus()) },
        "Skip to the page",
      ),
      h(
        "div",
        { class: "frame" },
        h(
          "header",
          { class: "bar" },
          h(
            "a",
            { class: "brand", href: "#/overview" },
            h("span", { class: "mark", "aria-hidden": "true" }),
            "Quixos",
          ),
          search,
          this.state,
          h(
            "div",
            { class: "bar-end" },
            h(
              "button",
              {
                type: "button",
                class: "button quiet",
                onclick: () => this.shell(),
                title: "Command line (:)",
              },
              icon("shell"),
              h("span", { class: "wide" }, "Command line"),
            ),
            theme.toggle(),
            h(
              "button",
              {
                type: "button",
                class: "button quiet icon-only",
                onclick: () => keys.help(),
                title: "Keys (?)",
                "aria-label": "Keys",
              },
              icon("help"),
            ),
            h("span", { class: "operator", title: "The name that the history gets" }, this.door.operator),
            h(
              "button",
              {
                type: "button",
                class: "button quiet icon-only",
                onclick: () => this.leave(),
                title: "Sign out",
                "aria-label": "Sign out",
              },
              icon("out"),
            ),
          ),
        ),
        this.nav,
        this.main,
        this.drawer,
      ),
      this.notes.place,
    ];
  }

  /** Shows the place that the URL names. */
  show() {
    const route = parse(location.hash);
    if (route.page === "shell") {
      history.replaceState(null, "", "#/overview");
      this.shell(true);
      return this.show();
    }
    this.#over?.abort();
    this.#over = new AbortController();
    this.#actions = [];
    this.#list = null;
    const { signal } = this.#over;
    this.#places(route);
    const view = VIEWS[route.page];
    const ctx = this.#context(signal);
    const shown = view
      ? view(ctx, route)
      : h(
          "div",
          { class: "page" },
          h("h1", { tabindex: "-1" }, "There is no such page"),
          h("p", {}, h("a", { href: "#/overview" }, "Overview")),
        );
    this.main.replaceChildren(shown);
    this.main.scrollTop = 0;
    this.main.focus({ preventScroll: true });
  }

  #context(signal) {
    const app = this;
    return {
      door: this.door,
      live: this.live,
      signal,
      say: this.notes.say,
      own: (dispose) => signal.addEventListener("abort", dispose, { once: true }),
      pause: (milliseconds) =>
        new Promise((done) => {
          const timer = setTimeout(done, milliseconds);
          signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
        }),
      title: (text) => {
        document.title = `${text} · Quixos`;
      },
      actions: (list) => {
        if (!signal.aborted) app.#actions = list;
      },
      act: (action) => app.act(action),
      command: (text) => (app.shell(true), app.line.put(text)),
      replace: (hash) => (history.replaceState(null, "", hash), app.show()),
      set list(list) {
        app.#list = list;
      },
    };
  }

  #places({ page }) {
    const at = VIEWS[page] ? (WITHIN[page] ?? page) : "";
    fill(
      this.nav,
      h(
        "ul",
        {},
        PLACES.map(([name, label]) =>
          h(
            "li",
            {},
            h(
              "a",
              { href: to(name), "aria-current": at === name ? "page" : null },
              icon(name),
              h("span", {}, label),
            ),
          ),
        ),
      ),
    );
  }

  #connected(state) {
    const word = { live: "live", reconnecting: "reconnecting", refused: "refused" }[state];
    fill(this.state, chip(state === "refused" ? "failed" : state, word));
    this.place.dataset.state = state;
  }

  async act(action) {
    if (this.#asking || document.querySelector("dialog[open]")) return;
    this.#asking = true;
    await act(action, { door: this.door, say: this.notes.say });
    this.#asking = false;
  }

  /** Does what a letter stands for on this page; false if it stands for nothing. */
  letter(key) {
    const action = this.#actions.find((it) => it.key === key);
    if (action) this.act(action);
    return Boolean(action);
  }

  jump() {
    palette({ door: this.door, names: (signal) => names(this.door, signal) });
  }

  /** Opens the command line, or closes it. */
  shell(open = this.drawer.hidden) {
    if (open) {
      if (this.drawer.hidden) this.before = document.activeElement;
      fill(this.drawer, this.line.place);
      this.drawer.hidden = false;
      this.line.input.focus();
    } else if (!this.drawer.hidden) {
      this.drawer.hidden = true;
      (this.before?.isConnected ? this.before : this.main).focus();
    }
  }

  /** Puts the focus into the list of the page. */
  enter() {
    if (!this.#list) return false;
    this.#list.enter();
    return true;
  }

  /** Signs out. */
  leave(why = null) {
    this.#over?.abort();
    this.over.abort();
    this.live.stop();
    clearInterval(this.timer);
    document.querySelectorAll("dialog").forEach((it) => it.remove());
    signin.forget();
    current = null;
    start(why);
  }
}

let current = null;

/** Begins: with what the link or the tab's session has, or by asking for it. */
function start(why = null) {
  const place = document.getElementById("app");
  const given = credentials(location.hash);
  if (given) {
    signin.keep(given);
    history.replaceState(null, "", "#/overview");
  }
  const known = signin.kept();
  if (known?.token && known.operator) current = new Console(place, known);
  else signin.ask(place, { why, known, done: (it) => (current = new Console(place, it)) });
}

theme.begin();
keys.listen({
  go: (page) => current && (location.hash = to(page)),
  jump: () => current?.jump(),
  shell: () => current?.shell(true),
  help: () => keys.help(),
  theme: () => theme.next(),
  action: (key) => current?.letter(key) ?? false,
  down: () => current?.enter() ?? false,
  up: () => current?.enter() ?? false,
  back: () => history.back(),
});
start();
