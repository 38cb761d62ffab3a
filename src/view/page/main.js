/* Starts the page. */

function showSubtitle() {
  const slots = page.pairs.length === 1 ? `, ${named(from(frame).layout || page.pairs[0].layout).contacts} slots` : '';
  at('title').querySelector('p').textContent = `${page.frames} frame${page.frames === 1 ? '' : 's'}${slots}, contacts from ${digits(page.threshold, 3)}; abut ${page.abut}`;
}

function describe() {
  const names = page.scene ? [...new Set(bodies.filter(b => !b.floor).map(b => b.link))] : bodies.map(b => b.name);
  const title = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(page.scene ? ', ' : ' and ');
  document.title = `${title} – abut view`;
  at('title').querySelector('h1').textContent = title;
  showSubtitle();
  at('ramp').style.background = `linear-gradient(to right, ${Array.from({length: 17}, (_, i) => css(ramp(i / 16))).join(', ')})`;
  at('bodies').replaceChildren(...bodies.map(bodyRow));
  at('time').hidden = page.frames < 2;
  at('forces').parentElement.hidden = at('pushes').parentElement.hidden = !hasForces();
  at('pushed').hidden = !hasForces() && !page.unforced;
  if (page.unforced) at('unforced').textContent = `Forces are not shown: ${page.unforced}.`;
  at('scrub').max = at('frame').max = page.frames - 1;
  at('threshold').min = page.threshold;
  showMarks();
}

async function begin() {
  if (!gl) { fallBack('This browser has no WebGL 2, by which the page would draw.'); return; }
  for (const name of ['mesh', 'ball', 'arrow']) beginProgram(name);
  read(await unpacked);
  document.documentElement.classList.add('live');
  draw = makeDrawing();
  setTheme('');
  let most = 1;
  for (let f = 0; data.starts && f < page.frames; ++f) most = Math.max(most, data.starts[f + 1] - data.starts[f]);
  draw.crowd = Math.sqrt(Math.min(1, 48 / most));
  const points = framedPoints(), span = [0, 1, 2].map(k => Math.max(...points.map(p => p[k])) - Math.min(...points.map(p => p[k])));
  const size = Math.max(length(span) / 2, 1e-9), unit = 10 ** Math.floor(Math.log10(size / 2));
  home = {points, size, force: usualForce(), push: 1, tile: unit * (size / 2 / unit < 2 ? 1 : size / 2 / unit < 5 ? 2 : 5)};
  for (let f = 0; data.force && f < page.frames; ++f) scaleForces(f, data.force, data.starts[f], data.starts[f + 1]);
  describe();
  camera = fitCamera(...VIEWS.iso);
  setThreshold(page.threshold);
  if (page.live) makeLive();
  listen();
  go(begunAt());
  if (location.hash.length > 1) recall();
  if (awaited()) return; // wait a moment, to show the first frame with its contacts
  drawScene(true); // first with few samples, which is faster
  redraw(true);
  ready();
}

/* For tests and scripts: the page's state. */
window.abutView = {state, frame: () => frame, forces: forcesNow, pushes: pushesNow, scale: () => home.force, course: () => course && {normal: [...course.normal], d: [...course.d]}, contacts: () => contactsNow().map(i => contactOf(i)), project, ramp: a => ramp(a).map(shown),
  camera: () => camera, radius: () => { const {radius, least, ratio} = markSizes(); return {radius, least: least / ratio}; },
  draw: fast => { const start = performance.now(); drawScene(fast); gl.bindFramebuffer(gl.FRAMEBUFFER, null); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); return performance.now() - start; },
  live: () => live && {smoothing: live.smoothing[live.kind], answers: live.answers, busy: !!(live.wanted || live.asked || live.next !== null), gone: live.gone, curve: live.curve, course: course && course.next,
    held: live.held, kept: [...live.kept.keys()], room: bytes => { live.room = bytes || live.room; return live.room; }, shown: live.shown && {frame: live.shown.frame, descent: live.shown.descent}},
  resting: () => !wanted && !rest, kindOf: pair => page.pairs[pair].kind, turn: rotate, json: contactJson, solid: () => bodies.every(b => b.visible && b.alpha === 1)};

begin().catch(error => { fallBack(`The page cannot be shown: ${error.message}.`); console.error(error); });
