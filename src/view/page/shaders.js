/* Shaders. */

/* Without a GPU the cost of a frame is that of its fragments, including hidden ones: SwiftShader tests the depth after shading. So
 * fragments compute only what is necessary, and back faces are left out if they would be invisible. */
/* sRGB by roots, with an error of at most 0.002 from 0.003 on: powers take three times as long without a GPU. The colour is between 0 and 1. */
const ENCODE = `
vec4 encode(vec3 c, float alpha) {
  vec3 a = sqrt(c), b = sqrt(a), d = sqrt(b);
  return vec4((0.662002687 * a + 0.684122060 * b - 0.323583601 * d - 0.0225411470 * c) * alpha, alpha);
}`;
const HEAD = '#version 300 es\nprecision highp float;\nprecision highp int;\n';

const MESH_VERTEX = HEAD + `
uniform mat4 model, camera;
uniform vec3 eye;
in vec3 position, normal;
out vec3 ray, facing;
out vec2 local;
void main() {
  vec3 world = (model * vec4(position, 1.0)).xyz;
  ray = world - eye;
  facing = mat3(model) * normal;
  local = position.xy;
  gl_Position = camera * vec4(world, 1.0);
}`;
/* Light from a lamp (key), from above (up) and from all sides, gloss, and slightly brighter edges. Floors have tiles. */
const meshFragment = tiled => HEAD + ENCODE + `
uniform vec3 key, up, paint;
uniform float alpha, tile;
in vec3 ray, facing;
in vec2 local;
out vec4 colour;
void main() {
  vec3 n = normalize(facing), of = paint;
  float near = inversesqrt(dot(ray, ray)), towards = dot(n, ray);
  n = towards > 0.0 ? -n : n;
  ${tiled ? `vec2 cell = floor(local / tile);
  of *= mod(cell.x + cell.y, 2.0) > 0.5 ? 0.82 : 1.0;` : ''}
  float edge = 1.0 - min(abs(towards) * near, 1.0);
  vec3 middle = key - near * ray;
  float half_way = max(dot(n, middle), 0.0), p2 = half_way * half_way / dot(middle, middle), p4 = p2 * p2, p8 = p4 * p4, p16 = p8 * p8;
  float gloss = 0.05 * p16 * p16 * p8;
  float lit = 0.92 * max(dot(n, key), 0.0) + 0.07 * dot(n, up) + 0.21;
  colour = encode(of * lit + gloss + 0.06 * edge * edge * edge, alpha);
}`;
const LINE_VERTEX = HEAD + `
uniform mat4 model, camera;
in vec3 position;
void main() {
  gl_Position = camera * model * vec4(position, 1.0);
  gl_Position.z -= 1e-4 * gl_Position.w;
}`;
const LINE_FRAGMENT = HEAD + ENCODE + `
uniform vec3 paint;
uniform float alpha;
out vec4 colour;
void main() { colour = encode(paint, alpha); }`;

const COLOURS = `
uniform vec3 stops[5];
vec3 of_activity(float a) {
  float x = clamp(a, 0.0, 1.0) * 4.0;
  int i = min(int(x), 3);
  return mix(stops[i], stops[i + 1], x - float(i));
}`;
const BALL_VERTEX = HEAD + COLOURS + `
uniform mat4 camera;
uniform float radius, least, most, focal;
in vec3 position;
in float activity;
in uint number;
out vec3 paint;
flat out uint id;
void main() {
  vec4 c = camera * vec4(position, 1.0);
  float r = clamp(radius * focal / c.w, least, most);
  gl_PointSize = 2.0 * r;
  c.z -= 0.5 * r / focal * c.w * 0.02;
  gl_Position = camera * vec4(position, 1.0);
  gl_Position.z = c.z;
  paint = of_activity(activity);
  id = number;
}`;
/* Balls, with a pale rim on a dark background, and their numbers for picking. */
const ballFragment = does => HEAD + ENCODE + `
uniform float alpha;
in vec3 paint;
flat in uint id;
out vec4 colour;
void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float r2 = dot(at, at);
  if (r2 > 1.0) discard;
  ${does}
}`;
const BALL = 'colour = encode(paint * (0.45 + 0.55 * sqrt(1.0 - r2)), alpha);';
const RIMMED = 'colour = encode(mix(paint * (0.45 + 0.55 * sqrt(1.0 - r2)), vec3(1.0), 0.8 * smoothstep(0.62, 0.72, r2)), alpha);';
const NUMBER = 'colour = vec4(float(id & 255u), float(id >> 8 & 255u), float(id >> 16 & 255u), 255.0) / 255.0;';
/* An arrow, or a bar without a head, a few pixels wide. */
const ARROW_VERTEX = HEAD + ENCODE + `
uniform mat4 camera;
uniform vec2 size;
uniform float reach, width, alpha;
uniform vec4 paint_all;
in vec3 corner;
in vec3 position, direction;
in vec4 shade;
out vec4 paint;
void main() {
  vec4 a = camera * vec4(position, 1.0), b = camera * vec4(position + reach * direction, 1.0);
  a.w = max(a.w, 1e-6);
  b.w = max(b.w, 1e-6);
  vec2 way = (b.xy / b.w - a.xy / a.w) * size;
  float l = length(way);
  vec2 side = l > 1e-3 ? vec2(-way.y, way.x) / l : vec2(1.0, 0.0);
  float head = min(3.2 * width, 0.6 * l) / max(l, 1e-3);
  float along = corner.z > 0.5 ? 1.0 - head * (1.0 - corner.x) : corner.z < -0.5 ? corner.x : corner.x * (1.0 - head);
  vec4 c = mix(a, b, along);
  c.xy += side * corner.y * width * (corner.z > 0.5 ? 1.7 : 0.5) / size * c.w * 2.0;
  gl_Position = c;
  paint = paint_all.w > 0.5 ? encode(paint_all.rgb, alpha) : shade * alpha;
}`;
const ARROW_FRAGMENT = HEAD + `
in vec4 paint;
out vec4 colour;
void main() { colour = paint; }`;
