/* Properties that hold for any bodies and poses: test_properties PRECISION. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 9, SCENES = 4 };

/* Every difference within `most`, 99 of 100 within `usual`; by precision. */
static const double most[2] = {3e-2, 1e-8}, usual[2] = {1e-3, 1e-10};

typedef struct scene {
  abut_context context;
  abut_precision precision;
  abut_body bodies[2];
  abut_smoothing smoothing;
  double pose1[7 * POSES], pose2[7 * POSES];
} scene;

/* Differences of one comparison. */
typedef struct spread {
  size_t count, unusual;
  double worst;
} spread;

static void differ(spread *s, double a, double b, abut_precision precision)
{
  const double error = fabs(a - b);
  ++s->count;
  s->unusual += !(error <= usual[precision]);
  s->worst = error > s->worst || error != error ? error : s->worst;
}

static void judge(const spread *s, abut_precision precision, const char *what)
{
  printf("%-44s worst %.2e, %zu of %zu above %.0e\n", what, s->worst, s->unusual, s->count,
         usual[precision]);
  check(s->count && s->worst <= most[precision], "%s: off by %g", what, s->worst);
  check(s->unusual * 100 <= s->count, "%s: %zu of %zu are off by more than %g", what, s->unusual,
        s->count, usual[precision]);
}

/* Random bodies near each other. Scenes cycle through both selections, with tracing and the
 * safeguard. */
static bool make_scene(abut_context context, abut_precision precision, int index, scene *s)
{
  uint64_t seed = 1000 + 77 * (uint64_t)index;
  s->context = context;
  s->precision = precision;
  s->smoothing = abut_default_smoothing();
  s->smoothing.select = index % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  s->smoothing.sort = 0.02;
  s->smoothing.penetration = s->smoothing.neighbour = 0.05;
  s->smoothing.union_ = 0.03;
  s->smoothing.length = 0.5;
  s->smoothing.inside = index >= 2;
  s->smoothing.trace = index == 3 ? 1 : 0;
  s->smoothing.floor = index == 3 ? 1e-3 : 0.0;
  s->smoothing.edges[0] = index == 2 ? 0 : 5;
  s->smoothing.edges[1] = 4;
  s->smoothing.vertices[0] = 3;
  s->smoothing.vertices[1] = index == 2 ? 0 : 4;
  for (int i = 0; i < POSES; ++i) {
    random_pose(&seed, 0.3, s->pose1 + 7 * i);
    random_pose(&seed, 0.3, s->pose2 + 7 * i);
  }
  return random_body(context, &seed, &s->bodies[0]) && random_body(context, &seed, &s->bodies[1]);
}

static bool run_scene(const scene *s, const abut_smoothing *smoothing, bool swapped,
                      abut_pose_kind kind, const double *pose1, const double *pose2, outputs *out)
{
  abut_pair pair;
  abut_layout layout;
  if (!CHECK_OK(abut_create_pair(s->bodies[swapped], s->bodies[!swapped], smoothing, &pair)) ||
      !CHECK_OK(abut_get_layout(pair, &layout)) ||
      !outputs_create(out, pair, s->precision, POSES, POSES * layout.contacts, 0.0)) {
    return false;
  }
  const bool ran = CHECK_OK(run_poses(pair, kind, pose1, pose2, out));
  check(out->compact.count == POSES * layout.contacts, "threshold 0 lists %zu of %zu contacts",
        out->compact.count, POSES * layout.contacts);
  CHECK_OK(abut_destroy_pair(pair));
  return ran;
}

/* ---- swapping the bodies ---- */

/* Where the contact of slot i lies after a swap. */
static size_t swapped_slot(const abut_layout *l, const abut_layout *m, size_t i)
{
  if (i < l->vertices[0]) {
    return m->vertex_offset[1] + i;
  }
  if (i < l->edge_offset[0]) {
    return i - l->vertex_offset[1];
  }
  const int on = i >= l->edge_offset[1];
  const size_t pair = i - l->edge_offset[on];
  return m->edge_offset[!on] + pair % l->edges[1] * l->edges[0] + pair / l->edges[1];
}

