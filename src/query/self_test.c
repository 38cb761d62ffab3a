/* The self-tests of witness points without pairs, and of a body's field at points. A few queries
 * with known results are repeated to fill several whole blocks of lanes and a partial one. */
#include "engine/self_test/bodies.h"
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include <abut/derivatives.h>

#include "query/self_test_answers.inl"

#define KNOWN SELF_TEST_QUERIES
#define QUERIES 19
#define EDGE 6
#define TRIANGLE 9
#define ROOM (QUERIES * 80)

static void *put(self_test *t, const double *from, size_t width)
{
  return self_test_put(t, from, QUERIES * width, KNOWN * width);
}

static abut_status compare(const self_test *t, const answer *a, const void *got)
{
  return self_test_compare(t, a, got, QUERIES, KNOWN);
}

/* ---- witness points ---- */

static abut_status forward_edges(self_test *t)
{
  static const answer answers[] = {{"edges' witness points, body 1", expected_edges_points_1, 1, 3,
                                    OF_P},
                                   {"edges' witness points, body 2", expected_edges_points_2, 1, 3,
                                    OF_P},
                                   {"edges' interior", expected_edges_interior, 1, 1, OF_ACTIVITY}};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got[3] = {self_test_room(t, QUERIES * 3), self_test_room(t, QUERIES * 3),
                  self_test_room(t, QUERIES)};
  TRY(abut_witness_edges(self_test_context(t), &smoothing, QUERIES, put(t, edges_1, EDGE),
                         put(t, edges_2, EDGE), got[0], got[1], got[2]));
  for (int i = 0; i < 3; ++i) {
    TRY(compare(t, &answers[i], got[i]));
  }
  return ABUT_SUCCESS;
}

static abut_status forward_faces(self_test *t)
{
  static const answer projected = {"points on faces", expected_faces_projected, 1, 3, OF_P};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got = self_test_room(t, QUERIES * 3);
  TRY(abut_witness_faces(self_test_context(t), &smoothing, QUERIES, put(t, points, 3),
                         put(t, triangles, TRIANGLE), got, NULL, NULL));
  return compare(t, &projected, got);
}

static abut_status reverse_edges(self_test *t)
{
  static const answer answers[] = {{"the VJP by edges of body 1", expected_edges_vjp_1, 1, EDGE,
                                    OF_SLOPES},
                                   {"the VJP by edges of body 2", expected_edges_vjp_2, 1, EDGE,
                                    OF_SLOPES}};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got[2] = {self_test_room(t, QUERIES * EDGE), self_test_room(t, QUERIES * EDGE)};
  TRY(abut_witness_edges_vjp(self_test_context(t), &smoothing, QUERIES, put(t, edges_1, EDGE),
                             put(t, edges_2, EDGE), put(t, point_bars_1, 3),
                             put(t, point_bars_2, 3), put(t, interior_bars, 1), got[0], got[1]));
  TRY(compare(t, &answers[0], got[0]));
  return compare(t, &answers[1], got[1]);
}

static abut_status reverse_faces(self_test *t)
{
  static const answer answers[] = {{"the VJP by points on faces", expected_faces_vjp_points, 1, 3,
                                    OF_SLOPES},
                                   {"the VJP by faces", expected_faces_vjp_triangles, 1, TRIANGLE,
                                    OF_SLOPES}};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got[2] = {self_test_room(t, QUERIES * 3), self_test_room(t, QUERIES * TRIANGLE)};
  TRY(abut_witness_faces_vjp(self_test_context(t), &smoothing, QUERIES, put(t, points, 3),
                             put(t, triangles, TRIANGLE), put(t, point_bars_1, 3), got[0], got[1],
                             NULL, NULL));
  TRY(compare(t, &answers[0], got[0]));
  return compare(t, &answers[1], got[1]);
}

