#include "derive_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRING_LIMIT 1e-10

static void *zeros(size_t count, size_t size)
{
  void *out = calloc(count + 1, size);
  REQUIRE(out != NULL);
  return out;
}

/* ---- one step: A, B, P ---- */

typedef struct tally {
  double worst[BY_ALL], largest[BY_ALL]; /* difference; entry */
  size_t compared, left_out[BY_ALL], world[BY_ALL];
} tally;

/* The array of a world by one of the inputs: `got` (2 nv, columns), `want` (columns, 2 nv). */
static void compare_world(const derive_trial *of, const derive *d, size_t i, int by,
                          const double *got, const double *want, const bool *border, tally *t)
{
  const size_t n = 2 * d->info.nv, columns = d->columns[by];
  double scale = 0.0;
  for (size_t e = 0; e < n * columns; ++e) {
    scale = fmax(scale, fabs(got[e]));
  }
  t->largest[by] = fmax(t->largest[by], scale);
  for (size_t c = 0; c < columns; ++c) {
    t->left_out[by] += border[c];
    t->compared += !border[c];
    for (size_t k = 0; k < n && !border[c]; ++k) {
      const double off = fabs(got[k * columns + c] - want[c * n + k]);
      const double relative = off / fmax(scale, of->faint);
      if (!(relative <= t->worst[by])) {
        t->worst[by] = relative;
        t->world[by] = i;
      }
    }
  }
}

/* A (2 nv, 2 nv) is two arrays here. */
static void split(const derive *d, const double *A, double *by_q, double *by_v)
{
  const size_t nv = d->info.nv;
  for (size_t row = 0; row < 2 * nv; ++row) {
    memcpy(by_q + row * nv, A + row * 2 * nv, nv * sizeof *A);
    memcpy(by_v + row * nv, A + row * 2 * nv + nv, nv * sizeof *A);
  }
}

static void check_steps(const derive_trial *trial, const derive *d, const double *want,
                        const bool *border, tally *t)
{
  const size_t n = 2 * d->info.nv;
  double *got[BY_ALL], *A = zeros(d->count * n * n, sizeof *A);
  for (int k = 0; k < BY_ALL; ++k) {
    got[k] = zeros(d->count * n * d->columns[k], sizeof(double));
  }
  abut_worlds w = derive_call(d);
  abut_worlds_transition of = abut_default_worlds_transition();
  of.A = A;
  of.B = got[BY_U];
  of.mass_scale = got[BY_MASS_SCALE];
  of.friction = d->info.parameters ? got[BY_FRICTION] : NULL;
  of.stiffness = d->info.parameters ? got[BY_STIFFNESS] : NULL;
  of.gravity = got[BY_GRAVITY];
  CHECK_OK(abut_transition_worlds(d->scene, &w, &of));
  for (size_t i = 0; i < d->count; ++i) {
    split(d, A + i * n * n, got[BY_Q] + i * n * n / 2, got[BY_V] + i * n * n / 2);
    for (int k = 0; k < BY_ALL; ++k) {
      const size_t at = i * d->all + d->first[k];
      compare_world(trial, d, i, k, got[k] + i * n * d->columns[k], want + at * n, border + at, t);
    }
  }
  for (int k = 0; k < BY_ALL; ++k) {
    free(got[k]);
  }
  free(A);
}

/* ---- many steps: gradients and tangents ---- */

typedef struct directions {
  double *cotangent, *tangent[BY_ALL], *gradient[BY_ALL], *ahead;
} directions;

static void directions_open(const derive *d, directions *to, uint64_t *random)
{
  const size_t n = 2 * d->info.nv;
  to->cotangent = zeros(d->count * n, sizeof(double));
  to->ahead = zeros(d->count * n, sizeof(double));
  for (size_t i = 0; i < d->count * n; ++i) {
    to->cotangent[i] = random_normal(random);
  }
  for (int k = 0; k < BY_ALL; ++k) {
    to->tangent[k] = zeros(d->count * d->columns[k], sizeof(double));
    to->gradient[k] = zeros(d->count * d->columns[k], sizeof(double));
    for (size_t i = 0; i < d->count * d->columns[k]; ++i) {
      to->tangent[k][i] = random_normal(random);
    }
  }
}

static void directions_close(directions *to)
{
  for (int k = 0; k < BY_ALL; ++k) {
    free(to->tangent[k]);
    free(to->gradient[k]);
  }
  free(to->cotangent);
  free(to->ahead);
}

static void differentiate(const derive *d, directions *to)
{
  void *gradients[BY_ALL];
  for (int k = 0; k < BY_ALL; ++k) {
    gradients[k] = to->gradient[k];
  }
  abut_worlds w = derive_call(d);
  abut_worlds_gradients g = derive_gradients(&d->info, gradients);
  g.state = to->cotangent;
  CHECK_OK(abut_vjp_worlds(d->scene, &w, &g));
  abut_worlds_tangents along = abut_default_worlds_tangents();
  const size_t half = d->count * d->info.nv;
  along.q = to->tangent[BY_Q];
  along.v = to->tangent[BY_V];
  along.u = d->info.nu ? to->tangent[BY_U] : NULL;
  along.mass_scale = to->tangent[BY_MASS_SCALE];
  along.friction = d->info.parameters ? to->tangent[BY_FRICTION] : NULL;
  along.stiffness = d->info.parameters ? to->tangent[BY_STIFFNESS] : NULL;
  along.gravity = to->tangent[BY_GRAVITY];
  along.q_next = to->ahead;
  along.v_next = to->ahead + half;
  CHECK_OK(abut_jvp_worlds(d->scene, &w, &along));
}

