// Doing something: what is needed is asked for, what would change is shown, and only then is it done.

import { fill, h } from "../lib/dom.js";
import { grouped } from "../lib/diff.js";
import { isOver } from "../lib/door.js";
import { kindOf } from "../lib/reference.js";
import { brief, pretty } from "../lib/text.js";
import { button, link, linked } from "./bits.js";
import { icon } from "./icons.js";

/** A preview is made this long after the last letter was typed. */
const TYPED = 250;

/** Begins an action, as `actions.js` has them, and returns once it is done or left. */
export function act(action, { door, say }) {
  const before = document.activeElement;
  const given = Object.fromEntries((action.fields ?? []).map((field) => [field.name, field.value ?? ""]));
  const over = new AbortController();
  let ready = null;
  let timer = null;
  let asked = 0;

  const preview = h("div", { class: "preview", "aria-live": "polite" });
  const command = h("code", { class: "command" });
  const go = button(action.label, null, {
    kind: action.danger ? "danger solid" : "primary solid",
    id: "go",
    type: "submit",
  });
  const dialog = h(
    "dialog",
    { class: "dialog", "aria-labelledby": "dialog-title" },
    h(
      "form",
      { onsubmit: (event) => (event.preventDefault(), run()) },
      h(
        "header",
        {},
        h("h2", { id: "dialog-title" }, action.title),
        h(
          "button",
          { type: "button", class: "button icon-only", "aria-label": "Close", onclick: () => dialog.close() },
          icon("close"),
        ),
      ),
      action.note ? h("p", { class: "note" }, action.note) : null,
      (action.fields ?? []).map((field) => input(field, given, changed)),
      h("h3", {}, "What will change"),
      preview,
      h("details", { class: "as-command" }, h("summary", {}, "As a command"), command),
      h(
        "footer",
        {},
        h("p", { class: "who" }, "As ", h("strong", {}, door.operator)),
        button("Leave it", () => dialog.close()),
        go,
      ),
    ),
  );

  function changed() {
    ready = null;
    go.disabled = true;
    clearTimeout(timer);
    const text = action.command(given);
    fill(command, text ?? "");
    if (text === null)
      return fill(preview, h("p", { class: "empty" }, "Fill in what is asked for, and see it here first."));
    timer = setTimeout(() => look(text), asked ? TYPED : 0);
  }

  async function look(text) {
    const turn = (asked += 1);
    preview.setAttribute("aria-busy", "true");
    try {
      const seen = await door.ask(`${text} --dry-run`, { signal: over.signal });
      if (turn !== asked) return;
      fill(preview, changes(seen));
      ready = text;
      go.disabled = false;
    } catch (error) {
      if (turn !== asked || over.signal.aborted || isOver(error)) return;
      fill(preview, refusal(error));
    } finally {
      if (turn === asked) preview.removeAttribute("aria-busy");
    }
  }

  async function run() {
    if (ready === null) return;
    const text = ready;
    ready = null;
    go.disabled = true;
    go.setAttribute("aria-busy", "true");
    try {
      const answer = await door.ask(text, { yes: true });
      say(
        answer === false ? `${action.label}: it was not done, the answer is no` : `${action.label}: done`,
        answer === false ? "wait" : "ok",
      );
      dialog.close("done");
    } catch (error) {
      fill(preview, refusal(error));
      go.removeAttribute("aria-busy");
    }
  }

  return new Promise((done) => {
    dialog.addEventListener("close", () => {
      over.abort();
      clearTimeout(timer);
      dialog.remove();
      if (before?.isConnected) before.focus();
      done(dialog.returnValue === "done");
    });
    // A click beside the dialog leaves it.
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
    dialog.showModal();
    changed();
    (dialog.querySelector("textarea, input, select") ?? dialog.querySelector("footer .button")).focus();
  });
}

function input(field, given, changed) {
  const id = `field-${field.name}`;
  const set = (text) => {
    given[field.name] = text;
    changed();
  };
  if (field.options?.length) {
    return h(
      "fieldset",
      { class: "choices" },
      h("legend", {}, field.label),
      field.options.map((option) =>
        h(
          "label",
          {},
          h("input", { type: "radio", name: field.name, value: option, onchange: () => set(option) }),
          h("span", {}, option),
        ),
      ),
    );
  }
  const shared = {
    id,
    name: field.name,
    oninput: (event) => set(event.target.value),
    autocomplete: "off",
    spellcheck: field.lines ? null : "false",
  };
  const control = field.lines
    ? h("textarea", { ...shared, rows: field.lines })
    : h("input", { ...shared, type: "text" });
  control.value = field.value ?? "";
  if (field.lines) {
    control.onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
    };
  }
  return h("div", { class: "field" }, h("label", { for: id }, field.label), control);
}

/** What a dry run said: object by object what stands there now and what would. */
export function changes({ answer, changes: list }) {
  const groups = grouped(list);
  return [
    groups.length === 0 ? h("p", { class: "empty" }, "Nothing would change.") : null,
    groups.map((group) =>
      h(
        "div",
        { class: "change" },
        h(
          "p",
          { class: "change-head" },
          h("span", { class: "kind" }, kindOf(group.object)),
          link(group.object),
          group.created ? h("span", { class: "chip tone-ok" }, h("i"), "new") : null,
        ),
        h(
          "table",
          {},
          h(
            "thead",
            { class: "visually-hidden" },
            h(
              "tr",
              {},
              ["Field", "Now", "Then"].map((it) => h("th", { scope: "col" }, it)),
            ),
          ),
          h(
            "tbody",
            {},
            group.rows.map((row) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, row.field),
                h("td", { class: "before" }, row.before === undefined ? "" : shownValue(row.before)),
                h(
                  "td",
                  { class: "after" },
                  row.after === undefined ? h("span", { class: "none" }, "gone") : shownValue(row.after),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
    answer === null || answer === undefined
      ? null
      : h("p", { class: "answer" }, "It would answer ", h("code", {}, brief(answer, 200))),
  ];
}

function shownValue(it) {
  const text = typeof it === "string" ? it : pretty(it);
  return text.length > 240
    ? h("details", {}, h("summary", {}, brief(it, 120)), h("pre", {}, text))
    : h("span", {}, linked(brief(it, 400)));
}

function refusal(error) {
  return h(
    "div",
    { class: "problem" },
    h(
      "p",
      {},
      h("strong", {}, "It is refused: "),
      error.message,
      error.code ? h("code", {}, error.code) : null,
    ),
    error.help ? h("p", { class: "hint" }, error.help) : null,
  );
}
