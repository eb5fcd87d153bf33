// The messages of a session as rows, the way a log of branches is drawn: a conversation without
// branches is one straight lane, and where it was taken up again from above, what was left stands
// in a lane beside it.

/**
 * Lays a tree out. `nodes` are `{message: {id, …}, parent_id}` in the order in which they were
 * written. A row is `{id, message, lane, lanes, fork, up, last, onPath, head, branches}`:
 * `lanes` are the lanes that pass by (`{lane, onPath}`), `fork` is set where a branch begins, `up` where the row above
 * in the lane is its parent, `last` where a lane ends,
 * `branches` counts the answers to a message.
 */
export function layout(nodes, head) {
  const known = new Map(nodes.map((node) => [node.message.id, node]));
  const children = new Map();
  for (const node of nodes) {
    const parent = known.has(node.parent_id) ? node.parent_id : null;
    children.set(parent, [...(children.get(parent) ?? []), node.message.id]);
  }
  const path = new Set(pathTo(known, head));
  const rows = [];
  // A stack, since a conversation may be longer than calls can be nested.
  const stack = [];
  const push = (parent, lane, passing) => {
    const below = children.get(parent) ?? [];
    if (below.length === 0) return;
    // What goes on in the parent's lane: the way to the head, else what was written last.
    const main = below.find((id) => path.has(id)) ?? below[below.length - 1];
    stack.push({ id: main, lane, passing, fork: false });
    for (const id of below.filter((it) => it !== main).reverse()) {
      stack.push({ id, lane: lane + 1, passing: [...passing, { lane, onPath: path.has(main) }], fork: true });
    }
  };
  push(null, 0, []);
  while (stack.length) {
    const { id, lane, passing, fork } = stack.pop();
    const below = children.get(id) ?? [];
    rows.push({
      id,
      message: known.get(id).message,
      lane,
      lanes: passing,
      fork,
      up: !fork && known.has(known.get(id).parent_id),
      last: below.length === 0,
      onPath: path.has(id),
      head: id === head,
      branches: below.length,
    });
    push(id, lane, passing);
  }
  return rows;
}

function pathTo(known, head) {
  const path = [];
  for (let at = head; known.has(at) && path.length <= known.size; at = known.get(at).parent_id) path.push(at);
  return path;
}

/** Leaves out the rows of branches that are folded; what begins one says how many it hides. */
export function folded(rows, open) {
  const shown = [];
  let hiding = null;
  for (const row of rows) {
    if (hiding && row.lane >= hiding.lane && !row.onPath && !(row.fork && row.lane === hiding.lane)) {
      hiding.hidden += 1;
      continue;
    }
    hiding = null;
    if (row.fork && !row.onPath && !open.has(row.id)) {
      hiding = { ...row, hidden: 0 };
      shown.push(hiding);
    } else {
      shown.push({ ...row, hidden: 0 });
    }
  }
  return shown;
}
