/* Balls, arrows and bars for contacts and for the features of the selected contact. */

/* Corners of an arrow, a shaft and a head, and of a bar: (along, side, 1 of a head, -1 of a bar). */
const ARROW = [0, -1, 0, 1, -1, 0, 1, 1, 0, 0, -1, 0, 1, 1, 0, 0, 1, 0, 0, -1, 1, 1, 0, 1, 0, 1, 1];
const BAR = [0, -1, -1, 1, -1, -1, 1, 1, -1, 0, -1, -1, 1, 1, -1, 0, 1, -1];

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
    format: gl.getParameter(gl.ALPHA_BITS) ? gl.RGBA8 : gl.RGB8}; // samples are resolved into the canvas, which must have the same format
}

/* Adds marks to a list: p and n (three numbers each), activities, and numbers for picking.
 * Each arrow has its own corners, because instances take ten times as long without a GPU. */
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
/* Adds rows [position, direction, activity] to a list. */
const fill = (list, rows) => fillWith(list, rows.flatMap(([p]) => [p[0], p[1], p[2]]), rows.flatMap(([, n]) => [n[0], n[1], n[2]]), rows.map(row => row[2]));

/* The features of the selected contact in the world, as rows. Vertices are points, and edges are bars. */
function featureRows(contact) {
  const points = [], bars = [];
  contact.features.forEach((feature, side) => {
    const b = bodies[page.pairs[contact.pair].bodies[side]], m = meshes[b.mesh], place = placeOf(b, frame);
    const vertex = i => apply(place, m.vertices.subarray(3 * i, 3 * i + 3));
    if (feature === null || !place) return;
    if (b.stated && inFields(named(layoutIn(from(frame), contact.pair)))) return; // a feature of the body file that is not in the mesh
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

/* Lengths of marks: at any zoom those of abut render at zoom 1. */
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

/* Draws the features of the selected contact on top. */
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
