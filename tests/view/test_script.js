/* The script of the page of `abut view`, without a browser: test_script.js PAGE.js PART.js...
 *
 * Each part by itself, and all of them joined, are JavaScript; joined, they begin without a constant that is not there yet. */
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

async function main() {
  isSyntax();
  await begins();
  console.log('2 passed, 0 failed');
}

main();
