/* Vectors, and poses of bodies. */

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

function behind(a, b) { // composes poses: b is given in the frame of a
  const [w, x, y, z] = a.slice(3), [s, i, j, k] = b.slice(3);
  return [...apply(a, b), w * s - x * i - y * j - z * k, w * i + x * s + y * k - z * j, w * j - x * k + y * s + z * i,
    w * k + x * j - y * i + z * s];
}

/* The smallest and the largest coordinate of points along each axis. */
function boxOf(points) {
  const box = [0, 1, 2].map(() => [Infinity, -Infinity]);
  points.forEach((x, i) => { box[i % 3] = [Math.min(box[i % 3][0], x), Math.max(box[i % 3][1], x)]; });
  return box;
}
/* The largest length of the vectors in a range of an array. */
function largest(all, first, end) {
  let most = 0;
  for (let i = 3 * first; i < 3 * end; i += 3) most = Math.max(most, length([all[i], all[i + 1], all[i + 2]]) || 0);
  return most;
}