static void test_swap(const scene *s)
{
  abut_smoothing turned = s->smoothing;
  for (int i = 0; i < 2; ++i) {
    turned.edges[i] = s->smoothing.edges[!i];
    turned.vertices[i] = s->smoothing.vertices[!i];
  }
  abut_pair pairs[2];
  abut_layout l, m;
  CHECK_OK(abut_create_pair(s->bodies[0], s->bodies[1], &s->smoothing, &pairs[0]));
  CHECK_OK(abut_create_pair(s->bodies[1], s->bodies[0], &turned, &pairs[1]));
  CHECK_OK(abut_get_layout(pairs[0], &l));
  CHECK_OK(abut_get_layout(pairs[1], &m));
  outputs a = {0}, b = {0};
  if (run_scene(s, &s->smoothing, false, ABUT_POSE_QUATERNION, s->pose1, s->pose2, &a) &&
      run_scene(s, &turned, true, ABUT_POSE_QUATERNION, s->pose2, s->pose1, &b)) {
    spread points = {0}, distances = {0}, normals = {0}, activities = {0};
    for (size_t pose = 0; pose < POSES; ++pose) {
      for (size_t i = 0; i < l.contacts; ++i) {
        const size_t from = pose * l.contacts + i, to = pose * l.contacts + swapped_slot(&l, &m, i);
        differ(&distances, out_at(&a, OUT_D, from), out_at(&b, OUT_D, to), s->precision);
        differ(&activities, out_at(&a, OUT_ACTIVITY, from), out_at(&b, OUT_ACTIVITY, to),
               s->precision);
        for (size_t k = 0; k < 3; ++k) {
          differ(&points, out_at(&a, OUT_P, 3 * from + k), out_at(&b, OUT_P, 3 * to + k),
                 s->precision);
          differ(&normals, out_at(&a, OUT_N, 3 * from + k), out_at(&b, OUT_N, 3 * to + k),
                 s->precision);
        }
      }
    }
    judge(&points, s->precision, "swapped bodies: p");
    judge(&distances, s->precision, "swapped bodies: d");
    judge(&normals, s->precision, "swapped bodies: n");
    judge(&activities, s->precision, "swapped bodies: activity");
  }
  outputs_free(&a);
  outputs_free(&b);
  CHECK_OK(abut_destroy_pair(pairs[0]));
  CHECK_OK(abut_destroy_pair(pairs[1]));
}

/* ---- moving both bodies, and other ways to write a pose ---- */

/* b is a with p and n moved by `motion` (NULL: not at all). */
static void compare_moved(const outputs *a, const outputs *b, const double *motion,
                          abut_precision precision, const char *what)
{
  static const double rest[7] = {0, 0, 0, 1, 0, 0, 0};
  spread all = {0};
  for (size_t i = 0; i < a->count * a->contacts; ++i) {
    differ(&all, out_at(a, OUT_D, i), out_at(b, OUT_D, i), precision);
    differ(&all, out_at(a, OUT_ACTIVITY, i), out_at(b, OUT_ACTIVITY, i), precision);
    for (int array = OUT_P; array <= OUT_N; array += OUT_N - OUT_P) {
      const double x[3] = {out_at(a, array, 3 * i), out_at(a, array, 3 * i + 1),
                           out_at(a, array, 3 * i + 2)};
      double moved[3];
      apply(motion ? motion : rest, x, array == OUT_N, moved);
      for (size_t k = 0; k < 3; ++k) {
        differ(&all, moved[k], out_at(b, array, 3 * i + k), precision);
      }
    }
  }
  judge(&all, precision, what);
}

static void test_motion(const scene *s)
{
  uint64_t seed = 5;
  double motion[7], moved1[7 * POSES], moved2[7 * POSES];
  random_pose(&seed, 1.0, motion);
  for (int i = 0; i < POSES; ++i) {
    compose(motion, s->pose1 + 7 * i, moved1 + 7 * i);
    compose(motion, s->pose2 + 7 * i, moved2 + 7 * i);
  }
  outputs a = {0}, b = {0};
  if (run_scene(s, &s->smoothing, false, ABUT_POSE_QUATERNION, s->pose1, s->pose2, &a) &&
      run_scene(s, &s->smoothing, false, ABUT_POSE_QUATERNION, moved1, moved2, &b)) {
    compare_moved(&a, &b, motion, s->precision, "both bodies moved");
  }
  outputs_free(&a);
  outputs_free(&b);
}

