/* Which bodies of a scene may collide by themselves, by rules that are followed by hand here, what
 * is refused, and what is warned about. test_mujoco.py has what MuJoCo finds.
 *   test_candidates */
#include "play.h"

#include <string.h>

enum { ROOM = 1 << 16 };

#define BALL "\"bodies\": [{\"sphere\": 0.1}]"
#define BOX "\"bodies\": [{\"box\": [0.1, 0.1, 0.1]}]"
#define MOVES "\"mass\": 1, \"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "
#define FREE(body) "{" MOVES "\"joint\": {\"type\": \"free\"}, " body "}"
#define HINGE(parent, body) \
  "{" MOVES "\"parent\": " #parent ", \"joint\": {\"type\": \"hinge\"}, " body "}"
#define FIXED(parent, body) "{" MOVES "\"parent\": " #parent ", " body "}"
#define STATED(more) "\"bodies\": [{\"sphere\": 0.1, " more "}]"

typedef struct rule {
  const char *what, *links, *more,
    *pairs; /* pairs: body 1 and body 2 of each candidate, in order */
} rule;

static const rule rules[] = {
  {"every two bodies", FREE(BALL) "," FREE(BALL) "," FREE(BALL), "\"automatic\": true",
   "0-1 0-2 1-2"},
  {"not asked for", FREE(BALL) "," FREE(BALL), "\"pairs\": []", ""},
  {"asked for not", FREE(BALL) "," FREE(BALL), "\"automatic\": false", ""},
  {"an empty object", FREE(BALL) "," FREE(BALL), "\"automatic\": {}", "0-1"},
  {"a listed pair stands", FREE(BALL) "," FREE(BALL) "," FREE(BALL),
   "\"automatic\": true, \"pairs\": [{\"a\": 2, \"b\": 0}]", "2-0 0-1 1-2"},
  {"two bodies of a link",
   FREE("\"bodies\": [{\"sphere\": 0.1}, {\"box\": [0.1, 0.1, 0.1]}]") "," FREE(BALL),
   "\"automatic\": true", "0-2 2-1"}, /* the ball's shape came before the box' */
  {"of two shapes that which came first is body 1", FREE(BOX) "," FREE(BALL) "," FREE(BOX),
   "\"automatic\": true", "0-1 0-2 2-1"},
  {"bits that meet either way",
   FREE(STATED("\"contype\": 4, \"conaffinity\": 0")) "," FREE(STATED(
     "\"contype\": 0, \"conaffinity\": 6")) "," FREE(STATED("\"contype\": 2, \"conaffinity\": "
                                                            "0")) "," FREE(STATED("\"contype\":"
                                                                                  " 0, "
                                                                                  "\"conaffinit"
                                                                                  "y\": 0")),
   "\"automatic\": true", "0-1 1-2"},
  {"the highest bit",
   FREE(STATED("\"contype\": 2147483648, \"conaffinity\": 0")) "," FREE(
     STATED("\"contype\": 0, \"conaffinity\": 4294967295")),
   "\"automatic\": true", "0-1"},
  {"two planes",
   "{\"bodies\": [{\"plane\": [1, 1]}]}," FREE("\"bodies\": [{\"plane\": [1, 1]}]") "," FREE(BALL),
   "\"automatic\": true", "0-2 1-2"},
  {"no degree of freedom between",
   FIXED(-1, BALL) "," FIXED(-1, BALL) "," FREE(BALL) "," FIXED(2, BALL), "\"automatic\": true",
   "0-2 0-3 1-2 1-3"},
  {"a link and its parent", FREE(BALL) "," HINGE(0, BALL) "," HINGE(1, BALL), "\"automatic\": true",
   "0-2"},
  {"with parents", FREE(BALL) "," HINGE(0, BALL) "," HINGE(1, BALL),
   "\"automatic\": {\"parents\": true}", "0-1 0-2 1-2"},
  {"links joined rigidly count as one",
   FREE(BALL) "," FIXED(0, BALL) "," HINGE(1, BALL) "," FIXED(2, BALL) "," HINGE(3, BALL),
   "\"automatic\": true", "0-4 1-4"},
  {"a parent that cannot move does not count",
   FIXED(-1, BALL) "," HINGE(0, BALL) "," HINGE(1, BALL) "," HINGE(-1, BALL), "\"automatic\": true",
   "0-1 0-2 0-3 1-3 2-3"},
  {"massless links that only carry a joint",
   FREE(BALL) ", {\"parent\": 0, \"joint\": {\"type\": \"hinge\", \"axis\": [0, 1, 0]}},"
              "{\"parent\": 1, \"joint\": {\"type\": \"hinge\", \"axis\": [1, 0, 0]}}," HINGE(
                2, BALL) "," HINGE(3, BALL),
   "\"automatic\": true", "0-2"},
  {"a massless link with two children is one of its own",
   FREE(BALL) ", {\"parent\": 0, \"joint\": {\"type\": \"hinge\", \"axis\": [1, 0, 0]}}," HINGE(
     1, BALL) "," HINGE(1, BALL),
   "\"automatic\": true", "0-1 0-2 1-2"},
  {"of equal shapes the first may be one that cannot collide",
   FREE("\"bodies\": [{\"box\": [0.1, 0.1, 0.1], \"contype\": 0, \"conaffinity\": 0}]") "," FREE(
     BALL) "," FREE(BOX),
   "\"automatic\": true", "2-1"},
  {"excluded by number and by name",
   FREE(BALL) ", {\"name\": \"b\", " MOVES "\"joint\": {\"type\": \"free\"}, " BALL "}," FREE(BALL),
   "\"automatic\": {\"exclude\": [[2, 0], [\"b\", 0]]}", "1-2"},
};

