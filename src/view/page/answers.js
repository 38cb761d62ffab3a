/* Handling of the server's answers. */

function take(asked, buffer) {
  const made = contactsOf(asked, buffer);
  ++live.answers;
  draw.crowd = Math.min(draw.crowd, Math.sqrt(Math.min(1, 48 / Math.max(made.slot.length, 1))));
  if (asked.changed) {
    if (!changed() || asked.visit !== live.visit) return; // the answer is not needed any more; while a slider moves all are
    refuse('');
    show(made);
    return;
  }
  if (asked.ahead) live.ahead.add(asked.frame);
  scaleAnswer(made);
  keep(made);
  if (asked.frame === frame && !changed()) {
    refuse('');
    shownAnew();
  }
}

/* Caches an answer, and drops the least recently viewed ones, but never that of the current frame. */
function keep(made) {
  live.held += made.bytes - (live.kept.has(made.frame) ? taken(made.frame).bytes : 0);
  live.kept.set(made.frame, made);
  data.asked.forEach((curve, k) => { curve.values[made.frame] = made.numbers[k]; });
  for (const f of live.kept.keys()) {
    if (live.held <= live.room) break;
    if (f !== frame && f !== made.frame) live.held -= taken(f).bytes;
  }
}

function takeCurves(asked, buffer, ms) {
  const {count, rows} = curvesOf(buffer), own = data.asked.length, end = asked.first + count;
  for (let k = 0; k < own; ++k) data.asked[k].values.set(rows[k], asked.first);
  if (asked.course) {
    ['activity', 'd', 'normal', 'friction'].slice(0, rows.length - own).forEach((name, k) => asked.course[name].set(rows[own + k], asked.first));
    asked.course.next = end;
  }
  live.refusals = 0;
  if (asked.first <= live.curve) live.curve = Math.max(live.curve, end);
  live.chunk = clamp(Math.round(live.chunk * (ms < 15 ? 2 : ms > 40 ? 0.5 : 1)), 1, 256); // limits how long a requested frame waits
  if (drawing) return;
  drawing = setTimeout(() => {
    drawing = 0;
    delete layers.curves;
    delete layers.course;
    drawCurves();
    if (state.picked) drawCourse();
  }, end >= page.frames ? 0 : 500);
}
let drawing = 0;

/* After a refusal of curves: their frames are requested one by one, and a frame that is refused is a gap. After many refusals in a
 * row all later frames are gaps. */
function passOver(asked, why) {
  if (asked.count > 1) {
    live.careful = Math.max(live.careful, asked.first + asked.count);
    return;
  }
  const ends = ++live.refusals >= REFUSALS, next = ends ? page.frames : asked.first + 1;
  if (asked.course) asked.course.next = next;
  else live.curve = Math.max(live.curve, next);
  live.gaps.add(asked.first);
  at('gaps').hidden = false;
  at('gaps').textContent = `Curves have gaps: ${live.gaps.size} frame${live.gaps.size === 1 ? ' was' : 's were'} refused, the last one ${asked.first}` +
    `${ends ? ', and those behind it are not asked for' : ''}: ${why}`;
}
const REFUSALS = 32;

/* Draws an answer, or the page's own contacts. If the slots differ from before, their meanings differ, too. */
function show(made) {
  const before = live.shown;
  live.shown = made;
  showNumbers();
  if (made || before) shownAnew();
}
function shownAnew() {
  clearTimeout(blank);
  if (state.picked && from(frame) !== NOTHING && layoutOf(from(frame), state.picked.pair) !== state.picked.layout) state.picked = null;
  showSubtitle();
  uploadContacts();
  drawCurves();
  showContact();
  clearTimeout(listing);
  listing = setTimeout(showList, 200); // not for each answer: the list takes as long as the picture
  redraw(true);
}
let listing = 0;

function refuse(text) {
  at('refused').textContent = text;
  at('refused').hidden = !text;
}

function showNumbers() {
  const s = live.shown;
  if (!s && !live.gone && changed()) { // its answer has not arrived, or was refused
    for (const row of at('numbers').rows) row.cells[1].textContent = '–';
    return;
  }
  const rows = s ? [[page.scene ? 'least_distance' : 'minimum_distance', `${digits(s.numbers[0], 5)} m`], ['activity_sum', digits(s.numbers[1], 5)]] : [];
  if (s && !page.scene) rows.push(['energy', `${digits(s.numbers[2], 5)} m²`]);
  if (s && s.descent) {
    if (!['activity', 'energy'].includes(s.reduction)) rows.push([s.reduction, `${digits(s.numbers[3], 5)} m`]);
    rows.push(['−gradient', vector(s.descent.slice(0, 3), 3)], ['its moment', vector(s.descent.slice(3), 3)]);
  }
  at('numbers').replaceChildren(...rows.map(([name, value]) => {
    const row = document.createElement('tr');
    for (const text of [name, value]) row.insertCell().textContent = text;
    return row;
  }));
}
