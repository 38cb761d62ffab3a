/* Picking with the pointer. */

/* The contact at a point of the page, from a picture of numbers. Visible contacts precede hidden ones. -1: none. */
function pickAt(x, y) {
  resize();
  const ratio = canvas.width / (canvas.clientWidth || 1), reach = Math.ceil(5 * ratio), side = 2 * reach + 1, matrix = cameraMatrix();
  const left = Math.round(x * ratio) - reach, low = canvas.height - Math.round(y * ratio) - reach - 1, found = new Uint8Array(4 * side * side);
  if (!draw.pick) draw.pick = target(0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, draw.pick.made);
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.enable(gl.SCISSOR_TEST);
  gl.scissor(left, low, side, side);
  gl.disable(gl.BLEND);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  gl.depthMask(true);
  gl.clearColor(0, 0, 0, 0);
  let best = 0;
  for (const hidden of [true, false]) {
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (hidden) drawBodies(matrix, true);
    useBalls(matrix, true, 1);
    gl.bindVertexArray(draw.contacts.points);
    gl.drawArrays(gl.POINTS, 0, state.balls ? draw.contacts.count : 0);
    gl.readPixels(left, low, side, side, gl.RGBA, gl.UNSIGNED_BYTE, found);
    let nearest = Infinity;
    for (let i = 0; i < side * side; ++i) {
      const number = found[4 * i] + 256 * found[4 * i + 1] + 65536 * found[4 * i + 2];
      const off = (i % side - reach) ** 2 + (Math.floor(i / side) - reach) ** 2;
      if (number && off < nearest) { nearest = off; best = number; }
    }
    if (best) break;
  }
  gl.disable(gl.SCISSOR_TEST);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return best ? range(frame)[0] + best - 1 : -1;
}

function pick(i) {
  state.picked = i < 0 ? null : {pair: pairOf(i), slot: from(frame).slot[i], layout: layoutOf(from(frame), pairOf(i))};
  course = null;
  at('copied').hidden = true;
  showContact();
  const pressed = showList();
  if (pressed) pressed.scrollIntoView({block: 'nearest'});
  redraw(false);
  remember();
}