/* Candidates as the table has them. */
static void print_pairs(abut_scene scene, size_t count, char *text, size_t room)
{
  size_t at = 0;
  *text = '\0';
  for (size_t i = 0; i < count; ++i) {
    size_t a, b;
    REQUIRE_OK(abut_get_candidate(scene, i, &a, &b));
    at += (size_t)snprintf(text + at, room - at, "%s%zu-%zu", i ? " " : "", a, b);
  }
}

static void test_rules(abut_context context)
{
  static char text[ROOM];
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
    char found[256];
    play p;
    snprintf(text, sizeof text, "{\"links\": [%s], %s}", rules[i].links, rules[i].more);
    play_open_text(&p, context, ABUT_FLOAT64, text, 1);
    print_pairs(p.scene, p.info.candidates, found, sizeof found);
    check(!strcmp(found, rules[i].pairs), "%s: %s, not %s", rules[i].what, found, rules[i].pairs);
    play_close(&p);
  }
}

/* Numbers of bodies, columns of their friction, and trees. */
static void test_info(abut_context context)
{
  static const char text[] =
    "{\"links\": [" FIXED(-1, BOX) "," FREE(STATED("\"friction\": 0.3")) "," FREE(STATED(
      "\"contype\": 0, \"conaffinity\": 0")) "," HINGE(0,
                                                       BOX) "," HINGE(3,
                                                                      BOX) "], \"automatic\": "
                                                                           "{\"friction\": 0.6}, "
                                                                           "\"pairs\": [{\"a\": 2, "
                                                                           "\"b\": 0, "
                                                                           "\"friction\": 0.9}]}";
  static const double wanted[] = {0.9, 0.6, 0.3, 0.6, 0.6};
  double friction[5] = {0};
  size_t link, place;
  abut_scene_pair pair;
  play p;
  play_open_text(&p, context, ABUT_FLOAT64, text, 1);
  CHECK_EQUAL(p.info.bodies, 5);
  CHECK_EQUAL(p.info.pairs, 1);
  CHECK_EQUAL(p.info.candidates, 1 + 5); /* 0-1 0-3 0-4 1-3 1-4, and the listed one */
  CHECK_EQUAL(p.info.kinds, 3);          /* ball and box, box and ball, two boxes */
  CHECK_EQUAL(p.info.parameters, 5);
  CHECK_EQUAL(p.info.trees, 3);
  REQUIRE(p.info.parameters == 5);
  CHECK_OK(abut_get_scene_parameters(p.scene, friction, NULL));
  for (size_t i = 0; i < 5; ++i) {
    check(friction[i] >= wanted[i] && friction[i] <= wanted[i],
          "column %zu has friction %g, not %g", i, friction[i], wanted[i]);
  }
  CHECK_OK(abut_get_scene_body(p.scene, 4, &link, &place));
  CHECK_EQUAL(link, 4);
  CHECK_EQUAL(place, 0);
  CHECK_OK(abut_get_scene_pair(p.scene, 0, &pair));
  CHECK_EQUAL(abut_get_scene_pair(p.scene, 1, &pair), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_get_scene_body(p.scene, 5, &link, &place), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_get_candidate(p.scene, 6, &link, &place), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_get_candidate(p.scene, 0, &link, NULL), ABUT_ERROR_ARGUMENT);
  abut_worlds w = abut_default_worlds();
  double multipliers[3] = {0};
  w.count = 1;
  w.q = w.q_next = p.q;
  w.v = w.v_next = p.v;
  w.multipliers = multipliers;
  CHECK_EQUAL(abut_step_worlds(p.scene, &w), ABUT_ERROR_ARGUMENT);
  check(strstr(abut_last_error(), "the scene has automatic pairs") != NULL, "%s",
        abut_last_error());
  play_close(&p);
}

