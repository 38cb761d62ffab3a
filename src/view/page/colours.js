/* Colours, in linear light as src/view/render has them. */

const RAMP = [[0.90, 0.76, 0.16], [0.86, 0.38, 0.04], [0.72, 0.09, 0.05], [0.36, 0.015, 0.13], [0.10, 0.005, 0.13]];
const PAINTS = [[0.17, 0.35, 0.58], [0.66, 0.58, 0.45], [0.30, 0.48, 0.26], [0.60, 0.22, 0.17], [0.40, 0.30, 0.55],
  [0.16, 0.47, 0.49], [0.70, 0.44, 0.12], [0.45, 0.45, 0.47]];
const FLOOR = [0.72, 0.73, 0.75], MARKED = [0.0, 0.75, 0.2];

const FORCES = [[0.02, 0.2, 0.8], [0.5, 0.05, 0.5]], PUSHES = [0.0, 0.33, 0.3];

function ramp(activity) {
  const x = clamp(activity, 0, 1) * 4, i = Math.min(Math.floor(x), 3);
  return RAMP[i].map((c, k) => c + (RAMP[i + 1][k] - c) * (x - i));
}
const shown = c => c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
const css = c => `rgb(${c.map(x => Math.round(255 * shown(clamp(x, 0, 1)))).join(' ')})`;

const isDark = () => document.documentElement.dataset.theme === 'dark';

/* Colours of activities in 256 steps for arrows, sRGB in bytes. They are paler on a dark background, to be visible. */
const bytesOf = paint => [...paint.map(c => Math.round(255 * shown(clamp(c, 0, 1)))), 255];
let shades = [], shadesOf = null;
function shadeOf(activity) {
  if (shadesOf !== isDark()) {
    shadesOf = isDark();
    shades = Array.from({length: 256}, (_, i) => bytesOf(ramp(i / 255).map(c => shadesOf ? c + 0.2 * (1 - c) : c)));
  }
  return shades[Math.round(255 * clamp(activity, 0, 1))];
}
