/* Draws the picture, when needed. */

function drawScene(fast) {
  resize();
  if (!canvas.width || !canvas.height) return;
  const smooth = !fast && draw.samples > 1, matrix = cameraMatrix();
  if (smooth && !draw.smooth) draw.smooth = target(draw.samples);
  gl.bindFramebuffer(gl.FRAMEBUFFER, smooth ? draw.smooth.made : null);
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(...draw.ground, 1);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  gl.depthMask(true);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  drawBodies(matrix, false);
  gl.depthFunc(gl.GREATER); // hidden marks are fainter
  gl.depthMask(false);
  drawMarks(matrix, 0.5);
  gl.depthFunc(gl.LEQUAL);
  gl.depthMask(true);
  drawMarks(matrix, 1);
  drawPicked(matrix);
  drawForces(matrix);
  drawPushes(matrix);
  if (smooth) {
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, draw.smooth.made);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, canvas.width, canvas.height, 0, 0, canvas.width, canvas.height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
  }
  drawOverlay();
}

let wanted = 0, rest = 0, quickly = false;
/* Draws soon: fast during motion, and again with samples after a pause without motion. The pause is longer in a slow browser. A
 * pending picture is not postponed by newer ones. Otherwise a slow browser would never draw while it plays. */
function redraw(fast) {
  const began = performance.now();
  clearTimeout(rest);
  rest = 0;
  quickly = fast;
  if (live && fast) live.idle = began; // curves wait for the end of motion
  if (wanted) return;
  wanted = requestAnimationFrame(() => {
    wanted = 0;
    drawScene(quickly);
    if (quickly) rest = setTimeout(() => redraw(false), Math.max(150, 3 * (performance.now() - began)));
    ready();
    goOn();
  });
}
/* Records that a frame was drawn with its contacts, and when. */
function ready() {
  const {dataset} = document.documentElement;
  if (!dataset.ready && !awaited()) dataset.ready = Math.round(performance.now());
}
function moved() { redraw(true); remember(); }