/* ---- refused ---- */

typedef struct refusal {
  const char *links, *more, *says;
} refusal;

static const refusal refusals[] = {
  {FREE(BALL), "\"automatic\": 1", "automatic: must be true, false or an object"},
  {FREE(BALL), "\"automatic\": [true]", "automatic: must be true, false or an object"},
  {FREE(BALL), "\"automatic\": {\"excluded\": []}", "automatic.excluded: unknown key"},
  {FREE(BALL), "\"automatic\": {\"friction\": -1}", "automatic.friction: -1 must be at least 0"},
  {FREE(BALL), "\"automatic\": {\"condim\": 4}", "automatic.condim: 4 must be 1 or 3"},
  {FREE(BALL), "\"automatic\": {\"solref\": [1, -1]}",
   "automatic.solref: 1 and -1 must both be above 0, or neither"},
  {FREE(BALL), "\"automatic\": {\"restitution\": 2}", "automatic.restitution: 2 is above 1"},
  {FREE(BALL), "\"automatic\": {\"parents\": 1}", "automatic.parents: "},
  {FREE(BALL), "\"automatic\": {\"smoothing\": {\"floor\": 2}}", "automatic.smoothing.floor: "},
  {FREE(BALL) "," FREE(BALL), "\"automatic\": {\"exclude\": [[0, 1], [1, 1]]}",
   "automatic.exclude[1]: a link cannot be excluded from itself: its own bodies never touch"},
  {FREE(BALL) "," FREE(BALL), "\"automatic\": {\"exclude\": [[0, 1], [0, \"hnd\"]]}",
   "automatic.exclude[1]: there is no link with the name \"hnd\""},
  {FREE(BALL), "\"automatic\": {\"exclude\": [[0, 1]]}",
   "automatic.exclude[0][1]: there is no link 1"},
  {FREE(BALL), "\"automatic\": {\"exclude\": [[0]]}",
   "automatic.exclude[0]: has 1 elements, expected 2"},
  {FREE(BALL), "\"automatic\": true, \"capacity\": 30",
   "automatic: capacity applies only to listed pairs; use most_contacts"},
  {FREE(STATED("\"contype\": -1")), "\"automatic\": true",
   "links[0].bodies[0].contype: -1 is not between 0 and 4294967295"},
  {FREE(STATED("\"conaffinity\": 4294967296")), "\"automatic\": true",
   "links[0].bodies[0].conaffinity: 4294967296 is not between 0 and 4294967295"},
  {FREE(STATED("\"contype\": 1.5")), "\"automatic\": true",
   "links[0].bodies[0].contype: must be a whole number"},
  {FREE(STATED("\"friction\": -1")), "\"automatic\": true",
   "links[0].bodies[0].friction: -1 must be at least 0"},
  {FREE(STATED("\"condim\": 2")), "\"pairs\": []", "links[0].bodies[0].condim: 2 must be 1 or 3"},
  {FREE(STATED("\"solimp\": [1]")), "\"pairs\": []",
   "links[0].bodies[0].solimp: has 1 elements, expected 5"},
};

