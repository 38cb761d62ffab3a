#include "view/render/bystanders.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "view/render/scene.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_PAINT 2 /* the first ones are the pair's */
#define PAINTS 6

/* Interprets a pose like those of kind quaternion and normalizes it. Numbers are divided by the
 * largest first, so that squares do not overflow. */
static abut_status place_of(const context *c, const double pose[7], size_t which, double place[7])
{
  double largest = 0.0, sum = 0.0;
  for (int k = 0; k < 7; ++k) {
    if (!isfinite(pose[k])) {
      return fail(ABUT_ERROR_ARGUMENT, "the pose of surrounding body %zu is not finite", which);
    }
    largest = k < 3 ? largest : fmax(largest, fabs(pose[k]));
  }
  if (!(largest > 0.0)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the pose of surrounding body %zu has a quaternion of length 0", which);
  }
  for (int k = 3; k < 7; ++k) {
    place[k] = pose[k] / largest;
    sum += place[k] * place[k];
  }
  for (int k = 0; k < 7; ++k) {
    place[k] = k < 3 ? in_range(pose[k], context_real_bytes(c)) : place[k] / sqrt(sum);
  }
  return ABUT_SUCCESS;
}

/* Creates a pair of the body with itself, for its smoothing. */
static abut_status lend_pair(abut_body of, abut_pair *lent, pair **out)
{
  abut_smoothing fitted;
  TRY(abut_fit_edge_pairs(of, of, &fitted));
  fitted.edge_edge = false; /* its contacts are not used, and every body can have such a pair */
  TRY(abut_create_pair(of, of, &fitted, lent));
  *out = pair_get(*lent);
  return *out ? ABUT_SUCCESS : ABUT_ERROR_HANDLE;
}

/* Finds a pair for the body's smoothing: the main pair if it has the body, one already lent to the
 * body, or a new one. */
static abut_status find_pair(bystanders *o, const pair *around, const abut_placed_body *bodies,
                             size_t which)
{
  part *to = &o->parts[which];
  const abut_body of = bodies[which].body;
  for (int side = 0; side < 2; ++side) {
    if (same_body(of, around->bodies[side])) {
      to->pair = pair_get((abut_pair){around->base.self.index, around->base.self.generation});
      to->side = side;
      return to->pair ? ABUT_SUCCESS : ABUT_ERROR_HANDLE;
    }
  }
  for (size_t i = 0; i < which; ++i) {
    if (same_body(of, bodies[i].body)) {
      to->pair = o->parts[i].pair;
      return ABUT_SUCCESS;
    }
  }
  return lend_pair(of, &o->lent[which], &to->pair);
}

/* A body of another context might be destroyed by another thread during the check, so only its lock
 * is compared. */
static abut_status check_context(const pair *around, abut_body of, size_t which)
{
  const call_lock *l = pool_call_lock(&body_pool, (handle){of.index, of.generation});
  return l && l != around->context->call_lock
           ? fail(ABUT_ERROR_HANDLE, "surrounding body %zu belongs to another context", which)
           : ABUT_SUCCESS;
}

abut_status bystanders_create(bystanders *o, const pair *around, const abut_placed_body *bodies,
                              size_t count)
{
  void *memory = NULL;
  *o = (bystanders){0};
  TRY(allocate(&memory, count, sizeof *o->parts));
  o->parts = memory;
  TRY(allocate(&memory, count, sizeof *o->lent));
  o->lent = memory;
  o->count = count;
  for (size_t i = 0; i < count; ++i) { /* before any pair is created */
    TRY(place_of(around->context, bodies[i].pose, i, o->parts[i].place));
    TRY(check_context(around, bodies[i].body, i));
  }
  for (size_t i = 0; i < count; ++i) {
    o->parts[i].paint = FIRST_PAINT + i % PAINTS;
    TRY(find_pair(o, around, bodies, i));
  }
  return ABUT_SUCCESS;
}

void bystanders_free(bystanders *o)
{
  for (size_t i = 0; i < o->count; ++i) {
    pair *lent = has_pair(o->lent[i]) ? pair_get(o->lent[i]) : NULL;
    if (lent) {
      context_discard(lent->context, &lent->base);
    }
  }
  free(o->parts);
  free(o->lent);
}
