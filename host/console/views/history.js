// The history: every committed call, the newest first, by who, what and on which object.

import { h } from "../lib/dom.js";
import { isOver } from "../lib/door.js";
import * as load from "../lib/load.js";
import { isQuiet } from "../lib/quiet.js";
import { isReference, same, short } from "../lib/reference.js";
import { to } from "../lib/route.js";
import { merge } from "../lib/window.js";
import { at, button, copy, facts, link, value } from "../parts/bits.js";
import { problem } from "../parts/shown.js";
import { table } from "../parts/table.js";

const FIELDS = [
  ["actor", "Who", "anna"],
  ["operation", "What", "request_claim"],
  ["on", "On", "request/01ARZ…"],
  ["touching", "Touching", "thread/01ARZ…"],
];

export function historyView(ctx, { query }) {
  const filter = Object.fromEntries(FIELDS.map(([name]) => [name, query[name] ?? ""]));
  let rows = [];
  let ended = false;
  const loud = query.loud === "1";
  const trouble = h("div", {});
  ctx.title("History");

  const list = table(ctx, {
    label: "History",
    key: (row) => String(row.commit),
    href: (row) => to("history", "", { ...query, before: row.commit + 1 }),
    open: (row) => detail(row, ctx),
    more: older,
    columns: [
      {
        name: "commit",
        title: "Commit",
        width: "5rem",
        phone: "lead",
        cell: (row) => h("span", { class: "num" }, row.commit),
      },
      { name: "when", title: "When", width: "9.5rem", phone: "side", cell: (row) => at(row.instant) },
      { name: "actor", title: "Who", width: "11rem", phone: "note", cell: (row) => row.actor },
      {
        name: "what",
        title: "What",
        width: "minmax(12rem, 1fr)",
        phone: "main",
        cell: (row) => [row.what, row.internal ? h("span", { class: "badge" }, "internal") : null],
      },
      { name: "on", title: "On", width: "11rem", cell: (row) => link(row.on, undefined, { tabindex: "-1" }) },
      {
        name: "touched",
        title: "Touched",
        width: "5rem",
        cell: (row) => h("span", { class: "num" }, row.touched.length),
      },
    ],
    none: "No such entry.",
  });
  ctx.list = list;

  const fitsLoud = (row) => !loud || !isQuiet(row);
  const set = (how = {}) => list.set(rows.filter(fitsLoud), { end: ended, ...how });
  const page = (before, limit) => load.history(ctx.door, { ...filter, before }, limit, ctx.signal);
  const failed = (error, retry) => {
    if (isOver(error) || ctx.signal.aborted) return;
    trouble.replaceChildren(problem(error, retry, rows.length > 0));
  };

  async function older() {
    if (trouble.firstChild && rows.length === 0) return ctx.pause(2000);
    try {
      const found = await page(rows.length ? rows.at(-1).commit : query.before, load.PAGE);
      rows = [...rows, ...found.reverse()];
      ended = found.length < load.PAGE;
      trouble.replaceChildren();
    } catch (error) {
      failed(error, () => (trouble.replaceChildren(), older()));
      ended = rows.length === 0 && !error.passing;
    }
    set();
  }

  async function fresh() {
    for (let limit = 30; ; limit *= 4) {
      const found = (await page(null, limit)).reverse();
      const met = merge(rows, found, (row) => row.commit);
      if (met.joined || found.length < limit || limit > 4000) {
        rows = met.joined ? met.rows : found;
        return set({ above: met.joined ? met.rows.slice(0, met.added).filter(fitsLoud).length : 0 });
      }
    }
  }

  let timer = null;
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = null;
      fresh().catch((error) => failed(error, soon));
    }, 250);
  };
  ctx.own(() => clearTimeout(timer));
  // Who looks at the past stays there.
  if (!query.before) ctx.own(ctx.live.watch((change) => (change === null || fits(change, filter)) && soon()));

  const apply = () => {
    const given = Object.fromEntries(FIELDS.map(([name]) => [name, form.elements[name].value.trim()]));
    for (const name of ["on", "touching"]) {
      const field = form.elements[name];
      field.setCustomValidity(given[name] && !isReference(given[name]) ? "A reference: TYPE/ULID" : "");
      if (!field.reportValidity()) return;
    }
    location.hash = to("history", "", { ...given, loud: form.elements.loud.checked ? "1" : "" });
  };
  const form = h(
    "form",
    {
      class: "filters",
      role: "search",
      "aria-label": "Filter the history",
      onsubmit: (event) => (event.preventDefault(), apply()),
    },
    FIELDS.map(([name, label, example]) =>
      h(
        "label",
        { class: "filter-field" },
        h("span", {}, label),
        h("input", {
          type: "text",
          name,
          value: isReference(filter[name]) ? short(filter[name]) : filter[name],
          placeholder: example,
          autocomplete: "off",
          spellcheck: "false",
          oninput: (event) => event.target.setCustomValidity(""),
        }),
      ),
    ),
    h(
      "label",
      { class: "check" },
      h("input", { type: "checkbox", name: "loud", checked: loud, onchange: () => apply() }),
      "Without signs of life",
    ),
    h("button", { type: "submit", class: "button" }, "Filter"),
    Object.values(filter).some(Boolean) || loud || query.before
      ? h("a", { href: "#/history", class: "button" }, "All")
      : null,
  );
  return h(
    "div",
    { class: "page list-page" },
    h(
      "header",
      { class: "list-head" },
      h("h1", { tabindex: "-1" }, "History"),
      query.before
        ? h(
            "p",
            { class: "sub" },
            `before commit ${query.before}; `,
            h("a", { href: to("history", "", filter) }, "follow the newest"),
          )
        : null,
      form,
    ),
    trouble,
    list.place,
  );
}

