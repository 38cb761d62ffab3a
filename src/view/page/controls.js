/* Controls: buttons, keys, the pointer. */

function setThreshold(x) {
  state.threshold = clamp(Number.isFinite(x) ? x : page.threshold, page.threshold, 1);
  at('threshold').value = state.threshold;
  at('threshold').parentElement.querySelector('output').textContent = state.threshold.toFixed(3);
  if (frame >= 0) { uploadContacts(); showList(); moved(); }
}
function setTheme(name) {
  state.theme = name;
  const dark = name ? name === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  draw.ground = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).map(x => x / 255);
  at('theme').title = `Light, dark, or as the system has it (T): ${name || 'system'}`;
  if (frame >= 0) { uploadContacts(); drawCurves(); showContact(); redraw(false); }
}
const nextTheme = () => setTheme({'': 'light', light: 'dark', dark: ''}[state.theme]);

function bodyRow(b) {
  const row = document.createElement('div'), check = document.createElement('input'), swatch = document.createElement('i');
  const name = document.createElement('span'), alpha = document.createElement('input');
  row.className = 'body';
  check.type = 'checkbox';
  check.checked = true;
  check.setAttribute('aria-label', `show ${nameOf(b)}`);
  check.onchange = () => { b.visible = check.checked; redraw(false); };
  swatch.style.background = css(b.floor ? FLOOR : PAINTS[b.paint % PAINTS.length]);
  name.title = nameOf(b) + (meshes[b.mesh].zero_set ? ' (surface of its field)' : '');
  putNames(name, name.title);
  Object.assign(alpha, {type: 'range', min: 0.1, max: 1, step: 0.05, value: 1, title: 'opacity'});
  alpha.setAttribute('aria-label', `opacity of ${nameOf(b)}`);
  alpha.oninput = () => { b.alpha = +alpha.value; redraw(true); };
  row.append(check, swatch, name, alpha);
  b.controls = {check, alpha};
  return row;
}

/* X: all bodies solid, transparent, hidden. */
function nextBodies() {
  const to = !bodies[0].visible ? [true, 1] : bodies[0].alpha === 1 ? [true, 0.35] : [false, 1];
  for (const b of bodies) {
    [b.visible, b.alpha] = to;
    b.controls.check.checked = to[0];
    b.controls.alpha.value = to[1];
  }
  redraw(false);
}

function step(list, by) {
  const sorted = byActivity(contactsNow()), now = sorted.indexOf(pickedNow());
  if (sorted.length) pick(sorted[now < 0 ? 0 : (now + by + sorted.length) % sorted.length]);
}

const KEYS = [['space', 'play, stop'], ['left, right; with Shift', 'one frame; ten'], ['Home, End', 'first, last frame'],
  ['[ ]', 'slower, faster'], ['L', 'loop'], ['N, P', 'next, previous contact by activity'], ['Escape', 'deselect'], ['C', 'copy the contact as JSON'],
  ['.', 'look at the contact'], ['0, 1, 2, 3; with Shift', 'view from a corner, along x, y, z; from behind'], ['F', 'show everything'],
  ['W A S D', 'turn'], ['arrows with Ctrl', 'move the view'], ['+ −', 'zoom'], ['X', 'bodies solid, glassy, hidden'], ['M', 'contact meshes'],
  ['B, V, O, K', 'contacts, normals, forces on links, of contacts'], ['T', 'light, dark, system'], ['drag; with Shift or the right button', 'turn; move the view'], ['wheel, two fingers', 'zoom, move']];

const speedBy = by => {
  const s = at('speed');
  s.selectedIndex = clamp(s.selectedIndex + by, 0, s.options.length - 1);
  state.speed = +s.value;
};
const toggle = name => { at(name).checked = state[name] = !state[name]; redraw(false); };
const press = {
  ' ': () => play(!state.playing), Home: () => go(0), End: () => go(page.frames - 1),
  ArrowLeft: e => e.ctrlKey ? pan(30, 0) : go(frame - (e.shiftKey ? 10 : 1)), ArrowRight: e => e.ctrlKey ? pan(-30, 0) : go(frame + (e.shiftKey ? 10 : 1)),
  ArrowUp: e => e.ctrlKey && pan(0, 30), ArrowDown: e => e.ctrlKey && pan(0, -30),
  '[': () => speedBy(-1), ']': () => speedBy(1), l: () => { at('loop').checked = state.loop = !state.loop; },
  n: () => step(null, 1), p: () => step(null, -1), Escape: () => pick(-1), c: copyJson, '.': centerPicked,
  f: () => { camera = fitCamera(camera.azimuth, camera.elevation); moved(); }, x: nextBodies, m: () => toggle('wires'), b: () => toggle('balls'),
  v: () => toggle('normals'), o: () => hasForces() && toggle('forces'), k: () => hasForces() && toggle('pushes'), t: nextTheme, '?': () => at('help').showModal(), w: () => rotate(0, 0.08), s: () => rotate(0, -0.08),
  a: () => rotate(-0.08, 0), d: () => rotate(0.08, 0), '+': () => zoom(0.9, canvas.clientWidth / 2, canvas.clientHeight / 2),
  '=': () => zoom(0.9, canvas.clientWidth / 2, canvas.clientHeight / 2), '-': () => zoom(1 / 0.9, canvas.clientWidth / 2, canvas.clientHeight / 2)};

