/* Meshes between two poses: test_bodies PRECISION
 *
 * Straight and turning motions against the meshes' own distance at many times up to toi; known
 * answers; gradients against central differences of toi. On the device of ABUT_TEST_DEVICE; 77
 * where it is not there. */
#include "core/scene.h"
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORNERS = 8, FACES = 12, EDGES_MOST = 18, ROWS = 32, TIMES = 40 };

static abut_precision precision;
static abut_context context;

/* A box whose corners are moved a little, and its own triangles. */
typedef struct solid {
  double x[3 * CORNERS];
  uint32_t edges[2 * EDGES_MOST], triangles[3 * FACES];
  size_t edge_count;
  abut_ccd_mesh mesh;
} solid;

static const uint32_t faces[3 * FACES] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void make_solid(uint64_t *seed, const double half[3], double rough, solid *s)
{
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  for (int i = 0; i < 3 * CORNERS; ++i) {
    const double side = i / 3 >> (i % 3) & 1 ? 1.0 : -1.0;
    s->x[i] = (double)(float)(side * half[i % 3] * (1.0 + rough * random_normal(seed)));
  }
  def.vertices = s->x;
  def.vertex_count = CORNERS;
  def.face_indices = faces;
  def.face_count = FACES;
  REQUIRE_OK(abut_create_ccd_mesh(context, &def, &s->mesh));
  abut_ccd_mesh_info info;
  REQUIRE_OK(abut_get_ccd_mesh_info(s->mesh, &info));
  REQUIRE(info.edges <= EDGES_MOST);
  s->edge_count = info.edges;
  REQUIRE_OK(abut_get_ccd_mesh_features(s->mesh, NULL, s->triangles, s->edges));
}

/* ---- motions, in long double ---- */

typedef struct motion {
  double from[7], to[7];
  abut_ccd_motion kind;
  double center[3];
} motion;

static void rotate(const long double q[4], const long double x[3], long double to[3])
{
  long double u[3];
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    u[k] = q[1 + a] * x[b] - q[1 + b] * x[a] + q[0] * x[k];
  }
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    to[k] = x[k] + 2.0L * (q[1 + a] * u[b] - q[1 + b] * u[a]);
  }
}

static void unit_of(const double pose[7], long double q[4])
{
  long double square = 0.0L;
  for (int i = 0; i < 4; ++i) {
    square += (long double)pose[3 + i] * pose[3 + i];
  }
  for (int i = 0; i < 4; ++i) {
    q[i] = pose[3 + i] / sqrtl(square);
  }
}

/* The rotation on the way from one to the other, by slerp. */
static void between(const long double a[4], const long double b[4], long double t,
                    long double to[4])
{
  long double cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const long double sign = cosine < 0.0L ? -1.0L : 1.0L,
                    sine = sqrtl(fmaxl(1.0L - cosine * cosine, 0.0L));
  const long double angle = atan2l(sine, sign * cosine);
  for (int i = 0; i < 4; ++i) {
    to[i] = angle < 1e-12L
              ? a[i]
              : (sinl((1.0L - t) * angle) * a[i] + sign * sinl(t * angle) * b[i]) / sinl(angle);
  }
}