/** Whether a change may be in what is shown. What was called is known to the host alone. */
function fits(change, { actor, on, touching }) {
  const all = [change.receiver, ...change.objects];
  return (
    (!actor || change.actor === actor) &&
    (!on || same(change.receiver, on)) &&
    (!touching || all.some((it) => same(it, touching)))
  );
}

function detail(row, ctx) {
  const back = document.activeElement;
  const dialog = h(
    "dialog",
    { class: "dialog wide", "aria-labelledby": "commit-title" },
    h(
      "header",
      {},
      h("h2", { id: "commit-title" }, `Commit ${row.commit}`),
      button("Close", () => dialog.close()),
    ),
    facts(
      [
        ["When", [at(row.instant), h("span", { class: "sub" }, ` ${row.instant}`)]],
        ["Who", row.actor],
        ["What", row.what],
        row.operation ? ["Operation", h("code", {}, row.operation)] : null,
        ["On", link(row.on)],
        row.internal ? ["Override", "of an internal operation"] : null,
        row.transaction ? ["Transaction", h("span", { class: "id" }, row.transaction)] : null,
      ].filter(Boolean),
    ),
    h("h3", {}, "What it touched"),
    row.touched.length
      ? h(
          "ul",
          { class: "rows" },
          row.touched.map((it) =>
            h(
              "li",
              {},
              h(
                "div",
                { class: "row" },
                link(it.object),
                it.created ? h("span", { class: "badge" }, "new") : null,
                h("span", { class: "sub row-main" }, it.slots.join(", ")),
              ),
            ),
          ),
        )
      : h("p", { class: "empty" }, "Nothing."),
    h("h3", {}, "Hashes"),
    facts(
      ["hash", "previous", "input", "outcome"].map((name) => [
        name,
        h("span", { class: "hash" }, value(row[name]), copy(row[name], ctx)),
      ]),
    ),
  );
  dialog.addEventListener(
    "click",
    (event) => (event.target === dialog || event.target.closest("a")) && dialog.close(),
  );
  dialog.addEventListener("close", () => (dialog.remove(), back?.isConnected && back.focus()));
  document.body.append(dialog);
  dialog.showModal();
}
