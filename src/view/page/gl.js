/* Programs, buffers and framebuffers of WebGL. */

const canvas = at('canvas'), overlay = at('overlay');
/* An opaque picture with background. Without a GPU, blending a transparent one would be a quarter of the browser's own work per frame. */
const gl = canvas.getContext('webgl2', {antialias: false, alpha: false, powerPreference: 'low-power'});

function fallBack(why) {
  const p = document.createElement('p');
  p.className = 'plain';
  p.textContent = why + (at('picture') ? ' Below is one frame, as abut render draws it.' : '');
  document.body.prepend(p);
  document.documentElement.classList.remove('live');
}

/* Locations of vertex attributes. All programs share them, so each can draw any list. */
const INPUTS = {position: 0, normal: 1, direction: 1, activity: 2, shade: 2, number: 3, corner: 4};
const PROGRAMS = {mesh: [MESH_VERTEX, meshFragment(false)], floor: [MESH_VERTEX, meshFragment(true)], line: [LINE_VERTEX, LINE_FRAGMENT],
  ball: [BALL_VERTEX, ballFragment(BALL)], rimmed: [BALL_VERTEX, ballFragment(RIMMED)], number: [BALL_VERTEX, ballFragment(NUMBER)],
  arrow: [ARROW_VERTEX, ARROW_FRAGMENT]};

/* Starts to compile a program. Reading the result would wait for the compilation. */
const begun = {};
function beginProgram(name) {
  const program = gl.createProgram(), shaders = [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].map((kind, k) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, PROGRAMS[name][k]);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    return shader;
  });
  for (const input in INPUTS) gl.bindAttribLocation(program, INPUTS[input], input);
  gl.linkProgram(program);
  begun[name] = {program, shaders};
}

/* Makes a program current, and links it at its first use. Returns the locations of its uniforms. */
function use(name) {
  if (gl.isContextLost()) return {}; // nothing can be made or drawn
  if (!begun[name]) beginProgram(name);
  const {program, shaders, at} = begun[name];
  gl.useProgram(program);
  if (at) return at;
  for (const shader of shaders)
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  const found = begun[name].at = {};
  for (let i = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i--;) {
    const uniform = gl.getActiveUniform(program, i).name.replace('[0]', '');
    found[uniform] = gl.getUniformLocation(program, uniform);
  }
  return found;
}

function bufferOf(data, usage) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  if (data) gl.bufferData(gl.ARRAY_BUFFER, data, usage || gl.STATIC_DRAW);
  return buffer;
}

/* Binds attributes to a buffer: [name, components, offset] in rows of `stride` bytes. */
function attach(buffer, stride, fields) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  for (const [name, count, offset, type] of fields) {
    const place = INPUTS[name];
    gl.enableVertexAttribArray(place);
    if (type === gl.UNSIGNED_INT) gl.vertexAttribIPointer(place, count, type, stride, offset);
    else gl.vertexAttribPointer(place, count, type || gl.FLOAT, !!type, stride, offset);
  }
}

const turnOn = (what, on) => on ? gl.enable(what) : gl.disable(what);

function target(samples) { // a framebuffer as large as the canvas
  const colour = gl.createRenderbuffer(), depth = gl.createRenderbuffer(), made = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, made);
  for (const [buffer, format, place] of [[colour, draw.format, gl.COLOR_ATTACHMENT0], [depth, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
    gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
    gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, canvas.width, canvas.height);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
  }
  return {made, colour, depth};
}
function forget(t) {
  if (!t) return;
  gl.deleteFramebuffer(t.made);
  gl.deleteRenderbuffer(t.colour);
  gl.deleteRenderbuffer(t.depth);
}

function resize() {
  const ratio = Math.min(devicePixelRatio || 1, 2), w = Math.round(canvas.clientWidth * ratio), h = Math.round(canvas.clientHeight * ratio);
  if (canvas.width === w && canvas.height === h) return;
  canvas.width = w;
  canvas.height = h;
  forget(draw.smooth);
  forget(draw.pick);
  draw.smooth = draw.pick = null;
}
