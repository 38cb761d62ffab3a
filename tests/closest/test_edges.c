/* Closest points at the edges of what there is: test_closest_edges PRECISION
 *
 * Shapes that are points, segments and flat, sizes far apart, poses that are far away or none, and
 * settings at their least: every row ends, no finite pose gives NaN, and the gap holds. Then one
 * answer to the bit however rows are split into chunks and whatever stands beside them; and what
 * calls refuse. */
#include "closest/rows.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOLIDS = 24, ROWS = 900 };

static abut_precision precision;

static double share(void)
{
  return precision == ABUT_FLOAT64 ? 1e-12 : 2e-6;
}

/* ---- what holds for every row ---- */

static bool is_bad(const rows *r, size_t row)
{
  bool bad = false;
  for (int side = 0; side < 2; ++side) {
    double pose[7], turn = 0.0;
    rows_pose(r, row, side, pose);
    for (size_t k = 0; k < r->width; ++k) {
      bad = bad || !isfinite(pose[k]);
      turn = fmax(turn, k < 3 ? 0.0 : fabs(pose[k]));
    }
    bad = bad || (r->width == 7 && turn == 0.0);
  }
  return bad;
}

static void check_bad(const rows *r, size_t row)
{
  bool none = r->status[row] == ABUT_CLOSEST_BAD_INPUT && r->iterations[row] == 0;
  for (int i = 0; i < ROW_REALS; ++i) {
    for (size_t k = 0; k < rows_size(i); ++k) {
      none = none && isnan(rows_at(r, i, rows_size(i) * row + k));
    }
  }
  for (size_t k = 0; k < 8; ++k) {
    none = none && r->simplex[8 * row + k] == -1;
  }
  check(none, "row %zu: a pose that is none gives status %d, d %g", row, r->status[row],
        rows_at(r, ROW_D, row));
}

/* Numbers, a unit normal, and a distance that g(n) certifies within the gap; far: how far apart
 * poses are. */
static void check_good(const rows *r, size_t row, const solid *solids, const char *what)
{
  const solid *one = &solids[r->one[row]], *two = &solids[r->two[row]];
  double pose[2][7], n[3], far = 0.0;
  bool finite = true;
  for (int i = 0; i < ROW_REALS; ++i) {
    for (size_t k = 0; k < rows_size(i); ++k) {
      finite = finite && isfinite(rows_at(r, i, rows_size(i) * row + k));
    }
  }
  rows_pose(r, row, 0, pose[0]);
  rows_pose(r, row, 1, pose[1]);
  for (int k = 0; k < 3; ++k) {
    n[k] = rows_at(r, ROW_N, 3 * row + (size_t)k);
    far = fmax(far, fabs(pose[1][k] - pose[0][k]));
  }
  const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]),
               gap = rows_at(r, ROW_GAP, row);
  const double d = rows_at(r, ROW_D, row), spans = span_of(one) + span_of(two);
  check(finite && r->status[row] <= ABUT_CLOSEST_DEGENERATE && gap >= 0.0 &&
          fabs(length - 1.0) < 1e-5,
        "%s, row %zu, shapes %u and %u: status %d, d %g, |n| %g, gap %g", what, row, r->one[row],
        r->two[row], r->status[row], d, length, gap);
  if (far < 1e6) {
    const double g = separation(one, two, pose[0], pose[1], n),
                 slack = share() * (1.0 + 4.0 * spans + far);
    check(fabs(d - g) <= gap + slack,
          "%s, row %zu, shapes %u and %u: d %g, g %g, gap %g, status %d", what, row, r->one[row],
          r->two[row], d, g, gap, r->status[row]);
  }
}

static bool solve(abut_context context, const rows *r, const abut_shape *shapes, size_t shape_count)
{
  abut_closest_batch b = rows_batch(r, shapes, shape_count, 0, r->count);
  size_t rejected = 0, unsettled = 0;
  const bool solved = CHECK_OK(abut_closest(context, &b));
  for (size_t i = 0; i < r->count; ++i) {
    rejected += r->status[i] == ABUT_CLOSEST_BAD_INPUT;
    unsettled += r->status[i] == ABUT_CLOSEST_ITERATION_LIMIT ||
                 r->status[i] == ABUT_CLOSEST_DEGENERATE;
  }
  check(b.rejected == rejected && b.unsettled == unsettled,
        "%zu rejected, %zu unsettled; statuses say %zu and %zu", b.rejected, b.unsettled, rejected,
        unsettled);
  return solved;
}

