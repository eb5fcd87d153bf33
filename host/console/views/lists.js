// The lists: requests, sessions, threads, agents, directories, and any other kind of object.

import { h } from "../lib/dom.js";
import { isOver } from "../lib/door.js";
import { touches } from "../lib/live.js";
import * as load from "../lib/load.js";
import { kindOf } from "../lib/reference.js";
import { ofObject, to } from "../lib/route.js";
import { merge } from "../lib/window.js";
import { problem } from "../parts/shown.js";
import { table } from "../parts/table.js";
import { LISTS, plain } from "./columns.js";

/** A list, the newest first; `?status=`, `?text=` and, of requests, `?show=open` say which. */
export function listView(ctx, { page, name, query }) {
  const list = LISTS[page] ?? plain(name);
  const open = query.show === "open";
  const status = query.status ?? "";
  let known = [];
  let ended = false;
  let failure = null;
  let text = query.text ?? "";
  const stale = new Set();
  const whole = new Set();

  const goTo = (changed) => ctx.replace(to(page, name, { ...query, ...changed }));
  const box = h("input", {
    type: "search",
    class: "filter",
    placeholder: "Filter",
    "aria-label": `Filter ${list.title.toLowerCase()}`,
    oninput: () => ((text = box.value), update(), keep()),
  });
  box.value = text;
  let keeping = null;
  const keep = () => {
    clearTimeout(keeping);
    keeping = setTimeout(() => history.replaceState(null, "", to(page, name, { ...query, text })), 300);
  };
  const tab = (label, changed, on) =>
    h(
      "a",
      {
        href: to(page, name, { ...query, text: undefined, ...changed }),
        class: "tab",
        "aria-current": on ? "true" : null,
      },
      label,
    );
  const trouble = h("div", {});
  const grid = table(ctx, {
    label: list.title,
    columns: list.columns,
    key: (row) => row.reference,
    href: (row) => ofObject(row.reference),
    more: older,
    seen,
    none: status || text ? "Nothing that is loaded fits." : `There are no ${list.title.toLowerCase()}.`,
  });
  ctx.list = grid;
  ctx.title(list.title);

  const fits = (row) =>
    (!status || list.status(row) === status) &&
    (!text ||
      list.search(row).some((it) =>
        String(it ?? "")
          .toLowerCase()
          .includes(text.toLowerCase()),
      ));
  const update = (how = {}) => grid.set(known.filter(fits), { end: ended, ...how });
  const show = (error) => {
    failure = error;
    trouble.replaceChildren(
      ...(error ? [problem(error, () => (show(null), older().then(() => update())), known.length > 0)] : []),
    );
  };

  const rowOf = (it) => ({
    reference: it.object,
    createdAt: it.created,
    ...it.fields,
    fields: it.fields,
  });

  async function older() {
    if (failure) return ctx.pause(2000);
    try {
      if (open) {
        const { requests } = await load.pending(ctx.door, ctx.signal);
        known = await load.rows(ctx.door, requests, ctx.signal);
        known.forEach((row) => whole.add(row.reference));
        ended = true;
      } else {
        const page = await load.newest(ctx.door, list.kind, known.at(-1)?.reference, load.PAGE, ctx.signal);
        const at = new Set(known.map((row) => row.reference));
        known = [...known, ...page.objects.map(rowOf).filter((row) => !at.has(row.reference))];
        ended = !page.more;
      }
      if (failure) show(null);
    } catch (error) {
      if (isOver(error) || ctx.signal.aborted) return;
      show(error);
    }
    update();
  }

  // What is seen is looked up whole, and again when it has changed.
  let looking = false;
  async function seen(drawn) {
    if (!load.hasRows(list.kind) || looking) return;
    const wanted = drawn.map((row) => row.reference).filter((it) => !whole.has(it) || stale.has(it));
    if (wanted.length === 0) return;
    looking = true;
    wanted.forEach((it) => stale.delete(it));
    try {
      const found = new Map(
        (await load.rows(ctx.door, wanted, ctx.signal)).map((row) => [row.reference, row]),
      );
      known = known.map((row) => (found.has(row.reference) ? { ...row, ...found.get(row.reference) } : row));
      wanted.forEach((it) => whole.add(it));
    } catch (error) {
      if (isOver(error) || ctx.signal.aborted) return;
      wanted.forEach((it) => stale.add(it));
      return setTimeout(() => ((looking = false), update()), 2000);
    }
    looking = false;
    update();
  }

  async function fresh() {
    if (ctx.signal.aborted) return;
    if (open) return older();
    let limit = 50;
    for (;;) {
      const page = await load.newest(ctx.door, list.kind, null, limit, ctx.signal);
      const met = merge(known, page.objects.map(rowOf), (row) => row.reference);
      if (met.joined || !page.more || limit > 5000) {
        known = met.joined ? met.rows : page.objects.map(rowOf);
        if (!met.joined) ended = !page.more;
        return update({
          above: met.joined ? page.objects.slice(0, met.added).map(rowOf).filter(fits).length : 0,
        });
      }
      limit *= 4;
    }
  }

  let timer = null;
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = null;
      fresh().catch((error) => (isOver(error) || ctx.signal.aborted ? null : soon()));
    }, 300);
  };
  ctx.own(() => clearTimeout(timer));
  ctx.own(
    ctx.live.watch((change) => {
      if (change === null) {
        known.forEach((row) => stale.add(row.reference));
        return soon();
      }
      const mine = change.objects.filter((it) => kindOf(it) === list.kind);
      const at = new Set(known.map((row) => row.reference));
      for (const it of mine) if (at.has(it)) stale.add(it);
      if (
        mine.some((it) => !at.has(it)) ||
        (open && touches(change, { kinds: ["atom:org.quixos.agent:directory"] }))
      )
        soon();
      else if (mine.length) grid.draw();
    }),
  );

  const tabs =
    list.kind === "request"
      ? h(
          "nav",
          { class: "tabs", "aria-label": "Which requests" },
          tab("All", { show: undefined }, !open),
          tab("Open", { show: "open", status: undefined }, open),
        )
      : null;
  const choice = list.filters.length
    ? h(
        "select",
        {
          class: "filter",
          "aria-label": "Status",
          onchange: (event) => goTo({ status: event.target.value || undefined, text }),
        },
        h("option", { value: "" }, "Any status"),
        list.filters.map((it) => h("option", { value: it, selected: it === status }, it)),
      )
    : null;
  return h(
    "div",
    { class: "page list-page" },
    h(
      "header",
      { class: "list-head" },
      h("h1", { tabindex: "-1" }, list.title),
      tabs,
      h("div", { class: "filters" }, choice, box),
    ),
    trouble,
    grid.place,
  );
}
