// What a dry run says would change, as rows for people: object by object, field by field.

/** Groups the changes of a preview: `[{object, created, rows: [{field, before, after}]}]`. */
export function grouped(changes) {
  const objects = new Map();
  for (const change of changes) {
    const group = objects.get(change.object) ?? { object: change.object, created: false, rows: [] };
    objects.set(change.object, group);
    if (change.change === "created") group.created = true;
    else group.rows.push(...rows(change));
  }
  return [...objects.values()];
}

function rows(change) {
  const keyed = (name) => (change.key === null || change.key === undefined ? name : `${name}[${change.key}]`);
  switch (change.change) {
    case "state":
      return state(change);
    case "connected":
      return [{ field: keyed(change.edge), after: change.target }];
    case "disconnected":
      return [{ field: keyed(change.edge), before: change.target }];
    case "appended":
      return [{ field: `${change.stream}[${change.offset}]`, after: change.event }];
    default:
      return [{ field: change.change, after: change }];
  }
}

/** Of a record only the fields that differ. */
function state({ slot, before, after }) {
  const record = (it) => it !== null && typeof it === "object" && !Array.isArray(it);
  if (!record(after) || !(record(before) || before === null))
    return [{ field: slot, before: before ?? undefined, after }];
  const names = Object.keys(after).filter((name) => !same(before?.[name], after[name]));
  return names.map((name) => ({ field: `${slot}.${name}`, before: before?.[name], after: after[name] }));
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
