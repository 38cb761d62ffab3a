/* Contact forces as arrows and as numbers. */

/* Contact forces on links in this frame, if the page has them: [mover, force]. */
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
/* The force whose arrow is as long as a third of the scene. Nine tenths of all forces that are not 0 are smaller. On a served page
 * it is a weight, or without weight the largest force of the frames received. */
function usualForce() {
  if (page.weight > 0) return page.weight;
  const sizes = [data.forces, data.force].map(all => {
    const out = [];
    for (let i = 0; all && i < all.length; i += 3) out.push(length(all.subarray(i, i + 3)));
    return out.filter(size => size > 0).sort((a, b) => a - b);
  }).find(all => all.length);
  return sizes ? sizes[Math.floor(0.9 * (sizes.length - 1))] : 1e-9;
}
const peaks = new Map(); // the largest contact force of each frame received
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

/* Arrows as [from, way, paint]. For a scene they are forces at centres of mass. Live they are minus the gradients with respect to body 2's position
 * and rotation, at its origin. */
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

/* The length of a contact force's arrow. A fifth of the scene is the median of the frames' largest forces. */
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

const FORCES_LISTED = 8;
/* The largest forces of this frame, in numbers. */
function showForces() {
  if (!hasForces()) return;
  const all = forcesNow().sort((a, b) => length(b[1]) - length(a[1])), size = x => `${digits(x, 3)} m`;
  at('unforced').textContent = `Arrows: ${digits(home.force, 3)} N on a link are ${size(0.35 * home.size)}` +
    (peaks.size ? `, ${digits(home.push, 3)} N of a contact ${size(pushLength(home.push))}.` : '.') +
    (page.springs ? ' Springs are between whole clouds of points: there are no single contacts.' : '');
  at('pushedRows').replaceChildren(...all.slice(0, FORCES_LISTED).map(([m, force]) => {
    const row = document.createElement('tr'), b = bodies.find(x => x.mover === m), size = length(force);
    const along = force.map(x => Math.abs(x) < 1e-4 * size ? 0 : x); // rounding errors
    putNames(row.insertCell(), b ? b.link || b.name : `link ${m}`);
    for (const text of [`${digits(size, 4)} N`, vector(along, 3)]) row.insertCell().textContent = text;
    return row;
  }));
  at('pushedTitle').textContent = all.length > FORCES_LISTED ? `Forces of contacts (the ${FORCES_LISTED} largest of ${all.length})` : 'Forces of contacts';
}
