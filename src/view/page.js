'use strict';
/* The page of `abut view`. Its data is an object of JSON and arrays behind it (src/view/page.h); it makes no request,
 * unless it is made for a server (docs/view.md).
 * Lengths are metres, matrices and vectors are arrays, a place is x, y, z, qw, qx, qy, qz. */
(() => {
const at = id => document.getElementById(id);
const page = JSON.parse(at('object').textContent);
/* The first frame is asked for before anything is unpacked or drawn. */
const begunAt = () => { const f = /[#&]frame=(\d+)/.exec(location.hash); return Math.min(f ? +f[1] : page.first, page.frames - 1); };
let early = null;
if (page.live) { const body = {threshold: page.threshold, frame: begunAt()}; early = {body: JSON.stringify(body), answer: post(body)}; }

const unpacked = inflate(at('arrays').textContent); // while the browser makes what draws

/* ---- arrays ---- */

function bytesOfBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const plain = atob(text), bytes = new Uint8Array(plain.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

async function inflate(text) {
  const packed = bytesOfBase64(text);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const TYPES = {f4: Float32Array, i2: Int16Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array};

/* Rows come as planes of their bytes. */
function arrayOf(bytes, name) {
  const a = page.arrays[name];
  if (!a) return null;
  const type = TYPES[a.type], width = a.columns * type.BYTES_PER_ELEMENT, out = new Uint8Array(a.rows * width);
  for (let k = 0; k < width; ++k)
    for (let i = 0, from = a.at + k * a.rows; i < a.rows; ++i) out[i * width + k] = bytes[from + i];
  return new type(out.buffer);
}

/* ---- vectors ---- */

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = a => Math.hypot(a[0], a[1], a[2]);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

function turn(place, v) {
  const w = place[3], q = [place[4], place[5], place[6]], c = scaled(cross(q, v), 2);
  return add(add(v, scaled(c, w)), cross(q, c));
}
const apply = (place, v) => add(turn(place, v), [place[0], place[1], place[2]]);

function behind(a, b) { // the place b, given in the axes of a, in the world
  const [w, x, y, z] = a.slice(3), [s, i, j, k] = b.slice(3);
  return [...apply(a, b), w * s - x * i - y * j - z * k, w * i + x * s + y * k - z * j, w * j - x * k + y * s + z * i,
    w * k + x * j - y * i + z * s];
}

/* ---- colours, in linear light as src/view/render has them ---- */

const RAMP = [[0.90, 0.76, 0.16], [0.86, 0.38, 0.04], [0.72, 0.09, 0.05], [0.36, 0.015, 0.13], [0.10, 0.005, 0.13]];
const PAINTS = [[0.17, 0.35, 0.58], [0.66, 0.58, 0.45], [0.30, 0.48, 0.26], [0.60, 0.22, 0.17], [0.40, 0.30, 0.55],
  [0.16, 0.47, 0.49], [0.70, 0.44, 0.12], [0.45, 0.45, 0.47]];
const FLOOR = [0.72, 0.73, 0.75], MARKED = [0.0, 0.75, 0.2];

function ramp(activity) {
  const x = clamp(activity, 0, 1) * 4, i = Math.min(Math.floor(x), 3);
  return RAMP[i].map((c, k) => c + (RAMP[i + 1][k] - c) * (x - i));
}
const shown = c => c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
const css = c => `rgb(${c.map(x => Math.round(255 * shown(clamp(x, 0, 1)))).join(' ')})`;

/* ---- shaders ---- */

/* Without a GPU a frame costs what its fragments cost, those too that something hides: SwiftShader looks at the depth after it has
 * shaded. So fragments compute what they must alone, and faces that look away are left out where nothing would be seen of them. */

/* sRGB by roots, within 0.002 of what it is from 0.003 on: powers take three times as long without a GPU. The colour is between 0 and 1. */
const ENCODE = `
vec4 encode(vec3 c, float alpha) {
  vec3 a = sqrt(c), b = sqrt(a), d = sqrt(b);
  return vec4((0.662002687 * a + 0.684122060 * b - 0.323583601 * d - 0.0225411470 * c) * alpha, alpha);
}`;
const HEAD = '#version 300 es\nprecision highp float;\nprecision highp int;\n';

const MESH_VERTEX = HEAD + `
uniform mat4 model, camera;
uniform vec3 eye;
in vec3 position, normal;
out vec3 ray, facing;
out vec2 local;
void main() {
  vec3 world = (model * vec4(position, 1.0)).xyz;
  ray = world - eye;
  facing = mat3(model) * normal;
  local = position.xy;
  gl_Position = camera * vec4(world, 1.0);
}`;
/* Light from a lamp (key), from above (up) and from around, gloss, and edges that are a little brighter; floors have tiles. */
const meshFragment = tiled => HEAD + ENCODE + `
uniform vec3 key, up, paint;
uniform float alpha, tile;
in vec3 ray, facing;
in vec2 local;
out vec4 colour;
void main() {
  vec3 n = normalize(facing), of = paint;
  float near = inversesqrt(dot(ray, ray)), towards = dot(n, ray);
  n = towards > 0.0 ? -n : n;
  ${tiled ? `vec2 cell = floor(local / tile);
  of *= mod(cell.x + cell.y, 2.0) > 0.5 ? 0.82 : 1.0;` : ''}
  float edge = 1.0 - min(abs(towards) * near, 1.0);
  vec3 middle = key - near * ray;
  float half_way = max(dot(n, middle), 0.0), p2 = half_way * half_way / dot(middle, middle), p4 = p2 * p2, p8 = p4 * p4, p16 = p8 * p8;
  float gloss = 0.05 * p16 * p16 * p8;
  float lit = 0.92 * max(dot(n, key), 0.0) + 0.07 * dot(n, up) + 0.21;
  colour = encode(of * lit + gloss + 0.06 * edge * edge * edge, alpha);
}`;
const LINE_VERTEX = HEAD + `
uniform mat4 model, camera;
in vec3 position;
void main() {
  gl_Position = camera * model * vec4(position, 1.0);
  gl_Position.z -= 1e-4 * gl_Position.w;
}`;
const LINE_FRAGMENT = HEAD + ENCODE + `
uniform vec3 paint;
uniform float alpha;
out vec4 colour;
void main() { colour = encode(paint, alpha); }`;

const COLOURS = `
uniform vec3 stops[5];
vec3 of_activity(float a) {
  float x = clamp(a, 0.0, 1.0) * 4.0;
  int i = min(int(x), 3);
  return mix(stops[i], stops[i + 1], x - float(i));
}`;
const BALL_VERTEX = HEAD + COLOURS + `
uniform mat4 camera;
uniform float radius, least, most, focal;
in vec3 position;
in float activity;
in uint number;
out vec3 paint;
flat out uint id;
void main() {
  vec4 c = camera * vec4(position, 1.0);
  float r = clamp(radius * focal / c.w, least, most);
  gl_PointSize = 2.0 * r;
  c.z -= 0.5 * r / focal * c.w * 0.02;
  gl_Position = camera * vec4(position, 1.0);
  gl_Position.z = c.z;
  paint = of_activity(activity);
  id = number;
}`;
/* Balls with a pale rim on a dark ground, and their numbers for picking. */
const ballFragment = does => HEAD + ENCODE + `
uniform float alpha;
in vec3 paint;
flat in uint id;
out vec4 colour;
void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float r2 = dot(at, at);
  if (r2 > 1.0) discard;
  ${does}
}`;
const BALL = 'colour = encode(paint * (0.45 + 0.55 * sqrt(1.0 - r2)), alpha);';
const RIMMED = 'colour = encode(mix(paint * (0.45 + 0.55 * sqrt(1.0 - r2)), vec3(1.0), 0.8 * smoothstep(0.62, 0.72, r2)), alpha);';
const NUMBER = 'colour = vec4(float(id & 255u), float(id >> 8 & 255u), float(id >> 16 & 255u), 255.0) / 255.0;';
/* An arrow, or a bar without a head, of some pixels' width. */
const ARROW_VERTEX = HEAD + ENCODE + `
uniform mat4 camera;
uniform vec2 size;
uniform float reach, width, alpha;
uniform vec4 paint_all;
in vec3 corner;
in vec3 position, direction;
in vec4 shade;
out vec4 paint;
void main() {
  vec4 a = camera * vec4(position, 1.0), b = camera * vec4(position + reach * direction, 1.0);
  a.w = max(a.w, 1e-6);
  b.w = max(b.w, 1e-6);
  vec2 way = (b.xy / b.w - a.xy / a.w) * size;
  float l = length(way);
  vec2 side = l > 1e-3 ? vec2(-way.y, way.x) / l : vec2(1.0, 0.0);
  float head = min(3.2 * width, 0.6 * l) / max(l, 1e-3);
  float along = corner.z > 0.5 ? 1.0 - head * (1.0 - corner.x) : corner.z < -0.5 ? corner.x : corner.x * (1.0 - head);
  vec4 c = mix(a, b, along);
  c.xy += side * corner.y * width * (corner.z > 0.5 ? 1.7 : 0.5) / size * c.w * 2.0;
  gl_Position = c;
  paint = paint_all.w > 0.5 ? encode(paint_all.rgb, alpha) : shade * alpha;
}`;
const ARROW_FRAGMENT = HEAD + `
in vec4 paint;
out vec4 colour;
void main() { colour = paint; }`;

/* ---- drawing ---- */

const canvas = at('canvas'), overlay = at('overlay');
/* An opaque picture, ground and all: without a GPU a quarter of the browser's own work for a frame is to lay a clear one over the page. */
const gl = canvas.getContext('webgl2', {antialias: false, alpha: false, powerPreference: 'low-power'});

function fallBack(why) {
  const p = document.createElement('p');
  p.className = 'plain';
  p.textContent = why + (at('picture') ? ' Below is one frame, as abut render draws it.' : '');
  document.body.prepend(p);
  document.documentElement.classList.remove('live');
}

/* Where programs find what they read of a vertex: all have the same places, so that each can draw any list. */
const INPUTS = {position: 0, normal: 1, direction: 1, activity: 2, shade: 2, number: 3, corner: 4};
const PROGRAMS = {mesh: [MESH_VERTEX, meshFragment(false)], floor: [MESH_VERTEX, meshFragment(true)], line: [LINE_VERTEX, LINE_FRAGMENT],
  ball: [BALL_VERTEX, ballFragment(BALL)], rimmed: [BALL_VERTEX, ballFragment(RIMMED)], number: [BALL_VERTEX, ballFragment(NUMBER)],
  arrow: [ARROW_VERTEX, ARROW_FRAGMENT]};

/* Begins a program, which the browser makes meanwhile; asking how it came out would wait for it. */
const begun = {};
function beginProgram(name) {
  const program = gl.createProgram(), shaders = [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].map((kind, k) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, PROGRAMS[name][k]);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    return shader;
  });
  for (const input in INPUTS) gl.bindAttribLocation(program, INPUTS[input], input);
  gl.linkProgram(program);
  begun[name] = {program, shaders};
}

/* Draws with a program from here on, which is made when it is used first; gives where its uniforms are. */
function use(name) {
  if (gl.isContextLost()) return {}; // nothing can be made, or drawn
  if (!begun[name]) beginProgram(name);
  const {program, shaders, at} = begun[name];
  gl.useProgram(program);
  if (at) return at;
  for (const shader of shaders)
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  const found = begun[name].at = {};
  for (let i = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i--;) {
    const uniform = gl.getActiveUniform(program, i).name.replace('[0]', '');
    found[uniform] = gl.getUniformLocation(program, uniform);
  }
  return found;
}

function bufferOf(data, usage) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  if (data) gl.bufferData(gl.ARRAY_BUFFER, data, usage || gl.STATIC_DRAW);
  return buffer;
}

/* Lets attributes read a buffer: [name, components, offset] of rows of `stride` bytes. */
function attach(buffer, stride, fields) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  for (const [name, count, offset, type] of fields) {
    const place = INPUTS[name];
    gl.enableVertexAttribArray(place);
    if (type === gl.UNSIGNED_INT) gl.vertexAttribIPointer(place, count, type, stride, offset);
    else gl.vertexAttribPointer(place, count, type || gl.FLOAT, !!type, stride, offset);
  }
}

/* Corners of triangles with normals that are smooth but over edges of more than 35 degrees: position, normal. */
function corners(vertices, triangles) {
  const faces = triangles.length / 3, normals = new Float32Array(3 * faces), out = new Float32Array(18 * faces);
  const around = new Uint32Array(vertices.length / 3 + 1), of = new Uint32Array(triangles.length);
  const point = i => [vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]];
  for (let f = 0; f < faces; ++f) {
    const a = point(triangles[3 * f]);
    const n = cross(sub(point(triangles[3 * f + 1]), a), sub(point(triangles[3 * f + 2]), a));
    normals.set(n, 3 * f);
    for (let k = 0; k < 3; ++k) ++around[triangles[3 * f + k] + 1];
  }
  for (let i = 1; i < around.length; ++i) around[i] += around[i - 1];
  const next = around.slice();
  triangles.forEach((v, i) => { of[next[v]++] = Math.floor(i / 3); });
  for (let i = 0; i < triangles.length; ++i) {
    const v = triangles[i], f = Math.floor(i / 3), own = normals.subarray(3 * f, 3 * f + 3), size = length(own);
    let sum = [0, 0, 0];
    for (let k = around[v]; k < around[v + 1]; ++k) {
      const other = normals.subarray(3 * of[k], 3 * of[k] + 3);
      if (dot(own, other) > 0.82 * size * length(other)) sum = add(sum, other);
    }
    const l = length(sum);
    out.set(point(v), 6 * i);
    out.set(l > 0 ? scaled(sum, 1 / l) : [0, 0, 1], 6 * i + 3);
  }
  return out;
}

/* Whether a surface is closed: each edge is run through as often from one end as from the other. Then faces that look away lie
 * behind others; parts that are inside out are turned for that. */
function turnOutward(vertices, triangles) {
  const count = vertices.length / 3, forth = new Float64Array(triangles.length), back = new Float64Array(triangles.length), parent = new Uint32Array(count);
  const part = v => { while (parent[v] !== v) v = parent[v] = parent[parent[v]]; return v; };
  for (let v = 0; v < count; ++v) parent[v] = v;
  for (let i = 0; i < triangles.length; ++i) {
    const a = triangles[i], b = triangles[i % 3 < 2 ? i + 1 : i - 2];
    forth[i] = a * count + b;
    back[i] = b * count + a;
    parent[part(a)] = part(b);
  }
  forth.sort();
  back.sort();
  if (forth.some((edge, i) => edge !== back[i])) return false;
  const volumes = new Float64Array(count), point = i => vertices.subarray(3 * triangles[i], 3 * triangles[i] + 3);
  for (let i = 0; i < triangles.length; i += 3) volumes[part(triangles[i])] += dot(point(i), cross(point(i + 1), point(i + 2)));
  for (let i = 0; i < triangles.length; i += 3)
    if (volumes[part(triangles[i])] < 0) [triangles[i], triangles[i + 1]] = [triangles[i + 1], triangles[i]];
  return true;
}

/* The least and the largest coordinate of points along each axis. */
function boxOf(points) {
  const box = [0, 1, 2].map(() => [Infinity, -Infinity]);
  points.forEach((x, i) => { box[i % 3] = [Math.min(box[i % 3][0], x), Math.max(box[i % 3][1], x)]; });
  return box;
}

/* ---- what the page knows ---- */

let data, meshes, bodies, draw, live = null, frame = -1, camera, home;
const state = {threshold: page.threshold, marks: 0, balls: true, normals: true, wires: false, forces: true, pushes: true, picked: null, playing: false,
  speed: 1, loop: true, theme: ''};

function read(bytes) {
  data = {places: arrayOf(bytes, 'places'), time: arrayOf(bytes, 'time'), starts: arrayOf(bytes, 'starts'),
    pair: arrayOf(bytes, 'pair'), slot: arrayOf(bytes, 'slot'), feature: arrayOf(bytes, 'feature'), p: arrayOf(bytes, 'p'),
    forces: arrayOf(bytes, 'forces'), force: arrayOf(bytes, 'contact_forces'), d: arrayOf(bytes, 'd'), n: arrayOf(bytes, 'n'), activity: arrayOf(bytes, 'activity'),
    curves: page.curves.map(c => ({...c, values: arrayOf(bytes, c.name) || new Float32Array(page.frames).fill(NaN), asked: !page.arrays[c.name]}))};
  data.asked = data.curves.filter(c => c.asked); // those that the page's server computes
  data.none = page.arrays.feature && page.arrays.feature.type === 'u2' ? 0xffff : 0xffffffff;
  data.share = {d: page.deepest / 32767, n: 1 / 32767, activity: 1 / 255};
  data.least = activity => Math.round(255 * activity);
  meshes = page.meshes.map((m, i) => {
    const vertices = arrayOf(bytes, `m${i}.vertices`), surface = arrayOf(bytes, `m${i}.surface`) || vertices;
    const triangles = arrayOf(bytes, `m${i}.triangles`), closed = turnOutward(surface, triangles);
    return {...m, vertices, edges: arrayOf(bytes, `m${i}.edges`), closed, box: boxOf(surface), corners: corners(surface, triangles)};
  });
  const candidates = arrayOf(bytes, 'candidates'); // of a scene whose contacts are not in the page
  for (let i = 0; candidates && i < candidates.length; i += 3) {
    const [a, b, kind] = candidates.subarray(i, i + 3);
    page.pairs.push({bodies: [a, b], kind, layout: page.layouts[kind]});
  }
  bodies = page.bodies.map(b => ({...b, file: b.name, name: b.name.replace(/\.body\.json$/, ''), visible: true, alpha: 1}));
}

/* What the contacts of a frame are read from: the page itself, or what its server computed for that frame, by what the
 * sliders say or as it was loaded; nothing until that is there. */
const NOTHING = {slot: [], feature: [], p: [], d: [], n: [], activity: [], share: {d: 1, n: 1, activity: 1}, least: activity => activity};
const from = f => !live ? data : live.shown && live.shown.frame === f ? live.shown : live.kept.get(f) || NOTHING;
const range = f => live ? [0, from(f).slot.length] : [data.starts[f], data.starts[f + 1]];
const pairOf = i => { const {pair} = from(frame); return pair ? pair[i] : 0; };
const nameOf = b => b.link ? `${b.link} (${b.name})` : b.name;

/* The place of a mover in the page, or null where its pose is none. */
function loadedPlace(mover, f) {
  const first = (f * page.movers + mover) * 7, place = Array.from(data.places.subarray(first, first + 7));
  return place.every(Number.isFinite) ? place : null;
}

/* Where a body is, likewise. */
function placeOf(b, f) {
  const {moved: by} = from(f), place = by ? by[b.mover] : loadedPlace(b.mover, f);
  if (!place) return null;
  return b.at ? behind(place, b.at) : place;
}

/* A contact's numbers, as `abut contacts` has them but for rounding to 16 and 8 bits. */
function contactOf(i) {
  const s = from(frame), slot = s.slot[i], pair = pairOf(i), [, , v2, , , , first2, edges1, edges2] = layoutIn(s, pair);
  const [a, b] = page.pairs[pair].bodies.map(k => bodies[k]);
  const kind = slot >= edges2 ? 3 : slot >= edges1 ? 2 : slot >= first2 && v2 ? 1 : 0;
  const words = [`vertex of ${a.name} in the field of ${b.name}`, `vertex of ${b.name} in the field of ${a.name}`,
    `two edges, point on ${a.name}`, `two edges, point on ${b.name}`, `edge of ${a.name} in the field of ${b.name}`,
    `edge of ${b.name} in the field of ${a.name}`];
  const features = [0, 1].map(k => s.feature[2 * i + k]).map(x => x === s.none ? null : x);
  const alone = kind > 1 && features.includes(null);
  return {pair, slot, kind, alone, words: words[alone ? kind + 2 : kind], features, p: Array.from(s.p.subarray(3 * i, 3 * i + 3)),
    d: s.d[i] * s.share.d, n: [0, 1, 2].map(k => s.n[3 * i + k] * s.share.n), activity: s.activity[i] * s.share.activity, force: forceOf(s, i)};
}

/* What a contact pushes with [N], on the first body of its pair, or on the second where the first cannot move; null: not known,
 * undefined: of no contact of the page. */
function forceOf(s, i) {
  if (!s.force) return hasForces() && page.scene ? null : undefined;
  const two = page.pairs[s.pair ? s.pair[i] : 0].bodies.map(k => bodies[k]), side = two[0].still && !two[1].still ? 1 : 0;
  const f = [0, 1, 2].map(k => (side ? -1 : 1) * s.force[3 * i + k]), n = [0, 1, 2].map(k => s.n[3 * i + k]), l = length(n);
  if (!f.every(Number.isFinite)) return null;
  const along = l > 0 ? dot(f, n) / l : 0;
  return {on: nameOf(two[side]), vector: f.map(x => x || 0), normal: Math.abs(along), friction: l > 0 ? length(sub(f, scaled(n, along / l))) : length(f)};
}

/* Contacts of the frame that is shown. */
function contactsNow() {
  const out = [], s = from(frame), least = s.least(state.threshold), [first, end] = range(frame);
  for (let i = first; i < end; ++i) if (s.activity[i] >= least) out.push(i);
  return out;
}
const byActivity = list => { const {activity} = from(frame); return list.sort((i, k) => activity[k] - activity[i] || i - k); };
/* Whether slots may be those of edges in fields: two of each edge, where others have one for each pair of edges. */
const inFields = ([all, , , e1, e2, , , first1, first2]) => first2 - first1 === 2 * e1 && all - first2 === 2 * e2;
/* What slots mean, as text: a picked one is that of another pair of bodies' features where this differs. */
const layoutIn = (s, pair) => s.layout || (s.layouts && s.layouts[page.pairs[pair].kind]) || page.pairs[pair].layout;
const layoutOf = (s, pair) => String(layoutIn(s, pair));
/* The picked slot among contacts from one up to another, whatever their activity; -1: it is not there. */
function pickedAmong(s, first, end) {
  if (!state.picked || layoutOf(s, state.picked.pair) !== state.picked.layout) return -1;
  for (let i = first; i < end; ++i)
    if (s.slot[i] === state.picked.slot && pairOf(i) === state.picked.pair) return i;
  return -1;
}
const pickedNow = () => pickedAmong(from(frame), ...range(frame));

/* ---- the camera ---- */

const HALF = Math.tan(Math.PI / 12); // of the shorter side
const axes = c => {
  const ca = Math.cos(c.azimuth), sa = Math.sin(c.azimuth), ce = Math.cos(c.elevation), se = Math.sin(c.elevation);
  const forward = [-ce * ca, -ce * sa, -se], right = [-sa, ca, 0];
  return {forward, right, up: cross(right, forward)};
};
const eyeOf = c => sub(c.target, scaled(axes(c).forward, c.distance));
const halves = () => {
  const w = canvas.clientWidth || 1, h = canvas.clientHeight || 1, shorter = Math.min(w, h);
  return [HALF * w / shorter, HALF * h / shorter];
};

/* The nearest and the farthest depth that is drawn. */
const depths = () => [Math.max(camera.distance - 4 * home.size, 0.002 * camera.distance), 4 * (camera.distance + 4 * home.size)];

function cameraMatrix() {
  const {forward, right, up} = axes(camera), eye = eyeOf(camera), [hx, hy] = halves();
  const [near, far] = depths();
  const a = (far + near) / (far - near), b = -2 * far * near / (far - near), rows = [scaled(right, 1 / hx), scaled(up, 1 / hy), forward];
  const m = [];
  for (let k = 0; k < 3; ++k) m.push(rows[0][k], rows[1][k], a * forward[k], forward[k]);
  m.push(-dot(rows[0], eye), -dot(rows[1], eye), -a * dot(forward, eye) + b, -dot(forward, eye));
  return new Float32Array(m);
}

/* Pixels of the page's picture, from its left upper corner, and the depth. */
function project(point) {
  const {forward, right, up} = axes(camera), v = sub(point, eyeOf(camera)), depth = dot(v, forward), [hx, hy] = halves();
  return {x: canvas.clientWidth / 2 * (1 + dot(v, right) / (depth * hx)), y: canvas.clientHeight / 2 * (1 - dot(v, up) / (depth * hy)), depth};
}

/* Corners of boxes of bodies over the frames, which the camera is to hold in view: floors are not looked at, nor what
 * does not move and is more than four times as large as all that does. */
function framedPoints() {
  const step = Math.max(1, Math.floor(page.frames / 64)), moving = [], still = [], all = [];
  const diagonal = points => points.length ? length([0, 1, 2].map(k =>
    Math.max(...points.map(p => p[k])) - Math.min(...points.map(p => p[k])))) : 0;
  for (const b of bodies) {
    const {lower, upper} = meshes[b.mesh], own = [];
    for (let f = 0; f < page.frames; f += step) {
      const place = placeOf(b, f);
      for (let c = 0; place && c < 8; ++c) own.push(apply(place, [0, 1, 2].map(k => c >> k & 1 ? upper[k] : lower[k])));
    }
    const moves = !page.scene || own.some((p, i) => i >= 8 && length(sub(p, own[i % 8])) > 1e-9);
    all.push(...own.slice(0, 8));
    if (!b.floor) (moves ? moving : still).push(moves ? own : own.slice(0, 8));
  }
  const points = moving.flat(), size = diagonal(points);
  for (const own of still) if (!size || diagonal(own) <= 4 * size) points.push(...own);
  return points.length ? points : all.length ? all : [[0, 0, 0], [1, 1, 1]];
}

function fitCamera(azimuth, elevation) {
  const points = home.points, c = {azimuth, elevation, distance: 1, target: [0, 0, 0]}, {forward, right, up} = axes(c);
  const seen = points.map(p => [dot(p, right), dot(p, up), dot(p, forward)]), half = halves().map(h => 0.9 * h);
  const middle = k => (Math.max(...seen.map(p => p[k])) + Math.min(...seen.map(p => p[k]))) / 2;
  let centre = [middle(0), middle(1), middle(2)], distance = 0;
  for (let turns = 0; turns < 6; ++turns) {
    distance = 1.01 * home.size;
    for (const p of seen)
      for (let k = 0; k < 2; ++k) distance = Math.max(distance, Math.abs(p[k] - centre[k]) / half[k] - (p[2] - centre[2]));
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (const p of seen)
      for (let k = 0; k < 2; ++k) {
        const x = (p[k] - centre[k]) * distance / (distance + p[2] - centre[2]);
        low[k] = Math.min(low[k], x);
        high[k] = Math.max(high[k], x);
      }
    centre = [centre[0] + (low[0] + high[0]) / 2, centre[1] + (low[1] + high[1]) / 2, centre[2]];
  }
  c.distance = distance;
  c.target = add(add(scaled(right, centre[0]), scaled(up, centre[1])), scaled(forward, centre[2]));
  return c;
}

const VIEWS = {iso: [0.6, 0.35], x: [0, 0], y: [Math.PI / 2, 0], z: [-Math.PI / 2, Math.PI / 2]};
function look(name, back) {
  const [azimuth, elevation] = VIEWS[name];
  if (name === 'z') camera = fitCamera(azimuth, back ? -elevation : elevation);
  else camera = fitCamera(azimuth + (back ? Math.PI : 0), elevation);
  moved();
}

/* ---- pictures ---- */

function makeDrawing() {
  const vao = () => { const v = gl.createVertexArray(); gl.bindVertexArray(v); return v; };
  for (const m of meshes) {
    m.solid = vao();
    attach(bufferOf(m.corners), 24, [['position', 3, 0], ['normal', 3, 12]]);
    m.wire = vao();
    attach(bufferOf(m.vertices), 12, [['position', 3, 0]]);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(m.edges), gl.STATIC_DRAW);
    m.count = m.corners.length / 6;
    m.lines = m.edges.length;
    delete m.corners;
  }
  const fields = [['position', 3, 0], ['direction', 3, 12], ['activity', 1, 24], ['number', 1, 28, gl.UNSIGNED_INT]];
  const list = shape => {
    const buffer = gl.createBuffer(), points = vao();
    attach(buffer, 32, fields);
    const along = gl.createBuffer(), arrows = vao();
    attach(along, 40, [['position', 3, 0], ['direction', 3, 12], ['shade', 4, 24, gl.UNSIGNED_BYTE], ['corner', 3, 28]]);
    return {buffer, points, along, arrows, corners: shape, count: 0};
  };
  const most = gl.getParameter(gl.ALIASED_POINT_SIZE_RANGE)[1] / 2;
  return {contacts: list(ARROW), marked: list(BAR), force: list(ARROW), pushes: list(ARROW), most, samples: Math.min(4, gl.getParameter(gl.MAX_SAMPLES)),
    smooth: null, pick: null, crowd: 1, ground: [1, 1, 1],
    format: gl.getParameter(gl.ALPHA_BITS) ? gl.RGBA8 : gl.RGB8}; // samples are laid together into the canvas, whose own it must be
}