static double ahead_of(const derive *d, const directions *to, size_t i, size_t k)
{
  const size_t nv = d->info.nv;
  return k < nv ? to->ahead[i * nv + k] : to->ahead[d->count * nv + i * nv + k - nv];
}

/* cotangent . J tangent both ways. */
static double pairing(const derive *d, const directions *to, size_t i)
{
  double forward = 0.0, back = 0.0, scale = 1e-300;
  for (size_t k = 0; k < 2 * d->info.nv; ++k) {
    const double term = to->cotangent[i * 2 * d->info.nv + k] * ahead_of(d, to, i, k);
    forward += term;
    scale += fabs(term);
  }
  for (int by = 0; by < BY_ALL; ++by) {
    for (size_t c = 0; c < d->columns[by]; ++c) {
      const size_t at = i * d->columns[by] + c;
      back += to->gradient[by][at] * to->tangent[by][at];
      scale += fabs(to->gradient[by][at] * to->tangent[by][at]);
    }
  }
  return fabs(forward - back) / scale;
}

/* Of a world: the gradient of each input against cotangent . differences, and the tangent against
 * the differences' sum where no column is left out. */
static void compare_roll(const derive_trial *of, const derive *d, const directions *to, size_t i,
                         const double *want, const bool *border, tally *t, double *tangent)
{
  const size_t n = 2 * d->info.nv;
  double *sum = zeros(n, sizeof *sum), most = 0.0;
  bool whole = true;
  for (int by = 0; by < BY_ALL; ++by) {
    double off = 0.0, scale = 0.0;
    for (size_t c = 0; c < d->columns[by]; ++c) {
      const size_t column = i * d->all + d->first[by] + c, at = i * d->columns[by] + c;
      double dot = 0.0;
      for (size_t k = 0; k < n; ++k) {
        dot += to->cotangent[i * n + k] * want[column * n + k];
        sum[k] += to->tangent[by][at] * want[column * n + k];
      }
      scale = fmax(scale, fabs(to->gradient[by][at]));
      off = fmax(off, border[column] ? 0.0 : fabs(dot - to->gradient[by][at]));
      t->left_out[by] += border[column];
      t->compared += !border[column];
      whole = whole && !border[column];
    }
    t->largest[by] = fmax(t->largest[by], scale);
    t->worst[by] = fmax(t->worst[by], off / fmax(scale, of->faint));
  }
  for (size_t k = 0; k < n; ++k) {
    most = fmax(most, fabs(sum[k]));
  }
  for (size_t k = 0; k < n && whole; ++k) {
    *tangent = fmax(*tangent, fabs(ahead_of(d, to, i, k) - sum[k]) / most);
  }
  free(sum);
}

/* ---- all of it ---- */

static void report(const derive_trial *of, const derive *d, const tally *t, double limit)
{
  size_t left_out = 0;
  printf("%s, %zu steps, %zu worlds:", of->name, d->steps, d->count);
  for (int k = 0; k < BY_ALL; ++k) {
    left_out += t->left_out[k];
    if (d->columns[k]) {
      printf(" %s %.1e (%zu)", derive_names[k], t->worst[k], t->left_out[k]);
    }
    check(t->worst[k] <= limit, "%s: by %s off by %.2e, world %zu", of->name, derive_names[k],
          t->worst[k], t->world[k]);
    const bool none = !d->columns[k] || of->without[k];
    check(d->steps > 1 ? !none || t->largest[k] == 0.0 : none == (t->largest[k] == 0.0),
          "%s: by %s at most %g", of->name, derive_names[k], t->largest[k]);
  }
  printf("; (left out) of %zu\n", left_out + t->compared);
  const double share = (double)left_out / (double)(left_out + t->compared);
  check(d->count > 0 && share <= of->left_out, "%s: %.3g of the columns are left out", of->name,
        share);
}

void derive_compare(const derive_trial *of, const derive *d, uint64_t *random)
{
  directions to;
  tally t = {.compared = 0}, gradients = {.compared = 0};
  double tangent = 0.0, off = 0.0;
  double *want = zeros(d->count * d->all * 2 * d->info.nv, sizeof *want);
  bool *border = zeros(d->count * d->all, sizeof *border);
  derive_differences(d, want, border);
  directions_open(d, &to, random);
  differentiate(d, &to);
  if (d->steps == 1) {
    check_steps(of, d, want, border, &t);
  }
  for (size_t i = 0; i < d->count; ++i) {
    compare_roll(of, d, &to, i, want, border, d->steps == 1 ? &gradients : &t, &tangent);
    off = fmax(off, pairing(d, &to, i));
  }
  const double limit = d->steps == 1 ? of->step_limit : of->roll_limit;
  report(of, d, &t, limit);
  for (int k = 0; k < BY_ALL; ++k) {
    check(gradients.worst[k] <= limit, "%s: gradients by %s of a step are off by %.2e", of->name,
          derive_names[k], gradients.worst[k]);
  }
  printf("  tangents %.1e, both ways %.1e\n", tangent, off);
  check(tangent <= limit, "%s: tangents are off by %.2e", of->name, tangent);
  check(off <= PAIRING_LIMIT, "%s: VJP and JVP differ by %.2e", of->name, off);
  directions_close(&to);
  free(want);
  free(border);
}