static void test_pose_kinds(const scene *s)
{
  uint64_t seed = 9;
  double twist1[6 * POSES], twist2[6 * POSES], pose1[7 * POSES], pose2[7 * POSES];
  for (int i = 0; i < 6 * POSES; ++i) {
    const double size = i % 6 < 3 ? 0.3 : i < 6 ? 1e-4 : 1.5; /* the first turns hardly at all */
    twist1[i] = size * random_normal(&seed);
    twist2[i] = size * random_normal(&seed);
  }
  for (int i = 0; i < POSES; ++i) {
    exponential(twist1 + 6 * i, pose1 + 7 * i);
    exponential(twist2 + 6 * i, pose2 + 7 * i);
  }
  outputs a = {0}, b = {0}, c = {0};
  bool ran = run_scene(s, &s->smoothing, false, ABUT_POSE_TWIST, twist1, twist2, &a) &&
             run_scene(s, &s->smoothing, false, ABUT_POSE_QUATERNION, pose1, pose2, &b);
  const double scales[] = {2.0, -0.3, 1e-30, 1e30, 7e4};
  for (int i = 0; i < POSES; ++i) {
    for (int k = 3; k < 7; ++k) {
      pose1[7 * i + k] *= scales[i % 5];
      pose2[7 * i + k] *= scales[(i + 2) % 5];
    }
  }
  ran = ran && run_scene(s, &s->smoothing, false, ABUT_POSE_QUATERNION, pose1, pose2, &c);
  if (ran) {
    compare_moved(&a, &b, NULL, s->precision, "twists and quaternions");
    compare_moved(&b, &c, NULL, s->precision, "quaternions of any length");
  }
  outputs_free(&a);
  outputs_free(&b);
  outputs_free(&c);
}

/* ---- one answer to the bit, however the batch is split ---- */

enum { SPLIT = 23 };

/* The same scene in a context of its own; one pose is not finite. */
static bool run_split(abut_precision precision, int index, uint32_t chunk, uint64_t scratch,
                      bool alone, outputs *out)
{
  scene s;
  abut_pair pair;
  abut_context context;
  double pose1[7 * SPLIT], pose2[7 * SPLIT];
  uint64_t seed = 300;
  for (int i = 0; i < SPLIT; ++i) {
    random_pose(&seed, 0.3, pose1 + 7 * i);
    random_pose(&seed, 0.3, pose2 + 7 * i);
  }
  pose1[7 * 8 + 4] = NAN;
  if (!open_context(precision, chunk, scratch, &context)) {
    return false;
  }
  bool ran = make_scene(context, precision, index, &s) &&
             CHECK_OK(abut_create_pair(s.bodies[0], s.bodies[1], &s.smoothing, &pair)) &&
             outputs_create(out, pair, precision, SPLIT, 4000, 0.01);
  if (ran && !alone) {
    ran = CHECK_OK(run_poses(pair, ABUT_POSE_QUATERNION, pose1, pose2, out));
  }
  size_t listed = 0;
  for (size_t i = 0; ran && alone && i < SPLIT; ++i) {
    outputs one;
    ran = outputs_create(&one, pair, precision, 1, 4000, 0.01) &&
          CHECK_OK(run_poses(pair, ABUT_POSE_QUATERNION, pose1 + 7 * i, pose2 + 7 * i, &one));
    const size_t real = real_size(precision), n = one.compact.count;
    for (int array = 0; array < OUT_ARRAYS; ++array) {
      const size_t bytes = out_width(out, array) * real;
      memcpy((char *)out->arrays[array] + i * bytes, one.arrays[array], bytes);
    }
    out->status[i] = one.status[0];
    out->rejected += one.rejected;
    for (size_t k = 0; k < n; ++k) {
      out->compact.pose[listed + k] = (uint32_t)i;
      check(one.compact.pose[k] == 0, "a call of one pose lists pose %u", one.compact.pose[k]);
    }
    memcpy(out->compact.slot + listed, one.compact.slot, n * sizeof(uint32_t));
    memcpy(out->compact.feature + 2 * listed, one.compact.feature, 2 * n * sizeof(uint32_t));
    memcpy((char *)out->compact.p + 3 * listed * real, one.compact.p, 3 * n * real);
    memcpy((char *)out->compact.n + 3 * listed * real, one.compact.n, 3 * n * real);
    memcpy((char *)out->compact.d + listed * real, one.compact.d, n * real);
    memcpy((char *)out->compact.activity + listed * real, one.compact.activity, n * real);
    memcpy((char *)out->compact.weight + listed * real, one.compact.weight, n * real);
    listed += n;
    out->compact.count = listed;
    outputs_free(&one);
  }
  CHECK_OK(abut_destroy_context(context));
  return ran;
}

