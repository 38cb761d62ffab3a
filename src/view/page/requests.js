/* Requests of the page to its server, and their order. */

/* live.given      initial coefficients of the page, for each kind of pairs
 * live.smoothing  coefficients of the sliders
 * live.kind       the kind that the sliders change; a pair of bodies has one kind
 * live.pose       body 2's pose if it was moved or typed: 7 numbers; null: the frame's pose
 * live.shown      the last good answer for the frame with changed inputs, which replaces the loaded one; or null
 * live.kept       answers for unchanged frames, by frame, the least recently viewed first
 * live.held       bytes of live.kept, at most live.room and one answer
 * live.wanted     the newest request for the frame that is not sent yet; older ones are dropped
 * live.asked      the request in progress, or null
 * live.next       the frame that scrubbing has reached meanwhile, or null
 * live.from, step the frame, and its difference from the previous one
 * live.ahead      frames that were prefetched since the page reached its frame. They may not all fit in memory, so
 *                 none is requested twice
 * live.visit      counts changes of the frame, and resets
 * live.curve      frames below it have curves
 * live.chunk      number of frames per request of curves
 * live.careful    frames below it are requested one by one, because one of them was refused
 * live.gaps       frames whose curves were refused
 * live.refusals   the number of successive refusals
 * live.gone       the server does not answer */
const changed = () => live.pose !== null || at('reduction').value !== '' || JSON.stringify(live.smoothing) !== JSON.stringify(live.given);
/* Whether the current frame waits for the server. */
const awaited = () => !!live && !live.gone && !!(live.wanted || (live.asked && live.asked.frame === frame));

/* The sliders' values for a request: of a scene only the changed kinds. */
function smoothingNow() {
  if (!page.scene) return live.smoothing[0];
  return Object.fromEntries(live.smoothing.map((s, i) => [i, s]).filter(([i, s]) => JSON.stringify(s) !== JSON.stringify(live.given[i])));
}

function ask() {
  if (!live) return;
  const pose2 = page.scene ? null : live.pose || loadedPlace(1, frame), places = page.scene ? true : loadedPlace(0, frame) && pose2;
  at('pose').value = pose2 ? pose2.map(x => digits(x, 7)).join(', ') : '';
  live.wanted = live.next = null;
  live.idle = performance.now();
  if (live.gone || !changed() || !places) { refuse(''); show(null); }
  if (live.gone || !places) return;
  const body = {threshold: page.threshold}; // in the same order as in start.js
  if (live.pose) Object.assign(body, {pose1: loadedPlace(0, frame), pose2});
  else body.frame = frame;
  if (changed()) live.wanted = {frame, visit: live.visit, changed: true, body: {...body, smoothing: smoothingNow(), reduction: at('reduction').value || undefined}};
  else if (!live.kept.has(frame)) live.wanted = {frame, body};
  else live.kept.set(frame, taken(frame)); // moves it to the end, to be dropped last
  send();
}
function taken(f) {
  const made = live.kept.get(f);
  live.kept.delete(f);
  return made;
}

/* The next request: for the frame, for the next frames, or for curves. null: none. */
function nextRequest() {
  if (live.wanted) {
    live.asked = live.wanted;
    live.wanted = null;
    return live.asked;
  }
  if (document.hidden) return null;
  for (let k = 1; !changed() && k <= AHEAD && Math.abs(live.step) <= 10; ++k) {
    const f = frame + k * (live.step || 1);
    if (f >= 0 && f < page.frames && !live.kept.has(f) && !live.ahead.has(f)) return {frame: f, ahead: true, body: {frame: f, threshold: page.threshold}};
  }
  if (!state.playing && performance.now() - live.idle < QUIET) return null;
  return curvesRequest();
}
const AHEAD = 4, QUIET = 250; // frames; ms without a request, after which curves are computed

/* Whether to request the course of the selected contact. It uses the initial slots, so the contact must have one of them. */
const isFollowed = () => !!(course && state.picked && course.next < page.frames && layoutOf(NOTHING, state.picked.pair) === state.picked.layout);

/* The request for the selected contact's course, else for the curves, from the first frame without them. */
function curvesRequest() {
  const follows = isFollowed(), first = follows ? course.next : live.curve;
  if (first >= page.frames) return null;
  const count = Math.min(first < live.careful ? 1 : live.chunk, page.frames - first), body = {curves: [first, count], threshold: page.threshold};
  return {first, count, course: follows ? course : null, body: follows ? {...body, contact: [state.picked.pair, state.picked.slot]} : body};
}

function awake() {
  clearTimeout(waking);
  waking = setTimeout(send, QUIET + 10);
}
let waking = 0;

async function send() {
  if (live.busy) return;
  live.busy = true;
  for (let asked; !live.gone && (asked = nextRequest());) {
    const began = performance.now(), answer = await post(asked.body), isOwn = asked === live.asked;
    const gone = !answer && await isGone();
    live.asked = null;
    if (!answer) {
      if (gone) setGone(true);
      else if (isOwn && !asked.again) live.wanted = live.wanted || {...asked, again: true};
      else if (isOwn && !live.wanted) refuse('The server gave no answer to this.');
      else if (!isOwn) await pause(500); // then requests it again, since the server answers
    } else if (answer.status === 409) { // a newer page of this server replaced this one
      if (isOwn) live.wanted = live.wanted || asked;
      else await pause(50);
    } else if (answer.status !== 200) {
      if (isOwn && !live.wanted) refuse(new TextDecoder().decode(answer.bytes));
      if (isOwn) redraw(true);
      live.step = asked.ahead ? Infinity : live.step; // stops prefetching
      if (asked.body.curves) passOver(asked, new TextDecoder().decode(answer.bytes));
    } else try {
      if (asked.body.curves) takeCurves(asked, answer.bytes, performance.now() - began);
      else take(asked, answer.bytes);
    } catch (error) { // an error of the page, not of the server
      refuse(`The answer cannot be shown: ${error.message}.`);
      console.error(error);
      if (!isOwn) live.step = Infinity;
      if (asked.body.curves) passOver(asked, error.message);
    }
    goOn();
  }
  live.busy = false;
  if (!live.gone && (live.curve < page.frames || isFollowed())) awake();
}

/* Returns the whole answer to a request, or null if there is none. */
async function post(body) {
  if (early && early.body === JSON.stringify(body)) {
    const {answer} = early;
    early = null;
    return answer;
  }
  try {
    const response = await fetch('contacts', {method: 'POST', body: JSON.stringify(body)});
    return {status: response.status, bytes: await response.arrayBuffer()};
  } catch { return null; }
}

const isAlive = async () => { try { return (await fetch('alive')).ok; } catch { return false; } };
const pause = ms => new Promise(done => setTimeout(done, ms));
/* One request may be lost, for example when a network changes. If a second one also fails, the server is gone. */
const isGone = async () => !await isAlive() && (await pause(500), !await isAlive());

/* Checks every two seconds whether the server answers. */
async function watch() {
  if (!live.busy && !document.hidden) {
    const gone = live.gone ? !await isAlive() : await isGone();
    if (gone !== live.gone) setGone(gone);
  }
  setTimeout(watch, 2000);
}

function setGone(gone) {
  live.gone = gone;
  at('gone').hidden = !gone;
  for (const control of at('live').querySelectorAll('input, select, #reset')) control.disabled = gone;
  ask();
}
