/* Contacts of the current frame, and the selected contact. */

/* A contact's numbers, as in `abut contacts` except for rounding to 16 and 8 bits. */
function contactOf(i) {
  const s = from(frame), slot = s.slot[i], pair = pairOf(i), of = named(layoutIn(s, pair));
  const [a, b] = page.pairs[pair].bodies.map(k => bodies[k]);
  const kind = slot >= of.edge_slot2 ? 3 : slot >= of.edge_slot1 ? 2 : slot >= of.vertex_slot2 && of.vertices2 ? 1 : 0;
  const words = [`vertex of ${a.name} in the field of ${b.name}`, `vertex of ${b.name} in the field of ${a.name}`,
    `two edges, point on ${a.name}`, `two edges, point on ${b.name}`, `edge of ${a.name} in the field of ${b.name}`,
    `edge of ${b.name} in the field of ${a.name}`];
  const features = [0, 1].map(k => s.feature[2 * i + k]).map(x => x === s.none ? null : x);
  const alone = kind > 1 && features.includes(null);
  return {pair, slot, kind, alone, words: words[alone ? kind + 2 : kind], features, p: Array.from(s.p.subarray(3 * i, 3 * i + 3)),
    d: s.d[i] * s.share.d, n: [0, 1, 2].map(k => s.n[3 * i + k] * s.share.n), activity: s.activity[i] * s.share.activity, force: forceOf(s, i)};
}

/* The force of a contact [N] on the first body of its pair, or on the second one if the first cannot move. null: unknown;
 * undefined: not a contact of the page. */
function forceOf(s, i) {
  if (!s.force) return hasForces() && page.scene ? null : undefined;
  const two = page.pairs[s.pair ? s.pair[i] : 0].bodies.map(k => bodies[k]), side = two[0].still && !two[1].still ? 1 : 0;
  const f = [0, 1, 2].map(k => (side ? -1 : 1) * s.force[3 * i + k]), n = [0, 1, 2].map(k => s.n[3 * i + k]), l = length(n);
  if (!f.every(Number.isFinite)) return null;
  const along = l > 0 ? dot(f, n) / l : 0;
  return {on: nameOf(two[side]), vector: f.map(x => x || 0), normal: Math.abs(along), friction: l > 0 ? length(sub(f, scaled(n, along / l))) : length(f)};
}

/* Contacts of the current frame. */
function contactsNow() {
  const out = [], s = from(frame), least = s.least(state.threshold), [first, end] = range(frame);
  for (let i = first; i < end; ++i) if (s.activity[i] >= least) out.push(i);
  return out;
}
const byActivity = list => { const {activity} = from(frame); return list.sort((i, k) => activity[k] - activity[i] || i - k); };
/* The numbers of a layout by their names. */
const named = layout => Object.fromEntries(WIRE.LAYOUT.map(([name], i) => [name, layout[i]]));
/* Whether the edge slots are for edges in fields: two slots per edge. Other layouts have one slot per pair of edges. */
const inFields = of => of.edge_slot2 - of.edge_slot1 === 2 * of.edges1 && of.contacts - of.edge_slot2 === 2 * of.edges2;
/* The meaning of slots as text. If it changes, a selected slot belongs to other features. */
const layoutIn = (s, pair) => s.layout || (s.layouts && s.layouts[page.pairs[pair].kind]) || page.pairs[pair].layout;
const layoutOf = (s, pair) => String(layoutIn(s, pair));
/* The index of the selected slot in a range of contacts, with any activity; -1 if it is missing. */
function pickedAmong(s, first, end) {
  if (!state.picked || layoutOf(s, state.picked.pair) !== state.picked.layout) return -1;
  for (let i = first; i < end; ++i)
    if (s.slot[i] === state.picked.slot && pairOf(i) === state.picked.pair) return i;
  return -1;
}
const pickedNow = () => pickedAmong(from(frame), ...range(frame));

/* The index in this answer of a contact of another answer, by its slot; -1 if it is missing. */
function placeIn(s, {pair, slot}) {
  const [first, end] = range(frame);
  for (let i = first; i < end; ++i)
    if (s.slot[i] === slot && pairOf(i) === pair) return i;
  return -1;
}
