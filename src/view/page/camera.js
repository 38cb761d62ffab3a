/* The camera. */

const HALF = Math.tan(Math.PI / 12); // for the shorter side
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

/* The nearest and the farthest depth that are drawn. */
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

/* A point in pixels from the picture's upper left corner, and its depth. */
function project(point) {
  const {forward, right, up} = axes(camera), v = sub(point, eyeOf(camera)), depth = dot(v, forward), [hx, hy] = halves();
  return {x: canvas.clientWidth / 2 * (1 + dot(v, right) / (depth * hx)), y: canvas.clientHeight / 2 * (1 - dot(v, up) / (depth * hy)), depth};
}

/* Corners of the bodies' boxes over all frames, which the camera keeps in view. Floors are left out, and also fixed bodies that
 * are more than four times as large as all moving ones. */
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
function zoom(factor, x, y) { // towards a point of the page
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
