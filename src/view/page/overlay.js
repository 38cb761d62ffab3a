/* The overlay of the picture: a ring around the selected contact, and the axes. */

/* A ring around the selected contact, its vertices, and the axes. Axes have a separate small canvas: one over the whole picture
 * costs a browser without a GPU as much as the picture. */
function drawOverlay() {
  const i = pickedNow();
  overlay.hidden = i < 0;
  if (i >= 0) {
    const style = getComputedStyle(document.documentElement), c = overlay.getContext('2d'), ratio = canvas.width / (canvas.clientWidth || 1);
    if (overlay.width !== canvas.width || overlay.height !== canvas.height) [overlay.width, overlay.height] = [canvas.width, canvas.height];
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    const contact = contactOf(i), ring = (p, r, width) => {
      const s = project(p);
      if (s.depth <= 0) return;
      for (const [paint, w] of [[style.getPropertyValue('--ground'), width + 2], [css(MARKED), width]]) {
        c.strokeStyle = paint;
        c.lineWidth = w;
        c.beginPath();
        c.arc(s.x, s.y, r, 0, 2 * Math.PI);
        c.stroke();
      }
    };
    featureRows(contact).points.forEach(([p]) => ring(p, 4, 2));
    ring(contact.p, 12, 2.5);
  }
  drawAxes();
}

const AXES = 84; // pixels
let axesOf = '';
function drawAxes() {
  const ratio = devicePixelRatio || 1, key = `${camera.azimuth} ${camera.elevation} ${ratio}`, box = at('axes');
  if (key === axesOf) return;
  axesOf = key;
  if (box.width !== Math.round(AXES * ratio)) box.width = box.height = Math.round(AXES * ratio);
  const c = box.getContext('2d'), {right, up, forward} = axes(camera), x0 = AXES / 2, y0 = AXES / 2;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, AXES, AXES);
  const tips = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((a, k) => ({k, x: dot(a, right), y: dot(a, up), z: dot(a, forward)}));
  c.font = '600 12px system-ui, sans-serif';
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.lineWidth = 2;
  for (const t of tips.sort((s, r) => r.z - s.z)) {
    c.strokeStyle = c.fillStyle = ['#d83a2e', '#2c9a3c', '#3a6fe0'][t.k];
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x0 + 26 * t.x, y0 - 26 * t.y);
    c.stroke();
    c.fillText('xyz'[t.k], x0 + 35 * t.x, y0 - 35 * t.y);
  }
}
