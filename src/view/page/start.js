/* The page of `abut view`, and what begins while the browser still makes what draws.
 * Its data is an object of JSON and arrays behind it (src/view/page.h); it makes no request, unless it is made for a server (docs/view.md).
 * Lengths are metres, matrices and vectors are arrays, a place is x, y, z, qw, qx, qy, qz. */

const at = id => document.getElementById(id);
const page = JSON.parse(at('object').textContent);
/* The first frame is asked for before anything is unpacked or drawn. */
const begunAt = () => { const f = /[#&]frame=(\d+)/.exec(location.hash); return Math.min(f ? +f[1] : page.first, page.frames - 1); };
let early = null;
if (page.live) { const body = {threshold: page.threshold, frame: begunAt()}; early = {body: JSON.stringify(body), answer: post(body)}; }

const unpacked = inflate(at('arrays').textContent); // while the browser makes what draws
