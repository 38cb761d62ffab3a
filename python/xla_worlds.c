/* Steps of worlds and their derivatives as XLA calls them; python/xla.c says how.
 *
 * Attributes, 64-bit whole numbers:
 *   op        0: steps, 1: gradients, 2: tangents
 *   scene     index in the low half, generation in the high one
 *   steps, record, controls   as of abut_worlds
 *   given     inputs that are given behind q and v, bit k of w, u, mass_scale, friction, stiffness,
 *             gravity, springs
 *   want      outputs of steps, bit k of q, v, w, status, q_record, v_record; of tangents not w and
 *             status
 *   bars      cotangents that are given: q, v, q_record, v_record
 *   wrt       gradients that are wanted: q, v, u, mass_scale, friction, stiffness, gravity, springs
 *   along     tangents that are given, of the same but springs
 * Arguments: q, v, what `given` names; of derivatives then the steps' q, their q_record where
 * `record` is not 0, and what `bars` or `along` names. Leading axes of q are the worlds. Results:
 * what `want` or `wrt` names.
 */
#include "worlds.h"
#include "xla_call.h"

#include <abut/abut.h>

#include <stdbool.h>
#include <string.h>

enum {
  GIVEN = 7,
  WANTED = 6,
  WANTED_STATUS = 3,
  BARS = BAR_ACCELERATION,
  SLOPES = SLOPE_P,
  SPRING_WIDTH = 6
};

uintptr_t abutpy_xla_worlds_handler(void);

typedef struct call {
  xla_call x;
  abut_scene scene;
  abut_scene_info info;
  abut_worlds worlds;
  size_t kept;
} call;

static size_t controls_width(const call *c)
{
  return c->info.nu * (c->worlds.controls ? c->worlds.steps : 1);
}

static void read_settings(call *c)
{
  const xla_handle handle = xla_handle_of(xla_number(c->x.frame, "scene"));
  const int64_t steps = xla_number(c->x.frame, "steps"), record = xla_number(c->x.frame, "record");
  c->scene = (abut_scene){handle.index, handle.generation};
  if (steps < 0 || record < 0) {
    xla_refuse(&c->x, "abut was called for %lld steps", (long long)steps);
    return;
  }
  c->worlds.steps = (size_t)steps;
  c->worlds.record = (size_t)record;
  c->worlds.controls = xla_number(c->x.frame, "controls");
  c->kept = record ? (size_t)(steps / record) : 0;
}

/* q, whose size tells how many worlds there are, and all other inputs. */
static void read_inputs(call *c)
{
  const xla_buffers *all = &c->x.frame->arguments;
  const xla_buffer *q = all->count && all->kinds[0] == XLA_BUFFER ? all->items[0] : NULL;
  if (!q || (q->type != XLA_F32 && q->type != XLA_F64)) {
    xla_refuse(&c->x, "abut was called without worlds");
    return;
  }
  c->x.type = q->type;
  c->x.count = 1;
  for (int64_t i = 0; i + 1 < q->rank; ++i) {
    c->x.count *= (size_t)q->shape[i];
  }
  const void **const places[GIVEN] = {&c->worlds.w,          &c->worlds.u,
                                      &c->worlds.mass_scale, &c->worlds.friction,
                                      &c->worlds.stiffness,  &c->worlds.gravity,
                                      &c->worlds.springs};
  const size_t widths[GIVEN] = {
    c->info.nv, controls_width(c),           c->info.links, c->info.pairs, c->info.pairs,
    3,          SPRING_WIDTH * c->info.pairs};
  const int64_t given = xla_number(c->x.frame, "given");
  c->worlds.count = c->x.count;
  c->worlds.q = xla_argument(&c->x, c->info.nq);
  c->worlds.v = xla_argument(&c->x, c->info.nv);
  for (int k = 0; k < GIVEN; ++k) {
    if (given >> k & 1) {
      const void *array = xla_argument(&c->x, widths[k]);
      *places[k] = widths[k] ? array : NULL;
    }
  }
}

static abut_status run_steps(call *c)
{
  void **const places[WANTED] = {&c->worlds.q_next,   &c->worlds.v_next,  &c->worlds.w_next, NULL,
                                 &c->worlds.q_record, &c->worlds.v_record};
  const size_t widths[WANTED] = {c->info.nq, c->info.nv,           c->info.nv,
                                 1,          c->kept * c->info.nq, c->kept * c->info.nv};
  const int64_t want = xla_number(c->x.frame, "want");
  for (int k = 0; k < WANTED; ++k) {
    if ((want >> k & 1) && k == WANTED_STATUS) {
      c->worlds.status = xla_next(&c->x, &c->x.frame->results, &c->x.result, XLA_U32, 1);
    } else if (want >> k & 1) {
      *places[k] = xla_result(&c->x, widths[k]);
    }
  }
  return c->x.text[0] ? ABUT_SUCCESS : abut_step_worlds(c->scene, &c->worlds);
}