/* ---- awkward shapes ---- */

/* A hull of `count` points at x = a + b cos, y = c sin, z = e t: by which numbers are 0 a point, a
 * segment, a polygon. */
static void make_ring(solid *s, size_t count, double a, double b, double c, double e)
{
  memset(s, 0, sizeof *s);
  s->def = abut_default_shape_def();
  s->def.vertex_count = count;
  for (size_t i = 0; i < count; ++i) {
    const double t = (double)i / (double)count, angle = 6.283185307179586 * t;
    s->vertices[3 * i] = a + b * cos(angle);
    s->vertices[3 * i + 1] = c * sin(angle);
    s->vertices[3 * i + 2] = e * t;
  }
}

static void make_size(solid *s, abut_shape_kind kind, double x, double y, double z)
{
  memset(s, 0, sizeof *s);
  s->def = abut_default_shape_def();
  s->def.kind = kind;
  s->def.size[0] = x;
  s->def.size[1] = y;
  s->def.size[2] = z;
  s->def.exponents[0] = s->def.exponents[1] = 0.1;
}

/* A grid of points in one plane, most of them no corners. */
static void make_plate(solid *s)
{
  make_ring(s, VERTICES_MOST, 0, 0, 0, 0);
  for (size_t i = 0; i < VERTICES_MOST; ++i) {
    s->vertices[3 * i] = 0.2 * (double)(i % 6);
    s->vertices[3 * i + 1] = 0.1 * (double)(i / 6);
  }
}

enum { STRANGE = 22 };

static void make_awkward(solid s[STRANGE])
{
  make_ring(&s[0], 1, 0.1, 0, 0, 0);               /* a point */
  make_ring(&s[1], VERTICES_MOST, 0.2, 0, 0, 0);   /* many of them in one place */
  make_ring(&s[2], 2, 0, 0.5, 0, 0);               /* a segment */
  make_ring(&s[3], VERTICES_MOST, 0, 0.5, 0, 0);   /* points along one */
  make_ring(&s[4], 3, 0, 0.5, 0.5, 0);             /* a triangle */
  make_ring(&s[5], VERTICES_MOST, 0, 0.5, 0.4, 0); /* a polygon */
  make_plate(&s[6]);
  make_ring(&s[7], 4, 0, 0.5, 0.4, 1e-9);        /* nearly flat */
  make_ring(&s[8], 12, 0, 1e-5, 1e-5, 1e-5);     /* tiny */
  make_ring(&s[9], 12, 0, 1e4, 1e4, 1e4);        /* large */
  make_size(&s[10], ABUT_SHAPE_SPHERE, 0, 0, 0); /* a point, again */
  make_size(&s[11], ABUT_SHAPE_SPHERE, 1e-5, 0, 0);
  make_size(&s[12], ABUT_SHAPE_BOX, 0.3, 0, 0.2); /* a rectangle */
  make_size(&s[13], ABUT_SHAPE_BOX, 1e4, 1e4, 1e-5);
  make_size(&s[14], ABUT_SHAPE_CAPSULE, 0, 0.4, 0);  /* a segment, again */
  make_size(&s[15], ABUT_SHAPE_CYLINDER, 0.4, 0, 0); /* a disc */
  make_size(&s[16], ABUT_SHAPE_CYLINDER, 0, 0.4, 0);
  make_size(&s[17], ABUT_SHAPE_CONE, 0.4, 0, 0);
  make_size(&s[18], ABUT_SHAPE_CONE, 1e-5, 1e4, 0);
  make_size(&s[19], ABUT_SHAPE_ELLIPSOID, 1e-5, 1, 1);
  make_size(&s[20], ABUT_SHAPE_SUPERQUADRIC, 0.5, 0.5, 0.5);
  make_size(&s[21], ABUT_SHAPE_SUPERQUADRIC, 1e-5, 1, 1e3);
  s[21].def.exponents[0] = s[21].def.exponents[1] = 1.9;
}