/* Corners of an arrow, a shaft and a head, and of a bar: (along, side, 1 of a head, -1 of a bar). */
const ARROW = [0, -1, 0, 1, -1, 0, 1, 1, 0, 0, -1, 0, 1, 1, 0, 0, 1, 0, 0, -1, 1, 1, 0, 1, 0, 1, 1];
const BAR = [0, -1, -1, 1, -1, -1, 1, 1, -1, 0, -1, -1, 1, 1, -1, 0, 1, -1];

/* Colours of activities in 256 steps as arrows have them, sRGB in bytes; on a dark ground they are paler, else they would not be seen. */
const bytesOf = paint => [...paint.map(c => Math.round(255 * shown(clamp(c, 0, 1)))), 255];
let shades = [], shadesOf = null;
function shadeOf(activity) {
  if (shadesOf !== isDark()) {
    shadesOf = isDark();
    shades = Array.from({length: 256}, (_, i) => bytesOf(ramp(i / 255).map(c => shadesOf ? c + 0.2 * (1 - c) : c)));
  }
  return shades[Math.round(255 * clamp(activity, 0, 1))];
}

/* Puts marks into a list: p, n of three numbers each one after another, activities, numbers to pick by.
 * Each arrow gets corners of its own: instances take ten times as long without a GPU. */
