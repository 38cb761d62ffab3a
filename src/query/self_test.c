/* What devices are asked about witness points alone, and about a body's field at points. Answers
 * are of a few queries, repeated so that they fill whole blocks of lanes and begin another. */
#include "self_test/bodies.h"
#include "self_test/runner.h"
#include "self_test/self_test.h"
#include <abut/derivatives.h>

#include "query/self_test_answers.inl"

#define KNOWN SELF_TEST_QUERIES
#define QUERIES 19
#define EDGE 6
#define TRIANGLE 9
#define ROOM (QUERIES * 80)

static void *put(question *q, const double *from, size_t width)
{
  return question_put(q, from, QUERIES * width, KNOWN * width);
}

static abut_status compare(const question *q, const answer *a, const void *got)
{
  return question_compare(q, a, got, QUERIES, KNOWN);
}

/* Asks within a question, and closes it. */
static abut_status with_question(context *one, abut_status (*ask)(question *))
{
  question q;
  TRY(question_open(&q, one, ROOM));
  const abut_status status = ask(&q);
  question_close(&q);
  return status;
}

/* ---- witness points ---- */

static abut_status forward_edges(question *q)
{
  static const answer answers[] = {
    {"edges' witness points, body 1", expected_edges_points_1, 1, 3, OF_P},
    {"edges' witness points, body 2", expected_edges_points_2, 1, 3, OF_P},
    {"edges' interior", expected_edges_interior, 1, 1, OF_ACTIVITY}};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got[3] = {question_ask(q, QUERIES * 3), question_ask(q, QUERIES * 3),
                  question_ask(q, QUERIES)};
  TRY(abut_witness_edges(question_context(q), &smoothing, QUERIES, put(q, edges_1, EDGE),
                         put(q, edges_2, EDGE), got[0], got[1], got[2]));
  for (int i = 0; i < 3; ++i) {
    TRY(compare(q, &answers[i], got[i]));
  }
  return ABUT_SUCCESS;
}

static abut_status forward_faces(question *q)
{
  static const answer projected = {"points on faces", expected_faces_projected, 1, 3, OF_P};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got = question_ask(q, QUERIES * 3);
  TRY(abut_witness_faces(question_context(q), &smoothing, QUERIES, put(q, points, 3),
                         put(q, triangles, TRIANGLE), got, NULL, NULL));
  return compare(q, &projected, got);
}

static abut_status reverse_edges(question *q)
{
  static const answer answers[] = {
    {"the VJP by edges of body 1", expected_edges_vjp_1, 1, EDGE, OF_SLOPES},
    {"the VJP by edges of body 2", expected_edges_vjp_2, 1, EDGE, OF_SLOPES}};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got[2] = {question_ask(q, QUERIES * EDGE), question_ask(q, QUERIES * EDGE)};
  TRY(abut_witness_edges_vjp(question_context(q), &smoothing, QUERIES, put(q, edges_1, EDGE),
                             put(q, edges_2, EDGE), put(q, point_bars_1, 3),
                             put(q, point_bars_2, 3), put(q, interior_bars, 1), got[0], got[1]));
  TRY(compare(q, &answers[0], got[0]));
  return compare(q, &answers[1], got[1]);
}

static abut_status reverse_faces(question *q)
{
  static const answer answers[] = {
    {"the VJP by points on faces", expected_faces_vjp_points, 1, 3, OF_SLOPES},
    {"the VJP by faces", expected_faces_vjp_triangles, 1, TRIANGLE, OF_SLOPES}};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got[2] = {question_ask(q, QUERIES * 3), question_ask(q, QUERIES * TRIANGLE)};
  TRY(abut_witness_faces_vjp(question_context(q), &smoothing, QUERIES, put(q, points, 3),
                             put(q, triangles, TRIANGLE), put(q, point_bars_1, 3), got[0], got[1],
                             NULL, NULL));
  TRY(compare(q, &answers[0], got[0]));
  return compare(q, &answers[1], got[1]);
}