/* Every pair: as they stand (coplanar, in one place), shifted along each axis, turned, far away. */
static void test_awkward(abut_context context)
{
  static const double poses[][7] = {{0, 0, 0, 1, 0, 0, 0},   {0.25, 0, 0, 1, 0, 0, 0},
                                    {2, 0.5, 0, 1, 0, 0, 0}, {0, 0, 0.5, 1, 0, 0, 0},
                                    {0, 0, 0, 1, 1, 0, 0},   {0.1, 0.2, 0.05, 0.3, -0.2, 0.9, 0.1},
                                    {0.3, 0, 0, 1, 0, 0, 1}, {-1e4, 0, 3, 1, 0, 0, 0}};
  enum { POSES = sizeof poses / sizeof *poses };
  solid solids[STRANGE];
  abut_shape shapes[STRANGE];
  rows r;
  make_awkward(solids);
  rows_create(&r, precision, ABUT_POSE_QUATERNION, STRANGE * STRANGE * POSES);
  for (size_t i = 0; i < r.count; ++i) {
    rows_put(&r, i, (uint32_t)(i / POSES / STRANGE), (uint32_t)(i / POSES % STRANGE), poses[0],
             poses[i % POSES]);
  }
  if (make_shapes(context, solids, STRANGE, shapes) && solve(context, &r, shapes, STRANGE)) {
    for (size_t i = 0; i < r.count; ++i) {
      check_good(&r, i, solids, "awkward");
    }
  }
  rows_free(&r);
}

/* Points, of which thousands lie in one place. */
static void test_equal_vertices(abut_context context)
{
  enum { MANY = 5000 };
  static const double pose1[7] = {0, 0, 0, 1, 0, 0, 0}, pose2[7] = {1, 2, 2, 1, 0, 0, 0};
  static double vertices[3 * MANY];
  abut_shape_def def = abut_default_shape_def();
  abut_shape shapes[2];
  rows r;
  for (size_t i = 0; i < MANY; ++i) {
    vertices[3 * i] = i < MANY / 2 ? 0.0 : 1e-3;
  }
  def.vertices = vertices;
  for (size_t k = 0; k < 2; ++k) {
    def.vertex_count = k ? MANY : MANY / 2;
    REQUIRE_OK(abut_create_shape(context, &def, &shapes[k]));
  }
  rows_create(&r, precision, ABUT_POSE_QUATERNION, 2);
  rows_put(&r, 0, 0, 0, pose1, pose2);
  rows_put(&r, 1, 1, 0, pose1, pose2);
  if (solve(context, &r, shapes, 2)) {
    check(fabs(rows_at(&r, ROW_D, 0) - 3.0) < 1e-6, "points are %g apart, not 3",
          rows_at(&r, ROW_D, 0));
    check(fabs(rows_at(&r, ROW_D, 1) - sqrt(0.999 * 0.999 + 8.0)) < 1e-6,
          "a segment is %g from a point", rows_at(&r, ROW_D, 1));
  }
  rows_free(&r);
}

/* ---- poses ---- */

static void random_solids(uint64_t seed, solid solids[SOLIDS])
{
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, (abut_shape_kind)(i % ABUT_SHAPE_KINDS), &solids[i]);
  }
}

/* Every third row has a pose that is far off, or none. */
static void spoil(rows *r, size_t row, uint64_t *seed)
{
  const double values[] = {1e30,  -1e30, 1e15, 1e-30, (double)INFINITY, (double)NAN, 1e8,
                           -1e20, 3e37,  0.0,  1e5,   -(double)INFINITY};
  double pose[2][7];
  rows_pose(r, row, 0, pose[0]);
  rows_pose(r, row, 1, pose[1]);
  const int side = (int)(2.0 * random_uniform(seed));
  if (row % 9 == 0) {
    memset(pose[side] + 3, 0, 4 * sizeof(double));
  } else {
    const size_t value = (size_t)(12.0 * random_uniform(seed));
    pose[side][(size_t)((double)r->width * random_uniform(seed))] = values[value];
  }
  rows_put(r, row, r->one[row], r->two[row], pose[0], pose[1]);
}

