/* Closest points on several devices: test_shares_closest PRECISION
 *
 * One answer to the bit, however many equal devices share a batch: the device of ABUT_TEST_DEVICE
 * whole, in parts, whole beside its parts (the host path: three times over). Beside the host path,
 * which is another kind, answers are as near to the host path's alone as both are to the truth. 77
 * where there is no such device. */
#include "shares.h"

#include "closest/slopes_of_rows.h"
#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOLIDS = 16, ROWS = 1023 };

typedef struct shared {
  abut_context context;
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  rows r;
  row_jacobians j;
} shared;

static bool open_shared(const variant *v, uint32_t chunk, abut_precision of, size_t count,
                        shared *s)
{
  abut_context_def def = abut_default_context_def();
  uint64_t seed = 70;
  def.devices = v->choices;
  def.device_count = (uint32_t)v->count;
  def.precision = of;
  def.chunk = chunk;
  def.fallback = ABUT_FALLBACK_NONE;
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, (abut_shape_kind)(i % ABUT_SHAPE_KINDS), &s->solids[i]);
  }
  rows_create(&s->r, of, ABUT_POSE_TWIST, count);
  jacobians_create(&s->j, of, count);
  for (size_t i = 0; i < count; ++i) {
    double twist[2][6];
    random_row(&seed, &s->r, i, s->solids, SOLIDS);
    for (int side = 0; side < 2; ++side) { /* that float32 takes as they are */
      rows_pose(&s->r, i, side, twist[side]);
      for (int k = 0; k < 6; ++k) {
        twist[side][k] = floor(512.0 * twist[side][k]) / 512.0;
      }
    }
    twist[0][i % 6] = i % 16 == 5 ? (double)NAN : twist[0][i % 6];
    rows_put(&s->r, i, s->r.one[i], s->r.two[i], twist[0], twist[1]);
  }
  return CHECK_OK(abut_create_context(&def, &s->context)) &&
         make_shapes(s->context, s->solids, SOLIDS, s->shapes);
}

static void close_shared(shared *s)
{
  rows_free(&s->r);
  jacobians_free(&s->j);
  CHECK_OK(abut_destroy_context(s->context));
}

static bool solve(const shared *s)
{
  abut_closest_batch b = rows_batch(&s->r, s->shapes, SOLIDS, 0, s->r.count);
  return CHECK_OK(abut_closest(s->context, &b)) &&
         check(b.failures == 0 && b.rejected == (s->r.count + 10) / 16,
               "%zu failures, %zu rows rejected", b.failures, b.rejected);
}

static bool differentiate(const shared *s, int method)
{
  abut_closest_batch b = rows_batch(&s->r, s->shapes, SOLIDS, 0, s->r.count);
  const abut_closest_smoothing smoothing = smoothing_of(method);
  const abut_closest_jacobians to = jacobians_from(&s->j, 0);
  return CHECK_OK(abut_closest_jacobian(s->context, &b, &smoothing, &to)) &&
         check(b.failures == 0, "a device fails");
}

/* ---- of one kind ---- */

static void compare_equal(const variant *whole, const variant *v, uint32_t chunk)
{
  const size_t count = chunk == 1 ? 31 : ROWS;
  shared alone, parts;
  char what[96];
  snprintf(what, sizeof what, "%s, chunks of %u", v->name, chunk);
  if (open_shared(whole, 0, precision, count, &alone) &&
      open_shared(v, chunk, precision, count, &parts) && solve(&alone) && solve(&parts)) {
    rows_same(&alone.r, 0, &parts.r, 0, count, what);
    for (int method = 0; method < methods_of(precision); ++method) {
      if (differentiate(&alone, method) && differentiate(&parts, method)) {
        jacobians_same(&alone.j, 0, &parts.j, 0, count, what);
        rows_same(&alone.r, 0, &parts.r, 0, count, what);
      }
    }
  }
  close_shared(&alone);
  close_shared(&parts);
}

/* ---- of two kinds ---- */

static bool had_work(const shared *s)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  size_t count = 0;
  CHECK_OK(abut_context_devices(s->context, reports, ABUT_DEVICES_MOST + 1, &count));
  return count >= 2 && reports[0].elements && reports[1].elements;
}

static void compare_kinds(const variant *host, const variant *both)
{
  shared right, got;
  bool worked = false;
  if (open_shared(host, 0, ABUT_FLOAT64, ROWS, &right) &&
      open_shared(both, 64, precision, ROWS, &got) && solve(&right)) {
    for (int i = 0; i < 12 && (!worked || i < 2); ++i) { /* until each had a share */
      solve(&got);
      worked = had_work(&got);
      for (size_t row = 0; row < ROWS; ++row) {
        const double spans =
          span_of(&got.solids[got.r.one[row]]) + span_of(&got.solids[got.r.two[row]]);
        const double d = rows_at(&got.r, ROW_D, row);
        const double error = fabs(d - rows_at(&right.r, ROW_D, row));
        const double slack = (precision == ABUT_FLOAT64 ? 1e-12 : 4e-6) * spans;
        check(row % 16 == 5
                ? isnan(d)
                : error <= slack + rows_at(&got.r, ROW_GAP, row) + rows_at(&right.r, ROW_GAP, row),
              "two kinds, row %zu: d is off by %g", row, error);
        check((got.r.status[row] == ABUT_CLOSEST_BAD_INPUT) == (row % 16 == 5),
              "two kinds, row %zu: status %d", row, got.r.status[row]);
      }
    }
    printf("%s\n", worked ? "both kinds had work" : "one kind had all the work");
  }
  close_shared(&right);
  close_shared(&got);
}

int main(int argc, char **argv)
{
  static const uint32_t chunks[] = {0, 1, 7};
  const char *device = getenv("ABUT_TEST_DEVICE");
  variant v[VARIANTS], host = {.name = "the host path", .count = 1}, both;
  device = device ? device : "pocl";
  precision = precision_of(argc, argv);
  if (!find_variants(device, v)) {
    return 77;
  }
  for (int i = PARTS; i <= MORE; ++i) {
    if (v[i].count < 2) {
      printf("%s: no second one\n", v[i].name);
      continue;
    }
    for (size_t k = 0; k < sizeof chunks / sizeof *chunks; ++k) {
      compare_equal(&v[WHOLE], &v[i], chunks[k]);
    }
  }
  CHECK_OK(abut_find_device("host", &host.choices[0].device));
  if (host.choices[0].device != v[WHOLE].choices[0].device) {
    both = (variant){"both", {v[WHOLE].choices[0], host.choices[0]}, 2};
    compare_kinds(&host, &both);
  }
  return check_finish();
}
