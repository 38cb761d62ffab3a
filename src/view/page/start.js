/* The page of `abut view`, and the work that starts while the browser still compiles the shaders.
 * Its data is a JSON object, followed by arrays (src/view/page.h). Only a served page makes requests (docs/view.md).
 * Lengths are in metres. Matrices and vectors are arrays. A place is a pose: x, y, z, qw, qx, qy, qz. */

const at = id => document.getElementById(id);
const page = JSON.parse(at('object').textContent);
/* Requests the first frame before anything is unpacked or drawn. */
const begunAt = () => { const f = /[#&]frame=(\d+)/.exec(location.hash); return Math.min(f ? +f[1] : page.first, page.frames - 1); };
let early = null;
if (page.live) { const body = {threshold: page.threshold, frame: begunAt()}; early = {body: JSON.stringify(body), answer: post(body)}; }

const unpacked = inflate(at('arrays').textContent); // while the browser compiles the shaders
