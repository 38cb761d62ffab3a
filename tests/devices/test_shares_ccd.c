/* Collision in time on several devices: test_shares_ccd PRECISION
 *
 * One answer to the bit, however many equal devices share a batch: the device of ABUT_TEST_DEVICE
 * whole, in parts, whole beside its parts (the host path: three times over). Beside the host path,
 * which is another kind, rows end as they do there but for what rounding leaves open. 77 where
 * there is no such device. */
#include "shares.h"

#include "ccd/pairs.h"
#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1023, POSES = 203 };

static bool open_shared(const variant *v, uint32_t chunk, abut_context *out)
{
  abut_context_def def = abut_default_context_def();
  def.devices = v->choices;
  def.device_count = (uint32_t)v->count;
  def.precision = precision;
  def.chunk = chunk;
  def.fallback = ABUT_FALLBACK_NONE;
  return CHECK_OK(abut_create_context(&def, out));
}

/* One row in 16 is none. */
static bool ask(abut_context context, abut_ccd_kind kind, size_t count, pairs *p)
{
  uint64_t seed = 71;
  pairs_create(p, precision, kind, count);
  for (size_t i = 0; i < count; ++i) {
    double x0[12], x1[12];
    random_pair(&seed, (int)(i % 5), precision, kind, x0, x1);
    x0[i % 6] = i % 16 == 5 ? (double)NAN : x0[i % 6];
    pairs_put(p, i, x0, x1);
  }
  abut_ccd_queries q = pairs_batch(p, 0, count);
  q.separation = 0.03125;
  return CHECK_OK(pairs_gradient(context, p, &q, 0)) &&
         check(q.failures == 0 && q.rejected == (count + 10) / 16,
               "%zu failures, %zu rows rejected", q.failures, q.rejected);
}

static void compare_queries(abut_context whole, abut_context parts, size_t count, const char *what)
{
  for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    pairs alone, shared;
    if (ask(whole, (abut_ccd_kind)kind, count, &alone) &&
        ask(parts, (abut_ccd_kind)kind, count, &shared)) {
      pairs_same(&alone, 0, &shared, 0, count, what);
    }
    pairs_free(&alone);
    pairs_free(&shared);
  }
}

/* ---- meshes ---- */

typedef struct falls {
  double toi[POSES], by[12 * POSES], n[3 * POSES]; /* of either precision */
  uint8_t status[POSES];
  uint32_t feature[2][POSES], candidates[POSES];
} falls;

static bool fall(abut_context context, abut_ccd_motion motion, size_t count, falls *f)
{
  static const double corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const uint32_t faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  uint64_t seed = 5;
  abut_ccd_mesh mesh;
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  def.vertices = corners;
  def.vertex_count = 4;
  def.face_indices = faces;
  def.face_count = 4;
  void *poses[4];
  for (int k = 0; k < 4; ++k) {
    double all[7 * POSES];
    for (size_t i = 0; i < count; ++i) {
      random_pose(&seed, 0.5, all + 7 * i);
      all[7 * i] += k == 0 ? 2.0 : k == 1 ? -1.0 : 0.0;
    }
    poses[k] = to_reals(all, 7 * count, precision);
  }
  memset(f, 0, sizeof *f);
  abut_ccd_batch b = abut_default_ccd_batch();
  b.count = count;
  b.motion = motion;
  b.from1 = poses[0];
  b.to1 = poses[1];
  b.from2 = poses[2];
  b.to2 = poses[3];
  b.toi = f->toi;
  b.n = f->n;
  b.status = f->status;
  b.feature1 = f->feature[0];
  b.feature2 = f->feature[1];
  b.candidates = f->candidates;
  const abut_ccd_gradients by = {.by1 = f->by};
  const bool done = CHECK_OK(abut_create_ccd_mesh(context, &def, &mesh)) &&
                    CHECK_OK(abut_ccd_gradient(mesh, mesh, &b, &by)) &&
                    check(b.failures == 0, "a device fails");
  for (int k = 0; k < 4; ++k) {
    free(poses[k]);
  }
  return done;
}

static void compare_meshes(abut_context whole, abut_context parts, size_t count, const char *what)
{
  static falls alone, shared;
  for (int motion = 0; motion <= ABUT_CCD_ARC; ++motion) {
    if (fall(whole, (abut_ccd_motion)motion, count, &alone) &&
        fall(parts, (abut_ccd_motion)motion, count, &shared)) {
      check(!memcmp(&alone, &shared, sizeof alone), "%s: meshes differ, motion %d", what, motion);
    }
  }
}

static void compare_equal(const variant *whole, const variant *v, uint32_t chunk)
{
  const bool single = chunk == 1;
  abut_context alone, parts;
  char what[96];
  snprintf(what, sizeof what, "%s, chunks of %u", v->name, chunk);
  if (open_shared(whole, 0, &alone) && open_shared(v, chunk, &parts)) {
    compare_queries(alone, parts, single ? 31 : ROWS, what);
    compare_meshes(alone, parts, single ? 11 : POSES, what);
    CHECK_OK(abut_destroy_context(alone));
    CHECK_OK(abut_destroy_context(parts));
  }
}

/* ---- of two kinds ---- */

static void compare_kinds(const variant *host, const variant *both)
{
  abut_context alone, shared;
  const double most = precision == ABUT_FLOAT64 ? 1e-9 : 1e-2;
  if (!open_shared(host, 0, &alone) || !open_shared(both, 64, &shared)) {
    return;
  }
  for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    pairs right, got;
    size_t differ = 0;
    if (ask(alone, (abut_ccd_kind)kind, ROWS, &right) &&
        ask(shared, (abut_ccd_kind)kind, ROWS, &got)) {
      for (size_t i = 0; i < ROWS; ++i) {
        const double off = fabs(real_at(got.toi, precision, i) - real_at(right.toi, precision, i));
        differ += !(off <= most) ||
                  (got.status[i] & ABUT_CCD_END) != (right.status[i] & ABUT_CCD_END);
        check((got.status[i] == ABUT_CCD_BAD_INPUT) == (i % 16 == 5),
              "two kinds, row %zu: status %d", i, got.status[i]);
      }
      check(differ <= ROWS / 100, "two kinds, %s: %zu rows end otherwise", kind_names[kind],
            differ);
    }
    pairs_free(&right);
    pairs_free(&got);
  }
  CHECK_OK(abut_destroy_context(alone));
  CHECK_OK(abut_destroy_context(shared));
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
    for (size_t k = 0; v[i].count >= 2 && k < sizeof chunks / sizeof *chunks; ++k) {
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
