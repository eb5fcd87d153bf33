// The events of a stream, the newest first, followed while they are written.

import { h } from "../lib/dom.js";
import { isOver } from "../lib/door.js";
import { brief, pretty, unpacked } from "../lib/text.js";
import { options } from "../lib/words.js";
import { at, button, chip, linked } from "./bits.js";
import { problem } from "./shown.js";
import { table } from "./table.js";

const PAGE = 200;
/** Before a cut connection is tried again. */
const AGAIN = 1500;

/** Makes the list of a stream's events; `from` shows those before and at an offset first. */
export function events(ctx, { stream, height, from = null }) {
  let rows = [];
  let length = null;
  let following = true;
  let over = null;
  const trouble = h("div", {});
  const state = h("span", { class: "stream-state", role: "status" });
  const toggle = button("Pause", () => (following ? pause() : follow()), { kind: "small" });

  const list = table(ctx, {
    label: `Events of ${stream}`,
    key: (row) => String(row.offset),
    href: () => location.hash,
    open: detail,
    more: older,
    columns: [
      {
        name: "offset",
        title: "Offset",
        width: "3.5rem",
        phone: "lead",
        cell: (row) => h("span", { class: "num" }, row.offset),
      },
      { name: "when", title: "When", width: "5.5rem", phone: "side", cell: (row) => at(row.instant) },
      {
        name: "type",
        title: "Event",
        width: "12rem",
        phone: "main",
        cell: (row) => row.event?.type ?? kindOfEvent(row.event),
      },
      {
        name: "payload",
        title: "What it says",
        width: "minmax(10rem, 1fr)",
        phone: "note",
        cell: (row) => h("span", { class: "mono" }, brief(row.event?.payload ?? row.event, 300)),
      },
    ],
    none: "Nothing was written yet.",
  });
  if (height) list.place.style.setProperty("--height", height);

  const bounds = () => ({ end: rows.length > 0 ? rows.at(-1).offset === 0 : length === 0, of: length });

  async function older() {
    try {
      if (length === null) {
        ({ length } = await ctx.door.ask(`read ${stream} limit 1`, { signal: ctx.signal }));
        if (from !== null) length = Math.min(length, Number(from) + 1);
      }
      const before = rows.length ? rows.at(-1).offset : length;
      const first = Math.max(0, before - PAGE);
      const page =
        before > 0
          ? await ctx.door.ask(`read ${stream}${options({ from: first, limit: before - first })}`, {
              signal: ctx.signal,
            })
          : { events: [] };
      rows = [...rows, ...page.events.reverse()];
      trouble.replaceChildren();
    } catch (error) {
      if (isOver(error) || ctx.signal.aborted) return;
      trouble.replaceChildren(problem(error, () => list.draw(), rows.length > 0));
      await ctx.pause(2000);
    }
    list.set(rows, bounds());
    if (!over && following && length !== null) follow();
  }

  async function follow() {
    following = true;
    toggle.firstChild.data = "Pause";
    while (following && !ctx.signal.aborted) {
      over = new AbortController();
      state.replaceChildren(chip("live", "following"));
      try {
        let batch = [];
        let timer = null;
        const flush = () => {
          timer = null;
          rows = [...batch.reverse(), ...rows];
          const above = batch.length;
          batch = [];
          list.set(rows, { ...bounds(), above });
        };
        for await (const event of ctx.door.follow(
          stream,
          rows.length ? rows[0].offset + 1 : length,
          AbortSignal.any([over.signal, ctx.signal]),
        )) {
          batch.push(event);
          length = event.offset + 1;
          timer ??= setTimeout(flush, 80);
        }
      } catch (error) {
        if (over.signal.aborted || ctx.signal.aborted) return;
        if (error.code && !error.passing) trouble.replaceChildren(problem(error, follow, rows.length > 0));
      }
      state.replaceChildren(chip("reconnecting"));
      await ctx.pause(AGAIN);
    }
  }

  function pause() {
    following = false;
    over?.abort();
    toggle.firstChild.data = "Follow";
    state.replaceChildren(chip("idle", "paused"));
  }

  function detail(row) {
    const opened =
      row.event && typeof row.event.payload === "string"
        ? { ...row.event, payload: unpacked(row.event.payload) }
        : row.event;
    const dialog = h(
      "dialog",
      { class: "dialog wide", "aria-labelledby": "event-title" },
      h(
        "header",
        {},
        h("h2", { id: "event-title" }, `Event ${row.offset}`),
        button("Close", () => dialog.close()),
      ),
      h("p", { class: "sub" }, at(row.instant), ` · commit ${row.commit} · ${stream}`),
      h("pre", { tabindex: "0" }, linked(pretty(opened))),
    );
    const back = document.activeElement;
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => (dialog.remove(), back?.isConnected && back.focus()));
    document.body.append(dialog);
    dialog.showModal();
  }

  return {
    place: h(
      "div",
      { class: "stream" },
      h("div", { class: "stream-bar" }, state, toggle),
      trouble,
      list.place,
    ),
    list,
  };
}

function kindOfEvent(event) {
  return event && typeof event === "object" ? (event.status ?? event.kind ?? "") : "";
}
