/* Derivatives of witness points alone, against each other and against central differences:
 * test_derivatives_witness PRECISION. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES = 1003, EDGE_IN = 12, EDGE_OUT = 7, FACE_IN = 12, FACE_OUT = 3, PARTS = 3 };

/* A kind of query: arrays of its numbers, values, tangents, cotangents, all in doubles' places of
 * the context's precision. */
typedef struct query {
  const char *name;
  abut_context context;
  abut_precision precision;
  abut_smoothing smoothing;
  size_t count;
  bool faces;
  size_t in[2], out[PARTS]; /* reals a query */
  void *x[2], *x_tangent[2], *x_bar[2];
  void *y[PARTS], *y_tangent[PARTS], *y_bar[PARTS];
  uint8_t *status;
  size_t rejected;
} query;

static void *room(const query *q, size_t width)
{
  return calloc(q->count * width + 1, real_size(q->precision));
}

static void fill(const query *q, void *array, size_t width, uint64_t *seed)
{
  for (size_t i = 0; i < q->count * width; ++i) {
    real_put(array, q->precision, i, random_normal(seed));
  }
}

static query make_query(abut_context context, abut_precision precision, bool faces)
{
  query q = {.name = faces ? "faces" : "edges",
             .context = context,
             .precision = precision,
             .smoothing = abut_default_smoothing(),
             .count = QUERIES,
             .faces = faces};
  const size_t in[2][2] = {{6, 6}, {3, 9}}, out[2][PARTS] = {{3, 3, 1}, {3, 0, 0}};
  uint64_t seed = 19;
  q.smoothing.distance = 1e-3;
  memcpy(q.in, in[faces], sizeof q.in);
  memcpy(q.out, out[faces], sizeof q.out);
  for (int i = 0; i < 2; ++i) {
    q.x[i] = room(&q, q.in[i]);
    q.x_tangent[i] = room(&q, q.in[i]);
    q.x_bar[i] = room(&q, q.in[i]);
    fill(&q, q.x[i], q.in[i], &seed);
    fill(&q, q.x_tangent[i], q.in[i], &seed);
  }
  for (int i = 0; i < PARTS; ++i) {
    q.y[i] = room(&q, q.out[i]);
    q.y_tangent[i] = room(&q, q.out[i]);
    q.y_bar[i] = room(&q, q.out[i]);
    fill(&q, q.y_bar[i], q.out[i], &seed);
  }
  q.status = calloc(q.count + 1, 1);
  return q;
}

static void free_query(query *q)
{
  for (int i = 0; i < 2; ++i) {
    free(q->x[i]);
    free(q->x_tangent[i]);
    free(q->x_bar[i]);
  }
  for (int i = 0; i < PARTS; ++i) {
    free(q->y[i]);
    free(q->y_tangent[i]);
    free(q->y_bar[i]);
  }
  free(q->status);
}

static abut_status values(query *q)
{
  return q->faces ? abut_witness_faces(q->context, &q->smoothing, q->count, q->x[0], q->x[1],
                                       q->y[0], q->status, &q->rejected)
                  : abut_witness_edges(q->context, &q->smoothing, q->count, q->x[0], q->x[1],
                                       q->y[0], q->y[1], q->y[2]);
}

static abut_status jvp(query *q)
{
  void *const *t = q->x_tangent;
  return q->faces
           ? abut_witness_faces_jvp(q->context, &q->smoothing, q->count, q->x[0], q->x[1], t[0],
                                    t[1], q->y_tangent[0], q->status, &q->rejected)
           : abut_witness_edges_jvp(q->context, &q->smoothing, q->count, q->x[0], q->x[1], t[0],
                                    t[1], q->y_tangent[0], q->y_tangent[1], q->y_tangent[2]);
}

static abut_status vjp(query *q)
{
  return q->faces
           ? abut_witness_faces_vjp(q->context, &q->smoothing, q->count, q->x[0], q->x[1],
                                    q->y_bar[0], q->x_bar[0], q->x_bar[1], q->status, &q->rejected)
           : abut_witness_edges_vjp(q->context, &q->smoothing, q->count, q->x[0], q->x[1],
                                    q->y_bar[0], q->y_bar[1], q->y_bar[2], q->x_bar[0],
                                    q->x_bar[1]);
}

