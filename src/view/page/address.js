/* The view in the page's address. */

let known = '', later = 0;
function remember() {
  clearTimeout(later);
  later = setTimeout(() => {
    const c = [camera.azimuth, camera.elevation, camera.distance, ...camera.target].map(x => digits(x, 6)).join(',');
    known = `#frame=${frame}&camera=${c}&threshold=${digits(state.threshold, 3)}` +
      (state.picked ? `&contact=${state.picked.pair}.${state.picked.slot}` : '');
    try { history.replaceState(null, '', known); } catch { /* an embedded page may not change its address */ }
  }, 200);
}
function recall() {
  if (location.hash === known) return;
  const words = new URLSearchParams(location.hash.slice(1)), numbers = (words.get('camera') || '').split(',').map(Number);
  if (numbers.length === 6 && numbers.every(Number.isFinite) && numbers[2] > 0)
    camera = {azimuth: numbers[0], elevation: clamp(numbers[1], -Math.PI / 2, Math.PI / 2), distance: numbers[2], target: numbers.slice(3)};
  if (words.has('threshold')) setThreshold(Number(words.get('threshold')));
  const picked = /^(\d+)\.(\d+)$/.exec(words.get('contact') || '');
  if (picked && +picked[1] < page.pairs.length) state.picked = {pair: +picked[1], slot: +picked[2], layout: layoutOf(from(frame), +picked[1])};
  course = null;
  if (/^\d+$/.test(words.get('frame') || '')) go(+words.get('frame'));
  showContact();
  showList();
  redraw(false);
}
