/* Golden answers of collision in time: test_golden PRECISION FOLDER
 *
 * FOLDER is tests/golden-ccd, whose SOURCES.md says what is in it. Whole, in chunks, split into
 * calls and in another order the answers are the same to the bit. On the device of
 * ABUT_TEST_DEVICE; 77 where it is not there. */
#include "core/scene.h"
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const query_arrays[] = {"kind", "X0",     "X1",     "xi",        "s",
                                           "tmax", "status", "toi_hi", "early_f32", "early_f64"};

/* The rows of a kind, with which golden one each is. */
typedef struct part {
  pairs p;
  size_t *which;
  void *separations, *keeps, *ends;
} part;

static double number(const abut_npz *npz, const char *name, size_t i)
{
  const abut_array *a = find_array(npz, name);
  return !a                            ? (double)NAN
         : a->type == ABUT_ARRAY_INT64 ? (double)((const int64_t *)a->data)[i]
                                       : ((const double *)a->data)[i];
}

static const double *row_of(const abut_npz *npz, const char *name, size_t row, size_t width)
{
  const abut_array *a = find_array(npz, name);
  REQUIRE(a != NULL && a->type == ABUT_ARRAY_FLOAT64);
  return (const double *)a->data + row * width;
}

static void part_create(const abut_npz *g, abut_precision precision, abut_ccd_kind kind,
                        bool reversed, part *to)
{
  const size_t all = find_array(g, "kind")->shape[0], size = real_size(precision);
  size_t count = 0;
  to->which = calloc(all, sizeof *to->which);
  REQUIRE(to->which != NULL);
  for (size_t i = 0; i < all; ++i) {
    const size_t row = reversed ? all - 1 - i : i;
    if (number(g, "kind", row) == (double)kind) {
      to->which[count++] = row;
    }
  }
  pairs_create(&to->p, precision, kind, count);
  to->separations = calloc(count, size);
  to->keeps = calloc(count, size);
  to->ends = calloc(count, size);
  for (size_t i = 0; i < count; ++i) {
    pairs_put(&to->p, i, row_of(g, "X0", to->which[i], 12), row_of(g, "X1", to->which[i], 12));
    real_put(to->separations, precision, i, number(g, "xi", to->which[i]));
    real_put(to->keeps, precision, i, number(g, "s", to->which[i]));
    real_put(to->ends, precision, i, number(g, "tmax", to->which[i]));
  }
}

static void part_free(part *p)
{
  pairs_free(&p->p);
  free(p->which);
  free(p->separations);
  free(p->keeps);
  free(p->ends);
}

static bool solve(abut_context context, const part *p, size_t first, size_t count)
{
  const size_t at = first * real_size(p->p.precision);
  abut_ccd_queries q = pairs_batch(&p->p, first, count);
  q.separations = (const char *)p->separations + at;
  q.keeps = (const char *)p->keeps + at;
  q.ends = (const char *)p->ends + at;
  return CHECK_OK(pairs_gradient(context, &p->p, &q, first));
}

/* Whether an answer may stand for a golden one; `limits` counts hits that are told as limits. */
static void judge(const abut_npz *g, const part *p, size_t i, size_t *limits)
{
  const size_t row = p->which[i];
  const int want = (int)number(g, "status", row), got = p->p.status[i] & ABUT_CCD_END;
  const double toi = real_at(p->p.toi, p->p.precision, i), latest = number(g, "toi_hi", row);
  const double earliest =
    number(g, p->p.precision == ABUT_FLOAT64 ? "early_f64" : "early_f32", row);
  const bool hits = got == ABUT_CCD_HIT || got == ABUT_CCD_LIMIT;
  bool good = got == want;
  if (want == ABUT_CCD_WITHIN || want == ABUT_CCD_BAD_INPUT) {
    good = good && toi == 0.0;
  } else if (want == ABUT_CCD_FREE) {
    good = (good && toi == number(g, "tmax", row)) || (hits && toi >= earliest);
  } else {
    good = (hits && toi <= latest && (got == ABUT_CCD_LIMIT || toi >= earliest)) ||
           (got == ABUT_CCD_WITHIN && earliest == 0.0);
    *limits += got == ABUT_CCD_LIMIT;
  }
  check(good, "%s, golden row %zu: status %d at %.17g, where %d in [%.17g, %.17g] is right",
        kind_names[p->p.kind], row, got, toi, want, earliest, latest);
}

static void run_kind(abut_context context, abut_context chunked, const abut_npz *g,
                     abut_precision precision, abut_ccd_kind kind)
{
  size_t limits = 0;
  part whole, other, reversed;
  part_create(g, precision, kind, false, &whole);
  part_create(g, precision, kind, false, &other);
  part_create(g, precision, kind, true, &reversed);
  const size_t count = whole.p.count;
  if (solve(context, &whole, 0, count)) {
    for (size_t i = 0; i < count; ++i) {
      judge(g, &whole, i, &limits);
    }
    printf("%s: %zu rows, %zu hits told as limits\n", kind_names[kind], count, limits);
    check(limits <= 1, "%s: %zu hits are told as limits", kind_names[kind], limits);
    if (solve(chunked, &other, 0, count)) {
      pairs_same(&whole.p, 0, &other.p, 0, count, "chunks");
    }
    memset(other.p.status, 77, count);
    if (solve(context, &other, 0, count / 3) &&
        solve(context, &other, count / 3, count - count / 3)) {
      pairs_same(&whole.p, 0, &other.p, 0, count, "two calls");
    }
    if (solve(context, &reversed, 0, count)) {
      for (size_t i = 0; i < count; ++i) {
        pairs_same(&whole.p, i, &reversed.p, count - 1 - i, 1, "the other order");
      }
    }
  }
  part_free(&whole);
  part_free(&other);
  part_free(&reversed);
}