function fillWith(list, p, n, activity, numbers) {
  const {corners} = list, each = corners.length / 3, count = activity.length, bytes = new ArrayBuffer(40 * each * count), spread = new Float32Array(bytes), paint = new Uint8Array(bytes);
  const points = new ArrayBuffer(32 * count), reals = new Float32Array(points), whole = new Uint32Array(points);
  for (let i = 0, to = 0, at = 0; i < count; ++i, at += 8) {
    const colour = shadeOf(activity[i]);
    for (let k = 0; k < 3; ++k) { reals[at + k] = p[3 * i + k]; reals[at + 3 + k] = n[3 * i + k]; }
    reals[at + 6] = activity[i];
    whole[at + 7] = numbers ? numbers[i] : 0;
    for (let c = 0; c < each; ++c, to += 10) {
      for (let k = 0; k < 6; ++k) spread[to + k] = reals[at + k];
      for (let k = 0; k < 4; ++k) paint[4 * (to + 6) + k] = colour[k];
      for (let k = 0; k < 3; ++k) spread[to + 7 + k] = corners[3 * c + k];
    }
  }
  gl.bindBuffer(gl.ARRAY_BUFFER, list.along);
  gl.bufferData(gl.ARRAY_BUFFER, spread, gl.DYNAMIC_DRAW);
  gl.bindBuffer(gl.ARRAY_BUFFER, list.buffer);
  gl.bufferData(gl.ARRAY_BUFFER, points, gl.DYNAMIC_DRAW);
  list.count = count;
}
/* Puts rows [position, direction, activity] into a list. */
const fill = (list, rows) => fillWith(list, rows.flatMap(([p]) => [p[0], p[1], p[2]]), rows.flatMap(([, n]) => [n[0], n[1], n[2]]), rows.map(row => row[2]));

/* The features of the picked contact in the world, as rows: vertices are points, edges bars. */
function featureRows(contact) {
  const points = [], bars = [];
  contact.features.forEach((feature, side) => {
    const b = bodies[page.pairs[contact.pair].bodies[side]], m = meshes[b.mesh], place = placeOf(b, frame);
    const vertex = i => apply(place, m.vertices.subarray(3 * i, 3 * i + 3));
    if (feature === null || !place) return;
    if (b.stated && inFields(layoutIn(from(frame), contact.pair))) return; // a feature of the body's file, which is not in the mesh
    if (contact.kind < 2) points.push([vertex(feature), [0, 0, 0], 0, 0]);
    else {
      const [from, to] = [0, 1].map(k => vertex(m.edges[2 * feature + k]));
      bars.push([from, sub(to, from), 0, 0]);
    }
  });
  return {points, bars};
}

function uploadContacts() {
  const s = from(frame), [first] = range(frame), now = contactsNow(), p = new Float32Array(3 * now.length), n = p.slice(), activity = new Float32Array(now.length);
  now.forEach((i, to) => {
    for (let k = 0; k < 3; ++k) { p[3 * to + k] = s.p[3 * i + k]; n[3 * to + k] = s.n[3 * i + k] * s.share.n; }
    activity[to] = s.activity[i] * s.share.activity;
  });
  fillWith(draw.contacts, p, n, activity, now.map(i => i - first + 1));
}

function target(samples) { // a framebuffer of the canvas's size
  const colour = gl.createRenderbuffer(), depth = gl.createRenderbuffer(), made = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, made);
  for (const [buffer, format, place] of [[colour, draw.format, gl.COLOR_ATTACHMENT0], [depth, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
    gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
    gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, canvas.width, canvas.height);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
  }
  return {made, colour, depth};
}
function forget(t) {
  if (!t) return;
  gl.deleteFramebuffer(t.made);
  gl.deleteRenderbuffer(t.colour);
  gl.deleteRenderbuffer(t.depth);
}

function resize() {
  const ratio = Math.min(devicePixelRatio || 1, 2), w = Math.round(canvas.clientWidth * ratio), h = Math.round(canvas.clientHeight * ratio);
  if (canvas.width === w && canvas.height === h) return;
  canvas.width = w;
  canvas.height = h;
  forget(draw.smooth);
  forget(draw.pick);
  draw.smooth = draw.pick = null;
}

function modelOf(p) {
  const [w, x, y, z] = p.slice(3);
  return new Float32Array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0, 2 * (x * y - w * z),
    1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0, 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0, p[0], p[1], p[2], 1]);
}

const turnOn = (what, on) => on ? gl.enable(what) : gl.disable(what);

/* Whether all of a body's box lies before the camera, so that nothing cuts into the body. */
function isWhole(m, place) {
  const eye = eyeOf(camera), {forward} = axes(camera), [near] = depths();
  return [0, 1, 2, 3, 4, 5, 6, 7].every(c => dot(sub(apply(place, m.box.map((ends, k) => ends[c >> k & 1])), eye), forward) > near);
}

function drawBodies(matrix, picking) {
  const {forward, right, up} = axes(camera), eye = eyeOf(camera);
  const lamp = add(add(scaled(forward, -0.75), scaled(right, -0.45)), scaled(up, 0.75)), key = scaled(lamp, 1 / length(lamp));
  const seen = bodies.filter(b => b.visible && (!picking || b.alpha === 1)).map(b => ({b, place: placeOf(b, frame)})).filter(s => s.place);
  const depth = s => dot(sub(apply(s.place, scaled(add(meshes[s.b.mesh].lower, meshes[s.b.mesh].upper), 0.5)), eye), forward);
  seen.sort((s, t) => t.b.alpha - s.b.alpha || (s.b.alpha === 1 ? depth(s) - depth(t) : depth(t) - depth(s))); // solid ones first, the nearest first
  gl.enable(gl.POLYGON_OFFSET_FILL);
  gl.polygonOffset(1, 1);
  let u = null, last = '';
  for (const {b, place} of seen) {
    const m = meshes[b.mesh], name = b.floor ? 'floor' : 'mesh', shows = flag => gl.colorMask(flag, flag, flag, flag);
    if (name !== last) {
      u = use(last = name);
      gl.uniformMatrix4fv(u.camera, false, matrix);
      gl.uniform3fv(u.eye, eye);
      gl.uniform3fv(u.key, key);
      gl.uniform3fv(u.up, up);
      if (b.floor) gl.uniform1f(u.tile, home.tile);
    }
    gl.uniformMatrix4fv(u.model, false, modelOf(place));
    gl.uniform3fv(u.paint, b.floor ? FLOOR : PAINTS[b.paint % PAINTS.length]);
    gl.uniform1f(u.alpha, b.alpha);
    gl.bindVertexArray(m.solid);
    turnOn(gl.CULL_FACE, m.closed && isWhole(m, place));
    turnOn(gl.BLEND, b.alpha < 1);
    if (b.alpha < 1 || picking) { // first its nearest depth alone, so that it shows one layer
      shows(false);
      gl.drawArrays(gl.TRIANGLES, 0, m.count);
      shows(true);
    }
    if (!picking) gl.drawArrays(gl.TRIANGLES, 0, m.count);
  }
  gl.disable(gl.POLYGON_OFFSET_FILL);
  gl.disable(gl.CULL_FACE);
  turnOn(gl.BLEND, !picking);
  if (!state.wires || picking) return;
  u = use('line');
  gl.uniformMatrix4fv(u.camera, false, matrix);
  for (const {b, place} of seen) {
    gl.uniformMatrix4fv(u.model, false, modelOf(place));
    gl.uniform3fv(u.paint, [0, 0, 0]);
    gl.uniform1f(u.alpha, 0.45);
    gl.bindVertexArray(meshes[b.mesh].wire);
    gl.drawElements(gl.LINES, meshes[b.mesh].lines, gl.UNSIGNED_INT, 0);
  }
}

/* Lengths of marks: those of abut render, at any zoom as at its zoom 1. */
function markSizes() {
  const reach = Math.max(0.16 * draw.crowd, 0.05) * camera.distance * HALF * 2 ** state.marks, ratio = canvas.width / (canvas.clientWidth || 1);
  return {reach, radius: 0.12 * reach, least: 3.2 * ratio * 2 ** (state.marks / 2), ratio};
}

function useBalls(matrix, picking, alpha) {
  const {radius, least} = markSizes(), u = use(picking ? 'number' : isDark() ? 'rimmed' : 'ball');
  gl.uniformMatrix4fv(u.camera, false, matrix);
  gl.uniform3fv(u.stops, RAMP.flat());
  gl.uniform1f(u.radius, radius);
  gl.uniform1f(u.least, least);
  gl.uniform1f(u.most, draw.most);
  gl.uniform1f(u.focal, canvas.height / 2 / halves()[1]);
  if (!picking) gl.uniform1f(u.alpha, alpha);
}

function drawMarks(matrix, alpha) {
  const {reach, ratio} = markSizes(), list = draw.contacts;
  if (state.normals) {
    const u = use('arrow');
    gl.uniformMatrix4fv(u.camera, false, matrix);
    gl.uniform2f(u.size, canvas.width, canvas.height);
    gl.uniform1f(u.reach, reach);
    gl.uniform1f(u.width, (list.count > 300 ? 1.2 : 1.8) * ratio * 2 ** (state.marks / 2));
    gl.uniform4f(u.paint_all, 0, 0, 0, 0);
    gl.uniform1f(u.alpha, alpha);
    gl.bindVertexArray(list.arrows);
    gl.drawArrays(gl.TRIANGLES, 0, 9 * list.count);
  }
  if (state.balls) {
    useBalls(matrix, false, alpha);
    gl.bindVertexArray(list.points);
    gl.drawArrays(gl.POINTS, 0, list.count);
  }
}

/* The features of what is picked, over all. */
function drawPicked(matrix) {
  const i = pickedNow();
  if (i < 0) return;
  const {points, bars} = featureRows(contactOf(i)), {ratio} = markSizes();
  gl.disable(gl.DEPTH_TEST);
  fill(draw.marked, bars.length ? bars : points);
  if (bars.length) {
    const u = use('arrow');
    gl.uniformMatrix4fv(u.camera, false, matrix);
    gl.uniform2f(u.size, canvas.width, canvas.height);
    gl.uniform1f(u.reach, 1);
    gl.uniform1f(u.width, 2.5 * ratio);
    gl.uniform4f(u.paint_all, ...MARKED, 1);
    gl.uniform1f(u.alpha, 1);
    gl.bindVertexArray(draw.marked.arrows);
    gl.drawArrays(gl.TRIANGLES, 0, 6 * bars.length);
  }
  gl.enable(gl.DEPTH_TEST);
}

