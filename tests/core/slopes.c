#include "slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t slopes_out(const slopes *s, int output)
{
  return output == OUT_P || output == OUT_N ? 3 * s->contacts : s->contacts;
}

static void *rows(const slopes *s, size_t width, uint64_t *seed)
{
  const size_t count = s->count * width;
  void *array = calloc(count ? count : 1, real_size(s->precision));
  check(array != NULL, "no memory for %zu numbers", count);
  for (size_t i = 0; array && seed && i < count; ++i) {
    real_put(array, s->precision, i, random_normal(seed));
  }
  return array;
}

bool slopes_create(slopes *s, abut_pair pair, abut_precision precision, abut_pose_kind kind,
                   size_t count, uint64_t seed)
{
  abut_layout layout;
  memset(s, 0, sizeof *s);
  if (!CHECK_OK(abut_get_layout(pair, &layout))) {
    return false;
  }
  s->pair = pair;
  s->derivatives = ABUT_SAME_PAIR;
  s->precision = precision;
  s->kind = kind;
  s->count = count;
  s->contacts = layout.contacts;
  s->width = kind == ABUT_POSE_TWIST ? 6 : 7;
  for (int i = 0; i < 2; ++i) {
    s->pose[i] = rows(s, s->width, NULL);
    s->along[i] = rows(s, s->width, &seed);
    s->gradient[i] = rows(s, s->width, NULL);
    s->product[i] = rows(s, s->width, NULL);
  }
  for (int i = 0; i < 4; ++i) {
    s->bars[i] = rows(s, slopes_out(s, i), &seed);
    s->tangents[i] = rows(s, slopes_out(s, i), NULL);
  }
  for (int i = 0; i < 4; ++i) {
    s->bar_tangents[i] = rows(s, slopes_out(s, i), &seed);
  }
  s->status = calloc(count ? count : 1, 1);
  return true;
}

void slopes_free(slopes *s)
{
  for (int i = 0; i < 2; ++i) {
    free(s->pose[i]);
    free(s->along[i]);
    free(s->gradient[i]);
    free(s->product[i]);
  }
  for (int i = 0; i < 4; ++i) {
    free(s->bars[i]);
    free(s->tangents[i]);
    free(s->bar_tangents[i]);
  }
  free(s->status);
  memset(s, 0, sizeof *s);
}

void slopes_put(slopes *s, int side, size_t pose, const double *numbers)
{
  for (size_t i = 0; i < s->width; ++i) {
    real_put(s->pose[side], s->precision, pose * s->width + i, numbers[i]);
  }
}

double slopes_at(const slopes *s, const void *array, size_t i)
{
  return real_at(array, s->precision, i);
}

abut_batch slopes_batch(const slopes *s)
{
  abut_batch batch = abut_default_batch();
  batch.count = s->count;
  batch.poses = s->kind;
  batch.pose1 = s->pose[0];
  batch.pose2 = s->pose[1];
  batch.status = s->status;
  return batch;
}

/* Those of `of` that are given. */
static abut_cotangents cotangents_of(void *const of[4], unsigned given)
{
  const void *bars[4];
  for (int i = 0; i < 4; ++i) {
    bars[i] = given & 1u << i ? of[i] : NULL;
  }
  return (abut_cotangents){.p = bars[0], .d = bars[1], .n = bars[2], .activity = bars[3]};
}

abut_status slopes_vjp(slopes *s, unsigned given)
{
  abut_batch batch = slopes_batch(s);
  const abut_cotangents cotangents = cotangents_of(s->bars, given);
  const abut_gradients gradients = {s->gradient[0], s->gradient[1]};
  return abut_vjp(s->pair, s->derivatives, &batch, &cotangents, &gradients);
}

abut_status slopes_vjp_tangent(slopes *s, unsigned given)
{
  abut_batch batch = slopes_batch(s);
  const abut_cotangents cotangents = cotangents_of(s->bars, given);
  const abut_cotangents tangents = cotangents_of(s->bar_tangents, given);
  const abut_pose_tangents along = {s->along[0], s->along[1]};
  const abut_gradients gradients = {s->gradient[0], s->gradient[1]};
  const abut_gradients products = {s->product[0], s->product[1]};
  return abut_vjp_tangent(s->pair, &batch, &cotangents, &tangents, &along, &gradients, &products);
}

abut_status slopes_jvp(slopes *s)
{
  abut_batch batch = slopes_batch(s);
  const abut_pose_tangents along = {s->along[0], s->along[1]};
  const abut_tangents to = {.p = s->tangents[0],
                            .d = s->tangents[1],
                            .n = s->tangents[2],
                            .activity = s->tangents[3]};
  return abut_jvp(s->pair, s->derivatives, &batch, &along, &to);
}

abut_status slopes_gradient(slopes *s, abut_reduction reduction)
{
  abut_batch batch = slopes_batch(s);
  const abut_gradients gradients = {s->gradient[0], s->gradient[1]};
  return abut_gradient(s->pair, s->derivatives, &batch, reduction, &gradients);
}

abut_status slopes_hessian(slopes *s, abut_reduction reduction)
{
  abut_batch batch = slopes_batch(s);
  const abut_pose_tangents along = {s->along[0], s->along[1]};
  const abut_gradients gradients = {s->gradient[0], s->gradient[1]};
  const abut_gradients products = {s->product[0], s->product[1]};
  return abut_hessian_product(s->pair, &batch, reduction, &along, &gradients, &products);
}

double slopes_dot(const slopes *s, const void *a, const void *b, size_t first, size_t count,
                  double *size)
{
  double sum = 0.0;
  for (size_t i = first; i < first + count; ++i) {
    const double product = slopes_at(s, a, i) * slopes_at(s, b, i);
    sum += product;
    *size += fabs(product);
  }
  return sum;
}