static void run_queries(abut_context context, abut_context chunked, abut_precision precision,
                        const char *folder)
{
  char path[512];
  abut_npz g;
  snprintf(path, sizeof path, "%s/queries.npz", folder);
  if (CHECK_OK(
        abut_read_npz_arrays(path, query_arrays, sizeof query_arrays / sizeof *query_arrays, &g))) {
    for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
      run_kind(context, chunked, &g, precision, (abut_ccd_kind)kind);
    }
    abut_free_npz(&g);
  }
}

/* ---- meshes ---- */

static bool make_mesh(abut_context context, const abut_npz *g, size_t body, abut_ccd_mesh *out)
{
  char name[2][32];
  snprintf(name[0], sizeof name[0], "vertices%zu", body);
  snprintf(name[1], sizeof name[1], "faces%zu", body);
  const abut_array *vertices = find_array(g, name[0]), *faces = find_array(g, name[1]);
  REQUIRE(vertices && faces);
  uint32_t *corners = calloc(3 * faces->shape[0], sizeof *corners);
  REQUIRE(corners != NULL);
  for (size_t i = 0; i < 3 * faces->shape[0]; ++i) {
    corners[i] = (uint32_t)((const int64_t *)faces->data)[i];
  }
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  def.vertices = vertices->data;
  def.vertex_count = vertices->shape[0];
  def.face_indices = corners;
  def.face_count = faces->shape[0];
  const bool made = CHECK_OK(abut_create_ccd_mesh(context, &def, out));
  free(corners);
  return made;
}

/* How far a row of an answer is off, over its largest entry or 1. */
static double off(const void *got, abut_precision precision, const double *want, size_t width)
{
  double worst = 0.0, most = 1.0;
  for (size_t i = 0; i < width; ++i) {
    const double error = fabs(real_at(got, precision, i) - want[i]);
    worst = error <= worst ? worst : error; /* a NaN stays */
    most = fmax(most, fabs(want[i]));
  }
  return worst / most;
}

static void run_rigid_row(const abut_npz *g, const abut_ccd_mesh meshes[4],
                          abut_precision precision, size_t row)
{
  /* toi, normal, derivatives */
  static const double most[2][3] = {{1e-4, 2e-2, 1e-2}, {1e-8, 1e-5, 1e-5}};
  const double *tolerances = most[precision == ABUT_FLOAT64];
  double toi_room[1], n[3], by[2][12];
  uint8_t status = 77;
  void *poses[4];
  static const char *const names[4] = {"a0", "a1", "b0", "b1"};
  for (size_t i = 0; i < 4; ++i) {
    poses[i] = to_reals(row_of(g, names[i], row, 7), 7, precision);
  }
  abut_ccd_batch b = abut_default_ccd_batch();
  b.count = 1;
  b.from1 = poses[0];
  b.to1 = poses[1];
  b.from2 = poses[2];
  b.to2 = poses[3];
  b.motion = number(g, "arc", row) > 0.0 ? ABUT_CCD_ARC : ABUT_CCD_LINEAR;
  b.separation = number(g, "xi", row);
  b.toi = toi_room;
  b.n = n;
  b.status = &status;
  const abut_ccd_gradients to = {.by1 = by[0], .by2 = by[1]};
  const size_t one = (size_t)number(g, "body_a", row), two = (size_t)number(g, "body_b", row);
  if (CHECK_OK(abut_ccd_gradient(meshes[one], meshes[two], &b, &to))) {
    const double early = number(g, "toi", row) - real_at(toi_room, precision, 0);
    check((status & ABUT_CCD_END) == (int)number(g, "status", row) && early >= -1e-11 &&
            early <= tolerances[0],
          "poses %zu: status %d, early by %g", row, status, early);
    const abut_array *smooth = find_array(g, "smooth");
    if ((status & ABUT_CCD_END) == ABUT_CCD_HIT && smooth && ((const uint8_t *)smooth->data)[row]) {
      const double turned = off(n, precision, row_of(g, "normal", row, 3), 3);
      const double a = off(by[0], precision, row_of(g, "dtoi_a", row, 12), 12);
      const double c = off(by[1], precision, row_of(g, "dtoi_b", row, 12), 12);
      check(status == ABUT_CCD_HIT && turned <= tolerances[1],
            "poses %zu: status %d, normal off by %g", row, status, turned);
      check(a <= tolerances[2] && c <= tolerances[2], "poses %zu: derivatives off by %g and %g",
            row, a, c);
    }
  }
  for (size_t i = 0; i < 4; ++i) {
    free(poses[i]);
  }
}

static void run_rigid(abut_context context, abut_precision precision, const char *folder)
{
  char path[512];
  abut_npz g;
  abut_ccd_mesh meshes[4];
  snprintf(path, sizeof path, "%s/rigid.npz", folder);
  if (!CHECK_OK(abut_read_npz(path, &g))) {
    return;
  }
  bool made = true;
  for (size_t i = 0; i < 4; ++i) {
    made = make_mesh(context, &g, i, &meshes[i]) && made;
  }
  const size_t rows = find_array(&g, "toi")->shape[0];
  for (size_t row = 0; made && row < rows; ++row) {
    run_rigid_row(&g, meshes, precision, row);
  }
  abut_free_npz(&g);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  const char *folder = argc > 2 ? argv[2] : "tests/golden-ccd";
  abut_context context, chunked;
  if (!test_context(precision, &context) || !open_context(precision, 7, 0, &chunked)) {
    return 77;
  }
  run_queries(context, chunked, precision, folder);
  run_rigid(context, precision, folder);
  CHECK_OK(abut_destroy_context(context));
  CHECK_OK(abut_destroy_context(chunked));
  return check_finish();
}
