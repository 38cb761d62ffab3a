/* Controls of a served page: smoothing, the pose of body 2, a reduction. */

/* Coefficients that may be 0 (off); linear ones, with minimum, maximum and step; the words of a choice. */
const OFF = ['inset'], WORDS = {select: ['softsort', 'gate'], edge_contacts: ['pairs', 'field']};
const LINEAR = {floor: [0, 0.5, 0.01], trace: [0, 64, 1], tilt: [0.01, 0.5, 0.01], slope: [0, 1, 0.01], samples: [1, 64, 1]};

/* A slider is logarithmic, with a hundred steps per factor of ten. Its middle is the page's initial coefficient (the
 * penetration if that is 0). */
function sliderOf(key) {
  const label = document.createElement('label'), name = document.createElement('span'), slider = document.createElement('input'), output = document.createElement('output');
  const linear = LINEAR[key], base = given()[key] || given().penetration, middle = Math.log10(base), steps = 200;
  const off = OFF.includes(key), valueAt = x => x <= -steps && off ? 0 : x === 0 ? base : +(10 ** (middle + x / 100)).toPrecision(4);
  label.className = 'slide number';
  name.textContent = name.title = key;
  slider.type = 'range';
  if (linear) Object.assign(slider, {min: linear[0], max: linear[1], step: linear[2]});
  else Object.assign(slider, {min: -steps, max: steps, step: 1});
  slider.setAttribute('data-key', key);
  const put = () => {
    const x = smoothing()[key];
    slider.value = linear ? x : x > 0 ? 100 * (Math.log10(x) - middle) : -steps;
    output.textContent = off && x === 0 ? 'off' : digits(x, 4);
  };
  slider.oninput = () => {
    smoothing()[key] = linear ? +slider.value : valueAt(+slider.value);
    output.textContent = off && smoothing()[key] === 0 ? 'off' : digits(smoothing()[key], 4);
    ask();
  };
  label.append(name, slider, output);
  return {label, put};
}

function choiceOf(key) {
  const label = document.createElement('label'), flag = typeof given()[key] === 'boolean', box = document.createElement(flag ? 'input' : 'select');
  if (flag) box.type = 'checkbox';
  else box.append(...WORDS[key].map(word => new Option(word, word)));
  box.setAttribute('data-key', key);
  box.onchange = () => { smoothing()[key] = flag ? box.checked : box.value; ask(); };
  label.append(...flag ? [box, ` ${key}`] : [`${key} `, box]);
  return {label, put: () => { if (flag) box.checked = smoothing()[key]; else box.value = smoothing()[key]; }};
}

/* The number of retained edges or vertices of each body; 0: all. */
function countsOf(key) {
  const label = document.createElement('div');
  label.append(`kept ${key} `);
  const boxes = [0, 1].map(side => {
    const box = document.createElement('input');
    Object.assign(box, {type: 'number', min: 0, step: 1, title: 'a whole number; 0: all'});
    box.setAttribute('data-key', `${key}${side + 1}`);
    box.setAttribute('aria-label', `kept ${key} of ${ofKind(live.kind)[side].name}`);
    box.onchange = () => { smoothing()[key][side] = box.value === '' ? 0 : +box.value; ask(); };
    label.append(box, ' ');
    return box;
  });
  return {label, put: () => boxes.forEach((box, side) => { box.value = smoothing()[key][side]; })};
}

const given = () => live.given[live.kind], smoothing = () => live.smoothing[live.kind];
/* The bodies of the first pair of a kind. */
const ofKind = kind => page.pairs.find(p => (p.kind || 0) === kind).bodies.map(b => bodies[b]);

let putSliders = () => {};
function makeSliders() {
  const rows = Object.keys(given()).map(key => Array.isArray(given()[key]) ? countsOf(key) : typeof given()[key] === 'number' ? sliderOf(key) : choiceOf(key));
  putSliders = () => { for (const row of rows) row.put(); };
  at('coefficients').replaceChildren(...rows.map(row => row.label));
  putSliders();
}

/* Kinds of pairs of a scene, named by their first pair and the number of others. */
function makeKinds() {
  at('kinds').hidden = live.given.length < 2;
  at('kind').replaceChildren(...live.given.map((_, kind) => {
    const more = page.pairs.filter(p => p.kind === kind).length - 1;
    return new Option(ofKind(kind).map(nameOf).join(' – ') + (more > 0 ? ` and ${more} more` : ''), kind);
  }));
  at('kind').onchange = () => { live.kind = +at('kind').value; makeSliders(); };
}

/* Moves body 2 by pixels of the pointer, parallel to the picture, or turns it about its origin. */
function moveBody(dx, dy, turns) {
  const typed = live.pose && live.pose.length === 7 && live.pose.every(Number.isFinite) && live.pose.slice(3).some(x => x);
  const now = typed ? live.pose : loadedPlace(1, frame);
  if (!now || live.gone) return;
  const {right, up} = axes(camera), pixel = 2 * halves()[1] * Math.max(project(now).depth, 0) / (canvas.clientHeight || 1);
  let next = now;
  if (turns) {
    const w = add(scaled(up, 0.008 * dx), scaled(right, 0.008 * dy)), angle = length(w) / 2, q = scaled(w, angle > 0 ? Math.sin(angle) / (2 * angle) : 0);
    next = [...now.slice(0, 3), ...behind([0, 0, 0, Math.cos(angle), ...q], [0, 0, 0, ...now.slice(3)]).slice(3)];
  } else next = [...add(now, add(scaled(right, dx * pixel), scaled(up, -dy * pixel))), ...now.slice(3)];
  live.pose = next.map(x => +x.toPrecision(7)); // as shown and copied
  ask();
}

function copyText(text) {
  at('copiedLive').value = text;
  at('copiedLive').hidden = false;
  copyFrom(at('copiedLive'));
}

function makeLive() {
  const loaded = page.live.smoothing.map(text => JSON.parse(text)), copyOf = x => JSON.parse(JSON.stringify(x));
  live = {given: loaded, smoothing: copyOf(loaded), kind: 0, pose: null, shown: null, kept: new Map(), held: 0, room: 32 << 20, wanted: null, asked: null, next: null,
    from: begunAt(), step: 0, ahead: new Set(), visit: 0, idle: 0, curve: data.asked.length ? 0 : page.frames, chunk: 4, careful: 0, gaps: new Set(), refusals: 0, busy: false, gone: false, answers: 0};
  setTimeout(watch, 2000);
  at('live').hidden = !loaded.length;
  if (!loaded.length) return; // without contacts there are no sliders
  for (const part of at('live').querySelectorAll('[data-of="pair"]')) part.hidden = !!page.scene;
  makeKinds();
  makeSliders();
  at('reset').onclick = () => { ++live.visit; live.smoothing = copyOf(loaded); live.pose = null; at('reduction').value = ''; putSliders(); ask(); };
  at('copySmoothing').onclick = () => copyText(JSON.stringify(smoothing(), null, 1));
  if (page.scene) return;
  at('posed').textContent = `pose of ${bodies[1].name}: x, y, z, qw, qx, qy, qz`;
  at('pose').onchange = () => { live.pose = at('pose').value.trim().split(/[\s,]+/).map(Number); ask(); };
  at('reduction').onchange = ask;
  at('copyPose').onclick = () => copyText(JSON.stringify({pose1: loadedPlace(0, frame), pose2: live.pose || loadedPlace(1, frame)}, null, 1));
  KEYS.push(['G', `drags move ${bodies[1].name}; with Shift or the right button they turn it`]);
  press.g = () => { at('move').checked = !at('move').checked; };
}