/* ---- against each other ---- */

static double dot(const query *q, const void *a, const void *b, size_t width, size_t at,
                  double *size)
{
  double sum = 0.0;
  for (size_t i = at * width; i < (at + 1) * width; ++i) {
    const double product = real_at(a, q->precision, i) * real_at(b, q->precision, i);
    sum += product;
    *size += fabs(product);
  }
  return sum;
}

/* |<c, J t> - <J' c, t>| in units of the products' absolute sum: 1e-12 in float64, in float32 as
 * many roundings. */
static void test_agreement(query *q, const char *what)
{
  const double most = q->precision == ABUT_FLOAT64 ? 1e-12 : 1e-12 * 536870912.0;
  double worst = 0.0;
  if (!CHECK_OK(jvp(q)) || !CHECK_OK(vjp(q))) {
    return;
  }
  for (size_t i = 0; i < q->count; ++i) {
    double difference = 0.0, size = 0.0;
    for (int k = 0; k < PARTS; ++k) {
      difference += dot(q, q->y_bar[k], q->y_tangent[k], q->out[k], i, &size);
    }
    for (int k = 0; k < 2; ++k) {
      difference -= dot(q, q->x_bar[k], q->x_tangent[k], q->in[k], i, &size);
    }
    const double off = fabs(difference) / (size > 0.0 ? size : 1.0);
    worst = off > worst || isnan(off) ? off : worst;
  }
  printf("%s, %s: VJP and JVP agree to %.1e\n", q->name, what, worst);
  check(worst <= most, "%s, %s: VJP and JVP differ by %g", q->name, what, worst);
}

/* ---- against central differences ---- */

static double quotient_error(query *q, double step, double *size)
{
  double sum = 0.0;
  void *kept[2], *low[PARTS];
  for (int i = 0; i < 2; ++i) {
    kept[i] = q->x[i];
    q->x[i] = room(q, q->in[i]);
  }
  for (int end = 0; end < 2; ++end) {
    for (int i = 0; i < 2; ++i) {
      for (size_t k = 0; k < q->count * q->in[i]; ++k) {
        real_put(q->x[i], q->precision, k,
                 real_at(kept[i], q->precision, k) +
                   (end ? step : -step) * real_at(q->x_tangent[i], q->precision, k));
      }
    }
    CHECK_OK(values(q));
    for (int i = 0; i < PARTS && !end; ++i) {
      low[i] = q->y[i];
      q->y[i] = room(q, q->out[i]);
    }
  }
  *size = 0.0;
  for (int i = 0; i < PARTS; ++i) {
    for (size_t k = 0; k < q->count * q->out[i]; ++k) {
      const double slope = real_at(q->y_tangent[i], q->precision, k);
      const double quotient =
        (real_at(q->y[i], q->precision, k) - real_at(low[i], q->precision, k)) / (2.0 * step);
      sum += (slope - quotient) * (slope - quotient);
      *size += slope * slope;
    }
    free(low[i]);
  }
  for (int i = 0; i < 2; ++i) {
    free(q->x[i]);
    q->x[i] = kept[i];
  }
  *size = sqrt(*size);
  return sqrt(sum);
}

/* Triangles of some height: on thin ones coordinates move by far more than a step. */
static void spread_triangles(query *q)
{
  static const double corners[9] = {0, 0, 0, 2, 0, 0, 0, 2, 0};
  for (size_t i = 0; q->faces && i < 9 * q->count; ++i) {
    const double x = 0.3 * real_at(q->x[1], q->precision, i);
    real_put(q->x[1], q->precision, i, corners[i % 9] + x);
  }
}

static void test_differences(query *q)
{
  double error[3], size;
  CHECK_OK(jvp(q));
  for (int i = 0; i < 3; ++i) {
    error[i] = quotient_error(q, ldexp(1.6e-4, -i), &size);
  }
  printf("%s: errors of difference quotients %.2e, %.2e, %.2e of %.2e\n", q->name, error[0],
         error[1], error[2], size);
  for (int i = 1; i < 3; ++i) {
    check(error[i] < error[i - 1] / 3.8 && error[i] > error[i - 1] / 4.2,
          "%s: errors %g, %g do not fall with the square of the step", q->name, error[i - 1],
          error[i]);
  }
  check(error[2] < 1e-3 * size, "%s: an error of %g of %g", q->name, error[2], size);
}