function drawScene(fast) {
  resize();
  if (!canvas.width || !canvas.height) return;
  const smooth = !fast && draw.samples > 1, matrix = cameraMatrix();
  if (smooth && !draw.smooth) draw.smooth = target(draw.samples);
  gl.bindFramebuffer(gl.FRAMEBUFFER, smooth ? draw.smooth.made : null);
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(...draw.ground, 1);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  gl.depthMask(true);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  drawBodies(matrix, false);
  gl.depthFunc(gl.GREATER); // what a body hides is fainter
  gl.depthMask(false);
  drawMarks(matrix, 0.5);
  gl.depthFunc(gl.LEQUAL);
  gl.depthMask(true);
  drawMarks(matrix, 1);
  drawPicked(matrix);
  drawForces(matrix);
  drawPushes(matrix);
  if (smooth) {
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, draw.smooth.made);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, canvas.width, canvas.height, 0, 0, canvas.width, canvas.height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
  }
  drawOverlay();
}

/* A ring around what is picked, its vertices, and the axes, which have a canvas of their own: one over the whole picture costs
 * a browser without a GPU as much as the picture. */
function drawOverlay() {
  const i = pickedNow();
  overlay.hidden = i < 0;
  if (i >= 0) {
    const style = getComputedStyle(document.documentElement), c = overlay.getContext('2d'), ratio = canvas.width / (canvas.clientWidth || 1);
    if (overlay.width !== canvas.width || overlay.height !== canvas.height) [overlay.width, overlay.height] = [canvas.width, canvas.height];
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    const contact = contactOf(i), ring = (p, r, width) => {
      const s = project(p);
      if (s.depth <= 0) return;
      for (const [paint, w] of [[style.getPropertyValue('--ground'), width + 2], [css(MARKED), width]]) {
        c.strokeStyle = paint;
        c.lineWidth = w;
        c.beginPath();
        c.arc(s.x, s.y, r, 0, 2 * Math.PI);
        c.stroke();
      }
    };
    featureRows(contact).points.forEach(([p]) => ring(p, 4, 2));
    ring(contact.p, 12, 2.5);
  }
  drawAxes();
}

const AXES = 84; // pixels
let axesOf = '';
function drawAxes() {
  const ratio = devicePixelRatio || 1, key = `${camera.azimuth} ${camera.elevation} ${ratio}`, box = at('axes');
  if (key === axesOf) return;
  axesOf = key;
  if (box.width !== Math.round(AXES * ratio)) box.width = box.height = Math.round(AXES * ratio);
  const c = box.getContext('2d'), {right, up, forward} = axes(camera), x0 = AXES / 2, y0 = AXES / 2;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, AXES, AXES);
  const tips = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((a, k) => ({k, x: dot(a, right), y: dot(a, up), z: dot(a, forward)}));
  c.font = '600 12px system-ui, sans-serif';
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.lineWidth = 2;
  for (const t of tips.sort((s, r) => r.z - s.z)) {
    c.strokeStyle = c.fillStyle = ['#d83a2e', '#2c9a3c', '#3a6fe0'][t.k];
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x0 + 26 * t.x, y0 - 26 * t.y);
    c.stroke();
    c.fillText('xyz'[t.k], x0 + 35 * t.x, y0 - 35 * t.y);
  }
}

let wanted = 0, rest = 0, quickly = false;
/* Draws soon: quickly what moves, and once more with samples where nothing has moved for a while, which is longer where the
 * browser is slow. One that is asked for already keeps its turn: put off by each newer one it would never come while a slow
 * browser plays. */
function redraw(fast) {
  const began = performance.now();
  clearTimeout(rest);
  rest = 0;
  quickly = fast;
  if (live && fast) live.idle = began; // curves wait until it rests
  if (wanted) return;
  wanted = requestAnimationFrame(() => {
    wanted = 0;
    drawScene(quickly);
    if (quickly) rest = setTimeout(() => redraw(false), Math.max(150, 3 * (performance.now() - began)));
    ready();
    goOn();
  });
}
/* Says that there is a picture of a frame with its contacts, and when it came. */
function ready() {
  const {dataset} = document.documentElement;
  if (!dataset.ready && !awaited()) dataset.ready = Math.round(performance.now());
}
function moved() { redraw(true); remember(); }

/* ---- picking ---- */

/* The contact under a place of the page, by a picture of numbers: those that no body hides first. -1: none. */
function pickAt(x, y) {
  resize();
  const ratio = canvas.width / (canvas.clientWidth || 1), reach = Math.ceil(5 * ratio), side = 2 * reach + 1, matrix = cameraMatrix();
  const left = Math.round(x * ratio) - reach, low = canvas.height - Math.round(y * ratio) - reach - 1, found = new Uint8Array(4 * side * side);
  if (!draw.pick) draw.pick = target(0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, draw.pick.made);
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.enable(gl.SCISSOR_TEST);
  gl.scissor(left, low, side, side);
  gl.disable(gl.BLEND);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  gl.depthMask(true);
  gl.clearColor(0, 0, 0, 0);
  let best = 0;
  for (const hidden of [true, false]) {
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (hidden) drawBodies(matrix, true);
    useBalls(matrix, true, 1);
    gl.bindVertexArray(draw.contacts.points);
    gl.drawArrays(gl.POINTS, 0, state.balls ? draw.contacts.count : 0);
    gl.readPixels(left, low, side, side, gl.RGBA, gl.UNSIGNED_BYTE, found);
    let nearest = Infinity;
    for (let i = 0; i < side * side; ++i) {
      const number = found[4 * i] + 256 * found[4 * i + 1] + 65536 * found[4 * i + 2];
      const off = (i % side - reach) ** 2 + (Math.floor(i / side) - reach) ** 2;
      if (number && off < nearest) { nearest = off; best = number; }
    }
    if (best) break;
  }
  gl.disable(gl.SCISSOR_TEST);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return best ? range(frame)[0] + best - 1 : -1;
}

function pick(i) {
  state.picked = i < 0 ? null : {pair: pairOf(i), slot: from(frame).slot[i], layout: layoutOf(from(frame), pairOf(i))};
  course = null;
  at('copied').hidden = true;
  showContact();
  const pressed = showList();
  if (pressed) pressed.scrollIntoView({block: 'nearest'});
  redraw(false);
  remember();
}

/* ---- words and numbers ---- */

const digits = (x, n) => Number.isFinite(x) ? x === 0 ? '0' : String(+x.toPrecision(n)) : '–';
const vector = (v, n) => v.map(x => digits(x, n)).join(', ');

function featureWords(contact, side) {
  const b = bodies[page.pairs[contact.pair].bodies[side]], feature = contact.features[side];
  if (feature === null) return '–';
  if (contact.kind < 2) return `vertex ${feature}`;
  const edges = meshes[b.mesh].edges;
  if (contact.alone && b.stated) return `edge ${feature}`;
  return `edge ${feature} (${edges[2 * feature]}–${edges[2 * feature + 1]})`;
}

function showContact() {
  const table = at('picked').querySelector('tbody'), i = pickedNow();
  at('hint').hidden = !!state.picked;
  at('picked').hidden = !state.picked;
  if (!state.picked) return;
  const two = page.pairs[state.picked.pair].bodies.map(k => bodies[k]);
  const rows = [['slot', state.picked.slot]];
  if (page.pairs.length > 1) rows.push(['pair', two.map(nameOf).join(' – ')]);
  if (layoutOf(from(frame), state.picked.pair) !== state.picked.layout) rows.push(['', 'not among the slots that the page was loaded with']);
  else if (i < 0 && awaited()) rows.push(['', '…']);
  else if (i < 0) rows.push(['', `below ${digits(page.threshold, 3)} of activity in this frame`]);
  else {
    const c = contactOf(i);
    rows.push(['kind', c.words]);
    two.forEach((b, side) => rows.push([`of ${b.name}`, featureWords(c, side)]));
    rows.push(['p [m]', vector(c.p, 7)], ['d [m]', digits(c.d, 5)], ['n', c.n.map(x => x.toFixed(4)).join(', ')], ['activity', digits(c.activity, 3)]);
    if (c.force) rows.push([`force on ${c.force.on} [N]`, vector(c.force.vector, 4)], ['normal, friction [N]', vector([c.force.normal, c.force.friction], 4)]);
    else if (c.force === null) rows.push(['force [N]', live && live.shown ? 'of the scene\u2019s own smoothing alone' : 'not known']);
  }
  table.replaceChildren(...rows.map(([name, value]) => {
    const row = document.createElement('tr');
    for (const text of [name, value]) row.insertCell().textContent = text;
    return row;
  }));
  at('copy').disabled = at('center').disabled = i < 0;
  drawCourse();
}

function contactJson() {
  const i = pickedNow(), c = contactOf(i), two = page.pairs[c.pair].bodies.map(k => bodies[k]);
  return JSON.stringify({frame, time: data.time ? data.time[frame] : undefined, bodies: two.map(nameOf),
    pose1: placeOf(two[0], frame), pose2: placeOf(two[1], frame), slot: c.slot, kind: ['vertex1', 'vertex2', 'edges1', 'edges2', 'edge1', 'edge2'][c.alone ? c.kind + 2 : c.kind],
    feature: c.features, p: c.p, d: c.d, n: c.n, activity: c.activity, force: c.force}, null, 1);
}

function copyJson() {
  if (pickedNow() < 0) return;
  at('copied').value = contactJson();
  at('copied').hidden = false;
  copyFrom(at('copied'));
}
async function copyFrom(box) {
  try {
    await navigator.clipboard.writeText(box.value);
    say('Copied');
  } catch { // a page without that right: the text can be copied by hand
    box.focus();
    box.select();
    say('Press Ctrl+C to copy');
  }
}

let quiet = 0;
function say(text) {
  at('message').textContent = text;
  at('message').classList.add('shown');
  clearTimeout(quiet);
  quiet = setTimeout(() => at('message').classList.remove('shown'), 1500);
}

const LISTED = 200;
/* The largest forces of this frame, in numbers. */
function showForces() {
  if (!hasForces()) return;
  const all = forcesNow().sort((a, b) => length(b[1]) - length(a[1])), size = x => `${digits(x, 3)} m`;
  at('unforced').textContent = `Arrows: ${digits(home.force, 3)} N on a link are ${size(0.35 * home.size)}` +
    (peaks.size ? `, ${digits(home.push, 3)} N of a contact ${size(pushLength(home.push))}.` : '.') +
    (page.springs ? ' Springs are between whole clouds of points: there are no single contacts.' : '');
  at('pushedRows').replaceChildren(...all.slice(0, FORCES_LISTED).map(([m, force]) => {
    const row = document.createElement('tr'), b = bodies.find(x => x.mover === m), size = length(force);
    const along = force.map(x => Math.abs(x) < 1e-4 * size ? 0 : x); // what rounding leaves
    for (const text of [b ? b.link || b.name : `link ${m}`, `${digits(size, 4)} N`, vector(along, 3)]) row.insertCell().textContent = text;
    return row;
  }));
  at('pushedTitle').textContent = all.length > FORCES_LISTED ? `Forces of contacts (the ${FORCES_LISTED} largest of ${all.length})` : 'Forces of contacts';
}
const FORCES_LISTED = 8;

/* Where a contact of another answer is in this one, by its slot; -1: it is not. */
function placeIn(s, {pair, slot}) {
  const [first, end] = range(frame);
  for (let i = first; i < end; ++i)
    if (s.slot[i] === slot && pairOf(i) === pair) return i;
  return -1;
}

function showList() {
  showForces();
  const s = from(frame);
  const all = byActivity(contactsNow()), more = page.pairs.length > 1, now = pickedNow();
  at('count').textContent = awaited() && from(frame) === NOTHING ? '(…)' : all.length > LISTED ? `(${all.length}, the ${LISTED} most active)` : `(${all.length})`;
  const focused = at('list').contains(document.activeElement);
  at('list').replaceChildren(...all.slice(0, LISTED).map(i => {
    const c = contactOf(i), button = document.createElement('button'), dotted = document.createElement('i');
    dotted.style.background = css(ramp(c.activity));
    button.append(dotted);
    const name = more ? page.pairs[c.pair].bodies.map(k => bodies[k].link || bodies[k].name).join('–') + ` ${c.slot}` : `slot ${c.slot}`;
    for (const text of [name, digits(c.d, 3), c.activity.toFixed(2)]) button.appendChild(document.createElement('span')).textContent = text;
    button.title = c.words;
    button.setAttribute('aria-pressed', i === now);
    button.onclick = () => pick(from(frame) === s ? i : placeIn(from(frame), c)); // the list can be that of the answer before
    return button;
  }));
  const pressed = at('list').querySelector('[aria-pressed="true"]');
  if (pressed && focused) pressed.focus();
  return pressed;
}

/* ---- curves ---- */

/* Small pictures of lines are painted in memory: without a GPU long lines take a browser that believes in one a hundred times as long. */
const paintOn = c => c.getContext('2d', {willReadFrequently: true});

