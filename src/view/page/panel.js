/* The selected contact and the list of contacts, as text. */

const digits = (x, n) => Number.isFinite(x) ? x === 0 ? '0' : String(+x.toPrecision(n)) : '–';
const vector = (v, n) => v.map(x => digits(x, n)).join(', ');

/* Puts a text with names into an element. Lines may break after the punctuation of names. */
function putNames(element, text) {
  element.replaceChildren(...text.split(/(?<=[_\u2013.\-])(?=.)/).flatMap((part, i) => i ? [document.createElement('wbr'), part] : [part]));
  return element;
}

function featureWords(contact, side) {
  const b = bodies[page.pairs[contact.pair].bodies[side]], feature = contact.features[side];
  if (feature === null) return '–';
  if (contact.kind < 2) return `vertex ${feature}`;
  const edges = meshes[b.mesh].edges;
  if (contact.alone && b.stated) return `edge ${feature}`;
  return `edge ${feature} (${edges[2 * feature]}–${edges[2 * feature + 1]})`;
}

function showContact() {
  const table = at('picked').querySelector('tbody'), i = pickedNow();
  at('hint').hidden = !!state.picked;
  at('picked').hidden = !state.picked;
  if (!state.picked) return;
  const two = page.pairs[state.picked.pair].bodies.map(k => bodies[k]);
  const rows = [['slot', state.picked.slot]];
  if (page.pairs.length > 1) rows.push(['pair', two.map(nameOf).join(' – ')]);
  if (layoutOf(from(frame), state.picked.pair) !== state.picked.layout) rows.push(['', 'not among the slots that the page was loaded with']);
  else if (i < 0 && awaited()) rows.push(['', '…']);
  else if (i < 0) rows.push(['', `below ${digits(page.threshold, 3)} of activity in this frame`]);
  else {
    const c = contactOf(i);
    rows.push(['kind', c.words]);
    two.forEach((b, side) => rows.push([`of ${b.name}`, featureWords(c, side)]));
    rows.push(['p [m]', vector(c.p, 7)], ['d [m]', digits(c.d, 5)], ['n', c.n.map(x => x.toFixed(4)).join(', ')], ['activity', digits(c.activity, 3)]);
    if (c.force) rows.push([`force on ${c.force.on} [N]`, vector(c.force.vector, 4)], ['normal, friction [N]', vector([c.force.normal, c.force.friction], 4)]);
    else if (c.force === null) rows.push(['force [N]', live && live.shown ? 'only for the scene\u2019s own smoothing' : 'not known']);
  }
  table.replaceChildren(...rows.map(([name, value]) => {
    const row = document.createElement('tr');
    putNames(row.insertCell(), name);
    row.insertCell().textContent = value;
    return row;
  }));
  at('copy').disabled = at('center').disabled = i < 0;
  drawCourse();
}

function contactJson() {
  const i = pickedNow(), c = contactOf(i), two = page.pairs[c.pair].bodies.map(k => bodies[k]);
  return JSON.stringify({frame, time: data.time ? data.time[frame] : undefined, bodies: two.map(nameOf),
    pose1: placeOf(two[0], frame), pose2: placeOf(two[1], frame), slot: c.slot, kind: ['vertex1', 'vertex2', 'edges1', 'edges2', 'edge1', 'edge2'][c.alone ? c.kind + 2 : c.kind],
    feature: c.features, p: c.p, d: c.d, n: c.n, activity: c.activity, force: c.force}, null, 1);
}

function copyJson() {
  if (pickedNow() < 0) return;
  at('copied').value = contactJson();
  at('copied').hidden = false;
  copyFrom(at('copied'));
}
async function copyFrom(box) {
  try {
    await navigator.clipboard.writeText(box.value);
    say('Copied');
  } catch { // no permission: the text can be copied by hand
    box.focus();
    box.select();
    say('Press Ctrl+C to copy');
  }
}

let quiet = 0;
function say(text) {
  at('message').textContent = text;
  at('message').classList.add('shown');
  clearTimeout(quiet);
  quiet = setTimeout(() => at('message').classList.remove('shown'), 1500);
}

const LISTED = 200;

function showList() {
  showForces();
  const s = from(frame);
  const all = byActivity(contactsNow()), more = page.pairs.length > 1, now = pickedNow();
  at('count').textContent = awaited() && from(frame) === NOTHING ? '(…)' : all.length > LISTED ? `(${all.length}, the ${LISTED} most active)` : `(${all.length})`;
  const focused = at('list').contains(document.activeElement);
  at('list').replaceChildren(...all.slice(0, LISTED).map(i => {
    const c = contactOf(i), button = document.createElement('button'), dotted = document.createElement('i');
    dotted.style.background = css(ramp(c.activity));
    button.append(dotted);
    const name = more ? page.pairs[c.pair].bodies.map(k => bodies[k].link || bodies[k].name).join('–') + ` ${c.slot}` : `slot ${c.slot}`;
    putNames(button.appendChild(document.createElement('span')), name);
    for (const text of [digits(c.d, 3), c.activity.toFixed(2)]) button.appendChild(document.createElement('span')).textContent = text;
    button.title = more ? `${name}: ${c.words}` : c.words;
    button.setAttribute('aria-pressed', i === now);
    button.onclick = () => pick(from(frame) === s ? i : placeIn(from(frame), c)); // the list may belong to the previous answer
    return button;
  }));
  const pressed = at('list').querySelector('[aria-pressed="true"]');
  if (pressed && focused) pressed.focus();
  return pressed;
}