/* The states that steps gave. */
static void read_states(call *c)
{
  c->worlds.q_next = xla_argument(&c->x, c->info.nq);
  c->worlds.q_record = c->worlds.record ? xla_argument(&c->x, c->kept * c->info.nq) : NULL;
}

static size_t real_size(const call *c)
{
  return c->x.type == XLA_F64 ? sizeof(double) : sizeof(float);
}

/* Numbers a world of what has derivatives. */
static void slope_widths(const call *c, size_t widths[SLOPES])
{
  const size_t own[SLOPES] = {
    c->info.nq,    c->info.nv, controls_width(c),           c->info.links, c->info.pairs,
    c->info.pairs, 3,          SPRING_WIDTH * c->info.pairs};
  memcpy(widths, own, sizeof own);
}

static abut_status run_gradients(call *c)
{
  const void *bars[WORLD_BARS] = {NULL};
  void *slopes[WORLD_SLOPES] = {NULL};
  const size_t nq = c->info.nq, nv = c->info.nv;
  const size_t bar_widths[BARS] = {nq, nv, c->kept * nq, c->kept * nv};
  size_t widths[SLOPES];
  slope_widths(c, widths);
  const int64_t given = xla_number(c->x.frame, "bars"), wanted = xla_number(c->x.frame, "wrt");
  read_states(c);
  for (int k = 0; k < BARS; ++k) {
    bars[k] = given >> k & 1 ? xla_argument(&c->x, bar_widths[k]) : NULL;
  }
  for (int k = 0; k < SLOPES; ++k) {
    void *array = wanted >> k & 1 ? xla_result(&c->x, widths[k]) : NULL;
    slopes[k] = widths[k] ? array : NULL;
  }
  return c->x.text[0] ? ABUT_SUCCESS
                      : abutpy_vjp_worlds(c->scene, real_size(c), &c->worlds, bars, slopes, NULL);
}

/* The states, which gradients need, are computed anew beside their tangents. */
static abut_status run_tangents(call *c)
{
  static const int answers[WANTED] = {BAR_Q, BAR_V, -1, -1, BAR_Q_RECORD, BAR_V_RECORD};
  const void *tangents[WORLD_SLOPES] = {NULL};
  void *made[WORLD_BARS] = {NULL};
  const size_t nq = c->info.nq, nv = c->info.nv;
  const size_t answer_widths[WANTED] = {nq, nv, 0, 0, c->kept * nq, c->kept * nv};
  size_t widths[SLOPES];
  slope_widths(c, widths);
  const int64_t along = xla_number(c->x.frame, "along"), want = xla_number(c->x.frame, "want");
  if (along >> SLOPE_SPRINGS & 1) {
    xla_refuse(&c->x, "steps of worlds have no tangents along springs");
  }
  read_states(c);
  c->worlds.q_next = c->worlds.q_record = NULL;
  for (int k = 0; k < SLOPES; ++k) {
    const void *array = along >> k & 1 ? xla_argument(&c->x, widths[k]) : NULL;
    tangents[k] = widths[k] ? array : NULL;
  }
  for (int k = 0; k < WANTED; ++k) {
    if ((want >> k & 1) && answers[k] >= 0) {
      void *array = xla_result(&c->x, answer_widths[k]);
      made[answers[k]] = answer_widths[k] ? array : NULL;
    }
  }
  return c->x.text[0] ? ABUT_SUCCESS
                      : abutpy_jvp_worlds(c->scene, real_size(c), &c->worlds, tangents, made);
}

static xla_error *execute(const xla_frame *frame)
{
  call c = {.x = {.frame = frame}, .worlds = abut_default_worlds()};
  read_settings(&c);
  abut_status status = c.x.text[0] ? ABUT_SUCCESS : abut_get_scene_info(c.scene, &c.info);
  if (!status && !c.x.text[0]) {
    read_inputs(&c);
    const int64_t op = xla_number(frame, "op");
    if (op < 0 || op > 2) {
      xla_refuse(&c.x, "abut has no such operation of worlds");
    }
    if (!c.x.text[0]) {
      status = op == 0 ? run_steps(&c) : op == 1 ? run_gradients(&c) : run_tangents(&c);
    }
  }
  return xla_end(&c.x, status);
}

static xla_error *handle(xla_frame *frame)
{
  return xla_handle_call(frame, execute);
}

uintptr_t abutpy_xla_worlds_handler(void)
{
  return (uintptr_t)handle;
}
