// The command line in the page: the shell itself, with its variables, for all that has no button.

import { fill, h } from "../lib/dom.js";
import { isOver } from "../lib/door.js";
import { pretty } from "../lib/text.js";
import { button, linked } from "./bits.js";

/** Entries that are kept on the page, and lines that are kept of what was typed. */
const ENTRIES = 200;
const TYPED = 200;

export class CommandLine {
  #door;
  #typed = [];
  #at = 0;
  #running = null;

  constructor({ door, close }) {
    this.#door = door;
    this.log = h("div", { class: "shell-log", role: "log", "aria-label": "Answers", tabindex: "0" });
    this.input = h("textarea", {
      class: "shell-input",
      rows: "1",
      "aria-label": "Command",
      placeholder: "list request limit 5",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      oninput: () => this.#fit(),
      onkeydown: (event) => this.#keys(event),
    });
    this.stop = button("Stop", () => this.#running?.abort(), { kind: "small", hidden: true });
    this.place = h(
      "section",
      { class: "shell", "aria-label": "Command line" },
      h(
        "header",
        {},
        h("h2", {}, "Command line"),
        h("span", { class: "sub" }, "`help` lists the commands"),
        button("Close", close, { kind: "small", key: "Esc" }),
      ),
      this.log,
      h("div", { class: "shell-line" }, h("span", { "aria-hidden": "true" }, ">"), this.input, this.stop),
    );
    this.close = close;
  }

  /** Puts a command into the line, to be looked at and run. */
  put(text) {
    this.input.value = text;
    this.#fit();
    this.input.focus();
  }

  #fit() {
    this.input.rows = Math.min(8, this.input.value.split("\n").length);
  }

  #keys(event) {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      const text = this.input.value.trim();
      if (text && !this.#running) this.#run({ text });
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#running ? this.#running.abort() : this.close();
    } else if (event.key === "Tab" && !event.shiftKey && this.input.value) {
      event.preventDefault();
      this.#complete();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const lines = this.input.value.split("\n").length;
      if (lines > 1) return;
      event.preventDefault();
      this.#at = Math.max(0, Math.min(this.#typed.length, this.#at + (event.key === "ArrowUp" ? -1 : 1)));
      this.input.value = this.#typed[this.#at] ?? "";
    } else if (event.key === "c" && event.ctrlKey && this.#running) {
      this.#running.abort();
    }
  }

  async #run(body) {
    if (!body.from) {
      this.#typed = [...this.#typed.filter((it) => it !== body.text), body.text].slice(-TYPED);
      this.#at = this.#typed.length;
      this.input.value = "";
      this.#fit();
      this.#add(h("p", { class: "typed" }, "> ", body.text));
    }
    this.#running = new AbortController();
    this.stop.hidden = false;
    try {
      for await (const line of this.#door.lines(
        { ...body, format: "text", shell: this.#door.shell },
        this.#running.signal,
      ))
        this.#show(line, body);
    } catch (error) {
      if (!this.#running.signal.aborted && !isOver(error)) this.#fail(error);
    } finally {
      this.#running = null;
      this.stop.hidden = true;
    }
  }

  #show(line, body) {
    if ("error" in line) return this.#fail(line.error);
    if ("ask" in line) return this.#ask(line, body);
    const text = line.text ?? ("answer" in line ? pretty(line.answer) : null);
    if (text !== null && text.trim()) this.#add(h("pre", {}, linked(text.trimEnd())));
  }

  #ask(line, body) {
    const go = () => (question.replaceWith(), this.#run({ ...body, from: line.at, confirmed: true }));
    const question = h(
      "div",
      { class: "ask" },
      h("p", {}, line.ask),
      button("Yes, do it", go, { kind: "danger small" }),
      button("No", () => (question.remove(), this.input.focus()), { kind: "small" }),
    );
    this.#add(question);
    question.querySelector("button").focus();
  }

  #fail(error) {
    const place = error.line ? ` (line ${error.line}, column ${error.column})` : "";
    const text = `${error.code}: ${error.message}${place}${error.help ? `\n  ${error.help}` : ""}`;
    this.#add(h("pre", { class: "failed" }, linked(text)));
  }

  #add(node) {
    const pinned = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    this.log.append(node);
    while (this.log.children.length > ENTRIES) this.log.firstChild.remove();
    if (pinned || node.className === "typed") this.log.scrollTop = this.log.scrollHeight;
  }

  async #complete() {
    const { value, selectionStart } = this.input;
    const bytes = new TextEncoder().encode(value.slice(0, selectionStart)).length;
    const found = await this.#door.complete(value, bytes).catch(() => []);
    if (found.length === 0 || this.input.value !== value) return;
    const from = new TextDecoder().decode(new TextEncoder().encode(value).slice(0, found[0].start));
    // Who typed `age` means `agent` rather than `AgentObject`.
    const begun = found.filter((it) => it.text.startsWith(value.slice(from.length, selectionStart)));
    const fitting = begun.length ? begun : found;
    const options = fitting.map((it) => it.text);
    const common = options.reduce((one, other) => {
      let at = 0;
      while (at < one.length && one[at] === other[at]) at += 1;
      return one.slice(0, at);
    });
    if (options.length > 1 && (from + common).length <= selectionStart) {
      this.#add(
        h(
          "p",
          { class: "options" },
          options.slice(0, 60).map((it) => [h("code", {}, it.trim()), " "]),
        ),
      );
      return;
    }
    const put = `${from}${common}${options.length === 1 && fitting[0].ends ? " " : ""}`;
    this.input.value = put + value.slice(selectionStart);
    this.input.setSelectionRange(put.length, put.length);
  }
}

/** Empties a place and puts the command line there. */
export function mount(place, line) {
  fill(place, line.place);
}
