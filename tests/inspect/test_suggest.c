/* How many edges and vertices contacts need: what boxes must come to, and that seeds and shares
 * count. */
#include "support/check.h"

#include <math.h>
#include <string.h>

static abut_context context;

/* A box of nearly sharp edges, with the mesh of its corners. */
static abut_body box_of(double x, double y, double z)
{
  static const uint32_t sizes[] = {4, 4, 4, 4, 4, 4};
  static const uint32_t indices[] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                     2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
  const double planes[] = {1, 0,  0, x, 0,  0, -1, 0, 0, -x, 0, 0, 0, 1, 0,  0, y, 0,
                           0, -1, 0, 0, -y, 0, 0,  0, 1, 0,  0, z, 0, 0, -1, 0, 0, -z};
  const abut_polyhedron polyhedron = {planes, 6, ABUT_ADD};
  double vertices[24];
  abut_body_def def = abut_default_body_def();
  abut_body body;
  for (int i = 0; i < 8; ++i) {
    vertices[3 * i] = i & 1 ? x : -x;
    vertices[3 * i + 1] = i & 2 ? y : -y;
    vertices[3 * i + 2] = i & 4 ? z : -z;
  }
  def.vertices = vertices;
  def.vertex_count = 8;
  def.face_sizes = sizes;
  def.face_indices = indices;
  def.face_count = 6;
  def.polyhedra = &polyhedron;
  def.polyhedron_count = 1;
  REQUIRE_OK(abut_create_body(context, &def, &body));
  return body;
}

static abut_smoothing sharp(void)
{
  abut_smoothing s = abut_default_smoothing();
  s.union_ = s.plane = 1e-4;
  return s;
}

static abut_suggestion suggested(abut_body a, abut_body b, uint32_t poses, uint64_t seed,
                                 double quantile)
{
  const abut_smoothing smoothing = sharp();
  abut_suggest_options options = abut_default_suggest_options();
  abut_suggestion s;
  options.poses = poses;
  options.seed = seed;
  options.quantile = quantile;
  REQUIRE_OK(abut_suggest_kept(a, b, &smoothing, &options, &s));
  return s;
}

static uint32_t most(const uint32_t *counts, size_t count)
{
  uint32_t out = 0;
  for (size_t i = 0; i < count; ++i) {
    out = counts[i] > out ? counts[i] : out;
  }
  return out;
}

/* Boxes that touch at random do so with one corner or with two edges that cross. Of the latter some
 * have an edge that is nearer to another one, which it does not cross: they are not counted. */
static void boxes(void)
{
  enum { POSES = 400 };
  const abut_body a = box_of(0.5, 0.5, 0.5), b = box_of(0.3, 0.6, 0.4);
  abut_suggestion s = suggested(a, b, POSES, 0, 1.0);
  size_t corners = 0, edges = 0, neither = 0;
  CHECK(s.poses > POSES * 9 / 10 && s.poses <= POSES);
  for (size_t i = 0; i < s.poses; ++i) {
    const bool corner = s.deepest[0][i] || s.deepest[1][i];
    corners += corner;
    edges += s.pairs[i] > 0;
    neither += !corner && !s.pairs[i];
  }
  check(corners > s.poses / 4 && edges > s.poses / 10, "%zu corners and %zu edges of %zu poses",
        corners, edges, s.poses);
  check(neither < s.poses / 5, "%zu of %zu poses have neither", neither, s.poses);
  for (int i = 0; i < 2; ++i) {
    CHECK(s.edges[i] >= most(s.pairs, s.poses) && s.edges[i] <= 12);
    CHECK_EQUAL(s.vertices[i], most(s.deepest[i], s.poses));
    CHECK(s.vertices[i] >= 1 && s.vertices[i] <= 4);
  }
  CHECK(s.pairs_held == 1.0);
  abut_suggestion again = suggested(a, b, POSES, 0, 1.0), less = suggested(a, b, POSES, 0, 0.8);
  abut_suggestion other = suggested(a, b, POSES, 1, 1.0);
  check(again.poses == s.poses && !memcmp(again.pairs, s.pairs, s.poses * sizeof *s.pairs) &&
          !memcmp(again.deepest[1], s.deepest[1], s.poses * sizeof *s.pairs),
        "another call gives another answer");
  CHECK(other.poses != s.poses || memcmp(other.pairs, s.pairs, s.poses * sizeof *s.pairs));
  CHECK(less.pairs_held >= 0.8 && less.edges[0] <= s.edges[0] && less.edges[1] <= s.edges[1]);
  abut_free_suggestion(&s);
  abut_free_suggestion(&again);
  abut_free_suggestion(&less);
  abut_free_suggestion(&other);
  CHECK_OK(abut_destroy_body(a));
  CHECK_OK(abut_destroy_body(b));
}

static void refusals(void)
{
  const abut_body a = box_of(0.5, 0.5, 0.5);
  abut_smoothing smoothing = sharp();
  abut_suggest_options options = abut_default_suggest_options(), wrong = {0};
  abut_suggestion s;
  CHECK(abut_suggest_kept(a, a, &smoothing, &wrong, &s) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_suggest_kept(a, a, NULL, &options, &s) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_suggest_kept(a, a, &smoothing, &options, NULL) == ABUT_ERROR_ARGUMENT);
  options.poses = 65537;
  CHECK(abut_suggest_kept(a, a, &smoothing, &options, &s) == ABUT_ERROR_ARGUMENT);
  options = abut_default_suggest_options();
  options.depth = 0.6;
  CHECK(abut_suggest_kept(a, a, &smoothing, &options, &s) == ABUT_ERROR_ARGUMENT);
  options = abut_default_suggest_options();
  options.quantile = 0.4;
  CHECK(abut_suggest_kept(a, a, &smoothing, &options, &s) == ABUT_ERROR_ARGUMENT);
  options = abut_default_suggest_options();
  smoothing.union_ = 0.0;
  CHECK(abut_suggest_kept(a, a, &smoothing, &options, &s) == ABUT_ERROR_ARGUMENT);
  smoothing = sharp();
  CHECK_OK(abut_destroy_body(a));
  CHECK(abut_suggest_kept(a, a, &smoothing, &options, &s) == ABUT_ERROR_HANDLE);
  CHECK(!s.memory);
  abut_free_suggestion(&s);
  abut_free_suggestion(NULL);
}

int main(void)
{
  context = require_context(ABUT_FLOAT32);
  boxes();
  refusals();
  return finish_context(context);
}
