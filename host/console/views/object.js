// Any object: all of it, as `show` says it, and what can be called on it.

import { h } from "../lib/dom.js";
import { touches } from "../lib/live.js";
import { kindOf, same, short } from "../lib/reference.js";
import { to } from "../lib/route.js";
import { button, empty, facts, kindWord, link, pageHead, section, value, when } from "../parts/bits.js";
import { shown } from "../parts/shown.js";

export function objectView(ctx, { name }) {
  const part = shown(ctx, {
    load: async (signal) => {
      const [it, operations] = await ctx.door.run(
        `show ${short(name)}\ndescribe operations of ${kindOf(name)}`,
        { signal },
      );
      return { it, operations };
    },
    draw: (data) => draw(data, ctx),
    about: (change, data) =>
      !data || touches(change, { objects: [data.it.object] }) || change.objects.some((it) => same(it, name)),
    label: "Loading the object",
  });
  return h("div", { class: "page" }, part.place);
}

function draw({ it, operations }, ctx) {
  const reference = short(it.object);
  const named = Object.values(it.state)
    .map((state) => state?.title ?? state?.name ?? state?.sessionId ?? state?.key)
    .find((one) => typeof one === "string" && one);
  ctx.actions([]);
  return [
    pageHead(
      {
        kind: it.atom,
        title: named ?? reference,
        reference,
        sub: ["made ", when(it.created.instant), ` in commit ${it.created.commit}`],
      },
      ctx,
    ),
    h(
      "div",
      { class: "columns wide-left", "data-key": "columns" },
      h(
        "div",
        {},
        Object.entries(it.state).map(([slot, state]) => section(`State ${slot}`, {}, fields(state))),
        Object.keys(it.state).length ? null : empty("It has no state."),
      ),
      h(
        "aside",
        {},
        edges("Edges", it.edges),
        edges("Inverses", it.inverses),
        Object.keys(it.streams).length
          ? section(
              "Streams",
              {},
              facts(
                Object.entries(it.streams).map(([slot, stream]) => [
                  slot,
                  [
                    h("a", { href: to("stream", `${reference}.${slot}`) }, `${stream.length} events`),
                    Object.entries(stream.cursors).map(([cursor, at]) =>
                      h("p", { class: "sub" }, `${cursor} is at ${at}`),
                    ),
                  ],
                ]),
              ),
            )
          : null,
        section(
          "Held by",
          { count: it.holders.targets.length || null },
          it.holders.targets.length
            ? h(
                "ul",
                { class: "rows" },
                it.holders.targets.map((holder) =>
                  h(
                    "li",
                    {},
                    h(
                      "div",
                      { class: "row" },
                      link(holder.object),
                      h(
                        "span",
                        { class: "sub row-main" },
                        holder.key === null ? holder.edge : `${holder.edge}[${holder.key}]`,
                      ),
                    ),
                  ),
                ),
              )
            : empty("Nothing holds it."),
          it.holders.more ? h("p", { class: "sub" }, "and more") : null,
        ),
        section(
          "What can be called",
          {},
          operations.length
            ? h(
                "ul",
                { class: "rows" },
                operations
                  .filter((one) => one.member)
                  .map((one) =>
                    h(
                      "li",
                      {},
                      h(
                        "div",
                        { class: "row" },
                        h(
                          "span",
                          { class: "row-main" },
                          one.member.name,
                          one.member.internal ? h("span", { class: "badge" }, "internal") : null,
                        ),
                        button("Use", () => ctx.command(template(reference, one)), {
                          kind: "small",
                          title: `Take \`call ${one.member.name}\` to the command line`,
                        }),
                      ),
                    ),
                  ),
              )
            : empty("Nothing."),
        ),
        section(
          "More",
          {},
          h(
            "p",
            { class: "sub" },
            h("a", { href: to("history", "", { touching: reference }) }, "Its history"),
            " · ",
            h(
              "a",
              { href: to("list", kindOf(reference)) },
              `All of its kind, ${kindWord(reference).toLowerCase()}`,
            ),
          ),
        ),
      ),
    ),
  ];
}

function fields(state) {
  const record = state && typeof state === "object" && !Array.isArray(state);
  return record
    ? facts(Object.entries(state).map(([name, it]) => [name, value(it)]))
    : h("div", { class: "value" }, value(state));
}

function edges(title, all) {
  const rows = Object.entries(all).map(([name, it]) => {
    if (it === null || typeof it === "string") return [name, value(it)];
    const targets = Array.isArray(it.targets)
      ? it.targets.map((one) => [null, one])
      : Object.entries(it.targets).flatMap(([key, one]) => [one].flat().map((target) => [key, target]));
    return [
      name,
      targets.length
        ? h(
            "span",
            { class: "links" },
            targets.map(([key, one]) =>
              h("span", {}, key === null ? null : h("span", { class: "sub" }, `${key} `), link(one)),
            ),
            it.more ? h("span", { class: "sub" }, "and more") : null,
          )
        : value(null),
    ];
  });
  return rows.length ? section(title, {}, facts(rows)) : null;
}

/** A call to be filled in: the fields of the input with what they are. */
function template(reference, { member, input, name }) {
  const record = /^record \{([\s\S]*)\}$/.exec(input.trim());
  if (input === "unit")
    return `call ${reference}.${member.name}${member.internal ? " --internal" : ""} --dry-run`;
  const names = record
    ? [...record[1].matchAll(/(?:^|;)\s*(\w+):/g)].map((it) => `${it[1]}: `).join(", ")
    : "";
  return `# ${name}: ${input}\ncall ${reference}.${member.name} ${record ? `{${names}}` : ""}${member.internal ? " --internal" : ""} --dry-run`;
}