static void test_poses(abut_context context, abut_pose_kind kind)
{
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  uint64_t seed = 21;
  rows r;
  size_t bad = 0;
  random_solids(4, solids);
  rows_create(&r, precision, kind, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    random_row(&seed, &r, i, solids, SOLIDS);
    if (i % 3 == 0) {
      spoil(&r, i, &seed);
    }
  }
  if (make_shapes(context, solids, SOLIDS, shapes) && solve(context, &r, shapes, SOLIDS)) {
    for (size_t i = 0; i < ROWS; ++i) {
      if (is_bad(&r, i)) {
        ++bad;
        check_bad(&r, i);
      } else if (kind == ABUT_POSE_QUATERNION) {
        check_good(&r, i, solids, "poses");
      } else {
        check(isfinite(rows_at(&r, ROW_D, i)) && r.status[i] <= ABUT_CLOSEST_DEGENERATE,
              "twists, row %zu: %g", i, rows_at(&r, ROW_D, i));
      }
    }
    check(bad > 20, "%zu poses are none", bad);
  }
  rows_free(&r);
}

/* ---- settings at their least ---- */

static double own_radius(const solid *s)
{
  const bool round = s->def.kind == ABUT_SHAPE_SPHERE || s->def.kind == ABUT_SHAPE_CAPSULE;
  return s->def.radius + (round ? s->def.size[0] : 0.0);
}

/* The true distance lies in [d - gap, d] where the answer says that shapes without their radius are
 * apart, else in [d, d + gap]. */
static void check_promise(const rows *least, const rows *whole, size_t row, const solid *solids,
                          const char *what)
{
  const solid *one = &solids[least->one[row]], *two = &solids[least->two[row]];
  const double slack = 4.0 * share() * (span_of(one) + span_of(two)) + rows_at(whole, ROW_GAP, row);
  const double d = rows_at(least, ROW_D, row), gap = rows_at(least, ROW_GAP, row),
               right = rows_at(whole, ROW_D, row);
  const bool apart = d + own_radius(one) + own_radius(two) > 0.0;
  const double low = apart ? d - gap : d, high = apart ? d : d + gap;
  check(right >= low - slack && right <= high + slack,
        "%s, row %zu of kinds %d and %d: %g is not between %g and %g; status %d, gap %g", what, row,
        one->def.kind, two->def.kind, right, low, high, least->status[row], gap);
}

static void test_least(abut_context context)
{
  static const uint32_t settings[][2] = {{1, 0}, {2, 8}, {3, 0}, {0, 8}, {0, 16},
                                         {1, 8}, {1, 0}, {5, 8}, {6, 0}};
  enum { COLD = 6 }; /* from the seventh on with a warm start */
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  uint64_t seed = 8;
  rows whole, least;
  random_solids(5, solids);
  rows_create(&whole, precision, ABUT_POSE_QUATERNION, ROWS);
  rows_create(&least, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double pose[2][7];
    random_row(&seed, &whole, i, solids, SOLIDS);
    rows_pose(&whole, i, 0, pose[0]);
    rows_pose(&whole, i, 1, pose[1]);
    rows_put(&least, i, whole.one[i], whole.two[i], pose[0], pose[1]);
  }
  bool good = make_shapes(context, solids, SOLIDS, shapes) &&
              solve(context, &whole, shapes, SOLIDS);
  for (size_t k = 0; k < sizeof settings / sizeof *settings && good; ++k) {
    char what[64];
    size_t limited = 0;
    abut_closest_batch b = rows_batch(&least, shapes, SOLIDS, 0, ROWS);
    b.iterations_most = settings[k][0];
    b.corners_most = settings[k][1];
    b.warm = k >= COLD ? whole.simplex : NULL;
    good = CHECK_OK(abut_closest(context, &b));
    snprintf(what, sizeof what, "%u iterations, %u corners", settings[k][0], settings[k][1]);
    for (size_t i = 0; i < ROWS && good; ++i) {
      check_promise(&least, &whole, i, solids, what);
      if (b.iterations_most != 1) { /* a single look bounds the distance along another direction
                                       than n */
        check_good(&least, i, solids, what);
      }
      limited += least.status[i] == ABUT_CLOSEST_ITERATION_LIMIT;
    }
    check(limited > 10 || b.warm, "%s: %zu rows reach a limit", what, limited);
  }
  rows_free(&whole);
  rows_free(&least);
}

