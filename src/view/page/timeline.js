/* Frames: jumping, dragging, playing. */

function go(f, fast) {
  f = clamp(Math.round(f), 0, page.frames - 1);
  if (f === frame || Number.isNaN(f)) return;
  frame = f;
  if (!live || live.next === null) at('scrub').value = f; // otherwise it is being dragged
  at('frame').value = f;
  at('of').textContent = `of 0\u2013${page.frames - 1}` + (data.time ? `, t = ${data.time[f].toFixed(4)} s` : '');
  if (live) {
    const before = live.shown;
    live.step = f - live.from;
    live.from = f;
    live.ahead.clear();
    ++live.visit;
    live.pose = live.shown = null; // they belong to the previous frame
    ask();
    if (before) { showNumbers(); showSubtitle(); }
  }
  uploadContacts();
  drawCurves();
  showContact();
  if (!fast) showList();
  if (awaited()) { // keeps the previous picture for a moment: bodies without contacts would flicker
    clearTimeout(blank);
    blank = setTimeout(() => redraw(fast), 200);
  } else redraw(fast);
  if (!fast) remember();
}
let blank = 0;

/* Goes to a frame by dragging. While the server computes a frame, only the newest other one waits. So each shown frame has contacts. */
function scrub(f) {
  if (live && (wanted || (awaited() && !live.wanted))) live.next = f;
  else go(f, true);
}
function goOn() {
  if (!live || live.next === null || wanted || awaited()) return;
  go(live.next, true);
  live.next = null;
}

const PATIENCE = 1000; // ms that playing waits for the server's answer to one frame
let clock = 0, since = 0, wentAt = 0, listedAt = 0;
function play(on) {
  state.playing = on && page.frames > 1;
  at('play').textContent = state.playing ? '\u275A\u275A' : '\u25B6\uFE0E';
  at('play').setAttribute('aria-pressed', state.playing);
  if (!state.playing) { showList(); redraw(false); remember(); return; }
  if (frame === page.frames - 1) go(0, true);
  clock = data.time ? data.time[frame] : frame / 30;
  since = 0;
  requestAnimationFrame(tick);
}
function tick(now) {
  if (!state.playing) return;
  const first = data.time ? data.time[0] : 0, last = data.time ? data.time[page.frames - 1] : (page.frames - 1) / 30;
  clock += since ? Math.min((now - since) / 1000, 0.25) * state.speed : 0;
  since = now;
  if (live && (wanted || (awaited() && now - wentAt < PATIENCE))) { // waits for the frame's answer; later frames are skipped
    requestAnimationFrame(tick);
    return;
  }
  if (clock > last) {
    if (!state.loop) { go(page.frames - 1, true); play(false); return; }
    clock = first;
  }
  let f = data.time ? frame : Math.floor(clock * 30 + 1e-6);
  if (data.time) {
    if (clock < data.time[f]) f = 0;
    while (f + 1 < page.frames && data.time[f + 1] <= clock) ++f;
  }
  if (f !== frame) wentAt = now;
  go(f, true);
  if (now - listedAt > 400) { listedAt = now; showList(); }
  requestAnimationFrame(tick);
}