/* ---- special queries ---- */

static size_t not_numbers(const query *q, void *const *arrays, const size_t *widths, int count,
                          size_t at)
{
  size_t bad = 0;
  for (int i = 0; i < count; ++i) {
    for (size_t k = at * widths[i]; k < (at + 1) * widths[i]; ++k) {
      bad += !isfinite(real_at(arrays[i], q->precision, k));
    }
  }
  return bad;
}

/* Parallel, identical, crossing, far, and edges of no length: finite, and in agreement. Where edges
 * are parallel to rounding, that rounding times the distance is divided by the ridge, a hundredth:
 * float32 is asked for less of a distance. */
static void test_hard_edges(abut_context context, abut_precision precision)
{
  const double far = precision == ABUT_FLOAT64 ? 1e3 : 2.0;
  query q = make_query(context, precision, false);
  for (size_t i = 0; i < q.count; ++i) {
    for (size_t k = 0; k < 6; ++k) {
      const double a = real_at(q.x[0], precision, 6 * i + k);
      const double start = real_at(q.x[0], precision, 6 * i + k % 3);
      const double numbers[6] = {a, a + (double)(k % 3), start, a + far, -a, 0.0};
      real_put(q.x[1], precision, 6 * i + k, numbers[i % 6]);
    }
    if (i % 6 == 5) { /* both of no length, in one place */
      for (size_t k = 0; k < 6; ++k) {
        real_put(q.x[0], precision, 6 * i + k, 0.0);
      }
    }
  }
  test_agreement(&q, "hard ones");
  for (size_t i = 0; i < q.count; ++i) {
    const size_t bad =
      not_numbers(&q, q.x_bar, q.in, 2, i) + not_numbers(&q, q.y_tangent, q.out, PARTS, i);
    check(!bad, "edges of kind %zu: %zu derivatives are not finite", i % 6, bad);
  }
  free_query(&q);
}

/* Faces that are refused get NaN, and leave the others' derivatives as they are to the bit. */
static void test_refused_faces(abut_context context, abut_precision precision)
{
  query q = make_query(context, precision, true), r = make_query(context, precision, true);
  size_t refused = 0;
  for (size_t i = 0; i < r.count; i += 5) {
    ++refused;
    for (size_t k = 0; k < 3; ++k) {
      const double a = real_at(r.x[1], precision, 9 * i + k);
      const double b = real_at(r.x[1], precision, 9 * i + 3 + k);
      const double third[3] = {0.5 * (a + b), a, k ? 0.0 : NAN};
      real_put(r.x[1], precision, 9 * i + 6 + k, third[i / 5 % 3]);
      if (i / 5 % 3 == 0) { /* on one line, exactly */
        real_put(r.x[1], precision, 9 * i + k, (double)k);
        real_put(r.x[1], precision, 9 * i + 3 + k, 2.0 * (double)k);
        real_put(r.x[1], precision, 9 * i + 6 + k, 4.0 * (double)k);
      }
    }
  }
  CHECK_OK(values(&r));
  check(r.rejected == refused, "%zu faces are refused, not %zu", r.rejected, refused);
  r.rejected = 0;
  CHECK_OK(jvp(&r));
  check(r.rejected == refused, "a JVP refuses %zu faces", r.rejected);
  r.rejected = 0;
  CHECK_OK(vjp(&r));
  check(r.rejected == refused, "a VJP refuses %zu faces", r.rejected);
  CHECK_OK(jvp(&q));
  CHECK_OK(vjp(&q));
  const size_t real = real_size(precision);
  for (size_t i = 0; i < q.count; ++i) {
    const bool bad = i % 5 == 0;
    check(r.status[i] == bad, "face %zu has status %u", i, r.status[i]);
    const size_t none =
      not_numbers(&r, r.x_bar, r.in, 2, i) + not_numbers(&r, r.y_tangent, r.out, 1, i);
    check(none == (bad ? FACE_IN + FACE_OUT : 0), "face %zu has %zu NaN", i, none);
    check(bad || (!memcmp((char *)q.x_bar[0] + 3 * i * real, (char *)r.x_bar[0] + 3 * i * real,
                          3 * real) &&
                  !memcmp((char *)q.x_bar[1] + 9 * i * real, (char *)r.x_bar[1] + 9 * i * real,
                          9 * real) &&
                  !memcmp((char *)q.y_tangent[0] + 3 * i * real,
                          (char *)r.y_tangent[0] + 3 * i * real, 3 * real)),
          "face %zu is touched by those refused", i);
  }
  free_query(&q);
  free_query(&r);
}