/* ---- to the bit ---- */

static bool open_chunked(uint32_t chunk, solid *solids, abut_context *context, abut_shape *shapes)
{
  return open_context(precision, chunk, 0, context) &&
         make_shapes(*context, solids, SOLIDS, shapes);
}

static void copy_rows(const rows *from, rows *to)
{
  rows_create(to, from->precision, from->kind, from->count);
  for (size_t i = 0; i < from->count; ++i) {
    double pose[2][7];
    rows_pose(from, i, 0, pose[0]);
    rows_pose(from, i, 1, pose[1]);
    rows_put(to, i, from->one[i], from->two[i], pose[0], pose[1]);
  }
}

static void make_mixed(rows *r, const solid *solids)
{
  uint64_t seed = 60;
  rows_create(r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    random_row(&seed, r, i, solids, SOLIDS);
    if (i % 12 == 3) {
      spoil(r, i, &seed);
    }
  }
}

static void test_chunks(const rows *whole, solid *solids)
{
  static const struct {
    uint32_t chunk;
    size_t count;
  } cases[] = {{1, 60}, {7, 300}, {1000, ROWS}};
  for (size_t k = 0; k < 3; ++k) {
    abut_context context;
    abut_shape shapes[SOLIDS];
    char what[64];
    rows r;
    copy_rows(whole, &r);
    snprintf(what, sizeof what, "chunks of %u", cases[k].chunk);
    if (open_chunked(cases[k].chunk, solids, &context, shapes)) {
      abut_closest_batch b = rows_batch(&r, shapes, SOLIDS, 0, cases[k].count);
      CHECK_OK(abut_closest(context, &b));
      rows_same(&r, 0, whole, 0, cases[k].count, what);
      CHECK_OK(abut_destroy_context(context));
    }
    rows_free(&r);
  }
}

/* A row alone, from an odd row on, and in the opposite order. */
static void test_places(abut_context context, const rows *whole, const abut_shape *shapes)
{
  rows r;
  copy_rows(whole, &r);
  for (size_t i = 0; i < ROWS; i += 29) {
    abut_closest_batch b = rows_batch(&r, shapes, SOLIDS, i, 1);
    CHECK_OK(abut_closest(context, &b));
    rows_same(&r, i, whole, i, 1, "a row alone");
  }
  abut_closest_batch b = rows_batch(&r, shapes, SOLIDS, 333, 101);
  CHECK_OK(abut_closest(context, &b));
  rows_same(&r, 333, whole, 333, 101, "rows from 333 on");
  for (size_t i = 0; i < ROWS; ++i) {
    double pose[2][7];
    rows_pose(whole, i, 0, pose[0]);
    rows_pose(whole, i, 1, pose[1]);
    rows_put(&r, ROWS - 1 - i, whole->one[i], whole->two[i], pose[0], pose[1]);
  }
  b = rows_batch(&r, shapes, SOLIDS, 0, ROWS);
  CHECK_OK(abut_closest(context, &b));
  for (size_t i = 0; i < ROWS; i += 7) {
    rows_same(&r, ROWS - 1 - i, whole, i, 1, "the opposite order");
  }
  rows_free(&r);
}

/* More rows than a chunk takes. */
static void test_many(abut_context context, const rows *whole, const abut_shape *shapes)
{
  enum { MANY = 40000 };
  size_t same = 0;
  rows r;
  rows_create(&r, precision, ABUT_POSE_QUATERNION, MANY);
  for (size_t i = 0; i < MANY; ++i) {
    double pose[2][7];
    rows_pose(whole, i % ROWS, 0, pose[0]);
    rows_pose(whole, i % ROWS, 1, pose[1]);
    rows_put(&r, i, whole->one[i % ROWS], whole->two[i % ROWS], pose[0], pose[1]);
  }
  abut_closest_batch b = rows_batch(&r, shapes, SOLIDS, 0, MANY);
  CHECK_OK(abut_closest(context, &b));
  for (size_t i = 0; i + ROWS <= MANY; i += ROWS) {
    same += rows_same(&r, i, whole, 0, ROWS, "many rows");
  }
  check(same == MANY / ROWS, "%zu of %d times the same rows", same, MANY / ROWS);
  rows_free(&r);
}

