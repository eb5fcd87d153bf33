// A question: what was asked, and whether an answer still counts.

import { ofQuestion } from "../lib/actions.js";
import { h } from "../lib/dom.js";
import { short } from "../lib/reference.js";
import { line } from "../lib/text.js";
import { chip, facts, link, pageHead, section, value, when } from "../parts/bits.js";
import { explained } from "../parts/explained.js";
import { more, objectPage } from "../parts/page.js";

export const questionView = objectPage(
  async (door, at, signal) => {
    const [it, why] = await door.run(
      `get {reference: ${at}, data: ${at}.data, request: ${at}.request, text: ${at}.request.admission.text}\nexplain ${at}.request`,
      { signal },
    );
    return { it, why, about: [it.request] };
  },
  ({ it, why }, ctx) => {
    const reference = short(it.reference);
    const actions = ofQuestion({ reference, data: it.data });
    ctx.actions(actions);
    return [
      pageHead(
        {
          kind: "Question",
          title: line(it.data.title, 200) || it.data.key,
          reference,
          actions,
          chips: [chip(it.data.status)],
        },
        ctx,
      ),
      h(
        "div",
        { class: "columns wide-left", "data-key": "columns" },
        h(
          "div",
          {},
          section(
            "Question",
            {},
            facts([
              ["Asked in", link(it.request, line(it.text, 80) || undefined)],
              ["Key", h("span", { class: "id" }, it.data.key)],
              ["Choices", value(it.data.options)],
              ["Answer", value(it.data.answer)],
              ["Asked", when(it.data.createdAt)],
              ["Ends", when(it.data.expiresAt)],
              [
                "Asked by",
                h("span", { class: "id" }, `${it.data.attempt}, generation ${it.data.generation}`),
              ],
            ]),
          ),
        ),
        h("aside", {}, explained(why, ctx), more(reference)),
      ),
    ];
  },
  "Loading the question",
);