static abut_status dual_edges(self_test *t)
{
  static const answer answers[] = {
    {"the JVP of edges' witness points, body 1", expected_edges_jvp_points_1, 1, 3, OF_SLOPES},
    {"the JVP of edges' witness points, body 2", expected_edges_jvp_points_2, 1, 3, OF_SLOPES},
    {"the JVP of edges' interior", expected_edges_jvp_interior, 1, 1, OF_SLOPES}};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got[3] = {self_test_room(t, QUERIES * 3), self_test_room(t, QUERIES * 3),
                  self_test_room(t, QUERIES)};
  TRY(abut_witness_edges_jvp(self_test_context(t), &smoothing, QUERIES, put(t, edges_1, EDGE),
                             put(t, edges_2, EDGE), put(t, edge_tangents_1, EDGE),
                             put(t, edge_tangents_2, EDGE), got[0], got[1], got[2]));
  for (int i = 0; i < 3; ++i) {
    TRY(compare(t, &answers[i], got[i]));
  }
  return ABUT_SUCCESS;
}

static abut_status dual_faces(self_test *t)
{
  static const answer projected = {"the JVP of points on faces", expected_faces_jvp_projected, 1, 3,
                                   OF_SLOPES};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got = self_test_room(t, QUERIES * 3);
  TRY(abut_witness_faces_jvp(self_test_context(t), &smoothing, QUERIES, put(t, points, 3),
                             put(t, triangles, TRIANGLE), put(t, point_tangents, 3),
                             put(t, triangle_tangents, TRIANGLE), got, NULL, NULL));
  return compare(t, &projected, got);
}

static abut_status test_forward(context *one)
{
  TRY(self_test_run(one, ROOM, forward_edges));
  return self_test_run(one, ROOM, forward_faces);
}

static abut_status test_reverse(context *one)
{
  TRY(self_test_run(one, ROOM, reverse_edges));
  return self_test_run(one, ROOM, reverse_faces);
}

static abut_status test_dual(context *one)
{
  TRY(self_test_run(one, ROOM, dual_edges));
  return self_test_run(one, ROOM, dual_faces);
}

const module_self_tests witness_self_tests = {
  {[SELF_TEST_MAIN] = {
     [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test_forward,
     [PROGRAM_KIND(PROGRAM_PLAIN, true)] = test_reverse,
     [PROGRAM_KIND(PROGRAM_DUAL, false)] = test_dual,
   }}};

/* ---- fields ---- */

/* Tests both kernels: the one with normals, and the one with distances only. */
static abut_status field_of(self_test *t, int which)
{
  static const answer distances[2] = {{"the distance to body 1", expected_distance_1, 1, 1, OF_D},
                                      {"the distance to body 2", expected_distance_2, 1, 1, OF_D}};
  static const answer normals[2] = {{"the normal of body 1", expected_normal_1, 1, 3, OF_N},
                                    {"the normal of body 2", expected_normal_2, 1, 3, OF_N}};
  const abut_smoothing smoothing = self_test_smoothing();
  abut_body body;
  TRY(self_test_body(self_test_context(t), which, &body));
  void *at = put(t, points, 3), *distance = self_test_room(t, QUERIES);
  void *alone = self_test_room(t, QUERIES), *normal = self_test_room(t, QUERIES * 3);
  TRY(abut_evaluate_body(body, smoothing.union_, smoothing.plane, QUERIES, at, distance, normal));
  TRY(abut_evaluate_body(body, smoothing.union_, smoothing.plane, QUERIES, at, alone, NULL));
  TRY(compare(t, &distances[which], distance));
  TRY(compare(t, &distances[which], alone));
  return compare(t, &normals[which], normal);
}

static abut_status fields(self_test *t)
{
  TRY(field_of(t, 0));
  return field_of(t, 1);
}

static abut_status test_fields(context *one)
{
  return self_test_run(one, ROOM, fields);
}

const module_self_tests field_self_tests = {{[SELF_TEST_MAIN] = {
                                               [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test_fields,
                                             }}};
