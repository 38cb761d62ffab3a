/* Draws bodies. */

function modelOf(p) {
  const [w, x, y, z] = p.slice(3);
  return new Float32Array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0, 2 * (x * y - w * z),
    1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0, 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0, p[0], p[1], p[2], 1]);
}

/* Whether a body's whole box is in front of the camera. Then no near plane cuts the body. */
function isWhole(m, place) {
  const eye = eyeOf(camera), {forward} = axes(camera), [near] = depths();
  return [0, 1, 2, 3, 4, 5, 6, 7].every(c => dot(sub(apply(place, m.box.map((ends, k) => ends[c >> k & 1])), eye), forward) > near);
}

function drawBodies(matrix, picking) {
  const {forward, right, up} = axes(camera), eye = eyeOf(camera);
  const lamp = add(add(scaled(forward, -0.75), scaled(right, -0.45)), scaled(up, 0.75)), key = scaled(lamp, 1 / length(lamp));
  const seen = bodies.filter(b => b.visible && (!picking || b.alpha === 1)).map(b => ({b, place: placeOf(b, frame)})).filter(s => s.place);
  const depth = s => dot(sub(apply(s.place, scaled(add(meshes[s.b.mesh].lower, meshes[s.b.mesh].upper), 0.5)), eye), forward);
  seen.sort((s, t) => t.b.alpha - s.b.alpha || (s.b.alpha === 1 ? depth(s) - depth(t) : depth(t) - depth(s))); // solid ones first, the nearest first
  gl.enable(gl.POLYGON_OFFSET_FILL);
  gl.polygonOffset(1, 1);
  let u = null, last = '';
  for (const {b, place} of seen) {
    const m = meshes[b.mesh], name = b.floor ? 'floor' : 'mesh', shows = flag => gl.colorMask(flag, flag, flag, flag);
    if (name !== last) {
      u = use(last = name);
      gl.uniformMatrix4fv(u.camera, false, matrix);
      gl.uniform3fv(u.eye, eye);
      gl.uniform3fv(u.key, key);
      gl.uniform3fv(u.up, up);
      if (b.floor) gl.uniform1f(u.tile, home.tile);
    }
    gl.uniformMatrix4fv(u.model, false, modelOf(place));
    gl.uniform3fv(u.paint, b.floor ? FLOOR : PAINTS[b.paint % PAINTS.length]);
    gl.uniform1f(u.alpha, b.alpha);
    gl.bindVertexArray(m.solid);
    turnOn(gl.CULL_FACE, m.closed && isWhole(m, place));
    turnOn(gl.BLEND, b.alpha < 1);
    if (b.alpha < 1 || picking) { // first only its nearest depth, to show one layer
      shows(false);
      gl.drawArrays(gl.TRIANGLES, 0, m.count);
      shows(true);
    }
    if (!picking) gl.drawArrays(gl.TRIANGLES, 0, m.count);
  }
  gl.disable(gl.POLYGON_OFFSET_FILL);
  gl.disable(gl.CULL_FACE);
  turnOn(gl.BLEND, !picking);
  if (!state.wires || picking) return;
  u = use('line');
  gl.uniformMatrix4fv(u.camera, false, matrix);
  for (const {b, place} of seen) {
    gl.uniformMatrix4fv(u.model, false, modelOf(place));
    gl.uniform3fv(u.paint, [0, 0, 0]);
    gl.uniform1f(u.alpha, 0.45);
    gl.bindVertexArray(meshes[b.mesh].wire);
    gl.drawElements(gl.LINES, meshes[b.mesh].lines, gl.UNSIGNED_INT, 0);
  }
}
