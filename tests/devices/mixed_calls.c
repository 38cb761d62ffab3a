#include "mixed_calls.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_precision precision;

size_t width_of(int array, size_t contacts)
{
  static const size_t each[] = {3, 1, 3, 1};
  const int of = array < VALUES    ? array - BARS
                 : array < REDUCED ? array - VALUES
                                   : array - TANGENTS;
  if (array < BARS || array >= GRADIENT) {
    return WIDTH;
  }
  if (array == WEIGHT) {
    return contacts;
  }
  return array >= REDUCED && array < WEIGHT ? 1 : each[of] * contacts;
}

static void *room(size_t count, size_t size)
{
  void *memory = malloc(count * size + 1);
  check(memory != NULL, "no memory");
  memset(memory, 0x5a, count * size + 1); /* whatever is not written shows */
  return memory;
}

void set_create(set *s, size_t count, size_t contacts, size_t capacity)
{
  const size_t real = real_size(precision);
  memset(s, 0, sizeof *s);
  s->count = count;
  s->contacts = contacts;
  for (int i = 0; i < ARRAYS; ++i) {
    s->arrays[i] = room(count * width_of(i, contacts), real);
  }
  s->list = (abut_compact){.threshold = 0.03,
                           .capacity = capacity,
                           .pose = room(capacity, 4),
                           .slot = room(capacity, 4),
                           .feature = room(capacity, 8),
                           .p = room(capacity, 3 * real),
                           .d = room(capacity, real),
                           .n = room(capacity, 3 * real),
                           .activity = room(capacity, real)};
  s->blocks = room(capacity * BLOCK, real);
}

void set_free(set *s)
{
  for (int i = 0; i < ARRAYS; ++i) {
    free(s->arrays[i]);
  }
  free(s->list.pose);
  free(s->list.slot);
  free(s->list.feature);
  free(s->list.p);
  free(s->list.d);
  free(s->list.n);
  free(s->list.activity);
  free(s->blocks);
}

static void fill(set *s, int array, uint64_t *seed)
{
  for (size_t i = 0; i < s->count * width_of(array, s->contacts); ++i) {
    real_put(s->arrays[array], precision, i, random_normal(seed));
  }
}

void fill_inputs(set *s)
{
  uint64_t seed = 31;
  for (size_t i = 0; i < 2 * s->count; ++i) {
    double pose[WIDTH];
    random_pose(&seed, 0.4, pose);
    pose[1] = i % 32 == 10 ? (double)NAN : pose[1];
    for (size_t k = 0; k < WIDTH; ++k) {
      real_put(s->arrays[POSE + (int)(i % 2)], precision, i / 2 * WIDTH + k,
               i % 32 == 27 && k > 2 ? 0.0 : pose[k]);
    }
  }
  for (int i = ALONG; i < VALUES; ++i) {
    fill(s, i, &seed);
  }
}

/* ---- calls ---- */

/* Outputs of contacts, each in its bit, that go with a call. */
static const unsigned beside[CALLS] = {[CONTACTS] = 0xfff,
                                       [JVP] = 0xf,
                                       [REDUCTIONS] = 0x7f0,
                                       [REDUCTIONS + 2] = 0x4,
                                       [HESSIANS + 2] = 0x10};

bool gives_list(int call)
{
  return call == CONTACTS || call == JACOBIAN || call == JVP || call == ACTIVE;
}

static void attach(set *s, unsigned given, abut_batch *b)
{
  void **const to[] = {&b->p,
                       &b->d,
                       &b->n,
                       &b->activity,
                       &b->reductions.mean_distance,
                       &b->reductions.activity,
                       &b->reductions.energy,
                       &b->reductions.minimum_distance,
                       &b->reductions.soft_minimum,
                       &b->reductions.distance,
                       &b->reductions.soft_distance,
                       &b->weight};
  for (int i = 0; i < TANGENTS - VALUES; ++i) {
    *to[i] = given & 1u << i ? s->arrays[VALUES + i] : NULL;
  }
}

abut_status run(set *s, abut_pair pair, abut_pair second, abut_batch b, int call)
{
  void *const *a = s->arrays;
  const abut_cotangents bars = {.p = a[BARS],
                                .d = a[BARS + 1],
                                .n = a[BARS + 2],
                                .activity = a[BARS + 3]};
  const abut_tangents tangents = {.p = a[TANGENTS],
                                  .d = a[TANGENTS + 1],
                                  .n = a[TANGENTS + 2],
                                  .activity = a[TANGENTS + 3]};
  const abut_pose_tangents along = {a[ALONG], a[ALONG + 1]};
  const abut_gradients gradient = {a[GRADIENT], a[GRADIENT + 1]};
  const abut_gradients product = {a[PRODUCT], a[PRODUCT + 1]};
  abut_status status = ABUT_SUCCESS;
  b.count = s->count;
  b.poses = ABUT_POSE_QUATERNION;
  b.pose1 = a[POSE];
  b.pose2 = a[POSE + 1];
  b.status = s->status;
  b.contacts = s->own;
  b.compact = gives_list(call) ? &s->list : NULL;
  attach(s, beside[call], &b);
  if (call == CONTACTS || call == ACTIVE) {
    status = abut_contacts(pair, &b);
  } else if (call == VJP) {
    status = abut_vjp(pair, second, &b, &bars, &gradient);
  } else if (call == VJP_TANGENT) { /* either part of a cotangent may be missing */
    const abut_cotangents values = {.p = a[BARS], .n = a[BARS + 2], .activity = a[BARS + 3]};
    const abut_cotangents tangents_of = {.p = a[BARS], .d = a[BARS + 1], .activity = a[BARS + 3]};
    status = abut_vjp_tangent(pair, &b, &values, &tangents_of, &along, &gradient, &product);
  } else if (call == JVP) {
    status = abut_jvp(pair, second, &b, &along, &tangents);
  } else if (call < HESSIANS) {
    status = abut_gradient(pair, second, &b, (abut_reduction)(call - REDUCTIONS), &gradient);
  } else if (call < JACOBIAN) {
    status = abut_hessian_product(pair, &b, (abut_reduction)(call - HESSIANS), &along, &gradient,
                                  &product);
  } else {
    status = abut_jacobian(pair, second, &b, s->blocks);
  }
  s->rejected = b.rejected;
  return status;
}

bool writes(int call, int array)
{
  if (array >= VALUES && array < TANGENTS) {
    return beside[call] >> (array - VALUES) & 1;
  }
  if (array >= TANGENTS && array < GRADIENT) {
    return call == JVP;
  }
  const bool both = call == VJP_TANGENT || (call >= HESSIANS && call < JACOBIAN);
  return array >= PRODUCT
           ? both
           : array >= GRADIENT && (both || call == VJP || (call >= REDUCTIONS && call < HESSIANS));
}
