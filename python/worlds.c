#include "worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Workspace of a call: rows in the tangent space. */
typedef struct room {
  size_t count, kept, nq, nv, size; /* size: bytes per number */
  void *state, *record;             /* (count, 2 nv), (count, kept, 2 nv) cotangents; NULL is 0 */
  void *part;                       /* (count or count kept, nv) */
  void *q;                          /* (count, nv) gradient by q */
} room;

static void drop(room *r)
{
  free(r->state);
  free(r->record);
  free(r->part);
  free(r->q);
}

/* Returns rows of zeros, with room for one more row so that the result is not NULL. */
static void *zeros(const room *r, size_t rows, size_t width)
{
  return calloc(rows * width + 1, r->size);
}

static bool all_finite(const room *r, const void *numbers, size_t first, size_t count)
{
  bool finite = true;
  for (size_t i = first; finite && i < first + count; ++i) {
    finite = r->size == sizeof(double) ? isfinite(((const double *)numbers)[i])
                                       : isfinite(((const float *)numbers)[i]);
  }
  return finite;
}

/* Maps rows at q. If q is not finite because a world has stopped, finite input becomes 0. */
static abut_status map(const room *r, abut_scene scene, abut_position_map kind, size_t count,
                       const void *q, const void *from, void *to)
{
  const bool narrows = kind == ABUT_GRADIENT_TO_TANGENT || kind == ABUT_SLOPE_TO_TANGENT;
  const size_t in = narrows ? r->nq : r->nv, out = narrows ? r->nv : r->nq;
  const abut_status status = abut_map_positions(scene, kind, count, q, from, to);
  for (size_t i = 0; !status && i < count; ++i) {
    if (!all_finite(r, to, i * out, out) && all_finite(r, from, i * in, in)) {
      memset((char *)to + i * out * r->size, 0, out * r->size);
    }
  }
  return status;
}

/* Fills one half of rows of 2 nv: first q, second v. */
static void put_half(const room *r, void *rows, size_t count, size_t half, const void *from)
{
  const size_t bytes = r->nv * r->size;
  for (size_t i = 0; i < count; ++i) {
    memcpy((char *)rows + (2 * i + half) * bytes, (const char *)from + i * bytes, bytes);
  }
}

/* Writes cotangents of q, taken at `at`, and of v into zeroed rows of 2 nv. */
static abut_status pack(const room *r, abut_scene scene, size_t count, const void *at,
                        const void *q, const void *v, void *rows)
{
  abut_status status = ABUT_SUCCESS;
  if (q) {
    status = map(r, scene, ABUT_GRADIENT_TO_TANGENT, count, at, q, r->part);
    put_half(r, rows, count, 0, r->part);
  }
  if (v) {
    put_half(r, rows, count, 1, v);
  }
  return status;
}

static abut_status make(room *r, abut_scene scene, const abut_worlds *w, const void *const *bars,
                        bool by_q)
{
  const bool ends = bars[BAR_Q] || bars[BAR_V];
  const bool recorded = bars[BAR_Q_RECORD] || bars[BAR_V_RECORD];
  const size_t states = r->count * r->kept;
  r->part = zeros(r, recorded && r->kept > 1 ? states : r->count, r->nv);
  r->state = ends ? zeros(r, r->count, 2 * r->nv) : NULL;
  r->record = recorded ? zeros(r, states, 2 * r->nv) : NULL;
  r->q = by_q ? zeros(r, r->count, r->nv) : NULL;
  if (!r->part || (ends && !r->state) || (recorded && !r->record) || (by_q && !r->q)) {
    return ABUT_ERROR_MEMORY;
  }
  abut_status status =
    ends ? pack(r, scene, r->count, w->q_next, bars[BAR_Q], bars[BAR_V], r->state) : ABUT_SUCCESS;
  if (!status && recorded) {
    status = pack(r, scene, states, w->q_record, bars[BAR_Q_RECORD], bars[BAR_V_RECORD], r->record);
  }
  return status;
}

static abut_status derive(const room *r, abut_scene scene, abut_worlds *worlds,
                          const void *const *bars, void *const *slopes, uint32_t *escaped)
{
  abut_worlds w = *worlds;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  w.q_next = w.q_record = NULL;
  g.state = r->state;
  g.record = r->record;
  g.acceleration = bars[BAR_ACCELERATION];
  g.link_forces = bars[BAR_LINK_FORCES];
  g.pair_forces = bars[BAR_PAIR_FORCES];
  g.q = r->q;
  g.v = slopes[SLOPE_V];
  g.u = slopes[SLOPE_U];
  g.mass_scale = slopes[SLOPE_MASS_SCALE];
  g.friction = slopes[SLOPE_FRICTION];
  g.stiffness = slopes[SLOPE_STIFFNESS];
  g.gravity = slopes[SLOPE_GRAVITY];
  g.springs = slopes[SLOPE_SPRINGS];
  g.p = slopes[SLOPE_P];
  g.d = slopes[SLOPE_D];
  g.n = slopes[SLOPE_N];
  g.activity = slopes[SLOPE_ACTIVITY];
  g.escape = escaped != NULL;
  g.escaped = escaped;
  const abut_status status = abut_vjp_worlds(scene, &w, &g);
  worlds->failures = w.failures;
  return status;
}

