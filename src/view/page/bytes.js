/* Decodes numbers from bytes: the page's arrays, and the server's answers. */

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

/* WIRE is src/view/page/wire.h, from which the C code is made, too. */
const TYPES = Object.fromEntries(WIRE.TYPES.map(([, name, , type]) => [name, globalThis[type]]));

/* Rows are stored as planes of their bytes. */
function arrayOf(bytes, name) {
  const a = page.arrays[name];
  if (!a) return null;
  const type = TYPES[a.type], width = a.columns * type.BYTES_PER_ELEMENT, out = new Uint8Array(a.rows * width);
  for (let k = 0; k < width; ++k)
    for (let i = 0, from = a.at + k * a.rows; i < a.rows; ++i) out[i * width + k] = bytes[from + i];
  return new type(out.buffer);
}

/* Reads the arrays of an answer, from a byte on, by the names of a list. Also returns where they end. */
function fieldsOf(fields, at, bytes, read) {
  const out = {};
  for (const [name, count] of fields) {
    out[name] = Array.from({length: count}, (_, i) => read(at + bytes * i));
    at += bytes * count;
  }
  return {...out, end: at};
}
/* The 32-bit numbers at its beginning. */
function headOf(whole, fields) {
  const head = fieldsOf(fields, WIRE.MAGIC.length, 4, at => whole.getUint32(at, true));
  if (head.version[0] !== WIRE.VERSION) throw new Error(`it is of version ${head.version[0]}, and the page reads ${WIRE.VERSION}`);
  return head;
}

/* Reads an answer of contacts (docs/dev/view.md). */
function contactsOf(asked, buffer) {
  const whole = new DataView(buffer), {count: [count], layout, flags: [flags], pushes: [pushes], end} = headOf(whole, WIRE.FRAME_WHOLES);
  const reals = fieldsOf(WIRE.FRAME_REALS, end, 8, at => whole.getFloat64(at, true)), {pose1, pose2, reduction} = asked.body;
  let next = reals.end;
  const array = (type, length) => { const a = new TYPES[type](buffer, next, length); next += a.byteLength; return a; };
  const made = {frame: asked.frame, none: WIRE.NO_INDEX32, share: {d: 1, n: 1, activity: 1}, least: activity => activity, bytes: buffer.byteLength,
    numbers: reals.values, descent: flags & WIRE.HAS_GRADIENT ? reals.gradient.map(x => -x) : null, reduction};
  if (!page.scene) made.layout = layout;
  if (pose1) made.moved = [pose1, pose2].map(p => { const l = Math.hypot(...p.slice(3)); return p.map((x, i) => i < 3 ? x : x / l); });
  for (const [name, type, columns, flag] of WIRE.CONTACTS)
    if (!flag || flags & flag) made[name] = array(type, columns * count);
  if (pushes) made.pushes = array('f4', pushes);
  for (let k = page.scene ? layout[0] : 0; k--;) { // kinds whose slots differ from the page's
    const of = fieldsOf(WIRE.KIND_WHOLES, next, 4, at => whole.getUint32(at, true));
    made.layouts = {...made.layouts, [of.kind[0]]: of.layout};
    next = of.end;
  }
  return made;
}

/* Rows of curves over `count` frames. */
function curvesOf(buffer) {
  const {count: [count], rows: [rows], end} = headOf(new DataView(buffer), WIRE.CURVES_WHOLES), all = new Float32Array(buffer, end, rows * count);
  return {count, rows: Array.from({length: rows}, (_, k) => all.subarray(k * count, (k + 1) * count))};
}