function sized(c, height) {
  const ratio = devicePixelRatio || 1, w = c.clientWidth || 1, pixels = [Math.round(w * ratio), Math.round(height * ratio)];
  if (c.style.height !== `${height}px`) c.style.height = `${height}px`;
  if (c.width !== pixels[0] || c.height !== pixels[1]) [c.width, c.height] = pixels;
  else paintOn(c).resetTransform();
  paintOn(c).clearRect(0, 0, ...pixels);
  const to = paintOn(c);
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  return {to, w};
}
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  return low > high ? [NaN, NaN] : [low, high];
}
const inset = 7; // of the slider's ends, under which the curves lie
const across = (f, w) => inset + (w - 2 * inset) * (page.frames > 1 ? f / (page.frames - 1) : 0.5);

/* A label that stays legible over a curve. */
function label(to, text, x, y, ink, ground) {
  to.save();
  to.lineWidth = 4;
  to.lineJoin = 'round';
  to.strokeStyle = ground;
  to.strokeText(text, x, y);
  to.fillStyle = ink;
  to.fillText(text, x, y);
  to.restore();
}

/* A polyline over the frames, with gaps where there is no number. */
function plot(to, values, x, top, height) {
  const [low, high] = extent(values);
  if (!Number.isFinite(low)) return {low, high}; // nothing is known yet
  const span = high - low, place = v => top + height * (span > 0 ? 1 - (v - low) / span : 0.5);
  to.beginPath();
  let open = false;
  const each = Math.max(1, Math.floor(page.frames / 1500)); // frames that share a pixel
  for (let f = 0; each > 1 && f < page.frames; f += each) {
    const [least, most] = extent(values.subarray(f, f + each));
    if (!Number.isFinite(least)) { open = false; continue; }
    if (open) to.lineTo(x(f), place(most)); else to.moveTo(x(f), place(most));
    to.lineTo(x(f), place(least) + (least === most ? 0.5 : 0));
    open = true;
  }
  for (let f = 0; each === 1 && f < page.frames; ++f) {
    const v = values[f];
    if (!Number.isFinite(v)) { open = false; continue; }
    if (open) to.lineTo(x(f), place(v)); else to.moveTo(x(f), place(v));
    if (!open && !Number.isFinite(values[f + 1])) to.rect(x(f) - 1, place(v) - 1, 2, 2); // alone
    open = true;
  }
  to.stroke();
  if (low < 0 && high > 0) {
    to.save();
    to.setLineDash([2, 3]);
    to.globalAlpha = 0.5;
    to.beginPath();
    to.moveTo(x(0), place(0));
    to.lineTo(x(page.frames - 1), place(0));
    to.stroke();
    to.restore();
  }
  return {low, high};
}

/* Lays curves that do not change with the frame under what does: they are drawn anew for another size or theme alone. */
const layers = {};
function underlay(name, to, w, height, draw_) {
  const key = `${w} ${to.canvas.width} ${isDark()}`;
  if (!layers[name] || layers[name].key !== key) {
    const picture = document.createElement('canvas'), on = paintOn(picture);
    picture.width = to.canvas.width;
    picture.height = to.canvas.height;
    on.setTransform(to.getTransform());
    draw_(on);
    layers[name] = {key, picture};
  }
  to.drawImage(layers[name].picture, 0, 0, w, height);
}

const ROW_HEIGHT = 30;
/* Lines and names are painted for another size, theme or curve alone. What changes with the frame lies over them: a canvas that is painted
 * anew for each takes a browser without a GPU as long as the contacts. */
function drawCurves() {
  if (page.frames < 2 || !data.curves.length) return;
  const box = at('curves'), key = `${box.clientWidth} ${devicePixelRatio} ${isDark()}`;
  if (layers.curves !== key) {
    const {to, w} = sized(box, ROW_HEIGHT * data.curves.length), style = getComputedStyle(document.documentElement);
    to.font = '11px system-ui, sans-serif';
    to.strokeStyle = style.getPropertyValue('--accent');
    to.lineWidth = 1.3;
    data.curves.forEach((curve, k) => {
      plot(to, curve.values, f => across(f, w), k * ROW_HEIGHT + 14, ROW_HEIGHT - 17);
      label(to, curve.name, inset, k * ROW_HEIGHT + 10, style.getPropertyValue('--grey'), style.getPropertyValue('--ground'));
    });
    layers.curves = key;
    if (at('values').children.length !== data.curves.length)
      at('values').replaceChildren(...data.curves.map((_, k) => { const value = document.createElement('span'); value.style.top = `${k * ROW_HEIGHT}px`; return value; }));
  }
  at('cursor').style.transform = `translateX(${Math.round(across(frame, box.clientWidth))}px)`;
  data.curves.forEach((curve, k) => { at('values').children[k].textContent = `${digits(curve.values[frame], 4)} ${curve.unit}`; });
}

/* What the picked slot does over the frames: gaps where it is not in the page. */
let course = null;
function drawCourse() {
  at('course').hidden = page.frames < 2;
  if (page.frames < 2) return;
  const height = 55 * (hasForces() ? 4 : 2), row = () => new Float32Array(page.frames).fill(NaN);
  if (!course) {
    delete layers.course;
    course = {activity: row(), d: row(), normal: row(), friction: row(), next: 0};
    if (live) awake();
    for (let f = 0; !live && f < page.frames; ++f) {
      const i = pickedAmong(data, data.starts[f], data.starts[f + 1]), force = i < 0 ? null : forceOf(data, i);
      if (i >= 0) { course.activity[f] = data.activity[i] * data.share.activity; course.d[f] = data.d[i] * data.share.d; }
      if (force) { course.normal[f] = force.normal; course.friction[f] = force.friction; }
    }
  }
  const {to, w} = sized(at('course'), height), style = getComputedStyle(document.documentElement);
  to.font = '11px system-ui, sans-serif';
  const curves = [['activity', course.activity, ''], ['d', course.d, ' m'], ['normal force', course.normal, ' N'], ['friction', course.friction, ' N']];
  underlay('course', to, w, height, on => curves.slice(0, height / 55).forEach(([name, values, unit], k) => {
    const top = 55 * k;
    on.font = to.font;
    on.strokeStyle = style.getPropertyValue('--accent');
    on.lineWidth = 1.3;
    const {low, high} = plot(on, values, f => across(f, w), top + 16, 33);
    on.textAlign = 'left';
    label(on, name, inset, top + 11, style.getPropertyValue('--grey'), style.getPropertyValue('--panel'));
    on.textAlign = 'right';
    label(on, `${digits(low, 3)} to ${digits(high, 3)}${unit}`, w - inset, top + 11, style.getPropertyValue('--grey'), style.getPropertyValue('--panel'));
  }));
  to.strokeStyle = style.getPropertyValue('--ink');
  to.lineWidth = 1;
  to.beginPath();
  to.moveTo(Math.round(across(frame, w)) + 0.5, 0);
  to.lineTo(Math.round(across(frame, w)) + 0.5, height);
  to.stroke();
}

/* ---- time ---- */

function go(f, fast) {
  f = clamp(Math.round(f), 0, page.frames - 1);
  if (f === frame || Number.isNaN(f)) return;
  frame = f;
  if (!live || live.next === null) at('scrub').value = f; // else it is being dragged
  at('frame').value = f;
  at('of').textContent = `of ${page.frames - 1}` + (data.time ? `, ${data.time[f].toFixed(4)} s` : '');
  if (live) {
    const before = live.shown;
    live.step = f - live.from;
    live.from = f;
    live.ahead.clear();
    ++live.visit;
    live.pose = live.shown = null; // they were of the frame before
    ask();
    if (before) { showNumbers(); showSubtitle(); }
  }
  uploadContacts();
  drawCurves();
  showContact();
  if (!fast) showList();
  if (awaited()) { // the picture of the frame before stays for a moment: bodies without contacts would flicker
    clearTimeout(blank);
    blank = setTimeout(() => redraw(fast), 200);
  } else redraw(fast);
  if (!fast) remember();
}
let blank = 0;

/* To a frame by dragging. While the server computes one, the newest other waits: so each that is shown has its contacts. */
function scrub(f) {
  if (live && (wanted || (awaited() && !live.wanted))) live.next = f;
  else go(f, true);
}
function goOn() {
  if (!live || live.next === null || wanted || awaited()) return;
  go(live.next, true);
  live.next = null;
}

const PATIENCE = 1000; // ms that playing waits for the server's answer to one frame
let clock = 0, since = 0, wentAt = 0, listedAt = 0;
function play(on) {
  state.playing = on && page.frames > 1;
  at('play').textContent = state.playing ? '\u275A\u275A' : '\u25B6\uFE0E';
  at('play').setAttribute('aria-pressed', state.playing);
  if (!state.playing) { showList(); redraw(false); remember(); return; }
  if (frame === page.frames - 1) go(0, true);
  clock = data.time ? data.time[frame] : frame / 30;
  since = 0;
  requestAnimationFrame(tick);
}
function tick(now) {
  if (!state.playing) return;
  const first = data.time ? data.time[0] : 0, last = data.time ? data.time[page.frames - 1] : (page.frames - 1) / 30;
  clock += since ? Math.min((now - since) / 1000, 0.25) * state.speed : 0;
  since = now;
  if (live && (wanted || (awaited() && now - wentAt < PATIENCE))) { // the frame's own answer is drawn first; others are skipped
    requestAnimationFrame(tick);
    return;
  }
  if (clock > last) {
    if (!state.loop) { go(page.frames - 1, true); play(false); return; }
    clock = first;
  }
  let f = data.time ? frame : Math.floor(clock * 30 + 1e-6);
  if (data.time) {
    if (clock < data.time[f]) f = 0;
    while (f + 1 < page.frames && data.time[f + 1] <= clock) ++f;
  }
  if (f !== frame) wentAt = now;
  go(f, true);
  if (now - listedAt > 400) { listedAt = now; showList(); }
  requestAnimationFrame(tick);
}

/* ---- live: what the page's server computes ---- */

/* live.given      coefficients that the page was made with, of each kind of pairs
 * live.smoothing  those of the sliders
 * live.kind       the kind that the sliders are of; pairs of bodies have one
 * live.pose       of body 2, where it was moved or typed: 7 numbers; null: the frame's
 * live.shown      the last good answer for the frame by what was changed, which is drawn in place of the loaded one; null
 * live.kept       answers for frames as they were loaded, by frame, those that were looked at longest ago first
 * live.held       their bytes, at most live.room and one answer
 * live.wanted     the newest request for the frame, which is not sent yet; older ones are forgotten
 * live.asked      that which is being answered; null
 * live.next       the frame to which scrubbing has gone meanwhile; null
 * live.from, step the frame, and by how many it came from the one before
 * live.ahead      frames that were answered ahead of their time since the page went to its frame: where they cannot all be kept,
 *                 none is asked for twice
 * live.visit      counts the frames that the page went to, and resets
 * live.curve      frames below it have their curves
 * live.chunk      frames of which curves are asked for at once
 * live.careful    frames below it are asked for one by one: among them is one that was refused
 * live.gaps       frames whose curves were refused
 * live.refusals   how many were one after another
 * live.gone       no server answers */
const changed = () => live.pose !== null || at('reduction').value !== '' || JSON.stringify(live.smoothing) !== JSON.stringify(live.given);
/* Whether the frame that is shown waits for the server. */
const awaited = () => !!live && !live.gone && !!(live.wanted || (live.asked && live.asked.frame === frame));

/* What the sliders say, as a request has it: of a scene the kinds alone that were changed. */
function smoothingNow() {
  if (!page.scene) return live.smoothing[0];
  return Object.fromEntries(live.smoothing.map((s, i) => [i, s]).filter(([i, s]) => JSON.stringify(s) !== JSON.stringify(live.given[i])));
}

function ask() {
  if (!live) return;
  const pose2 = page.scene ? null : live.pose || loadedPlace(1, frame), places = page.scene ? true : loadedPlace(0, frame) && pose2;
  at('pose').value = pose2 ? pose2.map(x => digits(x, 7)).join(', ') : '';
  live.wanted = live.next = null;
  live.idle = performance.now();
  if (live.gone || !changed() || !places) { refuse(''); show(null); }
  if (live.gone || !places) return;
  const body = {threshold: page.threshold}; // in the order of the early one
  if (live.pose) Object.assign(body, {pose1: loadedPlace(0, frame), pose2});
  else body.frame = frame;
  if (changed()) live.wanted = {frame, visit: live.visit, changed: true, body: {...body, smoothing: smoothingNow(), reduction: at('reduction').value || undefined}};
  else if (!live.kept.has(frame)) live.wanted = {frame, body};
  else live.kept.set(frame, taken(frame)); // the last one to be forgotten
  send();
}
function taken(f) {
  const made = live.kept.get(f);
  live.kept.delete(f);
  return made;
}

/* What is asked next: for the frame, for those that come to be shown soon, for curves; null: nothing now. */
function nextRequest() {
  if (live.wanted) {
    live.asked = live.wanted;
    live.wanted = null;
    return live.asked;
  }
  if (document.hidden) return null;
  for (let k = 1; !changed() && k <= AHEAD && Math.abs(live.step) <= 10; ++k) {
    const f = frame + k * (live.step || 1);
    if (f >= 0 && f < page.frames && !live.kept.has(f) && !live.ahead.has(f)) return {frame: f, ahead: true, body: {frame: f, threshold: page.threshold}};
  }
  if (!state.playing && performance.now() - live.idle < QUIET) return null;
  return curvesRequest();
}
const AHEAD = 4, QUIET = 250; // frames; ms without a wish, after which curves are computed

/* Whether the course of the picked contact is wanted: it is of the slots that the page was loaded with, and so must the contact be. */
const isFollowed = () => !!(course && state.picked && course.next < page.frames && layoutOf(NOTHING, state.picked.pair) === state.picked.layout);