static void test_split(abut_precision precision)
{
  static const struct {
    uint32_t chunk;
    uint64_t scratch;
    bool alone;
    const char *what;
  } ways[] = {{1, 0, false, "chunks of one"},
              {7, 0, false, "chunks of seven"},
              {0, 1, false, "the least scratch"},
              {0, 300000, false, "little scratch"},
              {0, 0, true, "a call each"}};
  for (int index = 0; index < SCENES; ++index) {
    outputs whole = {0};
    if (!run_split(precision, index, 0, 0, false, &whole)) {
      return;
    }
    check(whole.rejected == 1 && whole.status[8] == ABUT_POSE_NOT_FINITE, "one pose is refused");
    check(whole.compact.count > 10 && whole.compact.count < 4000, "%zu contacts are listed",
          whole.compact.count);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
      outputs part = {0};
      if (run_split(precision, index, ways[i].chunk, ways[i].scratch, ways[i].alone, &part)) {
        outputs_same(&whole, &part, ways[i].what);
      }
      outputs_free(&part);
    }
    outputs_free(&whole);
  }
}

/* ---- gate selection ---- */

/* All kept, in rank order with weight 1, is all in mesh order. */
static void test_gate_of_all(const scene *s)
{
  abut_smoothing all = s->smoothing;
  all.select = ABUT_SELECT_GATE;
  all.edges[0] = all.edges[1] = all.vertices[0] = all.vertices[1] = 0;
  abut_smoothing ranked = all;
  ranked.edges[0] = ranked.edges[1] = ranked.vertices[0] = ranked.vertices[1] = 1000;
  outputs a = {0}, b = {0};
  if (run_scene(s, &all, false, ABUT_POSE_QUATERNION, s->pose1, s->pose2, &a) &&
      run_scene(s, &ranked, false, ABUT_POSE_QUATERNION, s->pose1, s->pose2, &b)) {
    abut_body_info info[2];
    abut_get_body_info(s->bodies[0], &info[0]);
    abut_get_body_info(s->bodies[1], &info[1]);
    const size_t v1 = info[0].vertices, v = v1 + info[1].vertices;
    const size_t pairs = info[0].edges * info[1].edges;
    spread same = {0};
    for (size_t i = 0; i < b.count * b.contacts; ++i) {
      const uint32_t *f = b.compact.feature + 2 * i;
      const size_t slot = i % b.contacts;
      size_t at = slot < v1 ? f[0] : slot < v ? v1 + f[1] : v + f[0] * info[1].edges + f[1];
      at += slot >= v + pairs ? pairs : 0;
      at += i - slot;
      differ(&same, out_at(&a, OUT_D, at), out_at(&b, OUT_D, i), s->precision);
      differ(&same, out_at(&a, OUT_ACTIVITY, at), out_at(&b, OUT_ACTIVITY, i), s->precision);
      differ(&same, out_at(&a, OUT_P, 3 * at), out_at(&b, OUT_P, 3 * i), s->precision);
      differ(&same, out_at(&a, OUT_N, 3 * at + 2), out_at(&b, OUT_N, 3 * i + 2), s->precision);
    }
    judge(&same, s->precision, "gate with room for all");
  }
  outputs_free(&a);
  outputs_free(&b);
}

enum { STEPS = 8000 };

/* Whether the features of slots first .. first + count - 1 of poses a and b are the same set. */
static bool same_features(const outputs *o, size_t a, size_t b, size_t first, size_t count,
                          int side)
{
  for (size_t i = 0; i < count; ++i) {
    bool found = false;
    for (size_t k = 0; k < count; ++k) {
      found = found || o->compact.feature[2 * (a * o->contacts + first + i) + (size_t)side] ==
                         o->compact.feature[2 * (b * o->contacts + first + k) + (size_t)side];
    }
    if (!found) {
      return false;
    }
  }
  return true;
}

/* Sum over slots of weight * something smooth of the point. */
static double moment(const outputs *o, size_t pose, size_t first, size_t count, double penetration)
{
  double sum = 0.0;
  for (size_t i = pose * o->contacts + first; count--; ++i) {
    const double free = 1.0 / (1.0 + exp(out_at(o, OUT_D, i) / penetration));
    const double weight = penetration > 0.0 ? free : out_at(o, OUT_ACTIVITY, i);
    sum += weight * (1.0 + 0.7 * out_at(o, OUT_P, 3 * i) - 0.4 * out_at(o, OUT_P, 3 * i + 1) +
                     0.5 * out_at(o, OUT_P, 3 * i + 2));
  }
  return sum;
}

