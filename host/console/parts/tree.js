// The messages of a session, drawn as a log of branches: the conversation as it stands goes straight
// down, and what was left stands beside it, folded until it is asked for.

import { fill, h } from "../lib/dom.js";
import { folded, layout } from "../lib/tree.js";
import { counted, cut, line, pretty, said } from "../lib/text.js";
import { step } from "../lib/window.js";
import { icon } from "./icons.js";

/** Letters of a message that are shown until it is opened. */
const FEW = 280;
/** Rows that are drawn from the end; those before are drawn when they are asked for. */
const DRAWN = 200;

/** Makes a tree, to be set whenever the session has changed. */
export function messageTree() {
  const openBranches = new Set();
  const openMessages = new Set();
  let nodes = [];
  let head = null;
  let rows = [];
  let focus = null;
  let drawn = DRAWN;
  const list = h("div", { class: "tree", role: "tree", "aria-label": "Messages" });
  const place = h("div", {}, list);

  const draw = () => {
    rows = folded(layout(nodes, head), openBranches);
    if (!rows.some((row) => row.id === focus))
      focus = (rows.find((row) => row.head) ?? rows.at(-1))?.id ?? null;
    const from = Math.max(0, rows.length - drawn);
    fill(list, rows.slice(from).map(row));
    fill(
      place,
      from > 0
        ? h(
            "button",
            { type: "button", class: "button small", onclick: () => ((drawn += 500), draw()) },
            `${counted(from, "earlier message")}`,
          )
        : null,
      list,
    );
  };

  const row = (it) =>
    h(
      "div",
      {
        class: `tree-row${it.onPath ? " on-path" : ""}${it.head ? " head" : ""}`,
        role: "treeitem",
        "data-key": it.id,
        "data-id": it.id,
        "aria-level": String(it.lane + 1),
        "aria-expanded": it.fork ? String(openBranches.has(it.id)) : null,
        "aria-selected": String(it.id === focus),
        tabindex: it.id === focus ? "0" : "-1",
        onclick: (event) => {
          if (event.target.closest("a, button, summary") || String(getSelection())) return;
          focus = it.id;
          toggle(it);
        },
      },
      lanes(it),
      h("div", { class: "tree-text" }, headOf(it), text(it)),
    );

  const lanes = (it) =>
    h(
      "span",
      { class: "lanes-of", "aria-hidden": "true", style: { "--lane": String(it.lane) } },
      it.lanes.map(({ lane, onPath }) =>
        h("i", { class: `pass${onPath ? " way" : ""}`, style: { left: `${lane * 18}px` } }),
      ),
      it.fork ? h("i", { class: "elbow", style: { left: `${(it.lane - 1) * 18}px` } }) : null,
      it.up ? h("i", { class: "up", style: { left: `${it.lane * 18}px` } }) : null,
      h("i", { class: `knot role-${it.message.role}`, style: { left: `${it.lane * 18}px` } }),
      it.last || it.hidden ? null : h("i", { class: "down", style: { left: `${it.lane * 18}px` } }),
    );

  const headOf = (it) =>
    h(
      "p",
      { class: "tree-head" },
      h("span", { class: `role role-${it.message.role}` }, it.message.role),
      it.message.name ? h("span", { class: "sub" }, it.message.name) : null,
      it.head ? h("span", { class: "badge" }, "head") : null,
      it.branches > 1 ? h("span", { class: "sub" }, `${it.branches} ways on`) : null,
      it.fork && !it.onPath
        ? h(
            "button",
            { type: "button", class: "button small", tabindex: "-1", onclick: () => branch(it) },
            icon("chevron"),
            openBranches.has(it.id)
              ? "fold"
              : it.hidden
                ? `branch, ${counted(it.hidden + 1, "message")}`
                : "branch",
          )
        : null,
      h("span", { class: "id tree-id", title: it.id }, cut(it.id, 12)),
    );

  const text = (it) => {
    const whole = said(it.message);
    const open = openMessages.has(it.id);
    const calls = (it.message.tool_calls ?? []).map((call) =>
      h(
        "p",
        { class: "tool-call" },
        h("span", { class: "kind" }, "calls"),
        h("strong", {}, call.function?.name ?? call.name ?? "?"),
        " ",
        h(
          "code",
          {},
          open ? pretty(call.function?.arguments ?? "") : line(call.function?.arguments ?? "", 90),
        ),
      ),
    );
    return [
      whole ? h("p", { class: `said${open ? " open" : ""}` }, open ? whole : cut(whole, FEW)) : null,
      calls,
    ];
  };

  const branch = (it) => {
    openBranches.has(it.id) ? openBranches.delete(it.id) : openBranches.add(it.id);
    draw();
  };
  const toggle = (it) => {
    if (it.hidden) openBranches.add(it.id);
    else openMessages.has(it.id) ? openMessages.delete(it.id) : openMessages.add(it.id);
    draw();
  };

  list.onkeydown = (event) => {
    if (!event.target.matches("[role=treeitem]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const index = rows.findIndex((it) => it.id === focus);
    const it = rows[index];
    const to = step(event.key, { index, count: rows.length, page: 8 });
    if (to !== null) focus = rows[to].id;
    else if (event.key === "Enter" || event.key === " ") toggle(it);
    else if (event.key === "ArrowRight" && it.fork) openBranches.add(it.id);
    else if (event.key === "ArrowLeft") {
      const parent = it.fork
        ? it
        : rows
            .slice(0, index)
            .reverse()
            .find((one) => one.fork && one.lane === it.lane);
      if (!parent) return;
      openBranches.delete(parent.id);
      focus = parent.id;
    } else return;
    event.preventDefault();
    event.stopPropagation();
    draw();
    list.querySelector('[tabindex="0"]')?.focus();
  };

  return {
    place,
    set(next, at) {
      [nodes, head] = [next, at];
      draw();
    },
  };
}