static room room_of(const abut_scene_info *info, size_t size, const abut_worlds *w)
{
  return (room){.count = w->count,
                .kept = w->record ? w->steps / w->record : 0,
                .nq = info->nq,
                .nv = info->nv,
                .size = size};
}

abut_status abutpy_vjp_worlds(abut_scene scene, size_t size, abut_worlds *worlds,
                              const void *const *bars, void *const *slopes, uint32_t *escaped)
{
  abut_scene_info info;
  abut_status status = abut_get_scene_info(scene, &info);
  if (status || !worlds->count) {
    return status;
  }
  room r = room_of(&info, size, worlds);
  status = make(&r, scene, worlds, bars, slopes[SLOPE_Q]);
  if (!status) {
    status = derive(&r, scene, worlds, bars, slopes, escaped);
  }
  if (!status && slopes[SLOPE_Q]) {
    status = map(&r, scene, ABUT_GRADIENT_FROM_TANGENT, r.count, worlds->q, r.q, slopes[SLOPE_Q]);
  }
  drop(&r);
  return status;
}

/* ---- forward ---- */

/* Positions in the tangent space: initial, final and recorded ones; and the states there if the
 * caller has no room for them. */
typedef struct along_room {
  void *q, *q_next, *q_record, *at, *at_record;
} along_room;

static void drop_along(along_room *a)
{
  free(a->q);
  free(a->q_next);
  free(a->q_record);
  free(a->at);
  free(a->at_record);
}

static bool make_room(void **to, const room *r, bool needed, size_t rows, size_t width)
{
  *to = needed ? zeros(r, rows, width) : NULL;
  return *to || !needed;
}

static abut_status make_along(const room *r, along_room *a, abut_worlds *w, bool along_q,
                              void *const *made)
{
  const size_t states = r->count * r->kept;
  const bool next = made[BAR_Q], record = made[BAR_Q_RECORD];
  if (!make_room(&a->q, r, along_q, r->count, r->nv) ||
      !make_room(&a->q_next, r, next, r->count, r->nv) ||
      !make_room(&a->q_record, r, record, states, r->nv) ||
      !make_room(&a->at, r, next && !w->q_next, r->count, r->nq) ||
      !make_room(&a->at_record, r, record && !w->q_record, states, r->nq)) {
    return ABUT_ERROR_MEMORY;
  }
  w->q_next = a->at ? a->at : w->q_next;
  w->q_record = a->at_record ? a->at_record : w->q_record;
  return ABUT_SUCCESS;
}

static abut_status derive_along(abut_scene scene, abut_worlds *w, const along_room *a,
                                const void *const *tangents, void *const *made)
{
  abut_worlds_tangents t = abut_default_worlds_tangents();
  t.q = a->q;
  t.v = tangents[SLOPE_V];
  t.u = tangents[SLOPE_U];
  t.mass_scale = tangents[SLOPE_MASS_SCALE];
  t.friction = tangents[SLOPE_FRICTION];
  t.stiffness = tangents[SLOPE_STIFFNESS];
  t.gravity = tangents[SLOPE_GRAVITY];
  t.q_next = a->q_next;
  t.v_next = made[BAR_V];
  t.q_record = a->q_record;
  t.v_record = made[BAR_V_RECORD];
  return abut_jvp_worlds(scene, w, &t);
}

abut_status abutpy_jvp_worlds(abut_scene scene, size_t size, abut_worlds *worlds,
                              const void *const *tangents, void *const *made)
{
  abut_scene_info info;
  abut_status status = abut_get_scene_info(scene, &info);
  if (status || !worlds->count) {
    return status;
  }
  const room r = room_of(&info, size, worlds);
  along_room a = {NULL, NULL, NULL, NULL, NULL};
  abut_worlds w = *worlds;
  status = make_along(&r, &a, &w, tangents[SLOPE_Q], made);
  if (!status && a.q) {
    status = map(&r, scene, ABUT_SLOPE_TO_TANGENT, r.count, w.q, tangents[SLOPE_Q], a.q);
  }
  if (!status) {
    status = derive_along(scene, &w, &a, tangents, made);
    worlds->failures = w.failures;
  }
  if (!status && a.q_next) {
    status = map(&r, scene, ABUT_SLOPE_FROM_TANGENT, r.count, w.q_next, a.q_next, made[BAR_Q]);
  }
  if (!status && a.q_record) {
    status = map(&r, scene, ABUT_SLOPE_FROM_TANGENT, r.count * r.kept, w.q_record, a.q_record,
                 made[BAR_Q_RECORD]);
  }
  drop_along(&a);
  return status;
}
