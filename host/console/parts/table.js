// A long list as a grid: only what is seen is drawn, one row has the focus, and keys lead through it.

import { fill, h } from "../lib/dom.js";
import { reveal, shown, step } from "../lib/window.js";
import { button } from "./bits.js";

/** Rows that are asked for before the end is reached. */
const AHEAD = 40;

/**
 * Makes a list. `columns` are `{name, title, width, cell(row), phone}`, `phone` being where a cell
 * stands on a narrow screen: `main`, `lead`, `side`, `note`, or nowhere. `more()` loads more rows,
 * `seen(rows)` is told what is drawn, `open(row)` what was chosen.
 */
export function table(ctx, { label, columns, key, href, open, more, seen = () => {}, none }) {
  let rows = [];
  let total = null;
  let ended = false;
  let asking = false;
  let focus = 0;
  let height = 36;
  let fresh = 0;

  const head = h(
    "div",
    { class: "tr head", role: "row", "aria-rowindex": "1" },
    columns.map((column) =>
      h(
        "span",
        { role: "columnheader", class: `c-${column.name}`, "data-phone": column.phone },
        column.title,
      ),
    ),
  );
  const body = h("div", { class: "tbody", role: "rowgroup" });
  const foot = h("p", { class: "tfoot", role: "status" });
  const news = h("div", { class: "news" });
  const grid = h(
    "div",
    { class: "grid", role: "grid", "aria-label": label },
    h("div", { class: "thead", role: "rowgroup" }, head),
    body,
  );
  const scroller = h("div", { class: "scroller" }, grid, foot);
  const place = h("div", { class: "table" }, news, scroller);
  place.style.setProperty("--columns", columns.map((it) => it.width).join(" "));

  const draw = () => {
    if (ctx.signal.aborted) return;
    const view = scroller.clientHeight || 600;
    height = Number.parseFloat(getComputedStyle(place).getPropertyValue("--row")) || height;
    const { first, last } = shown({
      scroll: Math.max(0, scroller.scrollTop - head.offsetHeight),
      height: view,
      row: height,
      count: rows.length,
    });
    body.style.setProperty("height", `${rows.length * height}px`);
    grid.setAttribute("aria-rowcount", String(ended ? rows.length + 1 : -1));
    focus = Math.min(focus, Math.max(0, rows.length - 1));
    const drawn = rows.slice(first, last);
    fill(
      body,
      drawn.map((row, at) => line(row, first + at)),
    );
    // The row with the focus is always there, so that the keys go on from it.
    if (rows.length && (focus < first || focus >= last)) body.append(line(rows[focus], focus));
    const counted = `${rows.length.toLocaleString("en")}${ended ? "" : "+"}${total !== null && total > rows.length ? ` of ${total.toLocaleString("en")}` : ""}`;
    fill(
      foot,
      rows.length === 0 && ended
        ? h("span", { class: "empty" }, none ?? "Nothing here.")
        : asking
          ? `${counted} · loading more …`
          : counted,
    );
    fill(
      news,
      fresh > 0
        ? button(`${fresh} new above`, () => (scroller.scrollTo({ top: 0 }), draw()), {
            kind: "primary small",
          })
        : null,
    );
    seen(drawn);
    if (!ended && !asking && rows.length - last < AHEAD) ask();
  };

  const line = (row, index) =>
    h(
      "div",
      {
        class: "tr",
        role: "row",
        "data-key": key(row),
        "aria-rowindex": String(index + 2),
        tabindex: index === focus ? "0" : "-1",
        style: { transform: `translateY(${index * height}px)` },
        onclick: (event) => choose(row, index, event),
      },
      columns.map((column) =>
        h(
          "span",
          { role: "gridcell", class: `c-${column.name}`, "data-phone": column.phone ?? "none" },
          column.cell(row),
        ),
      ),
    );

  const choose = (row, index, event) => {
    if (event.target.closest("a, button") || String(getSelection())) return;
    focus = index;
    if (event.metaKey || event.ctrlKey) window.open(href(row), "_blank", "noopener");
    else open ? open(row) : (location.hash = href(row));
  };

  grid.onkeydown = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !event.target.matches("[role=row]")) return;
    if (event.key === "Enter" || event.key === "o") {
      event.preventDefault();
      event.stopPropagation();
      return open ? open(rows[focus]) : (location.hash = href(rows[focus]));
    }
    const to = step(event.key, {
      index: focus,
      count: rows.length,
      page: Math.max(1, Math.floor(scroller.clientHeight / height) - 2),
    });
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(to);
  };

  const moveTo = (index) => {
    focus = index;
    scroller.scrollTop = reveal({
      index,
      scroll: scroller.scrollTop,
      height: scroller.clientHeight - head.offsetHeight,
      row: height,
    });
    draw();
    body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  };

  let frame = 0;
  scroller.onscroll = () => {
    if (scroller.scrollTop < height) fresh = 0;
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  };

  async function ask() {
    asking = true;
    try {
      await more();
    } finally {
      asking = false;
      draw();
    }
  }

  const sized = new ResizeObserver(() => draw());
  sized.observe(scroller);
  ctx.own(() => sized.disconnect());

  return {
    place,
    draw,
    /** Shows other rows; `end` if there are no more. Rows that came in above do not move what is seen. */
    set(next, { end = ended, of = total, above = 0 } = {}) {
      const focused = rows[focus] && key(rows[focus]);
      rows = next;
      [ended, total] = [end, of];
      const at = focused === undefined ? -1 : rows.findIndex((row) => key(row) === focused);
      if (at >= 0 && (above > 0 || body.contains(document.activeElement))) focus = at;
      if (above > 0 && scroller.scrollTop >= height) {
        fresh += above;
        scroller.scrollTop += above * height;
      }
      draw();
    },
    /** Puts the focus into the list. */
    enter() {
      moveTo(Math.min(focus, Math.max(0, rows.length - 1)));
    },
    get rows() {
      return rows;
    },
  };
}
