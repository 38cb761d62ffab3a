/* What devices are asked about springs: two pairs of cubes, turned, in touch and in motion. Answers by the
 * reference of the contact model, in float64. */
#include "modules/modules.h"
#include "modules/question.h"
#include <abut/spring.h>

enum { KNOWN = 2, PAIRS = 19, POINTS = 6, ROOM = PAIRS * 128 };

static double normals[3 * POINTS] = {1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1};
static double points1[3 * POINTS] = {0.05, 0, 0, 0, 0.05, 0, 0, 0, 0.05, -0.05, 0, 0, 0, -0.05, 0, 0, 0, -0.05};
static double points2[3 * POINTS] = {0.04, 0, 0, 0, 0.04, 0, 0, 0, 0.04, -0.04, 0, 0, 0, -0.04, 0, 0, 0, -0.04};
static double log_weights[POINTS] = {0, 0.25, 0, 0, -0.5, 0};
static double eps1[POINTS] = {1.25e-3, 1.25e-3, 1.25e-3, 1.25e-3, 1.25e-3, 1.25e-3};
static double eps2[POINTS] = {8e-4, 8e-4, 8e-4, 8e-4, 8e-4, 8e-4};

static const double pose1[KNOWN * 7] = {0.1, 0.2, 0.3, 1, 0, 0, 0, -0.1, 0, 0.05, 0.8, 0.1, -0.2, 0.5};
static const double pose2[KNOWN * 7] = {0.102, 0.201, 0.388, 0.9, 0.05, 0.02, 0.3,
                                        -0.1,  0.088, 0.06,  0.7, 0.3,  0.1,  -0.6};
static const double twist1[KNOWN * 6] = {0.02, -0.03, 0.01, 0.5, 0.1, -0.2, 0, 0.05, 0.02, 0.1, -0.3, 0.2};
static const double twist2[KNOWN * 6] = {0.01, 0.02,  -0.05, -0.3, 0.2, 0.1,
                                         0.03, -0.02, 0.01,  0.2,  0.2, -0.4};

static const double wrenches1[KNOWN * 6] = {
  -7.166691360695573,   15.152465504043462, -25.382584779510818, -0.8051167808470723,
  -0.36462801528186783, 0.0090999617255552, 17.28655413710643,   -65.72668385641012,
  -0.9629746727537849,  -0.497873968601738, -0.0293141276303034, -1.5525922732151791};
static const double wrenches2[KNOWN * 6] = {
  7.166691360695573,   -15.152465504043462, 25.382584779510818,  -0.5536827682882635,
  -0.2152756549003212, 0.028371660643226715, -17.28655413710643, 65.72668385641012,
  0.9629746727537849,  1.070399035963506,   0.20217966900136763, 0.031375509149812686};
static const double distances[KNOWN] = {-0.005412759064487905, -0.010871045855468754};

static void put_pairs(question *q, abut_spring *s)
{
  s->count = PAIRS;
  s->eps2 = 5e-3;
  s->eps3 = 2e-3;
  s->pose1 = question_put(q, pose1, PAIRS * 7, KNOWN * 7);
  s->pose2 = question_put(q, pose2, PAIRS * 7, KNOWN * 7);
  s->twist1 = question_put(q, twist1, PAIRS * 6, KNOWN * 6);
  s->twist2 = question_put(q, twist2, PAIRS * 6, KNOWN * 6);
}

static abut_status ask_forces(question *q, abut_spring *s)
{
  static const answer answers[] = {{"wrenches of springs on the first body", wrenches1, 1, 6, {2e-4, 1e-10}, true},
                                   {"wrenches of springs on the second body", wrenches2, 1, 6, {2e-4, 1e-10}, true},
                                   {"distances of springs", distances, 1, 1, {5e-7, 1e-12}, false}};
  s->wrench1 = question_ask(q, PAIRS * 6);
  s->wrench2 = question_ask(q, PAIRS * 6);
  s->distance = question_ask(q, PAIRS);
  TRY(abut_spring_forces(question_context(q), s));
  TRY(question_compare(q, &answers[0], s->wrench1, PAIRS, KNOWN));
  TRY(question_compare(q, &answers[1], s->wrench2, PAIRS, KNOWN));
  return question_compare(q, &answers[2], s->distance, PAIRS, KNOWN);
}

static abut_status ask(context *one)
{
  const abut_cloud clouds[2] = {{POINTS, points1, normals, log_weights, eps1, NULL},
                                {POINTS, points2, normals, log_weights, eps2, NULL}};
  abut_spring s = abut_default_spring();
  question q;
  s.clouds = clouds;
  s.cloud_count = 2;
  TRY(question_open(&q, one, ROOM));
  put_pairs(&q, &s);
  const abut_status status = ask_forces(&q, &s);
  question_close(&q);
  return status;
}

const module_questions spring_questions = {{{ask}}};
