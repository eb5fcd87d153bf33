// The lists by page: of what kind their objects are, what is filtered by, and their columns.

import { h } from "../lib/dom.js";
import { idOf, madeAt, short } from "../lib/reference.js";
import { ofObject } from "../lib/route.js";
import { sessionStatus } from "../lib/session.js";
import { brief, line } from "../lib/text.js";
import { chip, link, when } from "../parts/bits.js";

const made = (row) => new Date(madeAt(row.reference)).toISOString();
const age = {
  name: "age",
  title: "Age",
  width: "5.5rem",
  phone: "side",
  cell: (row) => when(row.createdAt ?? made(row)),
};
const id = {
  name: "id",
  title: "Id",
  width: "6.5rem",
  cell: (row) => h("span", { class: "id" }, idOf(row.reference).slice(-8)),
};
const main = (row, text, none) =>
  h(
    "a",
    { href: ofObject(row.reference), tabindex: "-1", class: "row-link" },
    text || h("span", { class: "none" }, none),
  );

/** The lists, by page. `filters` are values of `status`, and what of a row they look at. */
export const LISTS = {
  requests: {
    kind: "request",
    title: "Requests",
    filters: ["queued", "running", "waiting", "completed", "failed", "cancelled"],
    status: (row) => row.status,
    search: (row) => [row.text, row.agentName, row.from, row.reason],
    columns: [
      {
        name: "status",
        title: "Status",
        width: "7.5rem",
        phone: "lead",
        cell: (row) => [
          chip(row.status),
          row.cancelRequested && !row.endedAt ? h("span", { class: "sub" }, " cancel asked") : null,
        ],
      },
      {
        name: "text",
        title: "Text",
        width: "minmax(12rem, 1fr)",
        phone: "main",
        cell: (row) => main(row, line(row.text), "no text"),
      },
      {
        name: "agent",
        title: "Agent",
        width: "9rem",
        phone: "note",
        cell: (row) => (row.agent ? link(row.agent, row.agentName, { tabindex: "-1" }) : ""),
      },
      {
        name: "from",
        title: "From",
        width: "8rem",
        cell: (row) => brief([row.source, row.from].filter(Boolean).join(" "), 30),
      },
      {
        name: "tries",
        title: "Claims",
        width: "4rem",
        cell: (row) => (row.generation ? h("span", { class: "num" }, String(row.generation)) : ""),
      },
      id,
      age,
    ],
  },
  sessions: {
    kind: "session",
    title: "Sessions",
    filters: ["running", "waiting", "interrupted", "idle", "done", "cancelled"],
    status: (row) => (row.live ? sessionStatus(row) : "idle"),
    search: (row) => [row.sessionId, row.agentId, row.owner, row.tenant],
    columns: [
      {
        name: "status",
        title: "Status",
        width: "7.5rem",
        phone: "lead",
        cell: (row) => (row.live ? chip(sessionStatus(row)) : ""),
      },
      {
        name: "session",
        title: "Session",
        width: "minmax(12rem, 1fr)",
        phone: "main",
        cell: (row) => main(row, row.sessionId, "…"),
      },
      { name: "agent", title: "Agent", width: "9rem", phone: "note", cell: (row) => row.agentId ?? "" },
      {
        name: "owner",
        title: "Owner",
        width: "9rem",
        cell: (row) => (row.owner === undefined ? "" : `${row.owner}${row.tenant ? ` · ${row.tenant}` : ""}`),
      },
      {
        name: "messages",
        title: "Messages",
        width: "5.5rem",
        cell: (row) => h("span", { class: "num" }, row.messages ?? ""),
      },
      {
        name: "cost",
        title: "Cost",
        width: "5rem",
        cell: (row) => (Number(row.cost) ? h("span", { class: "num" }, `$${row.cost}`) : ""),
      },
      id,
      age,
    ],
  },
  threads: {
    kind: "thread",
    title: "Threads",
    filters: ["open", "archived"],
    status: (row) => (row.archived ? "archived" : "open"),
    search: (row) => [row.title, row.kind, row.agentName],
    columns: [
      {
        name: "status",
        title: "Status",
        width: "7.5rem",
        phone: "lead",
        cell: (row) => chip(row.archived ? "archived" : row.active ? "running" : "idle"),
      },
      {
        name: "title",
        title: "Title",
        width: "minmax(12rem, 1fr)",
        phone: "main",
        cell: (row) => main(row, line(row.title), "no title"),
      },
      { name: "kind", title: "Kind", width: "6rem", cell: (row) => row.kind ?? "" },
      {
        name: "agent",
        title: "Agent",
        width: "9rem",
        phone: "note",
        cell: (row) => (row.agent ? link(row.agent, row.agentName, { tabindex: "-1" }) : ""),
      },
      {
        name: "pending",
        title: "Pending",
        width: "5rem",
        cell: (row) => h("span", { class: "num" }, row.pending ?? ""),
      },
      id,
      { ...age, name: "moved", title: "Moved", cell: (row) => when(row.updatedAt ?? made(row)) },
    ],
  },
  agents: {
    kind: "agent",
    title: "Agents",
    filters: ["enabled", "disabled"],
    status: (row) => (row.enabled === false ? "disabled" : "enabled"),
    search: (row) => [row.name, row.description],
    columns: [
      {
        name: "status",
        title: "Status",
        width: "7.5rem",
        phone: "lead",
        cell: (row) => chip(row.enabled === false ? "disabled" : "enabled"),
      },
      {
        name: "agent-name",
        title: "Name",
        width: "14rem",
        phone: "main",
        cell: (row) => main(row, row.name, "no name"),
      },
      {
        name: "text",
        title: "Description",
        width: "minmax(10rem, 1fr)",
        phone: "note",
        cell: (row) => line(row.description),
      },
      id,
      age,
    ],
  },
  directories: {
    kind: "directory",
    title: "Directories",
    filters: ["online", "degraded", "offline"],
    status: (row) => row.availability,
    search: (row) => [row.profiles],
    columns: [
      {
        name: "status",
        title: "Host",
        width: "7.5rem",
        phone: "lead",
        cell: (row) => (row.availability ? chip(row.availability) : ""),
      },
      {
        name: "directory",
        title: "Directory",
        width: "minmax(12rem, 1fr)",
        phone: "main",
        cell: (row) => main(row, short(row.reference)),
      },
      {
        name: "pending",
        title: "Pending",
        width: "5rem",
        phone: "note",
        cell: (row) => h("span", { class: "num" }, row.pending ?? ""),
      },
      { name: "profiles", title: "Profiles", width: "12rem", cell: (row) => brief(row.profiles, 40) },
      age,
    ],
  },
};

/** A list for a kind that has none of its own: what `list` says of each object. */
export function plain(kind) {
  return {
    kind,
    title: `Objects of ${kind}`,
    filters: [],
    status: () => "",
    search: (row) => [JSON.stringify(row.fields)],
    columns: [
      {
        name: "object",
        title: "Object",
        width: "14rem",
        phone: "main",
        cell: (row) => main(row, short(row.reference)),
      },
      {
        name: "text",
        title: "What it is",
        width: "minmax(12rem, 1fr)",
        phone: "note",
        cell: (row) =>
          Object.entries(row.fields ?? {})
            .map(([name, it]) => `${name}=${brief(it, 40)}`)
            .join("  "),
      },
      age,
    ],
  };
}