/* Without `one` and `two`, and with few of the outputs. */
static void test_parts(abut_context context, const rows *whole, const abut_shape *shapes)
{
  const abut_shape both[2] = {shapes[3], shapes[10]};
  rows r, plain;
  copy_rows(whole, &r);
  copy_rows(whole, &plain);
  for (size_t i = 0; i < ROWS; ++i) {
    r.one[i] = 0;
    r.two[i] = 1;
  }
  abut_closest_batch b = rows_batch(&r, both, 2, 0, ROWS);
  CHECK_OK(abut_closest(context, &b));
  b = rows_batch(&plain, both, 2, 0, ROWS);
  b.one = b.two = NULL;
  CHECK_OK(abut_closest(context, &b));
  rows_same(&r, 0, &plain, 0, ROWS, "without one and two");
  memset(plain.reals[ROW_D], 0, ROWS * real_size(precision));
  b.n = b.p1 = b.p2 = b.gap = NULL;
  b.status = NULL;
  b.iterations = NULL;
  b.simplex = NULL;
  const size_t rejected = b.rejected, unsettled = b.unsettled;
  CHECK_OK(abut_closest(context, &b));
  check(b.rejected == rejected && b.unsettled == unsettled && rejected > 0,
        "without statuses %zu rows are rejected, not %zu", b.rejected, rejected);
  rows_same(&r, 0, &plain, 0, ROWS, "distances alone");
  rows_free(&r);
  rows_free(&plain);
}

static void test_bits(abut_context context)
{
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  rows whole;
  random_solids(6, solids);
  make_mixed(&whole, solids);
  if (make_shapes(context, solids, SOLIDS, shapes) && solve(context, &whole, shapes, SOLIDS)) {
    test_chunks(&whole, solids);
    test_places(context, &whole, shapes);
    test_many(context, &whole, shapes);
    test_parts(context, &whole, shapes);
  }
  rows_free(&whole);
}

/* ---- progress ---- */

typedef struct seen {
  size_t calls, last, stop;
  bool falls;
} seen;

static bool see(size_t done, size_t total, void *user)
{
  seen *s = user;
  s->falls = s->falls || done < s->last || total != ROWS;
  s->last = done;
  ++s->calls;
  return done < s->stop;
}

static void test_progress(void)
{
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  abut_context context;
  rows r;
  random_solids(6, solids);
  make_mixed(&r, solids);
  if (open_chunked(100, solids, &context, shapes)) {
    seen all = {.stop = SIZE_MAX}, some = {.stop = 200};
    abut_closest_batch b = rows_batch(&r, shapes, SOLIDS, 0, ROWS);
    b.progress = see;
    b.user = &all;
    CHECK_OK(abut_closest(context, &b));
    check(all.calls >= 9 && all.last == ROWS && !all.falls,
          "%zu calls of progress, the last at %zu", all.calls, all.last);
    b.user = &some;
    check(abut_closest(context, &b) == ABUT_ERROR_CANCELLED && some.last >= 200,
          "a call that is stopped at %zu: %s", some.last, abut_last_error());
    CHECK_OK(abut_destroy_context(context));
  }
  rows_free(&r);
}

/* ---- what is refused ---- */

static void refused(abut_context context, abut_closest_batch *b, const char *text)
{
  const abut_status status = abut_closest(context, b);
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), text),
        "\"%s\" is refused by %d: %s", text, status, abut_last_error());
}

