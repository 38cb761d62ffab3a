/* Scenes as files: what is read, by which defaults, and every refusal with its line. */
#include "geometry/spring.h"
#include "geometry/world.h"
#include "samples.h"
#include "support.h"
#include "world/law/law.h"
#include "scene/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static abut_status parse(const char *text, scene_def *s)
{
  return scene_file_parse("d/t", text, strlen(text), s);
}

/* ---- what is read ---- */

static void check_numbers(const char *what, const double *got, const double *sought, int count)
{
  for (int i = 0; i < count; i++) {
    check(got[i] == sought[i], "%s[%d] is %.17g, not %.17g", what, i, got[i], sought[i]);
  }
}

#define CHECK_NUMBERS(got, ...)                           \
  check_numbers(#got, got, (const double[]){__VA_ARGS__}, \
                (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

static void check_default_softness(const softness *s)
{
  CHECK_NUMBERS(s->solref, 0.02, 1.0);
  CHECK_NUMBERS(s->solimp, 0.9, 0.95, 0.001, 0.5, 2.0);
}

static void defaults(void)
{
  scene_def s;
  REQUIRE_OK(parse("{\"links\": [{}], \"actuators\": [], \"pairs\": [{}]}", &s));
  CHECK(s.timestep == 0.002 && s.impratio == 1.0 && s.divergence == 1e6);
  CHECK_NUMBERS(s.gravity, 0.0, 0.0, -9.81);
  CHECK(s.integrator == INTEGRATOR_EULER && !s.pyramidal && !s.exact_diagonal);
  CHECK(s.iterations == 30 && s.line_iterations == 30 && s.line_tolerance == 1e-3);
  CHECK(s.tolerance == 0.0 && s.cone_smoothing == 0.0 && s.limit_smoothing == 0.0);
  CHECK(s.capacity == 0 && !s.sweep && s.link_count == 1 && s.actuator_count == 0 &&
        s.pair_count == 1);
  const scene_link *l = &s.links[0];
  CHECK(!l->name && l->parent == WORLD && l->mass == 0.0 && l->density == 0.0 && !l->body_count);
  CHECK_NUMBERS(l->quaternion, 1.0, 0.0, 0.0, 0.0);
  CHECK_NUMBERS(l->position, 0.0, 0.0, 0.0);
  CHECK(l->joint.type == JOINT_FIXED && !l->joint.limited);
  CHECK_NUMBERS(l->joint.axis, 0.0, 0.0, 1.0);
  check_default_softness(&l->joint.limit);
  check_default_softness(&l->joint.friction);
  const scene_pair *p = &s.pairs[0]; /* its contacts are given with each step */
  CHECK(p->link[0] == WORLD && p->link[1] == WORLD && p->friction == 0.8 && p->margin == 0.0);
  CHECK(p->condim == 3 && p->fitted);
  check_default_softness(&p->soft);
  scene_def_free(&s);
}

static void check_sample_links(const scene_def *s)
{
  require(CHECK_EQUAL(s->link_count, 4));
  const scene_link *cart = &s->links[1], *pole = &s->links[2];
  CHECK_EQUAL(scene_body_number(s, 0), 0);
  CHECK_EQUAL(scene_body_number(s, 2), 4);
  CHECK_EQUAL(scene_body_number(s, 3), 6);
  CHECK(s->links[0].bodies[0].shape == SHAPE_PLANE && !s->links[0].bodies[0].file);
  CHECK_TEXT(s->links[0].bodies[1].file, "d/table.body.json");
  CHECK_TEXT(cart->name, "cart");
  CHECK(cart->density == 800.0 && cart->joint.type == JOINT_FREE);
  CHECK_NUMBERS(cart->bodies[0].size, 0.4, 0.2, 0.1);
  CHECK(cart->bodies[0].round == 0.02 && s->links[0].bodies[0].round == 0.0);
  CHECK_TEXT(cart->bodies[1].file, "/b.obj");
  CHECK_NUMBERS(cart->bodies[1].position, 0.0, 0.0, 1.0);
  CHECK(pole->parent == 1 && pole->mass == 0.5);
  CHECK_NUMBERS(pole->com, 0.0, 0.0, 0.5);
  CHECK_NUMBERS(pole->inertia, 0.04, 0.0, 0.0, 0.0, 0.04, 0.0, 0.0, 0.0, 0.001);
  CHECK(fabs(pole->quaternion[3] - 0.5 / sqrt(1.25)) < 1e-15);
  CHECK_NUMBERS(pole->joint.axis, 0.0, 1.0, 0.0);
  CHECK(pole->joint.limited && pole->joint.armature == 0.01);
  CHECK_NUMBERS(pole->joint.limits, -1.0, 1.0);
  CHECK_NUMBERS(pole->joint.friction.solref, -100.0, -1.0);
  CHECK(pole->bodies[0].shape == SHAPE_CAPSULE && pole->bodies[0].quaternion[3] == 1.0);
  CHECK(pole->bodies[1].shape == SHAPE_HEIGHT_FIELD && scene_body_is_ground(&pole->bodies[1]));
  const abut_height_field *h = pole->bodies[1].heights;
  CHECK(h->rows == 2 && h->columns == 3 && h->heights[2] == 0.5 && h->heights[4] == -0.25 &&
        !h->step);
  CHECK(s->links[3].joint.type == JOINT_MOVED && s->links[3].position[2] == 2.0);
}

static void sample_scene(void)
{
  sample file[SAMPLE_LIMIT];
  scene_def s;
  require(CHECK_EQUAL(samples_make(SAMPLE_SCENE, file), 2));
  REQUIRE_OK(scene_file_parse("d/t", file[1].bytes, file[1].count, &s));
  CHECK(s.law == &spring_law && s.integrator == INTEGRATOR_IMPLICIT);
  CHECK(s.links[1].bodies[0].eps1 == 1e-4 && s.pairs[0].friction == 0.0);
  const body_contact *plane = &s.links[0].bodies[0].contact, *part = &s.links[1].bodies[0].contact;
  CHECK(s.automatic && s.parents && s.usual.friction == 0.7 && s.usual.spring[SPRING_MU] == 0.7 &&
        s.usual.spring[0] == 300.0);
  CHECK(plane->contype == UINT32_MAX && plane->conaffinity == 0 && plane->friction == 0.4 &&
        plane->condim == 1);
  CHECK(part->contype == 1 && part->conaffinity == 1 && part->friction == 0.7 &&
        part->condim == 3 && part->margin == 2e-3);
  CHECK_NUMBERS(plane->soft.solref, -100.0, -1.0);
  CHECK_NUMBERS(plane->soft.solimp, 0.8, 0.9, 0.002, 0.5, 2.0);
  require(CHECK_EQUAL(s.excluded_count, 1));
  CHECK(s.excluded[0][0] == 0 && s.excluded[0][1] == 1);
  /* automatic ones are found with the bodies */
  CHECK(s.listed_count == 1 && s.column_count == 1 && s.pair_count == 1);
  scene_def_free(&s);
  REQUIRE_OK(scene_file_parse("d/t", file[0].bytes, file[0].count, &s));
  free(file[0].bytes);
  free(file[1].bytes);
  CHECK(s.timestep == 0.001 && s.integrator == INTEGRATOR_RK4 && s.capacity == 9 && s.sweep);
  check_sample_links(&s);
  require(CHECK_EQUAL(s.actuator_count, 3));
  CHECK(s.actuators[0].kind == ACTUATOR_POSITION && s.actuators[0].link == 2);
  CHECK(s.actuators[0].kp == 10.0 && s.actuators[0].kv == 0.0 && s.actuators[0].gear == 1.0);
  CHECK(s.actuators[0].limited && s.actuators[0].force_limits[1] == 9.0);
  CHECK(s.actuators[0].gain == 10.0 && s.actuators[1].gain == 1.0 && !s.actuators[1].clamped);
  CHECK(s.actuators[1].dof == 5 && s.actuators[1].link == 1 && !s.actuators[1].limited);
  const actuator *affine = &s.actuators[2];
  CHECK(affine->gain == 3.0 && affine->bias == -1.0 && affine->kp == 0.0 && affine->kv == 2.0);
  CHECK(affine->clamped && affine->control_limits[0] == 0.0 && affine->control_limits[1] == 1.0);
  CHECK(s.links[2].joint.start == 0.5);
  require(CHECK_EQUAL(s.start_count, 2));
  CHECK(strcmp(s.starts[0].name, "home") == 0 && strcmp(s.starts[1].name, "rest") == 0);
  CHECK_NUMBERS(s.starts[0].q, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.25);
  CHECK_NUMBERS(s.starts[0].v, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0);
  CHECK_EQUAL(scene_control_count(&s), 9);
  CHECK_NUMBERS(s.starts[0].u, 1.0, 2.0, 3.0, 0.0, 0.0, 0.5, 0.0, 0.0, -0.1);
  CHECK_NUMBERS(s.starts[1].v, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  require(CHECK_EQUAL(s.tendon_count, 1));
  const tendon *t = &s.tendons[0];
  CHECK_TEXT(t->name, "string");
  require(CHECK_EQUAL(t->part_count, 1));
  CHECK(t->parts[0].link == 2 && t->parts[0].coefficient == 2.0 && t->rests);
  CHECK(t->stiffness == 3.0 && t->damping == 0.5 && t->rest[0] == 0.0 && t->rest[1] == 1.0);
  require(CHECK_EQUAL(s.equality_count, 2));
  const equality *e = s.equalities;
  CHECK(e[0].kind == EQUALITY_OF_PLACES && e[0].of[0] == 1 && e[0].of[1] == WORLD);
  CHECK(!e[0].meets && !e[0].turned && e[0].torque_scale == 2.0 && e[0].soft.solref[0] == 0.05);
  CHECK_NUMBERS(e[0].position[0], 0.0, 1.0, 0.0);
  CHECK(fabs(e[0].quaternion[0][1] - sqrt(0.5)) < 1e-15);
  CHECK(e[1].kind == EQUALITY_OF_TENDONS && e[1].of[0] == 0 && e[1].of[1] == NOTHING);
  CHECK_NUMBERS(e[1].polynomial, 1.0, 0.0, 0.0, 0.0, 0.0);
  require(CHECK_EQUAL(s.pair_count, 2));
  CHECK(s.pairs[0].link[0] == 1 && s.pairs[0].body[0] == 0); /* "cart" is its first body */
  CHECK(s.pairs[0].link[1] == 0 && s.pairs[0].body[1] == 1 && s.pairs[0].fitted);
  CHECK_EQUAL(scene_pair_fits(&s, &s.pairs[0]), -1);
  CHECK(s.pairs[1].link[0] == 2 && s.pairs[1].condim == 1 && !s.pairs[1].fitted);
  CHECK_EQUAL(scene_pair_fits(&s, &s.pairs[1]), 0); /* the other is a plane */
  CHECK(s.pairs[1].smoothing.floor == 0.001);
  CHECK_EQUAL(s.pairs[1].smoothing.cookie, abut_default_smoothing().cookie);
  scene_def_free(&s);
}

/* Friction is raised, solimp clipped, what other models have is left aside. */
static void raised(void)
{
  scene_def s;
  REQUIRE_OK(parse("{\"lcp\": {\"slop\": 1}, \"contact_model\": \"cone\",\n"
                   "\"links\": [{\"joint\": {"
                   "\"type\": \"hinge\", \"solimp_limit\": [0, 1, 0.5, 0, 0.5],\n"
                   "\"solimp_friction\": [1, 0, -1, 1, 3]}}],\n"
                   "\"pairs\": [{\"friction\": 0, \"solimp\": [-1, 2, 0, 0.5, 1],\n"
                   "\"contact\": {}, \"restitution\": 0.5, \"solref\": [0, 0],\n"
                   "\"margin\": -0.1}]}",
                   &s));
  CHECK_NUMBERS(s.links[0].joint.limit.solimp, 1e-4, 0.9999, 0.5, 1e-4, 1.0);
  CHECK_NUMBERS(s.links[0].joint.friction.solimp, 0.9999, 1e-4, -1.0, 0.9999, 3.0);
  CHECK(s.pairs[0].friction == 1e-5 && s.pairs[0].margin == -0.1);
  CHECK_NUMBERS(s.pairs[0].soft.solimp, 1e-4, 0.9999, 0.0, 0.5, 1.0);
  CHECK_NUMBERS(s.pairs[0].soft.solref, 0.0, 0.0);
  scene_def_free(&s);
}

/* Springs: what is not stated, what is, and friction for another law's scene. */
#define TWO_BALLS                                                                     \
  "\"links\": [{\"bodies\": [{\"sphere\": 1}]}, {\"joint\": {\"type\": \"hinge\"},\n" \
  "\"bodies\": [{\"box\": [1, 1, 1], \"eps1\": 0.01}]}]"

static void springs(void)
{
  const abut_spring usual = abut_default_spring();
  scene_def s;
  REQUIRE_OK(parse("{\"contact_model\": \"spring\", " TWO_BALLS ",\n"
                   "\"pairs\": [{\"a\": 0, \"b\": 1}]}",
                   &s));
  const scene_pair *p = &s.pairs[0];
  CHECK(s.law == &spring_law && s.integrator == INTEGRATOR_IMPLICIT && s.capacity == 0);
  CHECK_NUMBERS(p->spring, usual.k, usual.mu, usual.v_d, usual.v_s, usual.eps2, usual.eps3);
  CHECK(p->dissipation == usual.dissipation && p->reaction == usual.reaction);
  CHECK(p->friction == usual.mu);
  CHECK_NUMBERS(s.links[1].joint.limit_spring, 1e4, 1e-3, 0.1);
  CHECK(s.links[0].bodies[0].eps1 == 0.0 && s.links[1].bodies[0].eps1 == 0.01);
  scene_def_free(&s);
  REQUIRE_OK(parse("{\"contact_model\": \"spring\", \"integrator\": \"rk4\",\n"
                   "\"lcp\": {\"most\": 4},\n"
                   "\"cone\": \"pyramidal\", \"cone_smoothing\": 1, \"capacity\": 0,\n"
                   "\"links\": [{\"bodies\": [{\"sphere\": 1}]},\n"
                   "{\"joint\": {\"type\": \"slide\", \"solref_limit\": [0.01, 1],\n"
                   "\"limits\": [0, 1], \"limit_spring\": [10, 0.5, 2]},\n"
                   "\"bodies\": [{\"box\": [1, 1, 1]}]}],\n"
                   "\"pairs\": [{\"a\": 0, \"b\": 1, \"friction\": 0.3, \"solref\": [0.01, 1],\n"
                   "\"condim\": 1, \"margin\": 1, \"restitution\": 0.5,\n"
                   "\"contact\": {\"k\": 1, \"mu\": 0, \"v_d\": 2, \"v_s\": 3,\n"
                   "\"eps2\": 4, \"eps3\": 5,\n"
                   "\"dissipation\": \"smooth\", \"reaction\": \"plane\"}}]}",
                   &s));
  p = &s.pairs[0];
  CHECK(s.integrator == INTEGRATOR_RK4);
  CHECK_NUMBERS(p->spring, 1.0, 0.0, 2.0, 3.0, 4.0, 5.0);
  CHECK(p->dissipation == ABUT_DISSIPATION_SMOOTH && p->reaction == ABUT_REACTION_PLANE);
  CHECK(p->friction == 0.0); /* not raised, and not the cone's */
  CHECK_NUMBERS(s.links[1].joint.limit_spring, 10.0, 0.5, 2.0);
  scene_def_free(&s);
}

/* A pair's friction is that of springs too, where their own is not stated; other laws look at no
 * more of a spring than that it is an object. */
static void springs_shared(void)
{
  scene_def s;
  REQUIRE_OK(parse("{\"contact_model\": \"spring\", \"integrator\": \"euler\", " TWO_BALLS ",\n"
                   "\"pairs\": [{\"a\": 0, \"b\": 1, \"friction\": 0,\n"
                   "\"contact\": {\"k\": 7}}]}",
                   &s));
  CHECK(s.integrator == INTEGRATOR_EULER && s.pairs[0].friction == 0.0);
  CHECK_NUMBERS(s.pairs[0].spring, 7.0, 0.0, 0.1, 0.01, 5e-4, 2e-4);
  scene_def_free(&s);
  REQUIRE_OK(parse("{" TWO_BALLS ", \"pairs\": [{\"a\": 0, \"b\": 1, \"friction\": 0.3,\n"
                   "\"contact\": {\"k\": -7, \"what\": 1}}]}",
                   &s));
  CHECK(s.law == &cone_law && s.pairs[0].friction == 0.3 && s.pairs[0].spring[0] == 5000.0);
  scene_def_free(&s);
}

/* Of another model than the file's, what only the file's has is left aside; of its own it stays. */
static void replaced(void)
{
  scene_def s;
  const char *soft = write_text("soft.json",
                                "{\"integrator\": \"rk4\", \"capacity\": 8, \"links\": [{}],\n"
                                "\"lcp\": {\"most\": 4}, \"pairs\": [{\"friction\": 0}]}");
  REQUIRE_OK(scene_file_read_as(soft, NULL, &s));
  CHECK(s.law == &cone_law && s.integrator == INTEGRATOR_RK4 && s.pairs[0].friction == 1e-5);
  scene_def_free(&s);
  REQUIRE_OK(scene_file_read_as(soft, "cone", &s));
  CHECK(s.law == &cone_law && s.integrator == INTEGRATOR_RK4 && s.capacity == 8);
  scene_def_free(&s);
  REQUIRE_OK(scene_file_read_as(soft, "lcp", &s));
  CHECK(s.law == &lcp_law && s.integrator == INTEGRATOR_EULER && !s.capacity);
  CHECK(s.hard.most == 4 && s.pairs[0].friction == 0.0);
  scene_def_free(&s);
  expect_failure(scene_file_read_as(soft, "stiff", &s), ABUT_ERROR_ARGUMENT,
                 "there is no contact model \"stiff\"", "");
  const char *own = write_text("own.json", "{\"contact_model\": \"lcp\", \"integrator\": \"rk4\",\n"
                                           "\"links\": [{}]}");
  expect_failure(
    scene_file_read_as(own, "lcp", &s), ABUT_ERROR_FORMAT, own,
    "hard contacts (\"lcp\") act at the end of a step, so they support only \"euler\"");
  REQUIRE_OK(scene_file_read_as(own, "cone", &s));
  CHECK(s.law == &cone_law && s.integrator == INTEGRATOR_RK4);
  scene_def_free(&s);
}

/* Hard contacts: what is not stated, what is, and a friction that stays 0. */
static void hard(void)
{
  scene_def s;
  REQUIRE_OK(
    parse("{\"contact_model\": \"lcp\", \"links\": [{}], \"pairs\": [{\"friction\": 0}]}", &s));
  CHECK(s.law == &lcp_law && s.hard.margin < 0.0 && s.hard.limit_margin == 0.02 &&
        s.hard.most == 16);
  CHECK(s.hard.error_reduction == 0.2 && s.hard.slop == 0.0 && s.hard.correction == 1.0);
  CHECK(s.hard.bounce == 0.05 && s.hard.threshold == 0.25 && s.hard.elastic == HARD_COLLISION);
  CHECK(s.pairs[0].friction == 0.0 && s.pairs[0].restitution == 0.0);
  scene_def_free(&s);
  REQUIRE_OK(
    parse("{\"contact_model\": \"lcp\", \"links\": [{}], \"pairs\": [{\"restitution\": 0.5}],\n"
          "\"lcp\": {\"margin\": 0, \"limit_margin\": 1, \"most\": 4, \"elastic\": \"paper\",\n"
          "\"error_reduction\": 0.1, \"slop\": 1e-3, \"correction\": 2, \"bounce\": 3,\n"
          "\"threshold\": 0.25}}",
          &s));
  CHECK(s.hard.margin == 0.0 && s.hard.limit_margin == 1.0 && s.hard.most == 4);
  CHECK(s.hard.error_reduction == 0.1 && s.hard.slop == 1e-3 && s.hard.correction == 2.0);
  CHECK(s.hard.bounce == 3.0 && s.hard.threshold == 0.25 && s.hard.elastic == HARD_PAPER);
  CHECK(s.pairs[0].restitution == 0.5);
  scene_def_free(&s);
}

/* Lengths whose squares would overflow or vanish are lengths. */
static void extreme_lengths(void)
{
  scene_def s;
  REQUIRE_OK(parse("{\"links\": [{\"quaternion\": [0, 0, -3e200, 4e200], \"joint\": {\n"
                   "\"type\": \"slide\", \"axis\": [1e-200, 0, 0]}}]}",
                   &s));
  CHECK_NUMBERS(s.links[0].quaternion, 0.0, 0.0, -0.6, 0.8);
  CHECK_NUMBERS(s.links[0].joint.axis, 1.0, 0.0, 0.0);
  scene_def_free(&s);
}

/* Moments that are just allowed: a rod, a plate, and both a little beyond rounding. */
static void inertias(void)
{
  static const struct {
    double a, b, c;
    bool good;
  } cases[] = {
    {0, 1, 1, true},
    {1, 1, 2, true},
    {0, 0, 0, true},
    {1, 1, 2.000001, true},
    {1, 1, 2.00001, false},
    {-1e-7, 1, 1, true},
    {-1e-5, 1, 1, false},
    {0, 0, 1, false},
    {3e250, 4e250, 5e250, true},
    {1e-30, 1e-30, 2e-30, true},
    {1e-30, 1e-30, 3e-30, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double r[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    double m[9] = {0}, e[3] = {cases[i].a, cases[i].b, cases[i].c};
    char text[1024];
    scene_def s;
    for (int k = 0; k < 27; k++) {
      m[k / 3] += r[k % 3][k / 9] * e[k % 3] * r[k % 3][k / 3 % 3];
    }
    snprintf(text, sizeof text,
             "{\"links\": [{\"mass\": 1, \"inertia\": [[%.17g, %.17g, %.17g],\n"
             "[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]}]}",
             m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]);
    const abut_status status = parse(text, &s);
    check((status == ABUT_SUCCESS) == cases[i].good, "moments %g, %g, %g: %s", e[0], e[1], e[2],
          status == ABUT_SUCCESS ? "taken" : abut_last_error());
    scene_def_free(&s);
  }
}

/* ---- refusals ---- */

#define LINKS                                                                       \
  "\"links\": [{\"joint\": {\"type\": \"free\"}, \"bodies\": [{\"sphere\": 1}]},\n" \
  "{\"name\": \"b\", \"bodies\": [{\"box\": [1, 1, 1]}, {\"file\": \"x\"}]}]"
#define WITH(setting) "{" LINKS ",\n" setting "}"
#define LINK(what) "{\"links\": [{},\n{\n" what "}]}"
#define JOINT(what) LINK("\"joint\": {\n" what "}")
#define BODY(what) LINK("\"bodies\": [{},\n{" what "}]")
#define BODY1(what) LINK("\"bodies\": [\n{" what "}]")
#define STARTS(text)                                               \
  "{\"links\": [{\"mass\": 1, \"joint\": {\"type\": \"ball\"}},\n" \
  "{\"mass\": 1, \"joint\": {\"type\": \"hinge\"}}],\n\"starts\": " text "}"
#define ACTUATOR(what) WITH("\"actuators\": [\n{" what "}]")
#define JOINTED                                                                     \
  "{\"links\": [{\"name\": \"a\", \"mass\": 1, \"joint\": {\"type\": \"slide\"}}, " \
  "{\"name\": \"b\", \"mass\": 1, \"joint\": {\"type\": \"ball\"}}, {}],\n"
#define TENDON(what) JOINTED "\"tendons\": [\n{" what "}]}"
#define STRUNG(what) \
  JOINTED "\"tendons\": [{\"name\": \"t\", \"joints\": [{\"joint\": \"a\"}]}],\n" what "}"
#define EQUALITY(what) STRUNG("\"equalities\": [\n{" what "}]")
#define SPRING(pair)                                                               \
  "{\"contact_model\": \"spring\", \"links\": [{\"bodies\": [{\"sphere\": 1}]},\n" \
  "{\"joint\": {\"type\": \"free\"}, \"bodies\": [{\"sphere\": 1}]}], \"pairs\": [\n" pair "]}"
#define CONTACT(text) SPRING("{\"a\": 0, \"b\": 1, \"contact\": {\n" text "}}")
#define PAIR(what) WITH("\"pairs\": [{},\n{" what "}]")
#define SIDES "\"a\": 0, \"b\": \"b\""

static const struct {
  const char *text, *start, *part;
} wrong[] = {
  /* the file */
  {"{\"links\": [{}]", "d/t:1: ", "'}' expected"},
  {"[]", "d/t:1: ", "must be an object"},
  {"\n <mujoco/>", "d/t: ", "import it first: abut import d/t -o t.scene.json"},
  {"{}", "d/t:1: ", "the key 'links' is missing"},
  {"{\"links\":\n[]}", "d/t:1: links: ", "must contain at least one link"},
  {"{\"links\":\n{}}", "d/t:1: links: ", "must be an array"},
  {WITH("\"timesteps\": 1"), "d/t:3: timesteps: ", "unknown key"},
  {WITH("\"links\": []"), "d/t:3: ", "duplicate"},
  /* settings */
  {WITH("\"contact_model\": \"lcp\", \"integrator\": \"rk4\""), "d/t:3: integrator: ",
   "hard contacts (\"lcp\") act at the end of a step, so they support only \"euler\""},
  {WITH("\"contact_model\": \"lcp\", \"capacity\": 8"), "d/t:3: capacity: ", "\"most\""},
  {WITH("\"lcp\": {\"most\": 65}"),
   "d/t:3: lcp.most: ", "65 contacts per world are too many; at most 64 are possible"},
  {WITH("\"lcp\": {\"slops\": 1}"), "d/t:3: lcp", "slops"},
  {WITH("\"lcp\": {\"elastic\": \"yes\"}"), "d/t:3: lcp.elastic: ", "collision"},
  {WITH("\"pairs\": [{\"restitution\": 1.5}]"),
   "d/t:3: pairs[0].restitution: ", "1.5 is above 1: a bounce would gain energy"},
  {"{\"contact_model\": \"spring\", \"what\": 1}", "d/t:1: what: ", "unknown key"},
  {WITH("\"contact_model\": \"spring\",\n\"capacity\": 8"),
   "d/t:4: capacity: ", "springs (\"spring\") have no list of contacts"},
  {WITH("\"contact_model\": \"cones\""),
   "d/t:3: contact_model: ", "must be one of \"cone\", \"lcp\", \"spring\""},
  {WITH("\"lcp\": 1"), "d/t:3: lcp: ", "must be an object"},
  {WITH("\"timestep\": 0"), "d/t:3: timestep: ", "0 must be above 0"},
  {WITH("\"timestep\": \"1\""), "d/t:3: timestep: ", "must be a number"},
  {WITH("\"timestep\": 1e999"), "d/t:3: ", "real number overflow"},
  {WITH("\"gravity\": [0, 0]"), "d/t:3: gravity: ", "has 2 elements, expected 3"},
  {WITH("\"gravity\": 9.81"), "d/t:3: gravity: ", "must be an array"},
  {WITH("\"integrator\": \"heun\""),
   "d/t:3: integrator: ", "must be one of \"euler\", \"rk4\", \"implicit\""},
  {WITH("\"integrator\": \"implicit\""), "d/t:3: integrator: ",
   "only springs (\"spring\") support \"implicit\"; use \"euler\" or \"rk4\" with \"cone\""},
  {WITH("\"contact_model\": \"lcp\",\n\"integrator\": \"implicit\""), "d/t:4: integrator: ",
   "only springs (\"spring\") support \"implicit\"; use \"euler\" with \"lcp\""},
  {WITH("\"cone\": \"round\""), "d/t:3: cone: ", "must be one of \"elliptic\", \"pyramidal\""},
  {WITH("\"cone\": 1"), "d/t:3: cone: ", "must be a string"},
  {WITH("\"diagonal\": \"\""), "d/t:3: diagonal: ", "must be one of \"approximate\", \"exact\""},
  {WITH("\"impratio\": 0"), "d/t:3: impratio: ", "0 must be above 0"},
  {WITH("\"iterations\": 0"), "d/t:3: iterations: ", "is 0; it must be at least 1"},
  {WITH("\"iterations\": 1.5"),
   "d/t:3: iterations: ", "must be a whole number from 0 to 2147483647"},
  {WITH("\"line_iterations\": 0"), "d/t:3: line_iterations: ", "is 0; it must be at least 1"},
  {WITH("\"tolerance\": 0"), "d/t:3: tolerance: ", "0 must be above 0"},
  {WITH("\"line_tolerance\": -1"), "d/t:3: line_tolerance: ", "-1 must be above 0"},
  {WITH("\"cone_smoothing\": -1"), "d/t:3: cone_smoothing: ", "-1 must be at least 0"},
  {WITH("\"limit_smoothing\": -1"), "d/t:3: limit_smoothing: ", "-1 must be at least 0"},
  {WITH("\"divergence\": 0"), "d/t:3: divergence: ", "0 must be above 0"},
  {WITH("\"capacity\": -1"), "d/t:3: capacity: ", "must be a whole number from 0 to 2147483647"},
  {WITH("\"sweep\": 1"), "d/t:3: sweep: ", "must be true or false"},
  {WITH("\"sweep\": true,\n\"pairs\": [{}]"), "d/t:4: pairs[0]: ", "needs the bodies of its pairs"},
  /* links */
  {"{\"links\": [{},\n1]}", "d/t:2: links[1]: ", "must be an object"},
  {LINK("\"masses\": 1"), "d/t:3: links[1].masses: ", "unknown key"},
  {LINK("\"parent\": 1"), "d/t:3: links[1].parent: ", "there is no link 1 before this one"},
  {LINK("\"parent\": -2"), "d/t:3: links[1].parent: ", "must be a whole number from 0 to 4096"},
  {LINK("\"parent\": 0.5"), "d/t:3: links[1].parent: ", "must be the number or the name of a link"},
  {LINK("\"parent\": \"c\""),
   "d/t:3: links[1].parent: ", "there is no link with this name before this one"},
  {LINK("\"name\": \"c\", \"parent\": \"c\""),
   "d/t:3: links[1].parent: ", "there is no link with this name"},
  {"{\"links\": [{\"name\": \"a\"},\n{\"name\":\"a\"}]}",
   "d/t:2: links[1].name: ", "link 0 has the same name"},
  {LINK("\"name\": 1"), "d/t:3: links[1].name: ", "must be a string"},
  {LINK("\"position\": [0, 0, \"0\"]"), "d/t:3: links[1].position[2]: ", "must be a number"},
  {LINK("\"quaternion\": [0, 0, 0, 0]"), "d/t:3: links[1].quaternion: ", "has length 0"},
  {LINK("\"mass\": -1"), "d/t:3: links[1].mass: ", "-1 must be at least 0"},
  {LINK("\"com\": [1]"), "d/t:3: links[1].com: ", "has 1 elements, expected 3"},
  {LINK("\"inertia\": [1, 2, 3]"), "d/t:3: links[1].inertia[0]: ", "must be an array"},
  {LINK("\"inertia\": [[1, 0, 0],\n[0.1, 1, 0], [0, 0, 1]]"),
   "d/t:3: links[1].inertia: ", "must be symmetric"},
  {LINK("\"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]"),
   "d/t:3: links[1].inertia: ", "has a principal moment of -1, which is below 0"},
  {LINK("\"inertia\": [[0, 1, 0], [1, 0, 0], [0, 0, 0]]"), "d/t:3: links[1].inertia: ", "below 0"},
  {LINK("\"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 3]]"), "d/t:3: links[1].inertia: ",
   "has the principal moments 1, 1 and 3, which no body has: the sum of any two must be at least "
   "the third"},
  {LINK("\"density\": 1"), "d/t:3: links[1].density: ", "the link has no bodies"},
  {LINK("\"density\": 0"), "d/t:3: links[1].density: ", "0 must be above 0"},
  {LINK("\"density\": 1,\n\"mass\": 1"),
   "d/t:4: links[1].mass: ", "leave it out: the density determines it"},
  {LINK("\"density\": 1,\n\"com\": 1"),
   "d/t:4: links[1].com: ", "leave it out: the density determines it"},
  {LINK("\"density\": 1,\n\"inertia\": 1"),
   "d/t:4: links[1].inertia: ", "leave it out: the density determines it"},
  {"{\"links\": [{\"joint\": {\"type\": \"free\"}},\n"
   "{\"parent\": 0, \"joint\": {\"type\": \"free\"}}]}",
   "d/t:2: links[1].joint: ", "the parent of a free joint must be the world, not link 0"},
  {"{\"links\": [{},\n{\"parent\": 0, \"joint\": {\"type\": \"moved\"}}]}",
   "d/t:2: links[1].joint: ", "the parent of a moved joint must be the world, not link 0"},
  {"{\"links\": [{\"joint\": {\"type\": \"moved\",\n\"limits\": [0, 1]}}]}",
   "d/t:2: links[0].joint.limits: ", "only hinges and slides have limits"},
  {"{\"links\": [{\"joint\": {\"type\": \"moved\"}}], \"actuators\": [\n"
   "{\"kind\": \"motor\", \"joint\": 0}]}",
   "d/t:2: actuators[0].joint: ", "a moved joint cannot have an actuator of kind \"motor\""},
  {"{\"links\": [{}, {\"joint\": {\"type\": \"moved\"}}], \"equalities\": [\n"
   "{\"kind\": \"weld\", \"a\": 0, \"b\": 1}]}",
   "d/t:2: equalities[0]: ", "connects two links that cannot move"},
  {"{\"links\": [{\"bodies\": [{\"sphere\": 1}]}, {\"joint\": {\"type\": \"moved\"},\n"
   "\"bodies\": [{\"sphere\": 1}]}], \"pairs\": [\n{\"a\": 0, \"b\": 1}]}",
   "d/t:3: pairs[0]: ", "links 0 and 1 cannot move relative to each other"},
  {"{\"links\": [{\"joint\": {\"type\": \"moved\"}}],\n"
   "\"starts\": {\"a\": {\"q\": [], \"u\": [1]}}}",
   "d/t:2: starts.a.u: ", "has 1 numbers, but the scene has 6 controls"},
  /* joints */
  {JOINT("\"kind\": 1"), "d/t:4: links[1].joint.kind: ", "unknown key"},
  {JOINT("\"type\": \"screw\""), "d/t:4: links[1].joint.type: ", "\"hinge\", \"slide\", \"ball\""},
  {JOINT("\"axis\": [0, 0, 0]"), "d/t:4: links[1].joint.axis: ", "has length 0"},
  {JOINT("\"damping\": -1"), "d/t:4: links[1].joint.damping: ", "-1 must be at least 0"},
  {JOINT("\"armature\": -1"), "d/t:4: links[1].joint.armature: ", "-1 must be at least 0"},
  {JOINT("\"type\": \"hinge\",\n\"stiffness\": -1"),
   "d/t:5: links[1].joint.stiffness: ", "-1 must be at least 0"},
  {JOINT("\"frictionloss\": -1"), "d/t:4: links[1].joint.frictionloss: ", "-1 must be at least 0"},
  {JOINT("\"type\": \"free\",\n\"stiffness\": 1"),
   "d/t:5: links[1].joint.stiffness: ", "only hinges, slides and balls use it"},
  {JOINT("\"type\": \"ball\",\n\"limits\": [0, 1]"),
   "d/t:5: links[1].joint.limits: ", "only hinges and slides have limits"},
  {JOINT("\"type\": \"hinge\",\n\"limits\": [1, 1]"),
   "d/t:5: links[1].joint.limits: ", "the lower end 1 must be below the upper end 1"},
  {JOINT("\"solref_limit\": [1, 0]"),
   "d/t:4: links[1].joint.solref_limit: ", "must both be above 0, or neither"},
  {JOINT("\"solref_friction\": [-1, 1]"),
   "d/t:4: links[1].joint.solref_friction: ", "-1 and 1 must both be above 0, or neither"},
  {JOINT("\"limit_spring\": [1, 1]"),
   "d/t:4: links[1].joint.limit_spring: ", "has 2 elements, expected 3"},
  {JOINT("\"limit_spring\": [1, 0, 1]"),
   "d/t:4: links[1].joint.limit_spring[1]: ", "0 must be above 0"},
  {JOINT("\"solimp_limit\": [1]"),
   "d/t:4: links[1].joint.solimp_limit: ", "has 1 elements, expected 5"},
  {JOINT("\"solimp_friction\": 1"), "d/t:4: links[1].joint.solimp_friction: ", "must be an array"},
  /* bodies */
  {BODY(""), "d/t:3: links[1].bodies[0]: ", "has no file and no shape"},
  {BODY1("\"ball\": 1"), "d/t:4: links[1].bodies[0].ball: ", "unknown key"},
  {BODY1("\"file\": \"\""), "d/t:4: links[1].bodies[0].file: ", "the path is empty"},
  {BODY1("\"file\": 1"), "d/t:4: links[1].bodies[0].file: ", "must be a string"},
  {BODY1("\"file\": \"x\",\n\"box\": [1, 1, 1]"),
   "d/t:5: links[1].bodies[0].box: ", "the body is already a file; a body has only one shape"},
  {BODY1("\"box\": [1, 1]"), "d/t:4: links[1].bodies[0].box: ", "has 2 elements, expected 3"},
  {BODY1("\"box\": [1, 0, 1]"), "d/t:4: links[1].bodies[0].box[1]: ", "0 is not in [1e-06, 1e+06]"},
  {BODY1("\"sphere\": [1]"), "d/t:4: links[1].bodies[0].sphere: ", "must be a number"},
  {BODY1("\"sphere\": -1"), "d/t:4: links[1].bodies[0].sphere: ", "-1 is not in [1e-06, 1e+06]"},
  {BODY1("\"capsule\": [1, 51]"),
   "d/t:4: links[1].bodies[0].capsule: ", "the half length must be at most 50 radii"},
  {BODY1("\"cylinder\": [1, 51]"),
   "d/t:4: links[1].bodies[0].cylinder: ", "the half length must be at most 50 radii"},
  {BODY1("\"cylinder\": [51, 1]"),
   "d/t:4: links[1].bodies[0].cylinder: ", "the radius must be at most 50 half lengths"},
  {BODY1("\"box\": [1, 2, 3],\n\"round\": 1"), "d/t:5: links[1].bodies[0].round: ",
   "1 must be 0, or at least a thousandth of the shortest half length and below it"},
  {BODY1("\"box\": [1, 2, 3],\n\"round\": 9e-4"),
   "d/t:5: links[1].bodies[0].round: ", "0.0009 must be 0"},
  {BODY1("\"cylinder\": [1, 2],\n\"round\": -0.1"),
   "d/t:5: links[1].bodies[0].round: ", "-0.1 must be 0"},
  {BODY1("\"cylinder\": [1, 2],\n\"round\": \"x\""),
   "d/t:5: links[1].bodies[0].round: ", "must be a number"},
  {BODY1("\"capsule\": [1, 2],\n\"round\": 0.1"),
   "d/t:5: links[1].bodies[0].round: ", "only a box and a cylinder"},
  {BODY1("\"file\": \"x\",\n\"round\": 0.1"),
   "d/t:5: links[1].bodies[0].round: ", "only a box and a cylinder"},
  {BODY1("\"ellipsoid\": 1"), "d/t:4: links[1].bodies[0].ellipsoid: ", "must be an array"},
  {BODY1("\"plane\": [1, 2e6]"),
   "d/t:4: links[1].bodies[0].plane[1]: ", "is not in [1e-06, 1e+06]"},
  {BODY1("\"height_field\": 1"), "d/t:4: links[1].bodies[0].height_field: ", "must be an object"},
  {BODY1("\"height_field\": {\"heights\": [[0, 0], [0, 0]], \"size\": [1, 1], \"base\": "
         "1,\n\"operation\": \"add\"}"),
   "d/t:5: links[1].bodies[0].height_field.operation: ", "unknown key"},
  {BODY1("\"height_field\": {\"heights\": [[0, 0],\n[0]], \"size\": [1, 1], \"base\": 1}"),
   "d/t:5: links[1].bodies[0].height_field.heights[1]: ", "1 heights, but the first row has 2"},
  {BODY1("\"sphere\": 1,\n\"height_field\": {}"), "d/t:5: links[1].bodies[0].height_field: ",
   "the body is already a sphere; a body has only one shape"},
  {BODY1("\"sphere\": 1,\n\"eps1\": 0"), "d/t:5: links[1].bodies[0].eps1: ", "0 must be above 0"},
  {BODY1("\"sphere\": 1,\n\"position\": 1"),
   "d/t:5: links[1].bodies[0].position: ", "must be an array"},
  {BODY1("\"sphere\": 1,\n\"quaternion\": [0, 0, 0, 0]"),
   "d/t:5: links[1].bodies[0].quaternion: ", "has length 0"},
  /* actuators */
  {ACTUATOR("\"kind\": \"motor\""), "d/t:4: actuators[0]: ", "the key 'joint' is missing"},
  {ACTUATOR("\"joint\": 0"), "d/t:4: actuators[0]: ", "the key 'kind' is missing"},
  {ACTUATOR("\"kind\": \"muscle\", \"joint\": 0"), "d/t:4: actuators[0].kind: ",
   "must be one of \"motor\", \"position\", \"velocity\", \"affine\""},
  {ACTUATOR("\"kind\": \"affine\", \"joint\": 0"),
   "d/t:4: actuators[0].joint: ", "a free joint cannot have an actuator of kind \"affine\""},
  {ACTUATOR("\"kind\": \"motor\", \"joint\": 0,\n\"gain\": 2"),
   "d/t:5: actuators[0].gain: ", "only affine actuators use it"},
  {ACTUATOR("\"kind\": \"motor\", \"joint\": 0,\n\"bias\": 2"),
   "d/t:5: actuators[0].bias: ", "only affine actuators use it"},
  {ACTUATOR("\"kind\": \"motor\", \"joint\": 0,\n\"control_limits\": [1, 1]"),
   "d/t:5: actuators[0].control_limits: ", "the lower end 1 must be below the upper end 1"},
  {ACTUATOR("\"kind\": \"motor\", \"joint\": 2"),
   "d/t:4: actuators[0].joint: ", "there is no link 2"},
  {ACTUATOR("\"kind\": \"motor\", \"joint\": \"b\""),
   "d/t:4: actuators[0].joint: ", "a fixed joint cannot have an actuator of kind \"motor\""},
  {ACTUATOR("\"kind\": \"position\", \"joint\": 0"),
   "d/t:4: actuators[0].joint: ", "a free joint cannot have an actuator of kind \"position\""},
  {ACTUATOR("\"kind\": \"motor\", \"joint\": 0,\n\"dof\": 6"),
   "d/t:5: actuators[0].dof: ", "the joint has 6"},
  {"{\"links\": [{\"joint\": {\"type\": \"hinge\"}}], \"actuators\": [\n"
   "{\"kind\": \"velocity\", \"joint\": 0, \"dof\": 0}]}",
   "d/t:2: actuators[0].dof: ", "only motors use it"},
  {ACTUATOR("\"kind\": \"motor\", \"joint\": 0,\n\"gear\": true"),
   "d/t:5: actuators[0].gear: ", "must be a number"},
  {ACTUATOR("\"kind\": \"motor\", \"joint\": 0,\n\"force_limits\": [2, 1]"),
   "d/t:5: actuators[0].force_limits: ", "the lower end 2 must be below the upper end 1"},
  {ACTUATOR("\"force\": 1"), "d/t:4: actuators[0].force: ", "unknown key"},
  /* tendons */
  {TENDON("\"name\": \"t\""), "d/t:3: tendons[0]: ", "the key 'joints' is missing"},
  {TENDON("\"joints\": []"), "d/t:3: tendons[0].joints: ", "a tendon needs at least one joint"},
  {TENDON("\"joints\": [{\"joint\": \"b\"}]"),
   "d/t:3: tendons[0].joints[0].joint: ", "a ball joint has no single position"},
  {TENDON("\"joints\": [{\"joint\": \"a\",\n\"coefficient\": true}]"),
   "d/t:4: tendons[0].joints[0].coefficient: ", "must be a number"},
  {TENDON("\"joints\": [{\"joint\": \"a\"}],\n\"stiffness\": -1"),
   "d/t:4: tendons[0].stiffness: ", "-1 must be at least 0"},
  {TENDON("\"joints\": [{\"joint\": \"a\"}],\n\"rest\": [2, 1]"),
   "d/t:4: tendons[0].rest: ", "2 is above 1"},
  {TENDON("\"joints\": [{\"joint\": \"a\"}], \"length\": 1"),
   "d/t:3: tendons[0].length: ", "unknown key"},
  {STRUNG("\"actuators\": [{\"kind\": \"motor\",\n\"tendon\": \"s\"}]"),
   "d/t:4: actuators[0].tendon: ", "there is no tendon with this name"},
  {STRUNG("\"actuators\": [{\"kind\": \"motor\",\n\"tendon\": 1}]"),
   "d/t:4: actuators[0].tendon: ", "there is no tendon 1"},
  {STRUNG("\"actuators\": [{\"kind\": \"motor\", \"tendon\": 0,\n\"joint\": \"a\"}]"),
   "d/t:4: actuators[0].joint: ", "the actuator already has a tendon"},
  /* equalities */
  {EQUALITY("\"a\": 0"), "d/t:4: equalities[0]: ", "the key 'kind' is missing"},
  {EQUALITY("\"kind\": \"glue\", \"a\": 0"),
   "d/t:4: equalities[0].kind: ", "must be one of \"connect\", \"weld\", \"joint\", \"tendon\""},
  {EQUALITY("\"kind\": \"weld\", \"a\": \"c\""),
   "d/t:4: equalities[0].a: ", "there is no link with this name"},
  {EQUALITY("\"kind\": \"weld\", \"a\": 2"),
   "d/t:4: equalities[0]: ", "connects two links that cannot move"},
  {EQUALITY("\"kind\": \"weld\", \"a\": 0, \"b\": \"a\""),
   "d/t:4: equalities[0]: ", "connects a link to itself"},
  {EQUALITY("\"kind\": \"weld\", \"a\": 0,\n\"polynomial\": [0, 1, 0, 0, 0]"),
   "d/t:5: equalities[0].polynomial: ",
   "constraints between links do not use it; only joints and tendons do"},
  {EQUALITY("\"kind\": \"connect\", \"a\": 0,\n\"quaternion_b\": [1, 0, 0, 0]"),
   "d/t:5: equalities[0].quaternion_b: ", "connect constraints do not use it; only welds do"},
  {EQUALITY("\"kind\": \"weld\", \"a\": 0,\n\"torque_scale\": 0"),
   "d/t:5: equalities[0].torque_scale: ", "0 must be above 0"},
  {EQUALITY("\"kind\": \"joint\", \"a\": \"b\""),
   "d/t:4: equalities[0].a: ", "a ball joint has no single position"},
  {EQUALITY("\"kind\": \"joint\", \"a\": 0,\n\"b\": 0"),
   "d/t:5: equalities[0].b: ", "the joint is coupled to itself"},
  {EQUALITY("\"kind\": \"tendon\", \"a\": 0,\n\"position_a\": [0, 0, 0]"),
   "d/t:5: equalities[0].position_a: ", "only constraints between links use it"},
  {EQUALITY("\"kind\": \"joint\", \"a\": 0,\n\"solref\": [1, -1]"),
   "d/t:5: equalities[0].solref: ", "must both be above 0, or neither"},
  {"{\"contact_model\": \"spring\", \"links\": [{\"mass\": 1, \"joint\": {\"type\": \"slide\"}}],\n"
   "\"equalities\": [{\"kind\": \"joint\", \"a\": 0}]}",
   "d/t:2: equalities: ", "the contact model \"spring\" does not support equality constraints"},
  /* starts */
  {STARTS("[]"), "d/t:3: starts: ", "must be an object"},
  {STARTS("{\n\"a\": 1}"), "d/t:4: starts.a: ", "must be an object"},
  {STARTS("{\n\"a\": {\"v\": [0, 0, 0]}}"), "d/t:4: starts.a: ", "the key 'q' is missing"},
  {STARTS("{\"a\": {\"q\": [1, 0, 0, 0, 0],\n\"w\": []}}"), "d/t:4: starts.a.w: ", "unknown key"},
  {STARTS("{\"a\": {\n\"q\": [1, 0, 0]}}"),
   "d/t:4: starts.a.q: ", "has 3 numbers, but the scene has 5 positions"},
  {STARTS("{\"a\": {\"q\": [1, 0, 0, 0, 0],\n\"v\": [1, 0, 0]}}"),
   "d/t:4: starts.a.v: ", "has 3 numbers, but the scene has 4 velocities"},
  {STARTS("{\"a\": {\"q\": [1, 0, 0, 0, 0],\n\"u\": [1]}}"),
   "d/t:4: starts.a.u: ", "has 1 numbers, but the scene has 0 controls"},
  {STARTS("{\"a\": {\n\"q\": [0, 0, 0, 0, 1]}}"),
   "d/t:4: starts.a.q: ", "the quaternion of link 0 has length 0"},
  {STARTS("{\"a\": {\n\"q\": [1, 0, 0, 0, \"b\"]}}"), "d/t:4: starts.a.q[4]: ", "must be a number"},
  {"{\"links\": [{\"joint\": {\"type\": \"ball\",\n\"start\": 1}}]}",
   "d/t:2: links[0].joint.start: ", "only hinges and slides use it"},
  /* pairs */
  {PAIR("\"c\": 1"), "d/t:4: pairs[1].c: ", "unknown key"},
  {PAIR("\"a\": 0"), "d/t:4: pairs[1]: ", "the key 'b' is missing"},
  {PAIR("\"b\": 0"), "d/t:4: pairs[1]: ", "the key 'a' is missing"},
  {PAIR("\"a\": 0,\n\"b\": [1, 2]"),
   "d/t:5: pairs[1].b: ", "link 1 has 2 bodies; there is no body 2 (0-based)"},
  {PAIR("\"a\": 0,\n\"b\": [2, 0]"), "d/t:5: pairs[1].b[0]: ", "there is no link 2"},
  {PAIR("\"a\": 0,\n\"b\": [-1, 0]"),
   "d/t:5: pairs[1].b[0]: ", "must be a whole number from 0 to 4096"},
  {PAIR("\"a\": \"z\", \"b\": 0"), "d/t:4: pairs[1].a: ", "there is no link with this name"},
  {PAIR("\"a\": {}, \"b\": 0"), "d/t:4: pairs[1].a: ", "must be the number or the name of a link"},
  {PAIR("\"a\": [0], \"b\": 0"), "d/t:4: pairs[1].a: ", "has 1 elements, expected 2"},
  {PAIR("\"a\": [1, 0], \"b\": [1, 1]"), "d/t:4: pairs[1]: ", "both bodies belong to link 1"},
  {"{\"links\": [{\"bodies\": [{\"sphere\": 1}]},\n"
   "{\"parent\": 0, \"bodies\": [{\"sphere\": 1}]}], \"pairs\": [\n{\"a\": 0, \"b\": 1}]}",
   "d/t:3: pairs[0]: ", "links 0 and 1 cannot move relative to each other"},
  {PAIR(SIDES "},\n{" SIDES), "d/t:5: pairs[2]: ", "has the same bodies as pairs[1]"},
  {PAIR("\"a\": 0, \"b\": [1, 1]},\n{" SIDES "},\n{\"a\": [1, 1], \"b\": [0, 0]},\n{" SIDES),
   "d/t:6: pairs[3]: ", "has the same bodies as pairs[1]"},
  {PAIR(SIDES ",\n\"friction\": -1"), "d/t:5: pairs[1].friction: ", "-1 must be at least 0"},
  {PAIR(SIDES ",\n\"solref\": [1, -1]"),
   "d/t:5: pairs[1].solref: ", "must both be above 0, or neither"},
  {PAIR(SIDES ",\n\"solimp\": []"), "d/t:5: pairs[1].solimp: ", "has 0 elements, expected 5"},
  {PAIR(SIDES ",\n\"condim\": 2"), "d/t:5: pairs[1].condim: ", "2 must be 1 or 3"},
  {PAIR(SIDES ",\n\"condim\": 0"), "d/t:5: pairs[1].condim: ", "is 0; it must be at least 1"},
  {PAIR(SIDES ",\n\"margin\": null"), "d/t:5: pairs[1].margin: ", "must be a number"},
  {PAIR("\"contact\": 1"), "d/t:4: pairs[1].contact: ", "must be an object"},
  {SPRING("{}"), "d/t:3: pairs[0]: ", "springs (\"spring\") act between bodies: \"a\" and \"b\""},
  {CONTACT("\"K\": 1"), "d/t:4: pairs[0].contact.K: ", "unknown key"},
  {CONTACT("\"k\": 0"), "d/t:4: pairs[0].contact.k: ", "0 must be above 0"},
  {CONTACT("\"k\": \"1\""), "d/t:4: pairs[0].contact.k: ", "must be a number"},
  {CONTACT("\"mu\": -1"), "d/t:4: pairs[0].contact.mu: ", "-1 must be at least 0"},
  {CONTACT("\"v_d\": 0"), "d/t:4: pairs[0].contact.v_d: ", "0 must be above 0"},
  {CONTACT("\"v_s\": -1"), "d/t:4: pairs[0].contact.v_s: ", "-1 must be above 0"},
  {CONTACT("\"eps2\": 0"), "d/t:4: pairs[0].contact.eps2: ", "0 must be above 0"},
  {CONTACT("\"eps3\": 0"), "d/t:4: pairs[0].contact.eps3: ", "0 must be above 0"},
  {CONTACT("\"dissipation\": \"c2\""),
   "d/t:4: pairs[0].contact.dissipation: ", "must be one of \"c1\", \"smooth\""},
  {CONTACT("\"reaction\": \"line\""),
   "d/t:4: pairs[0].contact.reaction: ", "must be one of \"point\", \"plane\""},
  {CONTACT("\"reaction\": \"plane\""), "d/t:3: pairs[0].contact: ", "need \"integrator\""},
  {SPRING("{\"a\": 0, \"b\": 1,\n\"contact\": []}"),
   "d/t:4: pairs[0].contact: ", "must be an object"},
  {PAIR("\"restitution\": -1"), "d/t:4: pairs[1].restitution: ", "-1 must be at least 0"},
  {PAIR(SIDES ",\n\"smoothing\": 1"), "d/t:5: pairs[1].smoothing: ", "must be a string"},
  {PAIR(SIDES ",\n\"smoothing\": {\n\"length\": 0}"),
   "d/t:6: pairs[1].smoothing.length: ", "0 is not in [1e-06, 1e+09]"},
  {PAIR(SIDES ",\n\"smoothing\": {\n\"lenght\": 1}"),
   "d/t:6: pairs[1].smoothing.lenght: ", "unknown key"},
  {PAIR(SIDES ",\n\"smoothing\": {\"penetration\": 0.1,\n\"near\": 0.2}"),
   "d/t:6: pairs[1].smoothing.near: ",
   "this key was removed in version 0.3: use edge contacts in fields (\"edge_contacts\": "
   "\"field\")"},
  {PAIR(SIDES ",\n\"smoothing\": {\n\"edges\": [1]}"),
   "d/t:6: pairs[1].smoothing.edges: ", "has 1 elements, expected 2"},
};

static void refusals(void)
{
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    scene_def s;
    expect_failure(parse(wrong[i].text, &s), ABUT_ERROR_FORMAT, wrong[i].start, wrong[i].part);
    CHECK(!s.links && !s.memory.at);
  }
}

static void too_many_dofs(void)
{
  static char text[32768] = "{\"links\": [";
  scene_def s;
  for (int i = 0; i < 683; i++) {
    strcat(text, i ? ",\n{\"joint\": {\"type\": \"free\"}}" : "{\"joint\": {\"type\": \"free\"}}");
  }
  strcat(text, "]}");
  expect_failure(parse(text, &s), ABUT_ERROR_FORMAT, "d/t:683: links[682]: ",
                 "up to here the links have 4098 degrees of freedom; at most 4096 are possible");
  strcpy(text, "{\"links\": [{\"joint\": {\"type\": \"free\"}}");
  for (int i = 0; i < 41; i++) { /* a chain of balls */
    snprintf(text + strlen(text), sizeof text - strlen(text),
             ",\n{\"joint\": {\"type\": \"ball\"}, \"parent\": %d}", i);
  }
  strcat(text, "]}");
  expect_failure(parse(text, &s), ABUT_ERROR_FORMAT, "d/t:42: links[41]: ",
                 "up to here a tree of links has 129 degrees of freedom; at most 128 are possible");
}

/* ---- smoothing, and what is found later ---- */

static const char smoothing[] =
  "{\"length\": 1.0, \"union\": 0.01, \"plane\": 0.01, \"normal\": 1e-12, \"penetration\": 0.02,\n"
  " \"neighbour\": 0.01, \"clash\": 0.1, \"sign\": 0.1, \"sort\": 0.01, \"clip\": 0.1,\n"
  " \"minimum\": 0.1, \"compare\": 0.1, \"ridge\": 0.01, \"distance\": 1e-10, \"trace\": 2,\n"
  " \"inside\": false, \"select\": \"gate\", \"edge_edge\": true, \"two_sided\": true,\n"
  " \"edges\": [18, 0], \"vertices\": [0, 0]%s}";

/* Coefficients that were taken out may be stated as off. */
static void check_stated(const char *more)
{
  char file[1024], text[2048];
  scene_def s;
  snprintf(file, sizeof file, smoothing, more);
  snprintf(text, sizeof text,
           "{\"links\": [{}], \"pairs\": [{\"smoothing\": %s},\n"
           "{\"smoothing\": \"s.json\"}]}",
           file);
  write_text("s.json", file);
  REQUIRE_OK(scene_file_read(write_text("t.scene.json", text), &s));
  for (size_t i = 0; i < 2; i++) {
    const abut_smoothing *p = &s.pairs[i].smoothing;
    CHECK(!s.pairs[i].fitted && p->penetration == 0.02);
  }
  scene_def_free(&s);
}

/* Single keys are the scene's, all others what is fitted to the bodies. */
static void some_keys(void)
{
  abut_smoothing made = abut_default_smoothing();
  scene_def s;
  made.penetration = 0.004;
  made.select = ABUT_SELECT_GATE;
  REQUIRE_OK(scene_file_read(
    write_text("t.scene.json",
               "{\"links\": [{}], \"pairs\": [{\"smoothing\": {\"penetration\": 0.001, "
               "\"floor\": 0.25, \"edges\": [64, 32]}},\n"
               "{\"smoothing\": \"s.json\"}, {\"smoothing\": {}}]}"),
    &s));
  for (size_t i = 0; i < 3; i++) {
    CHECK(s.pairs[i].fitted);
    scene_pair_fit(&s.pairs[i], &made);
    const abut_smoothing *p = &s.pairs[i].smoothing;
    CHECK(p->clash == (i == 1 ? 0.03 : made.clash));
    CHECK(p->penetration == (i == 0 ? 0.001 : 0.004) && p->floor == (i == 0 ? 0.25 : 0.001));
    CHECK(p->edges[0] == (i == 0 ? 64 : made.edges[0]) &&
          p->edges[1] == (i == 0 ? 32 : made.edges[1]));
    CHECK(p->select == (i == 1 ? ABUT_SELECT_SOFTSORT : ABUT_SELECT_GATE));
    CHECK(p->cookie == made.cookie && !s.pairs[i].fitted);
  }
  scene_def_free(&s);
}

static void smoothings(void)
{
  scene_def s;
  char cause[1024];
  const char *const scene = "{\"links\": [{}], \"pairs\": [{},\n{\"smoothing\": \"none.json\"}]}";
  write_text("s.json", "{\"clash\": 0.03, \"select\": \"softsort\"}");
  some_keys();
  check_stated("");
  check_stated(", \"near\": 0");
  const char *path = write_text("u.scene.json", scene);
  snprintf(cause, sizeof cause, ":2: pairs[1].smoothing: its file, %s: No such file",
           in_folder("none.json"));
  expect_failure(scene_file_read(path, &s), ABUT_ERROR_READ, path, cause);
  const char *file = write_text("none.json", "{\n\"length\": -1}");
  expect_failure(scene_file_read(path, &s), ABUT_ERROR_FORMAT, file, ":2: length: -1 is not");
  path = in_folder("v.scene.json");
  expect_failure(scene_file_read(path, &s), ABUT_ERROR_READ, path, "No such file");
}

static void fitted(void)
{
  abut_smoothing made = abut_default_smoothing();
  scene_pair p = {.fitted = true};
  made.penetration = 0.004;
  scene_pair_fit(&p, &made);
  CHECK(!p.fitted && p.smoothing.penetration == 0.004);
  CHECK(p.smoothing.sort == made.sort && p.smoothing.cookie == made.cookie);
}

static void later(void)
{
  scene_def s;
  REQUIRE_OK(parse("{\"links\": [{},\n{\n\"joint\": {},\n\"bodies\": [{\"sphere\": 1},\n"
                   "{\"sphere\": 2}]}]}",
                   &s));
  expect_failure(scene_fail(&s, (scene_place){"links", 1, NULL, false, 0}, "bad %d", 7),
                 ABUT_ERROR_FORMAT, "d/t:2: links[1]: bad 7", "");
  expect_failure(scene_fail(&s, (scene_place){"links", 1, "joint", false, 0}, "bad"),
                 ABUT_ERROR_FORMAT, "d/t:3: links[1].joint: bad", "");
  expect_failure(scene_fail(&s, (scene_place){"links", 1, "bodies", true, 1}, "bad"),
                 ABUT_ERROR_FORMAT, "d/t:5: links[1].bodies[1]: bad", "");
  scene_def_free(&s);
  expect_failure(scene_fail(&s, (scene_place){"links", 1, "bodies", true, 1}, "bad"),
                 ABUT_ERROR_ARGUMENT, "the scene's links 1: bad", "");
}

int main(void)
{
  folder_make();
  defaults();
  sample_scene();
  raised();
  hard();
  springs();
  springs_shared();
  replaced();
  extreme_lengths();
  inertias();
  refusals();
  too_many_dofs();
  smoothings();
  fitted();
  later();
  folder_remove();
  return check_finish();
}