static void place(const motion *m, const double x[3], long double t, long double to[3])
{
  long double q[2][4], end[2][3], c[2][3], local[3], middle[4];
  for (int e = 0; e < 2; ++e) {
    const double *pose = e ? m->to : m->from;
    unit_of(pose, q[e]);
    for (int k = 0; k < 3; ++k) {
      local[k] = m->kind == ABUT_CCD_ARC ? m->center[k] : x[k];
    }
    rotate(q[e], local, end[e]);
    for (int k = 0; k < 3; ++k) {
      c[e][k] = end[e][k] + pose[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    to[k] = (1.0L - t) * c[0][k] + t * c[1][k];
    local[k] = (long double)x[k] - m->center[k];
  }
  if (m->kind == ABUT_CCD_ARC) {
    between(q[0], q[1], t, middle);
    rotate(middle, local, end[0]);
    for (int k = 0; k < 3; ++k) {
      to[k] += end[0][k];
    }
  }
}

/* Two boxes at time 0 and at another one. */
typedef struct scene {
  long double x[2][2][CORNERS][3];
  long double separation, keep;
} scene;

/* A pair of features by its corners, the first `first` of mesh `head`: how far it is above its own
 * r. */
static long double above(const scene *c, abut_ccd_kind kind, int head, size_t first,
                         const uint32_t corner[4])
{
  long double row[2][12];
  for (size_t i = 0; i < 4; ++i) {
    const int side = i < first ? head : !head;
    memcpy(row[0] + 3 * i, c->x[0][side][corner[i]], sizeof *c->x[0][side]);
    memcpy(row[1] + 3 * i, c->x[1][side][corner[i]], sizeof *c->x[1][side]);
  }
  const long double d0 = c->keep > 0.0L ? fmaxl(distance_of(kind, row[0]) - c->separation, 0.0L)
                                        : 0.0L;
  return distance_of(kind, row[1]) - c->separation - c->keep * d0;
}

static void scene_at(const solid s[2], const motion m[2], long double t, scene *c)
{
  for (int i = 0; i < 4 * CORNERS; ++i) {
    const int e = i / 2 / CORNERS, side = i % 2, corner = i / 2 % CORNERS;
    place(&m[side], s[side].x + 3 * corner, e ? t : 0.0L, c->x[e][side][corner]);
  }
}

/* Of all features. */
static long double distance(const solid s[2], const motion m[2], long double t)
{
  scene c = {.separation = 0.0L};
  long double least = INFINITY;
  scene_at(s, m, t, &c);
  for (int side = 0; side < 2; ++side) {
    for (uint32_t i = 0; i < CORNERS * FACES; ++i) {
      const uint32_t *face = faces + 3 * (i % FACES),
                     corner[4] = {i / FACES, face[0], face[1], face[2]};
      least = fminl(least, above(&c, ABUT_CCD_POINT_TRIANGLE, side, 1, corner));
    }
  }
  for (size_t i = 0; i < s[0].edge_count * s[1].edge_count; ++i) {
    const uint32_t *a = s[0].edges + 2 * (i / s[1].edge_count),
                   *b = s[1].edges + 2 * (i % s[1].edge_count);
    const uint32_t corner[4] = {a[0], a[1], b[0], b[1]};
    least = fminl(least, above(&c, ABUT_CCD_EDGE_EDGE, 0, 2, corner));
  }
  return least;
}

/* ---- batches ---- */

typedef struct answers {
  /* of either precision */
  double toi[ROWS], n[3 * ROWS], p1[3 * ROWS], p2[3 * ROWS], by[2][12 * ROWS], poses[4][7 * ROWS];
  uint8_t status[ROWS];
  int32_t kind[ROWS];
  uint32_t feature1[ROWS], feature2[ROWS], candidates[ROWS];
} answers;

static abut_ccd_batch batch_of(const motion (*m)[2], size_t count, double separation, double keep,
                               answers *a, void *poses[4])
{
  abut_ccd_batch b = abut_default_ccd_batch();
  for (int k = 0; k < 4; ++k) {
    double *all = malloc(7 * count * sizeof *all);
    REQUIRE(all != NULL);
    for (size_t i = 0; i < count; ++i) {
      memcpy(all + 7 * i, k % 2 ? m[i][k / 2].to : m[i][k / 2].from, 7 * sizeof *all);
    }
    poses[k] = to_reals(all, 7 * count, precision);
    free(all);
  }
  b.count = count;
  b.from1 = poses[0];
  b.to1 = poses[1];
  b.from2 = poses[2];
  b.to2 = poses[3];
  b.motion = m[0][0].kind;
  memcpy(b.center1, m[0][0].center, sizeof b.center1);
  memcpy(b.center2, m[0][1].center, sizeof b.center2);
  b.separation = separation;
  b.keep = keep;
  b.toi = a->toi;
  b.n = a->n;
  b.p1 = a->p1;
  b.p2 = a->p2;
  b.status = a->status;
  b.kind = a->kind;
  b.feature1 = a->feature1;
  b.feature2 = a->feature2;
  b.candidates = a->candidates;
  return b;
}

static abut_status solve(const solid s[2], const motion (*m)[2], size_t count, double separation,
                         double keep, answers *a)
{
  void *poses[4];
  abut_ccd_batch b = batch_of(m, count, separation, keep, a, poses);
  const abut_ccd_gradients to = {.by1 = a->by[0],
                                 .by2 = a->by[1],
                                 .from1 = a->poses[0],
                                 .to1 = a->poses[1],
                                 .from2 = a->poses[2],
                                 .to2 = a->poses[3]};
  const abut_status status = abut_ccd_gradient(s[0].mesh, s[1].mesh, &b, &to);
  for (int k = 0; k < 4; ++k) {
    free(poses[k]);
  }
  return status;
}

static double rounded(double x)
{
  return precision == ABUT_FLOAT64 ? x : (double)(float)x;
}

/* Poses that come at each other; turns of up to a third of a circle. */
static void random_motions(uint64_t *seed, abut_ccd_motion kind, const double center[3],
                           motion (*m)[2])
{
  for (size_t i = 0; i < ROWS; ++i) {
    for (int side = 0; side < 2; ++side) {
      motion *to = &m[i][side];
      memset(to, 0, sizeof *to);
      to->kind = kind;
      memcpy(to->center, center, kind == ABUT_CCD_ARC ? sizeof to->center : 0);
      for (int k = 0; k < 7; ++k) {
        const double turn = random_normal(seed);
        to->from[k] = k < 3 ? 0.5 * turn : turn;
        to->to[k] = k < 3 ? 0.5 * random_normal(seed) : turn + 0.5 * random_normal(seed);
      }
      to->from[0] += side ? 3.0 : 0.0;
      to->to[0] += side ? 0.5 : 0.0;
      for (int k = 0; k < 7; ++k) {
        to->from[k] = rounded(to->from[k]);
        to->to[k] = rounded(to->to[k]);
      }
    }
  }
}

/* The pair that is told keeps its share, and not more than half as much again. (check_row: so do
 * the meshes.) */
static void check_kept(const solid s[2], const motion m[2], const answers *a, size_t i,
                       double separation, double keep)
{
  const int head = a->kind[i] == ABUT_CCD_TRIANGLE_VERTEX;
  const uint32_t which[2] = {a->feature1[i], a->feature2[i]};
  scene c = {.separation = separation, .keep = (1.0 - 1e-5) * keep};
  scene_at(s, m, real_at(a->toi, precision, i), &c);
  if (a->kind[i] == ABUT_CCD_EDGES) {
    const uint32_t corner[4] = {s[0].edges[2 * which[0]], s[0].edges[2 * which[0] + 1],
                                s[1].edges[2 * which[1]], s[1].edges[2 * which[1] + 1]};
    const long double over = above(&c, ABUT_CCD_EDGE_EDGE, 0, 2, corner);
    c.keep *= 1.501L;
    check(over >= 0.0L && above(&c, ABUT_CCD_EDGE_EDGE, 0, 2, corner) <= 1e-5L,
          "row %zu: edges are %Lg above r", i, over);
    return;
  }
  const uint32_t *face = s[!head].triangles + 3 * which[!head],
                 corner[4] = {which[head], face[0], face[1], face[2]};
  const long double over = above(&c, ABUT_CCD_POINT_TRIANGLE, head, 1, corner);
  c.keep *= 1.501L;
  check(over >= 0.0L && above(&c, ABUT_CCD_POINT_TRIANGLE, head, 1, corner) <= 1e-5L,
        "row %zu: a vertex is %Lg above r", i, over);
}

/* Whether a point is on one side of a plane through three others, by six times a volume. */
static long double side_of(const long double *a, const long double *b, const long double *c,
                           const long double *x)
{
  long double u[3], v[3], w[3];
  for (int k = 0; k < 3; ++k) {
    u[k] = b[k] - a[k];
    v[k] = c[k] - a[k];
    w[k] = x[k] - a[k];
  }
  return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
         (u[0] * v[1] - u[1] * v[0]) * w[2];
}

/* How many edges of one box are through triangles of the other, far from all that a query sees. */
static int count_pierced(const solid s[2], const motion m[2])
{
  scene c = {.separation = 0.0L};
  int count = 0;
  scene_at(s, m, 0.0L, &c);
  for (int head = 0; head < 2; ++head) {
    for (size_t e = 0; e < s[head].edge_count; ++e) {
      const long double *a = c.x[0][head][s[head].edges[2 * e]],
                        *b = c.x[0][head][s[head].edges[2 * e + 1]];
      for (size_t f = 0; f < FACES; ++f) {
        const long double *t[3];
        bool up = true, down = true;
        for (size_t k = 0; k < 3; ++k) {
          t[k] = c.x[0][!head][s[!head].triangles[3 * f + k]];
        }
        for (size_t k = 0; k < 3; ++k) {
          const long double side = side_of(a, b, t[k], t[(k + 1) % 3]);
          up = up && side > 1e-4L;
          down = down && side < -1e-4L;
        }
        const long double from = side_of(t[0], t[1], t[2], a), to = side_of(t[0], t[1], t[2], b);
        count += (up || down) && fabsl(from) > 1e-4L && fabsl(to) > 1e-4L &&
                 (from > 0.0L) != (to > 0.0L);
      }
    }
  }
  return count;
}

static void check_row(const solid s[2], const motion m[2], const answers *a, size_t i,
                      double separation, double keep)
{
  const double toi = real_at(a->toi, precision, i), size = 8.0;
  const int status = a->status[i] & ABUT_CCD_END;
  if (status == ABUT_CCD_WITHIN) {
    const bool pierced = a->kind[i] >= ABUT_CCD_EDGE_TRIANGLE && count_pierced(s, m) > 0;
    check(toi == 0.0 && (pierced || distance(s, m, 0.0L) < separation + 1e-5),
          "row %zu: apart, and called within", i);
    return;
  }
  check(count_pierced(s, m) == 0, "row %zu: through each other, and its status is %d", i, status);
  const double past = precision == ABUT_FLOAT64 ? 1e-9 : 1e-5;
  const long double begun = distance(s, m, 0.0L),
                    kept = (1.0 - 1e-5) * keep * fmaxl(begun - separation, 0.0L);
  for (int k = 0; k <= TIMES; ++k) {
    const long double t = k == TIMES ? toi : (long double)toi * k / TIMES,
                      over = distance(s, m, t) - separation - kept;
    check(over > -1e-15L * size, "row %zu: at %d/%d of %.17g, status %d, d - r is %Lg", i, k, TIMES,
          toi, a->status[i], over);
  }
  if (status == ABUT_CCD_HIT && keep > 0.0) {
    check_kept(s, m, a, i, separation, keep);
  }
  if (status == ABUT_CCD_HIT && keep == 0.0) {
    const long double over = distance(s, m, toi) - separation;
    check(over < past * size, "row %zu: ends %Lg above r", i, over);
    long double apart = 0.0L;
    for (size_t k = 3 * i; k < 3 * i + 3; ++k) {
      const double gap = real_at(a->p1, precision, k) - real_at(a->p2, precision, k);
      apart += (long double)gap * gap;
    }
    check(fabsl(sqrtl(apart) - distance(s, m, toi)) < 1e-5,
          "row %zu: points are %Lg apart, not %Lg", i, sqrtl(apart), distance(s, m, toi));
  }
}

static void test_random(const solid s[2], abut_ccd_motion kind)
{
  static const double centers[2][3] = {{0, 0, 0}, {0.25, -0.5, 0.125}};
  static motion m[ROWS][2];
  static answers a;
  size_t hits = 0, limits = 0;
  uint64_t seed = 40 + (uint64_t)kind;
  /* that have a separation, and keep some of the gap */
  const int first = usual_share() ? 1 : 0, rounds = usual_share() ? 2 : 4;
  for (int round = first; round < first + rounds; ++round) {
    const double separation = round % 2 ? 0.0625 : 0.0, keep = round == 2 ? 0.125 : 0.0;
    random_motions(&seed, kind, centers[round / 2], m);
    if (!CHECK_OK(solve(s, (const motion(*)[2])m, ROWS, separation, keep, &a))) {
      return;
    }
    for (size_t i = 0; i < ROWS; ++i) {
      check_row(s, m[i], &a, i, separation, keep);
      hits += (a.status[i] & ABUT_CCD_END) == ABUT_CCD_HIT;
      limits += a.status[i] == ABUT_CCD_LIMIT;
    }
  }
  printf("motion %d: %zu hits, %zu limits of %d\n", (int)kind, hits, limits, rounds * ROWS);
  check(hits > (size_t)(rounds * ROWS / 4), "motion %d: %zu hits", (int)kind, hits);
}

/* ---- known answers ---- */

static motion move(double x0, double z0, double x1, double z1)
{
  const motion m = {.from = {x0, 0, z0, 1}, .to = {x1, 0, z1, 1}};
  return m;
}

/* A box a hand wide passes a wall of a centimetre in one step; a mesh meets itself. */
static void test_known(const solid s[2])
{
  static const double small[3] = {0.0625, 0.0625, 0.0625}, flat[3] = {2, 2, 0.0078125};
  static answers a;
  uint64_t seed = 1;
  solid two[2];
  make_solid(&seed, small, 0.0, &two[0]);
  make_solid(&seed, flat, 0.0, &two[1]);
  motion m[4][2] = {{move(0, 400, 0, -400), move(0, 0, 0, 0)},
                    {move(0, 1, 0, 0.25), move(0, 0, 0, 0)},
                    {move(9, 1, 9, -1), move(0, 0, 0, 0)},
                    {move(0, 0.0703125, 0, 5), move(0, 0, 0, 0)}};
  const double heights[4] = {0.0703125, 0, 0, 0};
  if (CHECK_OK(solve(two, (const motion(*)[2])m, 4, 0.0, 0.0, &a))) {
    const double height = 400.0 - 800.0 * real_at(a.toi, precision, 0);
    check((a.status[0] & ABUT_CCD_END) == ABUT_CCD_HIT && height >= heights[0] &&
            height < heights[0] + (precision == ABUT_FLOAT64 ? 1e-7 : 2e-2),
          "a fast box: status %d at height %g", a.status[0], height);
    check(a.status[1] == ABUT_CCD_FREE && a.status[2] == ABUT_CCD_FREE && a.kind[2] == -1 &&
            a.candidates[2] == 0,
          "boxes that do not meet: status %d and %d", a.status[1], a.status[2]);
    check(real_at(a.toi, precision, 1) == 1.0 && real_at(a.n, precision, 5) == 0.0,
          "a free row has a time or a normal");
    check(a.status[3] == ABUT_CCD_WITHIN && real_at(a.toi, precision, 3) == 0.0,
          "a touch at 0: status %d", a.status[3]);
  }
  const solid same[2] = {s[0], s[0]};
  motion both[1][2] = {{move(0, 0, 0, 0), move(4, 0, 0, 0)}};
  if (CHECK_OK(solve(same, (const motion(*)[2])both, 1, 0.0, 0.0, &a))) {
    check((a.status[0] & ABUT_CCD_END) == ABUT_CCD_HIT, "a mesh and itself: status %d",
          a.status[0]);
    check_row(same, both[0], &a, 0, 0.0, 0.0);
  }
}

/* Vertices fly at a plate that flies with them. There are more pairs than wait at a time, and the
 * vertex that touches first comes late among them: what was found before it must not hide it. */
static void test_common_way(void)
{
  enum { SIDE = 21, POINTS = 20 };
  static double plate[3 * SIDE * SIDE], points[3 * POINTS * POINTS];
  static uint32_t cells[6 * (SIDE - 1) * (SIDE - 1)];
  static answers a;
  for (uint32_t i = 0; i < SIDE * SIDE; ++i) {
    plate[3 * i + 1] = (double)(i / SIDE) / (SIDE - 1);
    plate[3 * i + 2] = (double)(i % SIDE) / (SIDE - 1);
  }
  for (uint32_t i = 0, at = 0; i < (SIDE - 1) * SIDE; ++i) {
    const uint32_t six[6] = {i, i + 1, i + SIDE, i + 1, i + SIDE + 1, i + SIDE};
    for (int k = 0; k < 6 && i % SIDE + 1 < SIDE; ++k) {
      cells[at++] = six[k];
    }
  }
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  solid two[2] = {{{0}, {0}, {0}, 0, {0, 0}}, {{0}, {0}, {0}, 0, {0, 0}}};
  def.vertices = plate;
  def.vertex_count = SIDE * SIDE;
  def.face_indices = cells;
  def.face_count = 2 * (SIDE - 1) * (SIDE - 1);
  REQUIRE_OK(abut_create_ccd_mesh(context, &def, &two[1].mesh));
  for (int first = 0; first < POINTS * POINTS; first += 57) {
    for (int i = 0; i < POINTS * POINTS; ++i) {
      points[3 * i] = i == first ? 0.3 : 0.5;
      points[3 * i + 1] = (i / POINTS + 0.5) / POINTS + 0.003;
      points[3 * i + 2] = (i % POINTS + 0.5) / POINTS + 0.003;
    }
    def = abut_default_ccd_mesh_def();
    def.vertices = points;
    def.vertex_count = POINTS * POINTS;
    REQUIRE_OK(abut_create_ccd_mesh(context, &def, &two[0].mesh));
    for (int way = -20; way <= 20; way += 20) {
      motion m[1][2] = {{move(0, 0, way - 1, 0), move(0, 0, way, 0)}};
      if (CHECK_OK(solve(two, (const motion(*)[2])m, 1, 0.0, 0.0, &a))) {
        const double toi = real_at(a.toi, precision, 0);
        check(a.feature1[0] == (uint32_t)first && toi <= 0.3 && toi > 0.2999,
              "vertex %d on a way of %d: vertex %u at %.17g", first, way, a.feature1[0], toi);
      }
    }
    CHECK_OK(abut_destroy_ccd_mesh(two[0].mesh));
  }
  CHECK_OK(abut_destroy_ccd_mesh(two[1].mesh));
}

/* A spike that circles above a plate for longer than its windows reach, and comes down later. */
static void test_windows(void)
{
  static const double tall[3] = {0.5, 0.5, 0.5}, flat[3] = {4, 4, 0.5};
  static answers a;
  uint64_t seed = 2;
  solid two[2];
  make_solid(&seed, tall, 0.0, &two[0]);
  make_solid(&seed, flat, 0.0, &two[1]);
  motion m[2][2] = {{move(0, 1.0001220703125, 0, 0.9999847412109375), move(0, 0, 0, 0)},
                    {move(0, 1.0009765625, 0, 0.9998779296875), move(0, 0, 0, 0)}};
  for (int i = 0; i < 2; ++i) {
    m[i][0].kind = m[i][1].kind = ABUT_CCD_ARC;
    m[i][0].to[3] = 0.125;
    m[i][0].to[6] = 1.0;
  }
  if (CHECK_OK(solve(two, (const motion(*)[2])m, 2, 0.0, 0.0, &a))) {
    for (size_t i = 0; i < 2; ++i) {
      check((a.status[i] & ABUT_CCD_END) == ABUT_CCD_HIT || a.status[i] == ABUT_CCD_LIMIT,
            "it comes down: status %d", a.status[i]);
      check_row(two, m[i], &a, i, 0.0, 0.0);
    }
  }
}

/* ---- gradients ---- */

#define STEP 1e-6

/* t becomes t + tau, R exp(hat phi) R. */
static void twist(double pose[7], int number, double by)
{
  if (number < 3) {
    pose[number] += by;
    return;
  }
  double q[4];
  memcpy(q, pose + 3, sizeof q);
  const int k = number - 3, a = (k + 1) % 3, b = (k + 2) % 3;
  const double c = cos(by / 2.0), s = sin(by / 2.0);
  pose[3] = c * q[0] - s * q[1 + k];
  pose[4 + k] = c * q[1 + k] + s * q[0];
  pose[4 + a] = c * q[1 + a] - s * q[1 + b];
  pose[4 + b] = c * q[1 + b] + s * q[1 + a];
}

/* Moves one number of a side: of 12 twists', or of 14 of both poses. */
static void nudge(motion *m, bool by_twist, int number, double by)
{
  const int width = by_twist ? 6 : 7;
  double *pose = number < width ? m->from : m->to;
  if (by_twist) {
    twist(pose, number % width, by);
  } else {
    pose[number % width] += by;
  }
}

/* Of the numbers of a row's poses, every so many is moved. */
static int numbers_every(void)
{
  return usual_share() ? 5 : UNLESS_SANITIZED(1, 5);
}

static void compare_side(const solid s[2], const motion (*m)[2], const answers *a, int side,
                         bool by_twist, size_t *compared, double *worst)
{
  static motion moved[ROWS][2];
  static answers at[4];
  const int width = by_twist ? 6 : 7;
  for (int number = 0; number < 2 * width; number += numbers_every()) {
    for (int k = 0; k < 4; ++k) {
      memcpy(moved, m, sizeof moved);
      for (size_t i = 0; i < ROWS; ++i) {
        nudge(&moved[i][side], by_twist, number, STEP * (double[]){1, -1, 2, -2}[k]);
      }
      REQUIRE_OK(solve(s, (const motion(*)[2])moved, ROWS, 0.0625, 0.0, &at[k]));
    }
    for (size_t i = 0; i < ROWS; ++i) {
      const double near = (at[0].toi[i] - at[1].toi[i]) / (2.0 * STEP),
                   far = (at[2].toi[i] - at[3].toi[i]) / (4.0 * STEP);
      const double most = fmax(1.0, fabs(near));
      const double *poses = a->poses[2 * side + number / width] + 7 * i;
      const double slope = by_twist ? a->by[side][12 * i + number] : poses[number % width];
      if (a->status[i] == ABUT_CCD_HIT && fabs(near - far) < 1e-3 * most) {
        const double error = fabs(slope - near) / most;
        *worst = fmax(*worst, error);
        ++*compared;
        check(error < 2e-3, "row %zu, side %d, number %d: %g, and %g by differences", i, side,
              number, slope, near);
      }
    }
  }
}

static void test_gradients(const solid s[2], abut_ccd_motion kind)
{
  static const double center[3] = {0.25, -0.5, 0.125};
  static motion m[ROWS][2];
  static answers a;
  size_t compared = 0, hits = 0;
  double worst = 0.0;
  uint64_t seed = 50;
  random_motions(&seed, kind, center, m);
  if (!CHECK_OK(solve(s, (const motion(*)[2])m, ROWS, 0.0625, 0.0, &a))) {
    return;
  }
  for (int side = 0; side < 2; ++side) {
    compare_side(s, (const motion(*)[2])m, &a, side, true, &compared, &worst);
    compare_side(s, (const motion(*)[2])m, &a, side, false, &compared, &worst);
  }
  for (size_t i = 0; i < ROWS; ++i) {
    hits += (a.status[i] & ABUT_CCD_END) == ABUT_CCD_HIT;
  }
  printf("motion %d: %zu slopes of %zu hits, worst %.2e\n", (int)kind, compared, hits, worst);
  /* of twists and of poses */
  const size_t numbers = 2 * (size_t)((11 / numbers_every() + 1) + (13 / numbers_every() + 1));
  check(hits > ROWS / 4 && compared > numbers * hits * 3 / 4, "motion %d: %zu slopes of %zu hits",
        (int)kind, compared, hits);
}

int main(int argc, char **argv)
{
  static const double halves[2][3] = {{0.5, 0.375, 0.25}, {0.25, 0.5, 0.625}};
  solid s[2];
  uint64_t seed = 30;
  precision = precision_of(argc, argv);
  context = require_context(precision);
  for (int i = 0; i < 2; ++i) {
    make_solid(&seed, halves[i], 0.1, &s[i]);
  }
  test_random(s, ABUT_CCD_LINEAR);
  test_random(s, ABUT_CCD_ARC);
  test_known(s);
  test_windows();
  test_common_way();
  if (precision == ABUT_FLOAT64) {
    test_gradients(s, ABUT_CCD_LINEAR);
    test_gradients(s, ABUT_CCD_ARC);
  }
  return finish_context(context);
}