static void refuse_settings(abut_context context, const abut_closest_batch *good)
{
  abut_closest_batch b = *good;
  b.tolerance = -1e-3;
  refused(context, &b, "the tolerance is -0.001, not in [0, 1)");
  b.tolerance = (double)NAN;
  refused(context, &b, "the tolerance is");
  b = *good;
  b.tolerance = 1.0;
  refused(context, &b, "the tolerance is 1, not in [0, 1)");
  b = *good;
  b.cutoff = (double)NAN;
  refused(context, &b, "the cutoff is NaN");
  b = *good;
  b.iterations_most = UINT32_MAX;
  refused(context, &b, "iterations_most is 4294967295; it must be at most ");
  b = *good;
  b.corners_most = 7;
  refused(context, &b, "corners_most is 7, not in [8, 4096]");
  b.corners_most = 4097;
  refused(context, &b, "corners_most is 4097, not in [8, 4096]");
  b = *good;
  b.poses = (abut_pose_kind)2;
  refused(context, &b, "unknown pose kind 2");
  b = *good;
  b.memory = (abut_memory)3;
  refused(context, &b, "unknown kind of memory 3");
  b = *good;
  b.memory = ABUT_MEMORY_OPENCL;
  refused(context, &b,
          "arrays in OpenCL memory need a context that was made from the caller's command queue");
}

static void refuse_rows(abut_context context, const abut_closest_batch *good, const rows *r)
{
  abut_closest_batch b = *good;
  b.cookie = 0;
  refused(context, &b, "the batch was not made by abut_default_closest_batch");
  refused(context, NULL, "the batch was not made by abut_default_closest_batch");
  b = *good;
  b.shapes = NULL;
  refused(context, &b, "a batch needs shapes");
  b = *good;
  b.shape_count = 0;
  refused(context, &b, "a batch needs shapes");
  b = *good;
  b.pose2 = NULL;
  refused(context, &b, "the count is 3 rows, but their poses are NULL");
  b = *good;
  b.two = NULL;
  refused(context, &b, "give both one and two, or neither");
  b.one = NULL;
  b.shape_count = 1;
  refused(context, &b, "without one and two a batch needs exactly two shapes, but 1 are listed");
  b = *good;
  r->two[2] = 2;
  refused(context, &b, "two of entry 2 is 2, but there are only 2 shapes");
  r->two[2] = 0;
  r->one[1] = UINT32_MAX;
  refused(context, &b, "one of entry 1 is 4294967295, but there are only 2 shapes");
  r->one[1] = 0;
}

static void test_refusals(abut_context context)
{
  static const double pose[7] = {0, 0, 0, 1, 0, 0, 0};
  solid solids[2];
  abut_shape shapes[2];
  uint64_t seed = 1;
  rows r;
  random_solid(&seed, ABUT_SHAPE_HULL, &solids[0]);
  random_solid(&seed, ABUT_SHAPE_CONE, &solids[1]);
  rows_create(&r, precision, ABUT_POSE_QUATERNION, 3);
  for (size_t i = 0; i < 3; ++i) {
    rows_put(&r, i, 0, 1, pose, pose);
  }
  if (make_shapes(context, solids, 2, shapes)) {
    abut_closest_batch b = rows_batch(&r, shapes, 2, 0, 3);
    CHECK_OK(abut_closest(context, &b));
    refuse_settings(context, &b);
    refuse_rows(context, &b, &r);
    b = rows_batch(&r, shapes, 2, 0, 0);
    b.pose1 = b.pose2 = NULL;
    CHECK_OK(abut_closest(context, &b)); /* no rows */
    CHECK_OK(abut_destroy_shape(shapes[1]));
    b = rows_batch(&r, shapes, 2, 0, 3);
    check(abut_closest(context, &b) == ABUT_ERROR_HANDLE, "a shape that has gone: %s",
          abut_last_error());
    check(abut_closest((abut_context){0, 0}, &b) == ABUT_ERROR_HANDLE, "no context: %s",
          abut_last_error());
  }
  rows_free(&r);
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  test_awkward(context);
  test_equal_vertices(context);
  test_poses(context, ABUT_POSE_QUATERNION);
  test_poses(context, ABUT_POSE_TWIST);
  test_least(context);
  test_bits(context);
  test_progress();
  test_refusals(context);
  return finish_context(context);
}