static abut_status dual_edges(question *q)
{
  static const answer answers[] = {
    {"the JVP of edges' witness points, body 1", expected_edges_jvp_points_1, 1, 3, OF_SLOPES},
    {"the JVP of edges' witness points, body 2", expected_edges_jvp_points_2, 1, 3, OF_SLOPES},
    {"the JVP of edges' interior", expected_edges_jvp_interior, 1, 1, OF_SLOPES}};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got[3] = {question_ask(q, QUERIES * 3), question_ask(q, QUERIES * 3),
                  question_ask(q, QUERIES)};
  TRY(abut_witness_edges_jvp(question_context(q), &smoothing, QUERIES, put(q, edges_1, EDGE),
                             put(q, edges_2, EDGE), put(q, edge_tangents_1, EDGE),
                             put(q, edge_tangents_2, EDGE), got[0], got[1], got[2]));
  for (int i = 0; i < 3; ++i) {
    TRY(compare(q, &answers[i], got[i]));
  }
  return ABUT_SUCCESS;
}

static abut_status dual_faces(question *q)
{
  static const answer projected = {"the JVP of points on faces", expected_faces_jvp_projected, 1, 3,
                                   OF_SLOPES};
  const abut_smoothing smoothing = self_test_smoothing();
  void *got = question_ask(q, QUERIES * 3);
  TRY(abut_witness_faces_jvp(question_context(q), &smoothing, QUERIES, put(q, points, 3),
                             put(q, triangles, TRIANGLE), put(q, point_tangents, 3),
                             put(q, triangle_tangents, TRIANGLE), got, NULL, NULL));
  return compare(q, &projected, got);
}

static abut_status ask_forward(context *one)
{
  TRY(with_question(one, forward_edges));
  return with_question(one, forward_faces);
}

static abut_status ask_reverse(context *one)
{
  TRY(with_question(one, reverse_edges));
  return with_question(one, reverse_faces);
}

static abut_status ask_dual(context *one)
{
  TRY(with_question(one, dual_edges));
  return with_question(one, dual_faces);
}

const module_questions witness_questions = {{[QUESTION_MAIN] = {
  [PROGRAM_KIND(PROGRAM_PLAIN, false)] = ask_forward,
  [PROGRAM_KIND(PROGRAM_PLAIN, true)] = ask_reverse,
  [PROGRAM_KIND(PROGRAM_DUAL, false)] = ask_dual,
}}};

/* ---- fields ---- */

/* Both kernels: with the normals, and the distances alone. */
static abut_status field_of(question *q, int which)
{
  static const answer distances[2] = {
    {"the distance to body 1", expected_distance_1, 1, 1, OF_D},
    {"the distance to body 2", expected_distance_2, 1, 1, OF_D}};
  static const answer normals[2] = {{"the normal of body 1", expected_normal_1, 1, 3, OF_N},
                                    {"the normal of body 2", expected_normal_2, 1, 3, OF_N}};
  const abut_smoothing smoothing = self_test_smoothing();
  abut_body body;
  TRY(self_test_body(question_context(q), which, &body));
  void *at = put(q, points, 3), *distance = question_ask(q, QUERIES);
  void *alone = question_ask(q, QUERIES), *normal = question_ask(q, QUERIES * 3);
  TRY(abut_evaluate_body(body, smoothing.union_, smoothing.plane, QUERIES, at, distance, normal));
  TRY(abut_evaluate_body(body, smoothing.union_, smoothing.plane, QUERIES, at, alone, NULL));
  TRY(compare(q, &distances[which], distance));
  TRY(compare(q, &distances[which], alone));
  return compare(q, &normals[which], normal);
}

static abut_status fields(question *q)
{
  TRY(field_of(q, 0));
  return field_of(q, 1);
}

static abut_status ask_fields(context *one)
{
  return with_question(one, fields);
}

const module_questions field_questions = {{[QUESTION_MAIN] = {
  [PROGRAM_KIND(PROGRAM_PLAIN, false)] = ask_fields,
}}};
