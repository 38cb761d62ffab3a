#include "calls.h"

#include <stdlib.h>
#include <string.h>

/* ---- contacts ---- */

static bool contacts_fit(const abutpy_contacts_record *c)
{
  const size_t pairs = c->batch.pairs ? c->batch.pair_count : 1;
  size_t slots = 0;
  for (size_t i = 0; i < pairs; ++i) {
    abut_layout layout;
    if (abut_get_layout(c->batch.pairs ? c->batch.pairs[i] : c->pair, &layout)) {
      return true; /* the call itself reports the error */
    }
    slots = layout.contacts > slots ? layout.contacts : slots;
  }
  return slots == c->slots;
}

static abut_status run_contacts(int call, abutpy_contacts_record *c)
{
  switch (call) {
  case ABUTPY_JVP:
    return abut_jvp(c->pair, ABUT_SAME_PAIR, &c->batch, &c->along, &c->tangents);
  case ABUTPY_VJP:
    return abut_vjp(c->pair, ABUT_SAME_PAIR, &c->batch, &c->bars, &c->gradients);
  case ABUTPY_VJP_TANGENT:
    return abut_vjp_tangent(c->pair, &c->batch, &c->bars, &c->slopes, &c->along, NULL,
                            &c->gradients);
  case ABUTPY_GRADIENT:
    return abut_gradient(c->pair, ABUT_SAME_PAIR, &c->batch, c->reduction, &c->gradients);
  case ABUTPY_HESSIAN_PRODUCT:
    return abut_hessian_product(c->pair, &c->batch, c->reduction, &c->along, NULL, &c->gradients);
  default:
    return abut_contacts(c->pair, &c->batch);
  }
}

/* ---- closest points ---- */

static abut_status run_closest(int call, abutpy_closest_record *c)
{
  switch (call) {
  case ABUTPY_CLOSEST_VJP:
    return abut_closest_vjp(c->context, &c->batch, &c->smoothing, &c->bars, &c->gradients);
  case ABUTPY_CLOSEST_JVP:
    return abut_closest_jvp(c->context, &c->batch, &c->smoothing, c->twists, &c->tangents);
  case ABUTPY_CLOSEST_JACOBIAN:
    return abut_closest_jacobian(c->context, &c->batch, &c->smoothing, &c->jacobians);
  default:
    return abut_closest(c->context, &c->batch);
  }
}

/* Derivatives start from the answers if the method uses them, and add to a copy of their status. */
static abut_status derive_closest(int call, abutpy_closest_record *c)
{
  abut_closest_batch *b = &c->batch;
  uint8_t *room = !c->flags && c->smoothing.solved ? malloc(b->count + 1) : NULL;
  uint8_t *copy = room ? room : c->flags;
  if (c->smoothing.solved && !copy) {
    return ABUT_ERROR_MEMORY;
  }
  if (copy) {
    memcpy(copy, b->status, b->count);
  }
  if (!c->smoothing.solved) {
    b->d = b->n = b->p1 = b->p2 = NULL;
  }
  b->status = copy;
  const abut_status status = run_closest(call, c);
  free(room);
  return status;
}

/* ---- worlds ---- */

static bool steps_fit(const abutpy_steps_record *c)
{
  abut_scene_info info;
  return abut_get_scene_info(c->scene, &info) ||
         (c->nq == info.nq && c->nv == info.nv && c->nu == info.nu && c->links == info.links &&
          c->pairs == info.pairs && c->parameters == info.parameters &&
          c->candidates == info.candidates);
}

static abut_status run_steps(int call, abutpy_steps_record *c)
{
  switch (call) {
  case ABUTPY_STEPS_VJP:
    return abutpy_vjp_worlds(c->scene, c->real, &c->batch, c->bars, c->slopes, NULL);
  case ABUTPY_STEPS_JVP: /* the states are computed again along with their tangents */
    c->batch.q_next = c->batch.q_record = NULL;
    return abutpy_jvp_worlds(c->scene, c->real, &c->batch, c->along, c->tangents);
  default:
    return abut_step_worlds(c->scene, &c->batch);
  }
}

/* ---- positions of worlds ---- */

