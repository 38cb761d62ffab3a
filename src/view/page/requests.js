/* What the page asks its server, and when. */

/* live.given      coefficients that the page was made with, of each kind of pairs
 * live.smoothing  those of the sliders
 * live.kind       the kind that the sliders are of; pairs of bodies have one
 * live.pose       of body 2, where it was moved or typed: 7 numbers; null: the frame's
 * live.shown      the last good answer for the frame by what was changed, which is drawn in place of the loaded one; null
 * live.kept       answers for frames as they were loaded, by frame, those that were looked at longest ago first
 * live.held       their bytes, at most live.room and one answer
 * live.wanted     the newest request for the frame, which is not sent yet; older ones are forgotten
 * live.asked      that which is being answered; null
 * live.next       the frame to which scrubbing has gone meanwhile; null
 * live.from, step the frame, and by how many it came from the one before
 * live.ahead      frames that were answered ahead of their time since the page went to its frame: where they cannot all be kept,
 *                 none is asked for twice
 * live.visit      counts the frames that the page went to, and resets
 * live.curve      frames below it have their curves
 * live.chunk      frames of which curves are asked for at once
 * live.careful    frames below it are asked for one by one: among them is one that was refused
 * live.gaps       frames whose curves were refused
 * live.refusals   how many were one after another
 * live.gone       no server answers */
const changed = () => live.pose !== null || at('reduction').value !== '' || JSON.stringify(live.smoothing) !== JSON.stringify(live.given);
/* Whether the frame that is shown waits for the server. */
const awaited = () => !!live && !live.gone && !!(live.wanted || (live.asked && live.asked.frame === frame));

/* What the sliders say, as a request has it: of a scene the kinds alone that were changed. */
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
  const body = {threshold: page.threshold}; // in the order of the early one
  if (live.pose) Object.assign(body, {pose1: loadedPlace(0, frame), pose2});
  else body.frame = frame;
  if (changed()) live.wanted = {frame, visit: live.visit, changed: true, body: {...body, smoothing: smoothingNow(), reduction: at('reduction').value || undefined}};
  else if (!live.kept.has(frame)) live.wanted = {frame, body};
  else live.kept.set(frame, taken(frame)); // the last one to be forgotten
  send();
}
function taken(f) {
  const made = live.kept.get(f);
  live.kept.delete(f);
  return made;
}

/* What is asked next: for the frame, for those that come to be shown soon, for curves; null: nothing now. */
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
const AHEAD = 4, QUIET = 250; // frames; ms without a wish, after which curves are computed

/* Whether the course of the picked contact is wanted: it is of the slots that the page was loaded with, and so must the contact be. */
const isFollowed = () => !!(course && state.picked && course.next < page.frames && layoutOf(NOTHING, state.picked.pair) === state.picked.layout);

/* The course of the contact that is picked, else the curves, from the first frame that has none of them. */
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
      else if (!isOwn) await pause(500); // it is asked for again, since the server is there
    } else if (answer.status === 409) { // another page of this server was newer
      if (isOwn) live.wanted = live.wanted || asked;
      else await pause(50);
    } else if (answer.status !== 200) {
      if (isOwn && !live.wanted) refuse(new TextDecoder().decode(answer.bytes));
      if (isOwn) redraw(true);
      live.step = asked.ahead ? Infinity : live.step; // none is asked for ahead of its time
      if (asked.body.curves) passOver(asked, new TextDecoder().decode(answer.bytes));
    } else try {
      if (asked.body.curves) takeCurves(asked, answer.bytes, performance.now() - began);
      else take(asked, answer.bytes);
    } catch (error) { // the page's own, which says nothing of the server
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

/* The answer to a request, whole; null: none came. */
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
/* One request may be lost, as where a network changes: a server that is gone does not answer a second one either. */
const isGone = async () => !await isAlive() && (await pause(500), !await isAlive());

/* Looks every two seconds whether the server answers, or does again. */
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