/* The course of the contact that is picked, else the curves, from the first frame that has none of them. */
function curvesRequest() {
  const follows = isFollowed(), first = follows ? course.next : live.curve;
  if (first >= page.frames) return null;
  const count = Math.min(first < live.careful ? 1 : live.chunk, page.frames - first), body = {curves: [first, count], threshold: page.threshold};
  return {first, count, course: follows ? course : null, body: follows ? {...body, contact: [state.picked.pair, state.picked.slot]} : body};
}

function awake() {
  clearTimeout(waking);
  waking = setTimeout(send, QUIET + 10);
}
let waking = 0;

async function send() {
  if (live.busy) return;
  live.busy = true;
  for (let asked; !live.gone && (asked = nextRequest());) {
    const began = performance.now(), answer = await post(asked.body), isOwn = asked === live.asked;
    const gone = !answer && await isGone();
    live.asked = null;
    if (!answer) {
      if (gone) setGone(true);
      else if (isOwn && !asked.again) live.wanted = live.wanted || {...asked, again: true};
      else if (isOwn && !live.wanted) refuse('The server gave no answer to this.');
      else if (!isOwn) await pause(500); // it is asked for again, since the server is there
    } else if (answer.status === 409) { // another page of this server was newer
      if (isOwn) live.wanted = live.wanted || asked;
      else await pause(50);
    } else if (answer.status !== 200) {
      if (isOwn && !live.wanted) refuse(new TextDecoder().decode(answer.bytes));
      if (isOwn) redraw(true);
      live.step = asked.ahead ? Infinity : live.step; // none is asked for ahead of its time
      if (asked.body.curves) passOver(asked, new TextDecoder().decode(answer.bytes));
    } else try {
      if (asked.body.curves) takeCurves(asked, answer.bytes, performance.now() - began);
      else take(asked, answer.bytes);
    } catch (error) { // the page's own, which says nothing of the server
      refuse(`The answer cannot be shown: ${error.message}.`);
      console.error(error);
      if (!isOwn) live.step = Infinity;
      if (asked.body.curves) passOver(asked, error.message);
    }
    goOn();
  }
  live.busy = false;
  if (!live.gone && (live.curve < page.frames || isFollowed())) awake();
}

/* The answer to a request, whole; null: none came. */
async function post(body) {
  if (early && early.body === JSON.stringify(body)) {
    const {answer} = early;
    early = null;
    return answer;
  }
  try {
    const response = await fetch('contacts', {method: 'POST', body: JSON.stringify(body)});
    return {status: response.status, bytes: await response.arrayBuffer()};
  } catch { return null; }
}

const isAlive = async () => { try { return (await fetch('alive')).ok; } catch { return false; } };
const pause = ms => new Promise(done => setTimeout(done, ms));
/* One request may be lost, as where a network changes: a server that is gone does not answer a second one either. */
const isGone = async () => !await isAlive() && (await pause(500), !await isAlive());

/* Looks every two seconds whether the server answers, or does again. */
async function watch() {
  if (!live.busy && !document.hidden) {
    const gone = live.gone ? !await isAlive() : await isGone();
    if (gone !== live.gone) setGone(gone);
  }
  setTimeout(watch, 2000);
}

/* Reads an answer (docs/view.md). */
function contactsOf(asked, buffer) {
  const whole = new DataView(buffer), integer = i => whole.getUint32(4 + 4 * i, true), count = integer(1), flags = integer(11), pushes = integer(12);
  const numbers = Array.from({length: 10}, (_, i) => whole.getFloat64(56 + 8 * i, true)), {pose1, pose2, reduction} = asked.body;
  let next = 136;
  const array = (type, length) => { const a = new type(buffer, next, length); next += 4 * length; return a; };
  const made = {frame: asked.frame, none: 0xffffffff, share: {d: 1, n: 1, activity: 1}, least: activity => activity, bytes: buffer.byteLength,
    numbers: numbers.slice(0, 4), descent: flags & 1 ? numbers.slice(4).map(x => -x) : null, reduction};
  if (!page.scene) made.layout = Array.from({length: 9}, (_, i) => integer(2 + i));
  if (pose1) made.moved = [pose1, pose2].map(p => { const l = Math.hypot(...p.slice(3)); return p.map((x, i) => i < 3 ? x : x / l); });
  made.slot = array(Uint32Array, count);
  made.feature = array(Uint32Array, 2 * count);
  made.p = array(Float32Array, 3 * count);
  made.d = array(Float32Array, count);
  made.n = array(Float32Array, 3 * count);
  made.activity = array(Float32Array, count);
  if (flags & 2) made.pair = array(Uint32Array, count);
  if (flags & 4) made.force = array(Float32Array, 3 * count);
  if (pushes) made.pushes = array(Float32Array, pushes);
  for (let k = page.scene ? integer(2) : 0; k--;) { // kinds of other slots than the page's
    const [kind, ...layout] = array(Uint32Array, 10);
    made.layouts = {...made.layouts, [kind]: layout};
  }
  return made;
}

function take(asked, buffer) {
  const made = contactsOf(asked, buffer);
  ++live.answers;
  draw.crowd = Math.min(draw.crowd, Math.sqrt(Math.min(1, 48 / Math.max(made.slot.length, 1))));
  if (asked.changed) {
    if (!changed() || asked.visit !== live.visit) return; // what was asked for is not wanted any more; while a slider moves all are
    refuse('');
    show(made);
    return;
  }
  if (asked.ahead) live.ahead.add(asked.frame);
  scaleAnswer(made);
  keep(made);
  if (asked.frame === frame && !changed()) {
    refuse('');
    shownAnew();
  }
}

/* Keeps an answer, and forgets those that were looked at longest ago; never that of the frame that is shown. */
function keep(made) {
  live.held += made.bytes - (live.kept.has(made.frame) ? taken(made.frame).bytes : 0);
  live.kept.set(made.frame, made);
  data.asked.forEach((curve, k) => { curve.values[made.frame] = made.numbers[k]; });
  for (const f of live.kept.keys()) {
    if (live.held <= live.room) break;
    if (f !== frame && f !== made.frame) live.held -= taken(f).bytes;
  }
}

function takeCurves(asked, buffer, ms) {
  const count = new DataView(buffer).getUint32(8, true), rows = new DataView(buffer).getUint32(12, true), all = new Float32Array(buffer, 16, rows * count);
  const own = data.asked.length, end = asked.first + count, row = k => all.subarray(k * count, (k + 1) * count);
  for (let k = 0; k < own; ++k) data.asked[k].values.set(row(k), asked.first);
  if (asked.course) {
    ['activity', 'd', 'normal', 'friction'].slice(0, rows - own).forEach((name, k) => asked.course[name].set(row(own + k), asked.first));
    asked.course.next = end;
  }
  live.refusals = 0;
  if (asked.first <= live.curve) live.curve = Math.max(live.curve, end);
  live.chunk = clamp(Math.round(live.chunk * (ms < 15 ? 2 : ms > 40 ? 0.5 : 1)), 1, 256); // a frame that is asked for waits for no more
  if (drawing) return;
  drawing = setTimeout(() => {
    drawing = 0;
    delete layers.curves;
    delete layers.course;
    drawCurves();
    if (state.picked) drawCourse();
  }, end >= page.frames ? 0 : 500);
}
let drawing = 0;

/* After a refusal of curves: their frames are asked for one by one, and one that is refused alone is a gap. Where many in a row
 * are, so is all that follows. */
function passOver(asked, why) {
  if (asked.count > 1) {
    live.careful = Math.max(live.careful, asked.first + asked.count);
    return;
  }
  const ends = ++live.refusals >= REFUSALS, next = ends ? page.frames : asked.first + 1;
  if (asked.course) asked.course.next = next;
  else live.curve = Math.max(live.curve, next);
  live.gaps.add(asked.first);
  at('gaps').hidden = false;
  at('gaps').textContent = `Curves have gaps: ${live.gaps.size} frame${live.gaps.size === 1 ? ' was' : 's were'} refused, the last one ${asked.first}` +
    `${ends ? ', and those behind it are not asked for' : ''}: ${why}`;
}
const REFUSALS = 32;

/* Draws an answer, or the page's own contacts. Other slots than before have other meanings. */
function show(made) {
  const before = live.shown;
  live.shown = made;
  showNumbers();
  if (made || before) shownAnew();
}
function shownAnew() {
  clearTimeout(blank);
  if (state.picked && from(frame) !== NOTHING && layoutOf(from(frame), state.picked.pair) !== state.picked.layout) state.picked = null;
  showSubtitle();
  uploadContacts();
  drawCurves();
  showContact();
  clearTimeout(listing);
  listing = setTimeout(showList, 200); // many answers a second have one list, which takes as long as the picture
  redraw(true);
}
let listing = 0;

function refuse(text) {
  at('refused').textContent = text;
  at('refused').hidden = !text;
}

function setGone(gone) {
  live.gone = gone;
  at('gone').hidden = !gone;
  for (const control of at('live').querySelectorAll('input, select, #reset')) control.disabled = gone;
  ask();
}

function showNumbers() {
  const s = live.shown;
  if (!s && !live.gone && changed()) { // its answer is not there yet, or was refused
    for (const row of at('numbers').rows) row.cells[1].textContent = '–';
    return;
  }
  const rows = s ? [[page.scene ? 'least_distance' : 'minimum_distance', `${digits(s.numbers[0], 5)} m`], ['activity_sum', digits(s.numbers[1], 5)]] : [];
  if (s && !page.scene) rows.push(['energy', `${digits(s.numbers[2], 5)} m²`]);
  if (s && s.descent) {
    if (!['activity', 'energy'].includes(s.reduction)) rows.push([s.reduction, `${digits(s.numbers[3], 5)} m`]);
    rows.push(['−gradient', vector(s.descent.slice(0, 3), 3)], ['its moment', vector(s.descent.slice(3), 3)]);
  }
  at('numbers').replaceChildren(...rows.map(([name, value]) => {
    const row = document.createElement('tr');
    for (const text of [name, value]) row.insertCell().textContent = text;
    return row;
  }));
}

/* What contacts push links with in this frame, where the page has it: [mover, force]. */
function forcesNow() {
  const out = [], {pushes} = from(frame);
  for (let m = 0; hasForces() && m < page.movers; ++m) {
    const first = !page.pushed ? 3 * (frame * page.movers + m) : page.pushed[m], force = Array.from((page.pushed ? pushes || [] : data.forces).slice(first, first + 3));
    if (force.length < 3 || first < 0) continue;
    if (force.every(Number.isFinite) && length(force) > 0) out.push([m, force]);
  }
  return out;
}

const hasForces = () => !!(data.forces || page.pushed);
/* A force that is drawn as long as a third of the scene: nine tenths of all that are not 0 are smaller; or a weight. Where a served
 * page has no weight it is the largest force of the frames that came. */
function usualForce() {
  if (page.weight > 0) return page.weight;
  const sizes = [data.forces, data.force].map(all => {
    const out = [];
    for (let i = 0; all && i < all.length; i += 3) out.push(length(all.subarray(i, i + 3)));
    return out.filter(size => size > 0).sort((a, b) => a - b);
  }).find(all => all.length);
  return sizes ? sizes[Math.floor(0.9 * (sizes.length - 1))] : 1e-9;
}
/* The largest of vectors behind one another in an array, from one up to another. */
function largest(all, first, end) {
  let most = 0;
  for (let i = 3 * first; i < 3 * end; i += 3) most = Math.max(most, length([all[i], all[i + 1], all[i + 2]]) || 0);
  return most;
}
const peaks = new Map(); // of each frame that came, what its contacts push with most
function scaleForces(f, force, first, end) {
  const most = force ? largest(force, first, end) : 0;
  if (!(most > 0)) return 0;
  peaks.set(f, most);
  if (peaks.size < 64 || peaks.size % 64 === 0) home.push = [...peaks.values()].sort((a, b) => a - b)[peaks.size >> 1] || 1;
  return most;
}
function scaleAnswer(made) {
  const most = scaleForces(made.frame, made.force, 0, made.slot.length);
  if (page.weight > 0) return;
  for (const first of page.pushed || []) if (first >= 0 && made.pushes) home.force = Math.max(home.force, length(made.pushes.slice(first, first + 3)) || 0);
  home.force = Math.max(home.force, most);
}

/* Arrows as [from, way, paint]: of a scene forces, from centres of mass; live minus the gradient by body 2's place, and by
 * its turns, from its origin. */
function arrowsNow() {
  if (live && live.shown && live.shown.descent) {
    const {descent} = live.shown, place = placeOf(bodies[1], frame);
    return [descent.slice(0, 3), descent.slice(3)].map((v, k) => [place, scaled(v, length(v) > 0 ? 0.4 * home.size / length(v) : 0), FORCES[k]]);
  }
  if (!state.forces) return [];
  return forcesNow().map(([m, force]) => {
    const long = Math.min(length(force) / home.force, 2) * 0.35 * home.size;
    return [apply(loadedPlace(m, frame), page.centres[m]), scaled(force, long / length(force)), FORCES[0]];
  });
}

function drawForces(matrix) {
  const arrows = arrowsNow(), {ratio} = markSizes();
  if (!arrows.length) return;
  fill(draw.force, arrows.map(([at, way]) => [at, way, 0, 0]));
  const u = use('arrow');
  gl.disable(gl.DEPTH_TEST);
  gl.uniformMatrix4fv(u.camera, false, matrix);
  gl.uniform2f(u.size, canvas.width, canvas.height);
  gl.uniform1f(u.reach, 1);
  gl.uniform1f(u.width, 3 * ratio);
  gl.uniform1f(u.alpha, 1);
  gl.bindVertexArray(draw.force.arrows);
  arrows.forEach(([, way, paint], k) => {
    if (!length(way)) return;
    gl.uniform4f(u.paint_all, ...paint, 1);
    gl.drawArrays(gl.TRIANGLES, 9 * k, 9);
  });
  gl.enable(gl.DEPTH_TEST);
}
const FORCES = [[0.02, 0.2, 0.8], [0.5, 0.05, 0.5]], PUSHES = [0.0, 0.33, 0.3];