static void refuse(abut_context context, const char *text, const char *says)
{
  abut_scene scene;
  FILE *file = fopen("candidates.scene.json", "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  const abut_status status = abut_load_scene(context, "candidates.scene.json", &scene);
  check(status == ABUT_ERROR_FORMAT && strstr(abut_last_error(), "candidates.scene.json:1: ") &&
          strstr(abut_last_error(), says),
        "%s: %s", says, status ? abut_last_error() : "loaded");
  remove("candidates.scene.json");
}

static void test_refused(abut_context context)
{
  static char text[ROOM];
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; ++i) {
    snprintf(text, sizeof text, "{\"links\": [%s], %s}", refusals[i].links, refusals[i].more);
    refuse(context, text, refusals[i].says);
  }
}

/* Of 4,097 bodies one too many may collide; one that has no bits is none of them. */
static void test_many(abut_context context)
{
  static char text[1 << 17];
  size_t at = (size_t)snprintf(text, sizeof text,
                               "{\"automatic\": true, \"links\": [{\"bodies\": [{\"sphere\": 1}");
  for (int i = 0; i < 4095; ++i) {
    at += (size_t)snprintf(text + at, sizeof text - at, ", {\"sphere\": 1}");
  }
  at += (size_t)snprintf(text + at, sizeof text - at,
                         "]}, {\"bodies\": [{\"sphere\": 1, \"contype\": ");
  snprintf(text + at, sizeof text - at, "1}]}]}");
  refuse(context, text, "automatic: 4097 bodies may collide; at most 4096 are possible");
  snprintf(text + at, sizeof text - at, "0, \"conaffinity\": 0}]}]}");
  play p;
  play_open_text(&p, context, ABUT_FLOAT64, text, 1);
  CHECK_EQUAL(p.info.candidates, 0);
  play_close(&p);
}

/* ---- warned about ---- */

/* The scene's warnings, one a line. */
static void warnings_of(abut_context context, const char *links, const char *more, char *out,
                        size_t room)
{
  static char text[ROOM];
  size_t count = 1, at = 0;
  play p;
  snprintf(text, sizeof text, "{\"links\": [%s], %s}", links, more);
  play_open_text(&p, context, ABUT_FLOAT64, text, 1);
  *out = '\0';
  for (int twice = 0; twice < 2; ++twice) {
    REQUIRE_OK(abut_check_scene(p.scene, &count));
  }
  for (size_t i = 0; i < count; ++i) {
    const char *one = NULL;
    REQUIRE_OK(abut_get_scene_warning(p.scene, i, &one));
    at += (size_t)snprintf(out + at, room - at, "%s\n", one);
  }
  const char *none;
  CHECK_EQUAL(abut_get_scene_warning(p.scene, count, &none), ABUT_ERROR_ARGUMENT);
  play_close(&p);
}

#define AT(x, body) \
  "{" MOVES "\"joint\": {\"type\": \"free\"}, \"position\": [" #x ", 0, 0], " body "}"

