/* The page's data, the values of its controls, and the source of a frame's contacts. */

let data, meshes, bodies, draw, live = null, frame = -1, camera, home;
const state = {threshold: page.threshold, marks: 0, balls: true, normals: true, wires: false, forces: true, pushes: true, picked: null, playing: false,
  speed: 1, loop: true, theme: ''};

function read(bytes) {
  data = {places: arrayOf(bytes, 'places'), time: arrayOf(bytes, 'time'), starts: arrayOf(bytes, 'starts'),
    pair: arrayOf(bytes, 'pair'), slot: arrayOf(bytes, 'slot'), feature: arrayOf(bytes, 'feature'), p: arrayOf(bytes, 'p'),
    forces: arrayOf(bytes, 'forces'), force: arrayOf(bytes, 'contact_forces'), d: arrayOf(bytes, 'd'), n: arrayOf(bytes, 'n'), activity: arrayOf(bytes, 'activity'),
    curves: page.curves.map(c => ({...c, values: arrayOf(bytes, c.name) || new Float32Array(page.frames).fill(NaN), asked: !page.arrays[c.name]}))};
  data.asked = data.curves.filter(c => c.asked); // curves that the page's server computes
  data.none = page.arrays.feature && page.arrays.feature.type === 'u2' ? WIRE.NO_INDEX16 : WIRE.NO_INDEX32;
  data.share = {d: page.deepest / WIRE.SHARES, n: 1 / WIRE.SHARES, activity: 1 / WIRE.ACTIVITY_SHARES};
  data.least = activity => Math.round(WIRE.ACTIVITY_SHARES * activity);
  meshes = page.meshes.map((m, i) => {
    const vertices = arrayOf(bytes, `m${i}.vertices`), surface = arrayOf(bytes, `m${i}.surface`) || vertices;
    const triangles = arrayOf(bytes, `m${i}.triangles`), closed = turnOutward(surface, triangles);
    return {...m, vertices, edges: arrayOf(bytes, `m${i}.edges`), closed, box: boxOf(surface), corners: corners(surface, triangles)};
  });
  const candidates = arrayOf(bytes, 'candidates'); // for a scene whose contacts are not in the page
  for (let i = 0; candidates && i < candidates.length; i += 3) {
    const [a, b, kind] = candidates.subarray(i, i + 3);
    page.pairs.push({bodies: [a, b], kind, layout: page.layouts[kind]});
  }
  bodies = page.bodies.map(b => ({...b, file: b.name, name: b.name.replace(/\.body\.json$/, ''), visible: true, alpha: 1}));
}

/* The source of a frame's contacts: the page, or the server's answer for this frame with the sliders' values or unchanged. Nothing
 * until the answer arrives. */
const NOTHING = {slot: [], feature: [], p: [], d: [], n: [], activity: [], share: {d: 1, n: 1, activity: 1}, least: activity => activity};
const from = f => !live ? data : live.shown && live.shown.frame === f ? live.shown : live.kept.get(f) || NOTHING;
const range = f => live ? [0, from(f).slot.length] : [data.starts[f], data.starts[f + 1]];
const pairOf = i => { const {pair} = from(frame); return pair ? pair[i] : 0; };
const nameOf = b => b.link ? `${b.link} (${b.name})` : b.name;

/* The pose of a mover in the page, or null if it is invalid. */
function loadedPlace(mover, f) {
  const first = (f * page.movers + mover) * 7, place = Array.from(data.places.subarray(first, first + 7));
  return place.every(Number.isFinite) ? place : null;
}

/* The pose of a body, likewise. */
function placeOf(b, f) {
  const {moved: by} = from(f), place = by ? by[b.mover] : loadedPlace(b.mover, f);
  if (!place) return null;
  return b.at ? behind(place, b.at) : place;
}