/* The length of an arrow of what a contact pushes with: a fifth of the scene stands for the median of frames' largest forces. */
const pushLength = size => Math.min(size / home.push, 2) * 0.2 * home.size * 2 ** state.marks;
function pushesNow() {
  const s = from(frame);
  if (!state.pushes || !s.force) return [];
  return contactsNow().flatMap(i => {
    const force = forceOf(s, i), size = force ? length(force.vector) : 0;
    return size > 1e-3 * home.push ? [[Array.from(s.p.subarray(3 * i, 3 * i + 3)), scaled(force.vector, pushLength(size) / size), 0, 0]] : [];
  });
}

function drawPushes(matrix) {
  const rows = pushesNow(), {ratio} = markSizes();
  if (!rows.length) return;
  fill(draw.pushes, rows);
  gl.disable(gl.DEPTH_TEST);
  const u = use('arrow');
  gl.uniformMatrix4fv(u.camera, false, matrix);
  gl.uniform2f(u.size, canvas.width, canvas.height);
  gl.uniform1f(u.reach, 1);
  gl.uniform1f(u.width, 2.2 * ratio);
  gl.uniform1f(u.alpha, 1);
  gl.uniform4f(u.paint_all, ...PUSHES, 1);
  gl.bindVertexArray(draw.pushes.arrows);
  gl.drawArrays(gl.TRIANGLES, 0, 9 * rows.length);
  gl.enable(gl.DEPTH_TEST);
}

/* Moves body 2 with the pointer, by pixels, in the plane of the picture, or turns it about its origin. */
function moveBody(dx, dy, turns) {
  const typed = live.pose && live.pose.length === 7 && live.pose.every(Number.isFinite) && live.pose.slice(3).some(x => x);
  const now = typed ? live.pose : loadedPlace(1, frame);
  if (!now || live.gone) return;
  const {right, up} = axes(camera), pixel = 2 * halves()[1] * Math.max(project(now).depth, 0) / (canvas.clientHeight || 1);
  let next = now;
  if (turns) {
    const w = add(scaled(up, 0.008 * dx), scaled(right, 0.008 * dy)), angle = length(w) / 2, q = scaled(w, angle > 0 ? Math.sin(angle) / (2 * angle) : 0);
    next = [...now.slice(0, 3), ...behind([0, 0, 0, Math.cos(angle), ...q], [0, 0, 0, ...now.slice(3)]).slice(3)];
  } else next = [...add(now, add(scaled(right, dx * pixel), scaled(up, -dy * pixel))), ...now.slice(3)];
  live.pose = next.map(x => +x.toPrecision(7)); // as it is shown, and copied
  ask();
}

function copyText(text) {
  at('copiedLive').value = text;
  at('copiedLive').hidden = false;
  copyFrom(at('copiedLive'));
}

/* Coefficients that may be 0, which is off; those that are linear, with the least, the most and the step; the words of a choice. */
const OFF = ['inset'], WORDS = {select: ['softsort', 'gate'], edge_contacts: ['pairs', 'field']};
const LINEAR = {floor: [0, 0.5, 0.01], trace: [0, 64, 1], tilt: [0.01, 0.5, 0.01], slope: [0, 1, 0.01], samples: [1, 64, 1]};

/* A slider is logarithmic, a hundred steps a factor of ten, and has in its middle the coefficient that the page was made
 * with (the penetration in place of 0). */
function sliderOf(key) {
  const label = document.createElement('label'), name = document.createElement('span'), slider = document.createElement('input'), output = document.createElement('output');
  const linear = LINEAR[key], base = given()[key] || given().penetration, middle = Math.log10(base), steps = 200;
  const off = OFF.includes(key), valueAt = x => x <= -steps && off ? 0 : x === 0 ? base : +(10 ** (middle + x / 100)).toPrecision(4);
  label.className = 'slide number';
  name.textContent = name.title = key;
  slider.type = 'range';
  if (linear) Object.assign(slider, {min: linear[0], max: linear[1], step: linear[2]});
  else Object.assign(slider, {min: -steps, max: steps, step: 1});
  slider.setAttribute('data-key', key);
  const put = () => {
    const x = smoothing()[key];
    slider.value = linear ? x : x > 0 ? 100 * (Math.log10(x) - middle) : -steps;
    output.textContent = off && x === 0 ? 'off' : digits(x, 4);
  };
  slider.oninput = () => {
    smoothing()[key] = linear ? +slider.value : valueAt(+slider.value);
    output.textContent = off && smoothing()[key] === 0 ? 'off' : digits(smoothing()[key], 4);
    ask();
  };
  label.append(name, slider, output);
  return {label, put};
}

function choiceOf(key) {
  const label = document.createElement('label'), flag = typeof given()[key] === 'boolean', box = document.createElement(flag ? 'input' : 'select');
  if (flag) box.type = 'checkbox';
  else box.append(...WORDS[key].map(word => new Option(word, word)));
  box.setAttribute('data-key', key);
  box.onchange = () => { smoothing()[key] = flag ? box.checked : box.value; ask(); };
  label.append(...flag ? [box, ` ${key}`] : [`${key} `, box]);
  return {label, put: () => { if (flag) box.checked = smoothing()[key]; else box.value = smoothing()[key]; }};
}

/* How many edges or vertices of each body are kept; 0: all. */
function countsOf(key) {
  const label = document.createElement('div');
  label.append(`kept ${key} `);
  const boxes = [0, 1].map(side => {
    const box = document.createElement('input');
    Object.assign(box, {type: 'number', min: 0, step: 1, title: 'a whole number; 0: all'});
    box.setAttribute('data-key', `${key}${side + 1}`);
    box.setAttribute('aria-label', `kept ${key} of ${ofKind(live.kind)[side].name}`);
    box.onchange = () => { smoothing()[key][side] = box.value === '' ? 0 : +box.value; ask(); };
    label.append(box, ' ');
    return box;
  });
  return {label, put: () => boxes.forEach((box, side) => { box.value = smoothing()[key][side]; })};
}

const given = () => live.given[live.kind], smoothing = () => live.smoothing[live.kind];
/* The bodies of the first pair of a kind. */
const ofKind = kind => page.pairs.find(p => (p.kind || 0) === kind).bodies.map(b => bodies[b]);

let putSliders = () => {};
function makeSliders() {
  const rows = Object.keys(given()).map(key => Array.isArray(given()[key]) ? countsOf(key) : typeof given()[key] === 'number' ? sliderOf(key) : choiceOf(key));
  putSliders = () => { for (const row of rows) row.put(); };
  at('coefficients').replaceChildren(...rows.map(row => row.label));
  putSliders();
}

/* Kinds of pairs of a scene, by their first one, and how many more there are. */
function makeKinds() {
  at('kinds').hidden = live.given.length < 2;
  at('kind').replaceChildren(...live.given.map((_, kind) => {
    const more = page.pairs.filter(p => p.kind === kind).length - 1;
    return new Option(ofKind(kind).map(nameOf).join(' – ') + (more > 0 ? ` and ${more} more` : ''), kind);
  }));
  at('kind').onchange = () => { live.kind = +at('kind').value; makeSliders(); };
}

function makeLive() {
  const loaded = page.live.smoothing.map(text => JSON.parse(text)), copyOf = x => JSON.parse(JSON.stringify(x));
  live = {given: loaded, smoothing: copyOf(loaded), kind: 0, pose: null, shown: null, kept: new Map(), held: 0, room: 32 << 20, wanted: null, asked: null, next: null,
    from: begunAt(), step: 0, ahead: new Set(), visit: 0, idle: 0, curve: data.asked.length ? 0 : page.frames, chunk: 4, careful: 0, gaps: new Set(), refusals: 0, busy: false, gone: false, answers: 0};
  setTimeout(watch, 2000);
  at('live').hidden = !loaded.length;
  if (!loaded.length) return; // no contacts, no sliders
  for (const part of at('live').querySelectorAll('[data-of="pair"]')) part.hidden = !!page.scene;
  makeKinds();
  makeSliders();
  at('reset').onclick = () => { ++live.visit; live.smoothing = copyOf(loaded); live.pose = null; at('reduction').value = ''; putSliders(); ask(); };
  at('copySmoothing').onclick = () => copyText(JSON.stringify(smoothing(), null, 1));
  if (page.scene) return;
  at('posed').textContent = `pose of ${bodies[1].name}: x, y, z, qw, qx, qy, qz`;
  at('pose').onchange = () => { live.pose = at('pose').value.trim().split(/[\s,]+/).map(Number); ask(); };
  at('reduction').onchange = ask;
  at('copyPose').onclick = () => copyText(JSON.stringify({pose1: loadedPlace(0, frame), pose2: live.pose || loadedPlace(1, frame)}, null, 1));
  KEYS.push(['G', `drags move ${bodies[1].name}; with Shift or the right button they turn it`]);
  press.g = () => { at('move').checked = !at('move').checked; };
}

/* ---- the address ---- */

let known = '', later = 0;
function remember() {
  clearTimeout(later);
  later = setTimeout(() => {
    const c = [camera.azimuth, camera.elevation, camera.distance, ...camera.target].map(x => digits(x, 6)).join(',');
    known = `#frame=${frame}&camera=${c}&threshold=${digits(state.threshold, 3)}` +
      (state.picked ? `&contact=${state.picked.pair}.${state.picked.slot}` : '');
    try { history.replaceState(null, '', known); } catch { /* a page within another has no address of its own */ }
  }, 200);
}
function recall() {
  if (location.hash === known) return;
  const words = new URLSearchParams(location.hash.slice(1)), numbers = (words.get('camera') || '').split(',').map(Number);
  if (numbers.length === 6 && numbers.every(Number.isFinite) && numbers[2] > 0)
    camera = {azimuth: numbers[0], elevation: clamp(numbers[1], -Math.PI / 2, Math.PI / 2), distance: numbers[2], target: numbers.slice(3)};
  if (words.has('threshold')) setThreshold(Number(words.get('threshold')));
  const picked = /^(\d+)\.(\d+)$/.exec(words.get('contact') || '');
  if (picked && +picked[1] < page.pairs.length) state.picked = {pair: +picked[1], slot: +picked[2], layout: layoutOf(from(frame), +picked[1])};
  course = null;
  if (/^\d+$/.test(words.get('frame') || '')) go(+words.get('frame'));
  showContact();
  showList();
  redraw(false);
}

/* ---- controls ---- */

function setThreshold(x) {
  state.threshold = clamp(Number.isFinite(x) ? x : page.threshold, page.threshold, 1);
  at('threshold').value = state.threshold;
  at('threshold').parentElement.querySelector('output').textContent = state.threshold.toFixed(3);
  if (frame >= 0) { uploadContacts(); showList(); moved(); }
}

const isDark = () => document.documentElement.dataset.theme === 'dark';
function setTheme(name) {
  state.theme = name;
  const dark = name ? name === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  draw.ground = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).map(x => x / 255);
  at('theme').title = `Light, dark, or as the system has it (T): ${name || 'system'}`;
  if (frame >= 0) { uploadContacts(); drawCurves(); showContact(); redraw(false); }
}
const nextTheme = () => setTheme({'': 'light', light: 'dark', dark: ''}[state.theme]);

function bodyRow(b) {
  const row = document.createElement('div'), check = document.createElement('input'), swatch = document.createElement('i');
  const name = document.createElement('span'), alpha = document.createElement('input');
  row.className = 'body';
  check.type = 'checkbox';
  check.checked = true;
  check.setAttribute('aria-label', `show ${nameOf(b)}`);
  check.onchange = () => { b.visible = check.checked; redraw(false); };
  swatch.style.background = css(b.floor ? FLOOR : PAINTS[b.paint % PAINTS.length]);
  name.textContent = name.title = nameOf(b) + (meshes[b.mesh].zero_set ? ' (surface of its field)' : '');
  Object.assign(alpha, {type: 'range', min: 0.1, max: 1, step: 0.05, value: 1, title: 'opacity'});
  alpha.setAttribute('aria-label', `opacity of ${nameOf(b)}`);
  alpha.oninput = () => { b.alpha = +alpha.value; redraw(true); };
  row.append(check, swatch, name, alpha);
  b.controls = {check, alpha};
  return row;
}

/* X: all bodies solid, glassy, gone. */
function nextBodies() {
  const to = !bodies[0].visible ? [true, 1] : bodies[0].alpha === 1 ? [true, 0.35] : [false, 1];
  for (const b of bodies) {
    [b.visible, b.alpha] = to;
    b.controls.check.checked = to[0];
    b.controls.alpha.value = to[1];
  }
  redraw(false);
}

function step(list, by) {
  const sorted = byActivity(contactsNow()), now = sorted.indexOf(pickedNow());
  if (sorted.length) pick(sorted[now < 0 ? 0 : (now + by + sorted.length) % sorted.length]);
}

