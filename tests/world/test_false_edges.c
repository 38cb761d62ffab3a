/* Edge contacts that must not be there, or must: test_false_edges PRECISION
 *
 * Bodies of shapes with the smoothing that scenes fit, at poses whose true depth is known. A
 * contact that counts (activity above 0.1) must not claim more than three times that depth and 3
 * mm. On the device of ABUT_TEST_DEVICE, the host by default. */
#include "play.h"

#include <abut/manifold.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context context;
static abut_precision precision;

/* A pair of the scene's bodies, and poses of the second one against the first, which rests. */
typedef struct scenes_pair {
  play p;
  abut_pair pair;
  size_t contacts;
  double poses[1024][7], depth[1024];
  size_t count;
} scenes_pair;

/* Two bodies of shapes. */
static void open_pair(scenes_pair *s, const char *fixed, const char *moving)
{
  char text[1024];
  abut_scene_pair pair;
  abut_layout layout;
  snprintf(
    text, sizeof text,
    "{\"links\": [{\"bodies\": [%s]}, {\"joint\": {\"type\": \"free\"}, \"mass\": 1, \"inertia\": "
    "[[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]], \"bodies\": [%s]}], "
    "\"pairs\": [{\"a\": 0, \"b\": 1}]}",
    fixed, moving);
  play_open_text(&s->p, context, precision, text, 1);
  REQUIRE_OK(abut_get_scene_pair(s->p.scene, 0, &pair));
  REQUIRE_OK(abut_get_layout(pair.pair, &layout));
  s->pair = pair.pair;
  s->contacts = layout.contacts;
  s->count = 0;
}

static void add_pose(scenes_pair *s, const double at[3], const double q[4], double depth)
{
  double *to = s->poses[s->count];
  REQUIRE(s->count < sizeof s->depth / sizeof *s->depth);
  memcpy(to, at, 3 * sizeof *to);
  memcpy(to + 3, q, 4 * sizeof *to);
  s->depth[s->count++] = depth;
}

typedef struct claims {
  size_t false_ones; /* poses with a contact that claims too much */
  double worst;      /* [m] the deepest such claim */
  double *energy;    /* of each pose [m^2] */
} claims;

/* `most`: a claim of more than three times the true depth and this is false [m]. */
static claims claims_of(scenes_pair *s, double most)
{
  const size_t slots = s->count * s->contacts, size = real_size(precision);
  claims r = {0, 0.0, calloc(s->count, sizeof(double))};
  double rest[1024][7];
  for (size_t i = 0; i < s->count; ++i) {
    memcpy(rest[i], (const double[7]){0, 0, 0, 1, 0, 0, 0}, sizeof rest[i]);
  }
  void *pose1 = to_reals(rest[0], 7 * s->count, precision);
  void *pose2 = to_reals(s->poses[0], 7 * s->count, precision);
  void *d = malloc(slots * size), *activity = malloc(slots * size);
  abut_batch batch = abut_default_batch();
  batch.count = s->count;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.d = d;
  batch.activity = activity;
  REQUIRE_OK(abut_contacts(s->pair, &batch));
  for (size_t i = 0; i < s->count; ++i) {
    bool wrong = false;
    for (size_t k = i * s->contacts; k < (i + 1) * s->contacts; ++k) {
      const double x = real_at(d, precision, k), a = real_at(activity, precision, k);
      r.energy[i] += a * fmin(x, 0.0) * fmin(x, 0.0);
      if (a > 0.1 && x < -3.0 * s->depth[i] - most) {
        wrong = true;
        r.worst = fmin(r.worst, x);
      }
    }
    r.false_ones += wrong;
  }
  free(pose1);
  free(pose2);
  free(d);
  free(activity);
  return r;
}