/* ---- what is not given ---- */

/* NULL among inputs is zero, among outputs not wanted; one query is as in a crowd. */
static void test_null(query *q)
{
  query n = *q;
  const size_t real = real_size(q->precision);
  CHECK_OK(jvp(q));
  CHECK_OK(vjp(q));
  void *zeros = room(q, 9), *kept[2] = {room(q, 9), room(q, 9)};
  for (int i = 0; i < 2; ++i) {
    n = *q;
    n.x_tangent[1] = i ? NULL : zeros;
    n.y_tangent[0] = kept[i];
    CHECK_OK(jvp(&n));
  }
  check(!memcmp(kept[0], kept[1], q->count * 3 * real), "%s: a tangent of NULL is not zero",
        q->name);
  n = *q;
  n.y_bar[0] = n.y_bar[1] = n.y_bar[2] = NULL;
  n.x_bar[0] = NULL;
  n.x_bar[1] = kept[0];
  CHECK_OK(vjp(&n));
  size_t others = 0;
  for (size_t i = 0; i < q->count * q->in[1]; ++i) {
    others += real_at(kept[0], q->precision, i) != 0.0;
  }
  check(!others, "%s: no cotangents give %zu numbers", q->name, others);
  n = *q;
  n.count = 1;
  for (int i = 0; i < 2; ++i) {
    n.x[i] = (char *)q->x[i] + 700 * q->in[i] * real;
    n.x_tangent[i] = (char *)q->x_tangent[i] + 700 * q->in[i] * real;
  }
  n.y_tangent[0] = kept[1];
  n.y_tangent[1] = n.y_tangent[2] = NULL;
  n.status = NULL;
  CHECK_OK(jvp(&n));
  check(!memcmp(kept[1], (char *)q->y_tangent[0] + 700 * 3 * real, 3 * real),
        "%s: one query alone differs", q->name);
  n.count = 0;
  CHECK_OK(jvp(&n));
  CHECK_OK(vjp(&n));
  free(zeros);
  free(kept[0]);
  free(kept[1]);
}

static void refuses(abut_status got, abut_status wanted, const char *text)
{
  check(got == wanted && strstr(abut_last_error(), text), "%s, '%s', not %s with '%s'",
        abut_status_name(got), abut_last_error(), abut_status_name(wanted), text);
}

static void test_arguments(query *q)
{
  query n = *q;
  n.context = (abut_context){0, 0};
  refuses(jvp(&n), ABUT_ERROR_HANDLE, "null");
  refuses(vjp(&n), ABUT_ERROR_HANDLE, "null");
  n = *q;
  n.x[1] = NULL;
  refuses(jvp(&n), ABUT_ERROR_ARGUMENT, "are NULL");
  refuses(vjp(&n), ABUT_ERROR_ARGUMENT, "are NULL");
  n = *q;
  n.smoothing.clip = -1.0;
  refuses(jvp(&n), ABUT_ERROR_ARGUMENT, "clip");
  refuses(vjp(&n), ABUT_ERROR_ARGUMENT, "clip");
}

int main(int argc, char **argv)
{
  const abut_precision precision = argc > 1 && !strcmp(argv[1], "f32") ? ABUT_FLOAT32
                                                                       : ABUT_FLOAT64;
  abut_context context = require_context(precision);
  for (int faces = 0; faces < 2; ++faces) {
    query q = make_query(context, precision, faces);
    test_agreement(&q, "random ones");
    test_null(&q);
    test_arguments(&q);
    if (precision == ABUT_FLOAT64) {
      spread_triangles(&q);
      test_differences(&q);
    }
    free_query(&q);
  }
  test_hard_edges(context, precision);
  test_refused_faces(context, precision);
  return finish_context(context);
}
