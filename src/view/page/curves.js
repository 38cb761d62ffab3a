/* Curves over the frames. */

/* Line plots use a canvas in memory: without a GPU, a canvas for a GPU takes a hundred times as long for long lines. */
const paintOn = c => c.getContext('2d', {willReadFrequently: true});

function sized(c, height) {
  const ratio = devicePixelRatio || 1, w = c.clientWidth || 1, pixels = [Math.round(w * ratio), Math.round(height * ratio)];
  if (c.style.height !== `${height}px`) c.style.height = `${height}px`;
  if (c.width !== pixels[0] || c.height !== pixels[1]) [c.width, c.height] = pixels;
  else paintOn(c).resetTransform();
  paintOn(c).clearRect(0, 0, ...pixels);
  const to = paintOn(c);
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  return {to, w};
}
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  return low > high ? [NaN, NaN] : [low, high];
}
const inset = 7; // of the slider's ends, to align the curves with it
const across = (f, w) => inset + (w - 2 * inset) * (page.frames > 1 ? f / (page.frames - 1) : 0.5);

/* A label that is legible over a curve. */
function label(to, text, x, y, ink, ground) {
  to.save();
  to.lineWidth = 4;
  to.lineJoin = 'round';
  to.strokeStyle = ground;
  to.strokeText(text, x, y);
  to.fillStyle = ink;
  to.fillText(text, x, y);
  to.restore();
}

/* A polyline over the frames, with gaps at missing numbers. */
function plot(to, values, x, top, height) {
  const [low, high] = extent(values);
  if (!Number.isFinite(low)) return {low, high}; // no values yet
  const span = high - low, place = v => top + height * (span > 0 ? 1 - (v - low) / span : 0.5);
  to.beginPath();
  let open = false;
  const each = Math.max(1, Math.floor(page.frames / 1500)); // frames that share a pixel
  for (let f = 0; each > 1 && f < page.frames; f += each) {
    const [least, most] = extent(values.subarray(f, f + each));
    if (!Number.isFinite(least)) { open = false; continue; }
    if (open) to.lineTo(x(f), place(most)); else to.moveTo(x(f), place(most));
    to.lineTo(x(f), place(least) + (least === most ? 0.5 : 0));
    open = true;
  }
  for (let f = 0; each === 1 && f < page.frames; ++f) {
    const v = values[f];
    if (!Number.isFinite(v)) { open = false; continue; }
    if (open) to.lineTo(x(f), place(v)); else to.moveTo(x(f), place(v));
    if (!open && !Number.isFinite(values[f + 1])) to.rect(x(f) - 1, place(v) - 1, 2, 2); // an isolated value

    open = true;
  }
  to.stroke();
  if (low < 0 && high > 0) {
    to.save();
    to.setLineDash([2, 3]);
    to.globalAlpha = 0.5;
    to.beginPath();
    to.moveTo(x(0), place(0));
    to.lineTo(x(page.frames - 1), place(0));
    to.stroke();
    to.restore();
  }
  return {low, high};
}

/* Puts the curves, which do not change with the frame, under the parts that do. They are redrawn only for a new size or theme. */
const layers = {};
function underlay(name, to, w, height, draw_) {
  const key = `${w} ${to.canvas.width} ${isDark()}`;
  if (!layers[name] || layers[name].key !== key) {
    const picture = document.createElement('canvas'), on = paintOn(picture);
    picture.width = to.canvas.width;
    picture.height = to.canvas.height;
    on.setTransform(to.getTransform());
    draw_(on);
    layers[name] = {key, picture};
  }
  to.drawImage(layers[name].picture, 0, 0, w, height);
}

const ROW_HEIGHT = 30;
/* Lines and names are redrawn only for a new size, theme or curve. Parts that change with the frame are on a canvas above. Redrawing all
 * for each frame would take a browser without a GPU as long as the contacts. */
function drawCurves() {
  if (page.frames < 2 || !data.curves.length) return;
  const box = at('curves'), key = `${box.clientWidth} ${devicePixelRatio} ${isDark()}`;
  if (layers.curves !== key) {
    const {to, w} = sized(box, ROW_HEIGHT * data.curves.length), style = getComputedStyle(document.documentElement);
    to.font = '11px system-ui, sans-serif';
    to.strokeStyle = style.getPropertyValue('--accent');
    to.lineWidth = 1.3;
    data.curves.forEach((curve, k) => {
      plot(to, curve.values, f => across(f, w), k * ROW_HEIGHT + 14, ROW_HEIGHT - 17);
      label(to, curve.name, inset, k * ROW_HEIGHT + 10, style.getPropertyValue('--grey'), style.getPropertyValue('--ground'));
    });
    layers.curves = key;
    if (at('values').children.length !== data.curves.length)
      at('values').replaceChildren(...data.curves.map((_, k) => { const value = document.createElement('span'); value.style.top = `${k * ROW_HEIGHT}px`; return value; }));
  }
  at('cursor').style.transform = `translateX(${Math.round(across(frame, box.clientWidth))}px)`;
  data.curves.forEach((curve, k) => { at('values').children[k].textContent = `${digits(curve.values[frame], 4)} ${curve.unit}`; });
}

/* The course of the selected slot over the frames, with gaps in frames without it. */
let course = null;
function drawCourse() {
  at('course').hidden = page.frames < 2;
  if (page.frames < 2) return;
  const height = 55 * (hasForces() ? 4 : 2), row = () => new Float32Array(page.frames).fill(NaN);
  if (!course) {
    delete layers.course;
    course = {activity: row(), d: row(), normal: row(), friction: row(), next: 0};
    if (live) awake();
    for (let f = 0; !live && f < page.frames; ++f) {
      const i = pickedAmong(data, data.starts[f], data.starts[f + 1]), force = i < 0 ? null : forceOf(data, i);
      if (i >= 0) { course.activity[f] = data.activity[i] * data.share.activity; course.d[f] = data.d[i] * data.share.d; }
      if (force) { course.normal[f] = force.normal; course.friction[f] = force.friction; }
    }
  }
  const {to, w} = sized(at('course'), height), style = getComputedStyle(document.documentElement);
  to.font = '11px system-ui, sans-serif';
  const curves = [['activity', course.activity, ''], ['d', course.d, ' m'], ['normal force', course.normal, ' N'], ['friction', course.friction, ' N']];
  underlay('course', to, w, height, on => curves.slice(0, height / 55).forEach(([name, values, unit], k) => {
    const top = 55 * k;
    on.font = to.font;
    on.strokeStyle = style.getPropertyValue('--accent');
    on.lineWidth = 1.3;
    const {low, high} = plot(on, values, f => across(f, w), top + 16, 33);
    on.textAlign = 'left';
    label(on, name, inset, top + 11, style.getPropertyValue('--grey'), style.getPropertyValue('--panel'));
    on.textAlign = 'right';
    label(on, `${digits(low, 3)} to ${digits(high, 3)}${unit}`, w - inset, top + 11, style.getPropertyValue('--grey'), style.getPropertyValue('--panel'));
  }));
  to.strokeStyle = style.getPropertyValue('--ink');
  to.lineWidth = 1;
  to.beginPath();
  to.moveTo(Math.round(across(frame, w)) + 0.5, 0);
  to.lineTo(Math.round(across(frame, w)) + 0.5, height);
  to.stroke();
}