static void quaternion_product(const double p[4], const double q[4], double out[4])
{
  const double r[4] = {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                       p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                       p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                       p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
  memcpy(out, r, sizeof r);
}

static void report(scenes_pair *s, const char *name, double most)
{
  claims r = claims_of(s, most);
  char what[128];
  snprintf(what, sizeof what, "%s: false of %zu states", name, s->count);
  play_line(what, (double)r.false_ones, 3.0);
  play_line("  the deepest false claim [m]", -r.worst, 0.012);
  free(r.energy);
  play_close(&s->p);
}

/* A box half on another: the edges that bound the overhang overlap sideways. */
static void test_half(const double half[3])
{
  const double yaws[] = {0, 0.02, 0.1, 0.3}, overs[] = {0.005, 0.01, 0.02, 0.03, 0.045};
  const double depths[] = {3e-4, 1e-3, 2e-3};
  scenes_pair s;
  char word[96], name[96];
  snprintf(word, sizeof word, "{\"box\": [%g, %g, %g]}", half[0], half[1], half[2]);
  snprintf(name, sizeof name, "box of %g x %g x %g m half on a box", half[0], half[1], half[2]);
  open_pair(&s, "{\"box\": [0.05, 0.05, 0.05]}", word);
  for (int i = 0; i < 4 * 5 * 2 * 3; ++i) {
    const double yaw = yaws[i / 30], depth = depths[i % 3];
    add_pose(&s,
             (const double[3]){0.05 + half[0] - overs[i / 6 % 5], i / 3 % 2 ? 0.03 : 0.0,
                               0.05 + half[2] - depth},
             (const double[4]){cos(yaw / 2), 0, 0, sin(yaw / 2)}, depth);
  }
  report(&s, name, 3e-3);
}

/* What lies on its side across a box's rim: rings of its mesh and the rim overlap along it. */
static void test_rim(const char *word, double radius)
{
  const double pitches[] = {0, 0.03, 0.06, 0.1}, depths[] = {5e-4, 1.5e-3, 3e-3};
  scenes_pair s;
  char name[96];
  snprintf(name, sizeof name, "%s across a rim", word);
  open_pair(&s, "{\"box\": [0.05, 0.05, 0.05]}", word);
  for (int i = 0; i < 4 * 2 * 9 * 3; ++i) {
    const double pitch = pitches[i / 54], depth = depths[i % 3], yaw = i / 27 % 2 ? 0.1 : 0.0;
    const double x = -0.03 + 0.075 * (i / 3 % 9) / 8.0, turn = 0.5 * pitch + 0.25 * acos(-1.0);
    double q[4];
    quaternion_product((const double[4]){cos(yaw / 2), 0, 0, sin(yaw / 2)},
                       (const double[4]){cos(turn), 0, sin(turn), 0}, q);
    add_pose(&s,
             (const double[3]){x, 0, 0.05 + radius / cos(pitch) - depth + tan(pitch) * (0.05 - x)},
             q, depth);
  }
  report(&s, name, 3e-3);
}

/* ---- boxes that touch by one edge each, a known way apart ---- */

static void rotate(const double q[4], const double v[3], double out[3])
{
  const double u[3] = {q[2] * v[2] - q[3] * v[1] + q[0] * v[0],
                       q[3] * v[0] - q[1] * v[2] + q[0] * v[1],
                       q[1] * v[1] - q[2] * v[0] + q[0] * v[2]};
  out[0] = v[0] + 2.0 * (q[2] * u[2] - q[3] * u[1]);
  out[1] = v[1] + 2.0 * (q[3] * u[0] - q[1] * u[2]);
  out[2] = v[2] + 2.0 * (q[1] * u[1] - q[2] * u[0]);
}

static double between(uint64_t *seed, double low, double high)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(*seed >> 11) / 9007199254740992.0;
}

/* The middle of a box's edge along its axis i that lies farthest along u (which is across it),
 * moved along it by a share of its half length. */
static void edge_point(const double half[3], int i, const double u[3], double share, double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = k == i ? share * half[k] : copysign(half[k], u[k]);
  }
}

/* A word's field rounds a box's edges by a radius of a part of the shortest half length
 * (docs/dev/spec.md, 10.4). Returns how far inside an edge its surface lies along u, which is
 * across it. */
static double cut_off(const double half[3], const double u[3], double length)
{
  const double radius = fmin(half[0], fmin(half[1], half[2])) / 50.0;
  return radius * ((fabs(u[0]) + fabs(u[1]) + fabs(u[2])) / length - 1.0);
}

/* Adds a pose in which one edge of each box crosses the other, nearest to each other and `gap`
 * apart; those that overlap lie so deep in either body's field, whose rounded edges lie within the
 * sharp ones. */