/* The largest change of a moment over `stride` steps; of vertices before slot edge_offset, else of
 * edges. */
static double largest_change(const outputs *o, size_t stride, size_t first, size_t count,
                             double penetration)
{
  double worst = 0.0;
  for (size_t i = 0; i + stride < o->count; ++i) {
    worst = fmax(worst, fabs(moment(o, i + stride, first, count, penetration) -
                             moment(o, i, first, count, penetration)));
  }
  return worst;
}

static int count_switches(const outputs *o, size_t first, size_t count, int side)
{
  int switches = 0;
  for (size_t i = 0; i + 1 < o->count; ++i) {
    switches += !same_features(o, i, i + 1, first, count, side);
  }
  return switches;
}

/* A continuous quantity changes four times as much over four steps; a jump stays the same. */
static void check_continuous(const outputs *o, size_t first, size_t count, const char *what)
{
  const double one = largest_change(o, 1, first, count, 0.0);
  const double four = largest_change(o, 4, first, count, 0.0);
  printf("gate: the weighted sum over %s changes by %.2e in a step, %.2e in four\n", what, one,
         four);
  check(one > 0.0 && four >= 2.0 * one, "the weighted sum over %s jumps: %g in a step, %g in four",
        what, one, four);
}

/* A line of poses through switches of the kept vertices and edges: the weighted sums change by
 * O(step), the unweighted sum over vertices jumps. So do those of edges, for one that enters weighs
 * nothing among its neighbours either, however near it is. */
static void test_gate_is_continuous(const scene *s)
{
  const double step = 1e-4;
  abut_smoothing gate = s->smoothing;
  gate.select = ABUT_SELECT_GATE;
  gate.vertices[0] = gate.vertices[1] = 3;
  gate.edges[0] = gate.edges[1] = 3;
  gate.trace = 0;
  gate.penetration = 0.2;
  double *pose1 = calloc(7 * STEPS, sizeof *pose1), *pose2 = calloc(7 * STEPS, sizeof *pose2);
  for (int i = 0; i < STEPS; ++i) {
    pose1[7 * i + 3] = pose2[7 * i + 3] = 1.0;
    pose1[7 * i] = -0.4 + step * i;
    pose1[7 * i + 1] = 0.3 - 0.5 * step * i;
  }
  abut_pair pair;
  abut_layout l;
  outputs o = {0};
  CHECK_OK(abut_create_pair(s->bodies[0], s->bodies[1], &gate, &pair));
  CHECK_OK(abut_get_layout(pair, &l));
  if (outputs_create(&o, pair, s->precision, STEPS, STEPS * l.contacts, 0.0) &&
      CHECK_OK(run_poses(pair, ABUT_POSE_QUATERNION, pose1, pose2, &o))) {
    const int vertices = count_switches(&o, 0, 3, 0);
    const int edges =
      count_switches(&o, l.edge_offset[0], 9, 0) + count_switches(&o, l.edge_offset[0], 9, 1);
    check(vertices > 0 && edges > 0, "kept elements switch: %d vertices, %d edges", vertices,
          edges);
    check_continuous(&o, 0, 3, "vertices");
    check_continuous(&o, l.edge_offset[0], 18, "edges");
    const double one = largest_change(&o, 1, 0, 3, gate.penetration);
    const double four = largest_change(&o, 4, 0, 3, gate.penetration);
    printf("without weights: %.2e in a step, %.2e in four\n", one, four);
    check(one > 0.05 && four < 1.5 * one, "without weights it jumps: %g in a step, %g in four", one,
          four);
  }
  outputs_free(&o);
  CHECK_OK(abut_destroy_pair(pair));
  free(pose1);
  free(pose2);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  for (int i = 0; i < SCENES; ++i) {
    scene s;
    if (make_scene(context, precision, i, &s)) {
      test_swap(&s);
      test_motion(&s);
      test_pose_kinds(&s);
      test_gate_of_all(&s);
      test_gate_is_continuous(&s);
    }
  }
  CHECK_OK(abut_destroy_context(context));
  test_split(precision);
  return check_finish();
}