static bool positions_fit(const abutpy_positions_record *c)
{
  abut_scene_info info;
  return abut_get_scene_info(c->scene, &info) ||
         (c->nq == info.nq && c->nv == info.nv && c->links == info.links);
}

static abut_status run_positions(int call, abutpy_positions_record *c, void *along)
{
  abut_distances *d = &c->batch;
  switch (call) {
  case ABUTPY_POSES:
    return abut_find_poses(c->scene, d->count, d->q, c->poses);
  case ABUTPY_POSES_VJP:
    return abut_find_poses_vjp(c->scene, d->count, d->q, c->poses_bar, along);
  case ABUTPY_POSES_JVP:
    return abut_find_poses_jvp(c->scene, d->count, d->q, along, c->poses_tangent);
  case ABUTPY_DISTANCES_VJP:
    d->q_gradient = along;
    return abut_find_distances(c->scene, d);
  case ABUTPY_DISTANCES_JVP:
    d->along = along;
    return abut_find_distances(c->scene, d);
  default:
    return abut_find_distances(c->scene, d);
  }
}

/* These derivatives are by the numbers of q, those of the library in the tangent space. */
static abut_status derive_positions(int call, abutpy_positions_record *c)
{
  const abut_distances *d = &c->batch;
  const bool back = call == ABUTPY_POSES_VJP || call == ABUTPY_DISTANCES_VJP;
  const bool forth = call == ABUTPY_POSES_JVP || call == ABUTPY_DISTANCES_JVP;
  void *along = back || forth ? calloc(d->count * c->nv + 1, c->real) : NULL;
  if ((back || forth) && !along) {
    return ABUT_ERROR_MEMORY;
  }
  abut_status status =
    forth ? abut_map_positions(c->scene, ABUT_SLOPE_TO_TANGENT, d->count, d->q, c->q_tangent, along)
          : ABUT_SUCCESS;
  status = status ? status : run_positions(call, c, along);
  if (!status && back) {
    status = abut_map_positions(c->scene, ABUT_GRADIENT_FROM_TANGENT, d->count, d->q, along,
                                c->q_gradient);
  }
  free(along);
  return status;
}

/* ---- all calls ---- */

size_t abutpy_record_size(int call)
{
  if (call < 0 || call >= ABUTPY_CALLS) {
    return 0;
  }
  return call < ABUTPY_CCD           ? sizeof(abutpy_contacts_record)
         : call < ABUTPY_CCD_QUERIES ? sizeof(abutpy_ccd_record)
         : call < ABUTPY_CLOSEST     ? sizeof(abutpy_ccd_queries_record)
         : call < ABUTPY_STEPS       ? sizeof(abutpy_closest_record)
         : call < ABUTPY_POSES       ? sizeof(abutpy_steps_record)
                                     : sizeof(abutpy_positions_record);
}

bool abutpy_fits(int call, const void *record)
{
  return call < ABUTPY_CCD     ? contacts_fit(record)
         : call < ABUTPY_STEPS ? true
         : call < ABUTPY_POSES ? steps_fit(record)
                               : positions_fit(record);
}

abut_status abutpy_run(int call, void *record)
{
  abutpy_ccd_record *moves = record;
  abutpy_ccd_queries_record *queries = record;
  switch (call) {
  case ABUTPY_CCD:
    return abut_ccd(moves->one, moves->two, &moves->batch);
  case ABUTPY_CCD_GRADIENT:
    return abut_ccd_gradient(moves->one, moves->two, &moves->batch, &moves->gradients);
  case ABUTPY_CCD_QUERIES:
    return abut_run_ccd_queries(queries->context, &queries->batch);
  case ABUTPY_CCD_QUERIES_GRADIENT:
    return abut_ccd_queries_gradient(queries->context, &queries->batch, queries->by_x0,
                                     queries->by_x1);
  case ABUTPY_CLOSEST:
    return run_closest(call, record);
  case ABUTPY_CLOSEST_VJP:
  case ABUTPY_CLOSEST_JVP:
  case ABUTPY_CLOSEST_JACOBIAN:
    return derive_closest(call, record);
  default:
    return call < ABUTPY_CCD     ? run_contacts(call, record)
           : call < ABUTPY_POSES ? run_steps(call, record)
                                 : derive_positions(call, record);
  }
}