function onKey(e) {
  const tag = e.target.tagName, kind = e.target.type;
  const typing = tag === 'TEXTAREA' || tag === 'SELECT' || (tag === 'INPUT' && (kind === 'number' || kind === 'text')), digit = /^Digit([0-3])$/.exec(e.code);
  if (e.altKey || e.metaKey || (e.ctrlKey && !e.key.startsWith('Arrow')) || typing || at('help').open) return;
  if (tag === 'INPUT' && kind === 'range' && /^(Arrow|Home|End)/.test(e.key) && e.target.id !== 'scrub') return;
  if ((tag === 'BUTTON' || tag === 'SUMMARY' || kind === 'checkbox') && e.key === ' ') return;
  const action = digit ? () => look(['iso', 'x', 'y', 'z'][digit[1]], e.shiftKey) : press[e.key] || press[e.key.toLowerCase()];
  if (!action) return;
  action(e);
  e.preventDefault();
}

function listenToPointers() {
  const down = new Map();
  let start = null, travelled = 0, gap = 0, middle = null;
  const both = () => {
    const [a, b] = [...down.values()];
    return {gap: Math.hypot(a.x - b.x, a.y - b.y), middle: {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2}};
  };
  const place = e => { const r = canvas.getBoundingClientRect(); return {x: e.clientX - r.left, y: e.clientY - r.top}; };
  canvas.addEventListener('pointerdown', e => {
    canvas.focus({preventScroll: true});
    canvas.setPointerCapture(e.pointerId);
    down.set(e.pointerId, place(e));
    if (down.size === 1) { start = place(e); travelled = 0; }
    if (down.size === 2) ({gap, middle} = both());
  });
  canvas.addEventListener('pointermove', e => {
    const before = down.get(e.pointerId), now = place(e);
    if (!before) return;
    const dx = now.x - before.x, dy = now.y - before.y;
    down.set(e.pointerId, now);
    travelled = Math.max(travelled, Math.hypot(now.x - start.x, now.y - start.y), down.size > 1 ? 9 : 0);
    if (down.size === 2) {
      const next = both();
      pan(next.middle.x - middle.x, next.middle.y - middle.y);
      if (gap > 0 && next.gap > 0) zoom(gap / next.gap, next.middle.x, next.middle.y);
      ({gap, middle} = next);
    } else if (travelled > 4) {
      if (live && at('move').checked) moveBody(dx, dy, e.shiftKey || e.buttons & 6);
      else if (e.shiftKey || e.buttons & 6) pan(dx, dy);
      else rotate(dx * 0.008, dy * 0.008);
    }
  });
  const up = e => {
    if (down.delete(e.pointerId) && e.type === 'pointerup' && !down.size && travelled <= 4 && e.button === 0) pick(pickAt(start.x, start.y));
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('contextmenu', e => e.preventDefault());
  canvas.addEventListener('wheel', e => {
    e.preventDefault();
    const now = place(e);
    zoom(Math.exp(clamp(e.deltaY * (e.deltaMode ? 16 : 1), -200, 200) * 0.0015), now.x, now.y);
  }, {passive: false});
  canvas.addEventListener('dblclick', () => { const i = pickedNow(); if (i >= 0) centerPicked(); });
  const curves = at('curves'), to = e => (e.type === 'pointermove' ? scrub : go)((e.offsetX - inset) / ((curves.clientWidth || 1) - 2 * inset) * (page.frames - 1));
  curves.addEventListener('pointerdown', e => { curves.setPointerCapture(e.pointerId); play(false); to(e); });
  curves.addEventListener('pointermove', e => { if (e.buttons) to(e); });
  curves.addEventListener('pointerup', () => { showList(); remember(); });
}

function listen() {
  for (const button of document.querySelectorAll('[data-view]')) button.onclick = e => look(button.dataset.view, e.shiftKey);
  at('fit').onclick = () => press.f();
  at('theme').onclick = nextTheme;
  at('about').onclick = () => at('help').showModal();
  at('play').onclick = () => play(!state.playing);
  at('first').onclick = () => go(0);
  at('last').onclick = () => go(page.frames - 1);
  at('back').onclick = () => go(frame - 1);
  at('next').onclick = () => go(frame + 1);
  at('loop').onchange = () => { state.loop = at('loop').checked; };
  at('speed').onchange = () => { state.speed = +at('speed').value; };
  at('scrub').oninput = () => scrub(+at('scrub').value);
  at('scrub').onchange = () => { showList(); remember(); };
  at('frame').onchange = () => { if (at('frame').value !== '') go(+at('frame').value); at('frame').value = frame; };
  at('threshold').oninput = () => setThreshold(+at('threshold').value);
  at('marks').oninput = () => { state.marks = +at('marks').value; showMarks(); showForces(); redraw(true); };
  for (const name of ['balls', 'normals', 'wires', 'forces', 'pushes']) at(name).onchange = () => { state[name] = at(name).checked; redraw(false); };
  at('copy').onclick = copyJson;
  at('center').onclick = centerPicked;
  at('drop').onclick = () => pick(-1);
  at('help').querySelector('tbody').replaceChildren(...KEYS.map(pair => {
    const row = document.createElement('tr');
    for (const text of pair) row.insertCell().textContent = text;
    return row;
  }));
  document.addEventListener('keydown', onKey);
  addEventListener('hashchange', recall);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => state.theme || setTheme(''));
  new ResizeObserver(() => { drawCurves(); if (state.picked) drawCourse(); redraw(false); }).observe(at('stage'));
  canvas.addEventListener('webglcontextlost', e => { e.preventDefault(); say('The browser has taken the picture away; reload the page'); });
  listenToPointers();
}
const showMarks = () => { at('marks').parentElement.querySelector('output').textContent = `×${(2 ** state.marks).toFixed(1)}`; };