static void add_crossing(scenes_pair *s, const double half1[3], const double half2[3], double gap,
                         uint64_t *seed)
{
  double q[4], turned[3], u[3], length, p1[3], p2[3], back[3];
  const int i = (int)between(seed, 0, 3), j = (int)between(seed, 0, 3);
  do {
    for (int k = 0; k < 4; ++k) {
      q[k] = between(seed, -1, 1);
    }
    length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; ++k) {
      q[k] /= length;
    }
    const double e[3] = {j == 0, j == 1, j == 2};
    rotate(q, e, turned);
    const double f[3] = {i == 0, i == 1, i == 2};
    u[0] = f[1] * turned[2] - f[2] * turned[1];
    u[1] = f[2] * turned[0] - f[0] * turned[2];
    u[2] = f[0] * turned[1] - f[1] * turned[0];
    length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    const double inverse[4] = {q[0], -q[1], -q[2], -q[3]};
    const double minus[3] = {-u[0], -u[1], -u[2]};
    rotate(inverse, minus, back);
    /* Edges at a good angle, and no face or other edge nearly as near. */
  } while (length < 0.3 || fabs(u[(i + 1) % 3]) < 0.3 * length ||
           fabs(u[(i + 2) % 3]) < 0.3 * length || fabs(back[(j + 1) % 3]) < 0.3 * length ||
           fabs(back[(j + 2) % 3]) < 0.3 * length);
  const double round = gap < 0.0 ? fmax(cut_off(half1, u, length), cut_off(half2, back, length))
                                 : 0.0;
  edge_point(half1, i, u, between(seed, -0.6, 0.6), p1);
  edge_point(half2, j, back, between(seed, -0.6, 0.6), p2);
  rotate(q, p2, turned);
  for (int k = 0; k < 3; ++k) {
    p1[k] += (gap - round) * u[k] / length - turned[k];
  }
  add_pose(s, p1, q, gap < 0.0 ? -gap : 0.0);
}

static int compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Nothing is deep where bodies are apart, and what energy there is belongs to contacts that
 * touch. */
static void test_apart(const char *name, const double half1[3], const double half2[3])
{
  enum { POSES = 200 };
  scenes_pair s;
  char words[2][96];
  double energy[2][POSES];
  snprintf(words[0], sizeof words[0], "{\"box\": [%g, %g, %g]}", half1[0], half1[1], half1[2]);
  snprintf(words[1], sizeof words[1], "{\"box\": [%g, %g, %g]}", half2[0], half2[1], half2[2]);
  printf("%s\n", name);
  open_pair(&s, words[0], words[1]);
  for (int touching = 0; touching < 2; ++touching) {
    uint64_t seed = 7;
    s.count = 0;
    for (int i = 0; i < POSES; ++i) {
      add_crossing(&s, half1, half2, touching ? -5e-4 : 4e-4, &seed);
    }
    claims r = claims_of(&s, 1e-3);
    play_line(touching ? "false claims, 0.5 mm deep" : "false claims, 0.4 mm apart",
              (double)r.false_ones, touching ? 2.0 : 0.0);
    memcpy(energy[touching], r.energy, sizeof energy[touching]);
    qsort(energy[touching], POSES, sizeof(double), compare_doubles);
    free(r.energy);
  }
  const double deep = energy[1][POSES / 2];
  play_line("energy apart, median, of that 0.5 mm deep", energy[0][POSES / 2] / deep, 1e-3);
  play_line("energy apart, worst, of the median 0.5 mm deep", energy[0][POSES - 1] / deep, 3.0);
  /* A true crossing keeps its contact: two points of a half of its depth squared, or more. */
  play_line("0.5 mm deep, least of what a crossing is worth", 0.25e-6 * 0.5 / energy[1][POSES / 20],
            1.0);
  play_close(&s.p);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  test_half((const double[3]){0.05, 0.05, 0.05});
  test_half((const double[3]){0.05, 0.05, 0.01});
  test_half((const double[3]){0.03, 0.08, 0.02});
  test_rim("{\"capsule\": [0.025, 0.125]}", 0.025);
  test_rim("{\"cylinder\": [0.025, 0.125]}", 0.025);
  test_rim("{\"box\": [0.025, 0.025, 0.125]}", 0.025);
  test_rim("{\"sphere\": 0.025}", 0.025);
  test_rim("{\"ellipsoid\": [0.025, 0.025, 0.1]}", 0.025);
  const double bar[3] = {0.15, 0.005, 0.005}, cube[3] = {0.05, 0.05, 0.05};
  const double plate[3] = {0.15, 0.1, 0.002};
  test_apart("cube on cube", cube, cube);
  test_apart("bar on bar", bar, bar);
  test_apart("plate on bar", plate, bar);
  test_apart("cube on bar", cube, bar);
  test_apart("plate on plate", plate, plate);
  return finish_context(context);
}
