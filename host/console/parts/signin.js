// Who one is: the token and the name, kept for this tab alone.

import { fill, h } from "../lib/dom.js";
import { Door } from "../lib/door.js";

const KEPT = "quixos.operator";
const NAME = "quixos.operator.name";

/** What this tab knows: `{token, operator}`, or nothing. */
export function kept() {
  try {
    const known = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    return known && typeof known === "object"
      ? { token: String(known.token ?? ""), operator: String(known.operator ?? "") }
      : null;
  } catch {
    return null;
  }
}

/** Keeps a token and a name for this tab. The name alone is remembered beyond it. */
export function keep({ token, operator }) {
  sessionStorage.setItem(
    KEPT,
    JSON.stringify({ token, operator: operator || localStorage.getItem(NAME) || "" }),
  );
  if (operator) localStorage.setItem(NAME, operator);
}

/** Forgets the token. */
export function forget() {
  sessionStorage.removeItem(KEPT);
}

/** Asks for both, tries them, and is done. */
export function ask(place, { why, known, done }) {
  document.title = "Sign in · Quixos";
  const problem = h("p", { class: "problem", role: "alert", hidden: !why }, why ?? "");
  const token = h("input", {
    id: "token",
    name: "token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
  });
  const name = h("input", {
    id: "operator",
    name: "operator",
    type: "text",
    autocomplete: "username",
    spellcheck: "false",
    required: true,
    maxlength: "64",
    pattern: "[^:]+",
    title: "Any name without a colon",
  });
  token.value = known?.token ?? "";
  name.value = known?.operator || localStorage.getItem(NAME) || "";
  const go = h("button", { type: "submit", class: "button primary solid" }, "Sign in");
  const fail = (text) => {
    problem.textContent = text;
    problem.hidden = false;
    go.disabled = false;
  };
  const form = h(
    "form",
    {
      class: "signin",
      onsubmit: async (event) => {
        event.preventDefault();
        go.disabled = true;
        const given = { token: token.value.trim(), operator: name.value.trim() };
        try {
          await new Door(given).run("list directory limit 1");
        } catch (error) {
          return fail(error.status === 401 ? "The host does not know this token." : error.message);
        }
        keep(given);
        done(given);
      },
    },
    h("span", { class: "mark", "aria-hidden": "true" }),
    h("h1", {}, "Quixos console"),
    h(
      "p",
      { class: "sub" },
      "For operators. The token is the one that the host's config has the hash of; the name is what the history says of what you do.",
    ),
    problem,
    h("div", { class: "field" }, h("label", { for: "operator" }, "Your name"), name),
    h("div", { class: "field" }, h("label", { for: "token" }, "Token"), token),
    go,
    h("p", { class: "sub" }, "The token is kept in this tab, until it is closed."),
  );
  fill(place, h("main", { class: "signin-page" }, form));
  (name.value ? token : name).focus();
}
