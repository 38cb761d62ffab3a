/* The script of the page of `abut view`, without a browser: test_script.js PAGE.js PART.js...
 *
 * Each part by itself, and all of them joined, are JavaScript; joined, they begin without a constant that is not there yet.
 * What they read of bytes is what docs/dev/view.md says lies there. */
'use strict';
const assert = require('node:assert'), fs = require('node:fs'), vm = require('node:vm'), zlib = require('node:zlib');
const [joined, ...parts] = process.argv.slice(2), script = fs.readFileSync(joined, 'utf8');

function isSyntax() {
  for (const part of parts) new vm.Script(fs.readFileSync(part, 'utf8'), {filename: part});
}

/* As in a browser that draws nothing: the page says so, after all parts have run. */
async function begins() {
  const said = [], errors = [];
  const element = text => ({textContent: text, getContext: () => null});
  const document = {getElementById: id => element(id === 'arrays' ? zlib.deflateRawSync(Buffer.of(0)).toString('base64') : '{"threshold": 0.05, "frames": 1, "first": 0}'),
    createElement: () => ({}), body: {prepend: p => said.push(p.textContent)}, documentElement: {classList: {remove() {}}}};
  const window = {};
  vm.runInNewContext(script, {document, window, location: {hash: ''}, atob, Blob, DecompressionStream, Response, console: {error: e => errors.push(e)}}, {filename: joined});
  await new Promise(done => setTimeout(done, 0));
  assert.deepStrictEqual(errors, []);
  assert.strictEqual(said.length, 1);
  assert.match(said[0], /^This browser has no WebGL 2/);
  assert.strictEqual(window.abutView.frame(), -1);
}

/* Functions of bytes.js, for a page of which `page` is the object. */
function readers(page) {
  const wire = /^const WIRE = .*;$/m.exec(script)[0], part = parts.find(path => /[/\\]bytes\.js$/.test(path));
  return new Function('page', `${wire}\n${fs.readFileSync(part, 'utf8')}\nreturn {arrayOf, contactsOf, curvesOf};`)(page);
}

const words = numbers => Uint32Array.from(numbers), floats = numbers => Float32Array.from(numbers), reals = numbers => Float64Array.from(numbers);
const buffer = (...pieces) => Uint8Array.from(Buffer.concat([Buffer.from('abut'), ...pieces.map(a => Buffer.from(a.buffer))])).buffer;
const plain = made => Object.fromEntries(Object.entries(made).map(([name, x]) => [name, ArrayBuffer.isView(x) ? [...x] : x]));
/* Two contacts: slot, feature, p, d, n, activity. */
const two = [words([7, 9]), words([1, 0xffffffff, 3, 4]), floats([1, 2, 3, 4, 5, 6]), floats([-0.5, 0.25]), floats([0, 0, 1, 1, 0, 0]), floats([0.5, 1])];
const read = {slot: [7, 9], feature: [1, 0xffffffff, 3, 4], p: [1, 2, 3, 4, 5, 6], d: [-0.5, 0.25], n: [0, 0, 1, 1, 0, 0], activity: [0.5, 1]};

function readsPairs() {
  const layout = [40, 8, 9, 12, 13, 0, 8, 17, 29], {contactsOf} = readers({});
  const made = plain(contactsOf({frame: 5, body: {reduction: 'energy'}}, buffer(words([4, 2, ...layout, 1, 0]), reals([-0.5, 1.5, 2, 3, 1, 2, 3, 4, 5, 6]), ...two)));
  for (const [name, numbers] of Object.entries({...read, layout, frame: 5, none: 0xffffffff, numbers: [-0.5, 1.5, 2, 3], descent: [-1, -2, -3, -4, -5, -6]}))
    assert.deepStrictEqual(made[name], numbers, name);
  assert.ok(!('pair' in made || 'force' in made || 'pushes' in made || 'layouts' in made));
  assert.throws(() => contactsOf({body: {}}, buffer(words([5, 0, ...layout, 0, 0]), reals(Array(10).fill(0)))), /version 5/);
}

function readsWorlds() {
  const kinds = [[0, 9, 8, 7, 6, 5, 4, 3, 2, 1], [3, 1, 2, 3, 4, 5, 6, 7, 8, 9]];
  const made = plain(readers({scene: true}).contactsOf({frame: 0, body: {}}, buffer(words([4, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 6, 4]), reals([-0.5, 1.5, 0, 0, 0, 0, 0, 0, 0, 0]),
    ...two, words([2, 0]), floats([1, 0, 0, 0, 2, 0]), floats([9, 8, 7, 6]), words(kinds.flat()))));
  const layouts = {0: kinds[0].slice(1), 3: kinds[1].slice(1)};
  for (const [name, numbers] of Object.entries({...read, pair: [2, 0], force: [1, 0, 0, 0, 2, 0], pushes: [9, 8, 7, 6], layouts, descent: null}))
    assert.deepStrictEqual(made[name], numbers, name);
  assert.ok(!('layout' in made));
}

function readsCurves() {
  const {count, rows} = readers({}).curvesOf(buffer(words([4, 3, 2]), floats([1, 2, 3, 4, 5, 6])));
  assert.deepStrictEqual([count, rows.map(row => [...row])], [3, [[1, 2, 3], [4, 5, 6]]]);
}

/* Rows as planes of their bytes, wherever they begin. */
function readsArrays() {
  const {arrayOf} = readers({arrays: {d: {type: 'i2', rows: 3, columns: 1, at: 1}, slot: {type: 'u2', rows: 1, columns: 2, at: 7}}});
  const bytes = Uint8Array.of(99, 0x01, 0xff, 0x00, 0x00, 0xff, 0x80, 0x34, 0x12, 0xff, 0xff);
  assert.deepStrictEqual([...arrayOf(bytes, 'd')], [1, -1, -32768]);
  assert.deepStrictEqual([...arrayOf(bytes, 'slot')], [0x1234, 0xffff]);
  assert.strictEqual(arrayOf(bytes, 'none'), null);
}

async function main() {
  const checks = [isSyntax, begins, readsPairs, readsWorlds, readsCurves, readsArrays];
  for (const check of checks) await check();
  console.log(`${checks.length} passed, 0 failed`);
}

main();