static void test_warned(abut_context context)
{
  static char said[ROOM], links[ROOM];
  warnings_of(context, FREE(BALL) "," FREE(BALL), "\"pairs\": []", said,
              sizeof said); /* on each other, but no pair */
  CHECK_TEXT(said, "");
  warnings_of(context, FREE(BALL), "\"automatic\": true", said, sizeof said);
  CHECK_TEXT(said, "automatic: no two bodies may collide\n");
  warnings_of(context, AT(0, BOX) "," AT(0.19, BOX) "," AT(1, BALL), "\"automatic\": true", said,
              sizeof said);
  CHECK_TEXT(said, ""); /* 10 mm of a diagonal of 346 */
  /* By the ball in the middle of a box, which its rounded field makes 0.9 mm smaller. */
  warnings_of(context, AT(0, BOX) "," AT(0.15, BOX) "," AT(1, BALL), "\"automatic\": true", said,
              sizeof said);
  CHECK_TEXT(said,
             "links[0].bodies[0] and links[1].bodies[0] overlap by 49.1 mm at the start, which "
             "is 14 % of the smaller body's diagonal\n");
  static const char *const kinds[] = {BALL, "\"bodies\": [{\"capsule\": [0.1, 0.1]}]",
                                      "\"bodies\": [{\"cylinder\": [0.1, 0.1]}]",
                                      "\"bodies\": [{\"ellipsoid\": [0.1, 0.1, 0.1]}]"};
  for (int i = 0; i < 4; ++i) { /* side by side, 80 mm in each other */
    snprintf(links, sizeof links,
             "{" MOVES "\"joint\": {\"type\": \"free\"}, %s}, {" MOVES
             "\"joint\": {\"type\": \"free\"}, \"position\": [0.12, 0, 0], %s}",
             kinds[i], kinds[i]);
    warnings_of(context, links, "\"automatic\": true", said, sizeof said);
    check(!strncmp(said, "links[0].bodies[0] and links[1].bodies[0] overlap by ", 53), "%s: %s",
          kinds[i], said);
  }
  warnings_of(context, AT(0, BOX) "," AT(1, BOX) "," AT(2, BALL) "," AT(3, BALL),
              "\"automatic\": {\"smoothing\": {\"floor\": 0}}", said, sizeof said);
  CHECK_TEXT(
    said,
    "automatic: each step computes the contacts of links[0].bodies[0] and links[1].bodies[0] at "
    "any distance: the smoothing has no floor, so contacts are active at any distance\n"
    "automatic: each step computes the contacts of links[0].bodies[0] and links[2].bodies[0], and "
    "of 3 similar pairs at any distance: the smoothing has no floor, so contacts are active at any "
    "distance\n"
    "automatic: each step computes the contacts of links[2].bodies[0] and links[3].bodies[0] at "
    "any distance: the smoothing has no floor, so contacts are active at any distance\n");
  warnings_of(context, AT(0, BOX) "," AT(1, BOX) "," AT(2, BALL) "," AT(3, BALL),
              "\"broad_phase\": false, \"automatic\": {\"smoothing\": {\"floor\": 0}}", said,
              sizeof said);
  CHECK_TEXT(said, "");
  warnings_of(context, AT(0, BOX) "," AT(1, BOX) "," AT(2, BOX),
              "\"automatic\": {\"smoothing\": {\"floor\": 0.25}}", said, sizeof said);
  CHECK_TEXT(
    said,
    "links[0].bodies[0] and links[1].bodies[0]: the smoothing's floor of 0.25 cuts into "
    "resting contacts, so their gradients become very steep; use a floor such as 1e-3; 2 more "
    "pairs have a floor above 0.05\n");
  size_t at = 0;
  for (int i = 0; i < 14; ++i) { /* each overlaps its neighbours, the later the more */
    at += (size_t)snprintf(links + at, sizeof links - at,
                           "%s{" MOVES
                           "\"joint\": {\"type\": \"free\"}, \"position\": [%g, 0, 0], " BOX "}",
                           i ? ", " : "", 0.16 * i - 0.001 * i * i);
  }
  warnings_of(context, links, "\"automatic\": true", said, sizeof said);
  check(!strncmp(said, "links[12].bodies[0] and links[13].bodies[0] overlap by 64.1 mm", 62), "%s",
        said);
  check(strstr(said, "links[3].bodies[0] and links[4].bodies[0] overlap by 46.1 mm") &&
          !strstr(said, "links[2].bodies[0] and links[3].bodies[0]"),
        "%s", said);
  check(strstr(said, "\n3 more pairs of bodies overlap by less\n") != NULL, "%s", said);
}

int main(void)
{
  abut_context context;
  REQUIRE(test_context(ABUT_FLOAT64, &context));
  test_rules(context);
  test_info(context);
  test_refused(context);
  test_many(context);
  test_warned(context);
  return finish_context(context);
}
