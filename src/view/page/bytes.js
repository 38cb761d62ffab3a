/* Numbers out of bytes: the page's arrays, and what its server answers. */

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
