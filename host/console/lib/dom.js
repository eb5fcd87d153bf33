// Elements without HTML: what comes from the store only ever becomes text.
//
// A view is drawn anew whenever what it shows has changed, and `patch` carries the difference over
// to what stands there, so that focus, scrolling and open parts stay as they are.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "path", "circle", "line", "rect", "g"]);

/** What `patch` copies from a new element, as these are properties and no attributes. */
const HANDLERS = ["onclick", "onkeydown", "oninput", "onchange", "onsubmit", "onscroll", "ontoggle"];

/**
 * Makes an element. `props` are attributes; functions are handlers (`onclick`), `style` is an
 * object of CSS properties, `false`, `null` and `undefined` leave an attribute out.
 */
export function h(tag, props = {}, ...children) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") element[name] = value;
    else if (name === "style")
      for (const [key, it] of Object.entries(value)) element.style.setProperty(key, it);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** Flattens children; what is no node becomes text, what is nothing is left out. */
function nodes(children) {
  return children
    .flat(Infinity)
    .filter((it) => it !== null && it !== undefined && it !== false && it !== "")
    .map((it) => (it instanceof Node ? it : document.createTextNode(String(it))));
}

/** Makes `place` show these children, with as few changes as possible. */
export function fill(place, ...children) {
  patchChildren(place, nodes(children));
}

function patchChildren(place, wanted) {
  const keyed = new Map();
  for (const child of place.childNodes) {
    const key = keyOf(child);
    if (key !== null) keyed.set(key, child);
  }
  let at = place.firstChild;
  for (const next of wanted) {
    const key = keyOf(next);
    // An element that stands here already is kept as it is: it is a part with a life of its own.
    const known = next.parentNode === place ? next : key === null ? null : keyed.get(key);
    if (known) {
      if (known === at) at = at.nextSibling;
      else place.insertBefore(known, at);
      if (!patch(known, next)) known.replaceWith(next);
    } else if (at && key === null && keyOf(at) === null && !wanted.includes(at)) {
      const old = at;
      at = at.nextSibling;
      if (!patch(old, next)) old.replaceWith(next);
    } else {
      place.insertBefore(next, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") : null;
}

/** Makes an old node like a new one; false if only replacing it does. */
function patch(old, next) {
  if (old === next) return true;
  if (old.nodeType !== next.nodeType || old.nodeName !== next.nodeName) return false;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return true;
  }
  const kept = old.nodeName === "DETAILS" ? "open" : null;
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && name !== kept) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) === value || name === kept) continue;
    // The policy of the page lets no attribute set a style; the object model may.
    if (name === "style") old.style.cssText = value;
    else old.setAttribute(name, value);
  }
  for (const name of HANDLERS) if (old[name] !== next[name]) old[name] = next[name];
  if (old.nodeName === "TEXTAREA") return true;
  patchChildren(old, [...next.childNodes]);
  return true;
}