const rotate = (dx, dy) => {
  camera.azimuth = (camera.azimuth - dx) % (2 * Math.PI);
  camera.elevation = clamp(camera.elevation + dy, -Math.PI / 2, Math.PI / 2);
  moved();
};
function pan(dx, dy) { // pixels
  const {right, up} = axes(camera), pixel = 2 * halves()[1] * camera.distance / (canvas.clientHeight || 1);
  camera.target = add(camera.target, add(scaled(right, -dx * pixel), scaled(up, dy * pixel)));
  moved();
}
function zoom(factor, x, y) { // towards a place of the page
  const before = camera.distance, {right, up} = axes(camera), [hx, hy] = halves();
  camera.distance = clamp(before * factor, 1e-3 * home.size, 100 * home.size);
  const change = before - camera.distance, u = (2 * x / (canvas.clientWidth || 1) - 1) * hx, v = (1 - 2 * y / (canvas.clientHeight || 1)) * hy;
  camera.target = add(camera.target, add(scaled(right, u * change), scaled(up, v * change)));
  moved();
}
function centerPicked() {
  const i = pickedNow();
  if (i < 0) return;
  camera.target = contactOf(i).p;
  camera.distance = Math.min(camera.distance, 0.9 * home.size);
  moved();
}

const KEYS = [['space', 'play, stop'], ['left, right; with Shift', 'one frame; ten'], ['Home, End', 'first, last frame'],
  ['[ ]', 'slower, faster'], ['L', 'loop'], ['N, P', 'next, previous contact by activity'], ['Escape', 'deselect'], ['C', 'copy the contact as JSON'],
  ['.', 'look at the contact'], ['0, 1, 2, 3; with Shift', 'view from a corner, along x, y, z; from behind'], ['F', 'show everything'],
  ['W A S D', 'turn'], ['arrows with Ctrl', 'move the view'], ['+ −', 'zoom'], ['X', 'bodies solid, glassy, hidden'], ['M', 'contact meshes'],
  ['B, V, O, K', 'contacts, normals, forces on links, of contacts'], ['T', 'light, dark, system'], ['drag; with Shift or the right button', 'turn; move the view'], ['wheel, two fingers', 'zoom, move']];

const speedBy = by => {
  const s = at('speed');
  s.selectedIndex = clamp(s.selectedIndex + by, 0, s.options.length - 1);
  state.speed = +s.value;
};
const toggle = name => { at(name).checked = state[name] = !state[name]; redraw(false); };
const press = {
  ' ': () => play(!state.playing), Home: () => go(0), End: () => go(page.frames - 1),
  ArrowLeft: e => e.ctrlKey ? pan(30, 0) : go(frame - (e.shiftKey ? 10 : 1)), ArrowRight: e => e.ctrlKey ? pan(-30, 0) : go(frame + (e.shiftKey ? 10 : 1)),
  ArrowUp: e => e.ctrlKey && pan(0, 30), ArrowDown: e => e.ctrlKey && pan(0, -30),
  '[': () => speedBy(-1), ']': () => speedBy(1), l: () => { at('loop').checked = state.loop = !state.loop; },
  n: () => step(null, 1), p: () => step(null, -1), Escape: () => pick(-1), c: copyJson, '.': centerPicked,
  f: () => { camera = fitCamera(camera.azimuth, camera.elevation); moved(); }, x: nextBodies, m: () => toggle('wires'), b: () => toggle('balls'),
  v: () => toggle('normals'), o: () => hasForces() && toggle('forces'), k: () => hasForces() && toggle('pushes'), t: nextTheme, '?': () => at('help').showModal(), w: () => rotate(0, 0.08), s: () => rotate(0, -0.08),
  a: () => rotate(-0.08, 0), d: () => rotate(0.08, 0), '+': () => zoom(0.9, canvas.clientWidth / 2, canvas.clientHeight / 2),
  '=': () => zoom(0.9, canvas.clientWidth / 2, canvas.clientHeight / 2), '-': () => zoom(1 / 0.9, canvas.clientWidth / 2, canvas.clientHeight / 2)};

function onKey(e) {
  const tag = e.target.tagName, kind = e.target.type;
  const typing = tag === 'TEXTAREA' || tag === 'SELECT' || (tag === 'INPUT' && (kind === 'number' || kind === 'text')), digit = /^Digit([0-3])$/.exec(e.code);
  if (e.altKey || e.metaKey || (e.ctrlKey && !e.key.startsWith('Arrow')) || typing || at('help').open) return;
  if (tag === 'INPUT' && kind === 'range' && /^(Arrow|Home|End)/.test(e.key) && e.target.id !== 'scrub') return;
  if ((tag === 'BUTTON' || tag === 'SUMMARY' || kind === 'checkbox') && e.key === ' ') return;
  const action = digit ? () => look(['iso', 'x', 'y', 'z'][digit[1]], e.shiftKey) : press[e.key] || press[e.key.toLowerCase()];
  if (!action) return;
  action(e);
  e.preventDefault();
}

function listenToPointers() {
  const down = new Map();
  let start = null, travelled = 0, gap = 0, middle = null;
  const both = () => {
    const [a, b] = [...down.values()];
    return {gap: Math.hypot(a.x - b.x, a.y - b.y), middle: {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2}};
  };
  const place = e => { const r = canvas.getBoundingClientRect(); return {x: e.clientX - r.left, y: e.clientY - r.top}; };
  canvas.addEventListener('pointerdown', e => {
    canvas.focus({preventScroll: true});
    canvas.setPointerCapture(e.pointerId);
    down.set(e.pointerId, place(e));
    if (down.size === 1) { start = place(e); travelled = 0; }
    if (down.size === 2) ({gap, middle} = both());
  });
  canvas.addEventListener('pointermove', e => {
    const before = down.get(e.pointerId), now = place(e);
    if (!before) return;
    const dx = now.x - before.x, dy = now.y - before.y;
    down.set(e.pointerId, now);
    travelled = Math.max(travelled, Math.hypot(now.x - start.x, now.y - start.y), down.size > 1 ? 9 : 0);
    if (down.size === 2) {
      const next = both();
      pan(next.middle.x - middle.x, next.middle.y - middle.y);
      if (gap > 0 && next.gap > 0) zoom(gap / next.gap, next.middle.x, next.middle.y);
      ({gap, middle} = next);
    } else if (travelled > 4) {
      if (live && at('move').checked) moveBody(dx, dy, e.shiftKey || e.buttons & 6);
      else if (e.shiftKey || e.buttons & 6) pan(dx, dy);
      else rotate(dx * 0.008, dy * 0.008);
    }
  });
  const up = e => {
    if (down.delete(e.pointerId) && e.type === 'pointerup' && !down.size && travelled <= 4 && e.button === 0) pick(pickAt(start.x, start.y));
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('contextmenu', e => e.preventDefault());
  canvas.addEventListener('wheel', e => {
    e.preventDefault();
    const now = place(e);
    zoom(Math.exp(clamp(e.deltaY * (e.deltaMode ? 16 : 1), -200, 200) * 0.0015), now.x, now.y);
  }, {passive: false});
  canvas.addEventListener('dblclick', () => { const i = pickedNow(); if (i >= 0) centerPicked(); });
  const curves = at('curves'), to = e => (e.type === 'pointermove' ? scrub : go)((e.offsetX - inset) / ((curves.clientWidth || 1) - 2 * inset) * (page.frames - 1));
  curves.addEventListener('pointerdown', e => { curves.setPointerCapture(e.pointerId); play(false); to(e); });
  curves.addEventListener('pointermove', e => { if (e.buttons) to(e); });
  curves.addEventListener('pointerup', () => { showList(); remember(); });
}

function listen() {
  for (const button of document.querySelectorAll('[data-view]')) button.onclick = e => look(button.dataset.view, e.shiftKey);
  at('fit').onclick = () => press.f();
  at('theme').onclick = nextTheme;
  at('about').onclick = () => at('help').showModal();
  at('play').onclick = () => play(!state.playing);
  at('first').onclick = () => go(0);
  at('last').onclick = () => go(page.frames - 1);
  at('back').onclick = () => go(frame - 1);
  at('next').onclick = () => go(frame + 1);
  at('loop').onchange = () => { state.loop = at('loop').checked; };
  at('speed').onchange = () => { state.speed = +at('speed').value; };
  at('scrub').oninput = () => scrub(+at('scrub').value);
  at('scrub').onchange = () => { showList(); remember(); };
  at('frame').onchange = () => { if (at('frame').value !== '') go(+at('frame').value); at('frame').value = frame; };
  at('threshold').oninput = () => setThreshold(+at('threshold').value);
  at('marks').oninput = () => { state.marks = +at('marks').value; showMarks(); showForces(); redraw(true); };
  for (const name of ['balls', 'normals', 'wires', 'forces', 'pushes']) at(name).onchange = () => { state[name] = at(name).checked; redraw(false); };
  at('copy').onclick = copyJson;
  at('center').onclick = centerPicked;
  at('drop').onclick = () => pick(-1);
  at('help').querySelector('tbody').replaceChildren(...KEYS.map(pair => {
    const row = document.createElement('tr');
    for (const text of pair) row.insertCell().textContent = text;
    return row;
  }));
  document.addEventListener('keydown', onKey);
  addEventListener('hashchange', recall);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => state.theme || setTheme(''));
  new ResizeObserver(() => { drawCurves(); if (state.picked) drawCourse(); redraw(false); }).observe(at('stage'));
  canvas.addEventListener('webglcontextlost', e => { e.preventDefault(); say('The browser has taken the picture away; reload the page'); });
  listenToPointers();
}
const showMarks = () => { at('marks').parentElement.querySelector('output').textContent = `×${(2 ** state.marks).toFixed(1)}`; };

function showSubtitle() {
  const slots = page.pairs.length === 1 ? `, ${(from(frame).layout || page.pairs[0].layout)[0]} slots` : '';
  at('title').querySelector('p').textContent = `${page.frames} frame${page.frames === 1 ? '' : 's'}${slots}, contacts from ${digits(page.threshold, 3)}; abut ${page.abut}`;
}

function describe() {
  const names = page.scene ? [...new Set(bodies.filter(b => !b.floor).map(b => b.link))] : bodies.map(b => b.name);
  const title = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(page.scene ? ', ' : ' and ');
  document.title = `${title} – abut view`;
  at('title').querySelector('h1').textContent = title;
  showSubtitle();
  at('ramp').style.background = `linear-gradient(to right, ${Array.from({length: 17}, (_, i) => css(ramp(i / 16))).join(', ')})`;
  at('bodies').replaceChildren(...bodies.map(bodyRow));
  at('time').hidden = page.frames < 2;
  at('forces').parentElement.hidden = at('pushes').parentElement.hidden = !hasForces();
  at('pushed').hidden = !hasForces() && !page.unforced;
  if (page.unforced) at('unforced').textContent = `Forces are not shown: ${page.unforced}.`;
  at('scrub').max = at('frame').max = page.frames - 1;
  at('threshold').min = page.threshold;
  showMarks();
}

async function begin() {
  if (!gl) { fallBack('This browser has no WebGL 2, by which the page would draw.'); return; }
  for (const name of ['mesh', 'ball', 'arrow']) beginProgram(name);
  read(await unpacked);
  document.documentElement.classList.add('live');
  draw = makeDrawing();
  setTheme('');
  let most = 1;
  for (let f = 0; data.starts && f < page.frames; ++f) most = Math.max(most, data.starts[f + 1] - data.starts[f]);
  draw.crowd = Math.sqrt(Math.min(1, 48 / most));
  const points = framedPoints(), span = [0, 1, 2].map(k => Math.max(...points.map(p => p[k])) - Math.min(...points.map(p => p[k])));
  const size = Math.max(length(span) / 2, 1e-9), unit = 10 ** Math.floor(Math.log10(size / 2));
  home = {points, size, force: usualForce(), push: 1, tile: unit * (size / 2 / unit < 2 ? 1 : size / 2 / unit < 5 ? 2 : 5)};
  for (let f = 0; data.force && f < page.frames; ++f) scaleForces(f, data.force, data.starts[f], data.starts[f + 1]);
  describe();
  camera = fitCamera(...VIEWS.iso);
  setThreshold(page.threshold);
  if (page.live) makeLive();
  listen();
  go(begunAt());
  if (location.hash.length > 1) recall();
  if (awaited()) return; // what is drawn first has its contacts, or comes after a moment without
  drawScene(true); // with few samples, which comes sooner; then at rest
  redraw(true);
  ready();
}

/* For tests and for whoever has the page in hand: what it shows, as it shows it. */
window.abutView = {state, frame: () => frame, forces: forcesNow, pushes: pushesNow, scale: () => home.force, course: () => course && {normal: [...course.normal], d: [...course.d]}, contacts: () => contactsNow().map(i => contactOf(i)), project, ramp: a => ramp(a).map(shown),
  camera: () => camera, radius: () => { const {radius, least, ratio} = markSizes(); return {radius, least: least / ratio}; },
  draw: fast => { const start = performance.now(); drawScene(fast); gl.bindFramebuffer(gl.FRAMEBUFFER, null); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); return performance.now() - start; },
  live: () => live && {smoothing: live.smoothing[live.kind], answers: live.answers, busy: !!(live.wanted || live.asked || live.next !== null), gone: live.gone, curve: live.curve, course: course && course.next,
    held: live.held, kept: [...live.kept.keys()], room: bytes => { live.room = bytes || live.room; return live.room; }, shown: live.shown && {frame: live.shown.frame, descent: live.shown.descent}},
  resting: () => !wanted && !rest, kindOf: pair => page.pairs[pair].kind, turn: rotate, json: contactJson, solid: () => bodies.every(b => b.visible && b.alpha === 1)};

begin().catch(error => { fallBack(`The page cannot be shown: ${error.message}.`); console.error(error); });
})();
