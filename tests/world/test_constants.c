/* What a scene alone tells, against the reference: counts, masses, the mass matrix, weights; and
 * what is refused. Golden scenes lie where ABUT_SHARED says; without it only the tree is run. */
#include "support.h"
#include "scene/bodies.h"
#include "scene/constants.h"
#include "scene/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.inl"

#define TOLERANCE 1e-12

static void check_array(const char *name, const char *what, const double *got, const double *wanted,
                        size_t count, double tolerance)
{
  double most = 0.0;
  for (size_t i = 0; i < count; i++) {
    most = fmax(most, fabs(wanted[i]));
  }
  for (size_t i = 0; i < count; i++) {
    check(fabs(got[i] - wanted[i]) <= tolerance * most, "%s: %s[%zu] is %.17g, not %.17g", name,
          what, i, got[i], wanted[i]);
  }
}

/* Weights of links beside each other may differ much: each relative to itself. */
static void check_each(const char *name, const char *what, const double *got, const double *wanted,
                       size_t count)
{
  for (size_t i = 0; i < count; i++) {
    check(fabs(got[i] - wanted[i]) <= TOLERANCE * fabs(wanted[i]),
          "%s: %s[%zu] is %.17g, not %.17g", name, what, i, got[i], wanted[i]);
  }
}

static void check_masses(const struct oracle *o, const scene_constants *c)
{
  for (size_t i = 0; i < o->links; i++) {
    const double *wanted = o->masses + 13 * i;
    check_array(o->name, "mass", &c->masses[i].mass, wanted, 1, TOLERANCE);
    check_array(o->name, "com", c->masses[i].com, wanted + 1, 3, TOLERANCE);
    check_array(o->name, "inertia", c->masses[i].inertia, wanted + 4, 9, TOLERANCE);
  }
}

static void run(const struct oracle *o, const char *path)
{
  scene_def s;
  scene_bodies b;
  scene_constants c;
  REQUIRE_OK(scene_file_read(path, &s));
  REQUIRE_OK(scene_bodies_load(&s, &b));
  REQUIRE_OK(scene_constants_make(&s, b.def, &c));
  require(CHECK_EQUAL(s.link_count, o->links));
  CHECK_EQUAL(c.nq, o->nq);
  require(CHECK_EQUAL(c.nv, o->nv));
  check_masses(o, &c);
  check_each(o->name, "link_invweight", c.link_invweight, o->link_weights, o->links);
  check_each(o->name, "dof_invweight", c.dof_invweight, o->dof_weights, (size_t)o->nv);
  scene_constants_free(&c);
  scene_bodies_free(&b);
  scene_def_free(&s);
}

/* Entry (a, b) of M, which is 0 between trees. */
static double mass_entry(const scene_constants *c, int a, int b)
{
  return c->trees.of[a] == c->trees.of[b] ? c->mass_matrix[trees_place(&c->trees, a, b)] : 0.0;
}

/* The tree has every joint, a link without mass, one without a dof between others, a wall. */
static void tree(const char *path)
{
  static const int qadr[] = {0, 7, 8, 9, 9, 13, 13, 14}, vadr[] = {0, 6, 7, 8, 8, 11, 11, 12};
  scene_def s;
  scene_constants c;
  run(&oracles[0], path);
  REQUIRE_OK(scene_file_read(path, &s));
  REQUIRE_OK(scene_constants_make(&s, NULL, &c));
  for (size_t i = 0; i < s.link_count; i++) {
    CHECK_EQUAL(c.qadr[i], qadr[i]);
    CHECK_EQUAL(c.vadr[i], vadr[i]);
  }
  const double q0[15] = {3,
                         -2,
                         1,
                         0.8 / sqrt(0.99),
                         0.1 / sqrt(0.99),
                         -0.5 / sqrt(0.99),
                         0.3 / sqrt(0.99),
                         0,
                         0,
                         1,
                         0,
                         0,
                         0,
                         0,
                         0};
  check_array("tree", "q0", c.q0, q0, 15, 1e-15);
  CHECK_EQUAL(c.trees.count, 2); /* the drawer and its wheel are one of their own */
  CHECK_EQUAL(c.trees.blocks, 11 * 11 + 2 * 2);
  for (int a = 0; a < c.nv; a++) {
    double row[13];
    for (int b = 0; b < c.nv; b++) {
      row[b] = mass_entry(&c, a, b);
    }
    check_array("tree", "mass_matrix", row, tree_matrix + 13 * a, 13, TOLERANCE);
  }
  scene_constants_free(&c);
  scene_def_free(&s);
}

static void golden(void)
{
  const char *shared = getenv("ABUT_SHARED");
  for (size_t i = 1; shared && i < sizeof oracles / sizeof *oracles; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/golden-dynamics/%s/scene.json", shared, oracles[i].name);
    run(&oracles[i], path);
  }
}

/* ---- scenes whose answers are known ---- */

static abut_status make(const char *text, scene_constants *c)
{
  scene_def s;
  scene_bodies b;
  REQUIRE_OK(scene_file_parse("t", text, strlen(text), &s));
  abut_status status = scene_bodies_load(&s, &b);
  if (status == ABUT_SUCCESS) {
    status = scene_constants_make(&s, b.def, c);
  }
  scene_bodies_free(&b);
  scene_def_free(&s);
  return status;
}

/* A dumbbell of two boxes, one turned; and a wheel, whose centre no joint moves. */
static void densities(void)
{
  scene_constants c;
  REQUIRE_OK(make("{\"links\": [{\"density\": 125, \"joint\": {\"type\": \"free\"}, \"bodies\": [\n"
                  "{\"box\": [0.1, 0.2, 0.3], \"position\": [0, 0, 1]},\n"
                  "{\"box\": [0.2, 0.3, 0.1], \"position\": [0, 0, -1],\n"
                  " \"quaternion\": [0.5, 0.5, 0.5, 0.5]}]},\n"
                  "{\"density\": 1, \"joint\": {\"type\": \"hinge\", \"armature\": 1},\n"
                  " \"bodies\": [{\"cylinder\": [1, 0.1]}]}]}",
                  &c));
  const double m = 125 * 8 * 0.006, x2 = m / 3 * 0.01, y2 = m / 3 * 0.04, z2 = m / 3 * 0.09;
  const double inertia[9] = {2 * (y2 + z2 + m), 0, 0, 0, 2 * (x2 + z2 + m), 0, 0, 0, 2 * (x2 + y2)};
  check(fabs(c.masses[0].mass - 2 * m) < 1e-12, "the dumbbell weighs %.17g", c.masses[0].mass);
  check_array("dumbbell", "inertia", c.masses[0].inertia, inertia, 9, 1e-12);
  check(fabs(c.link_invweight[0] - 0.5 / m) < 1e-12, "its weight is %.17g", c.link_invweight[0]);
  CHECK(c.link_invweight[1] < 1e-20); /* by rounding not always 0 */
  CHECK(c.dof_invweight[6] > 0.0 && c.dof_invweight[6] < 1.0);
  scene_constants_free(&c);
}

/* Nothing moves. */
static void still(void)
{
  scene_constants c;
  REQUIRE_OK(make("{\"links\": [{\"mass\": 1}, {\"parent\": 0}]}", &c));
  CHECK(c.nq == 0 && c.nv == 0 && c.link_invweight[0] == 0.0 && c.link_invweight[1] == 0.0);
  scene_constants_free(&c);
}

#define HINGE(more) "{\"joint\": {\"type\": \"hinge\"" more "}"
#define SOLID ", \"mass\": 1, \"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}"
#define ROD ", \"mass\": 1, \"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 0]]}"

/* A dof is refused where it moves no inertia, not where its link has none. */
static void weightless(void)
{
  static const struct {
    const char *text, *start; /* NULL: it is good */
  } cases[] = {
    {"{\"links\": [\n" HINGE("") "}]}",
     "t:2: links[0].joint: its degree of freedom 0 moves no inertia"},
    {"{\"links\": [\n" HINGE(", \"armature\": 1") "}]}", NULL},
    {"{\"links\": [\n" HINGE("") "},\n{\"parent\": 0" SOLID "]}", NULL},
    /* a rod about its own axis, turned so that rounding is left */
    {"{\"links\": [\n{\"quaternion\": [1, 2, -3, 0.5], \"joint\": {\"type\": \"hinge\"}" ROD "]}",
     "t:2: links[0].joint: its degree of freedom 0 moves no inertia"},
    {"{\"links\": [\n{\"quaternion\": [1, 2, -3, 0.5], \"joint\": {\"type\": \"hinge\",\n"
     "\"axis\": [0, 1, 0]}" ROD "]}",
     NULL},
    {"{\"links\": [\n{\"joint\": {\"type\": \"free\"}, \"mass\": 1}]}",
     "t:2: links[0].joint: its degree of freedom 3 moves no inertia"},
    {"{\"links\": [\n{\"joint\": {\"type\": \"ball\"}, \"position\": [1, 2, 3]" ROD "]}",
     "t:2: links[0].joint: its degree of freedom 2 moves no inertia"},
    {"{\"links\": [\n{\"joint\": {\"type\": \"slide\"}}]}",
     "t:2: links[0].joint: its degree of freedom 0 moves no inertia"},
    /* two hinges about one axis, and nothing between them */
    {"{\"links\": [\n" HINGE("") "},\n{\"parent\": 0, \"joint\": {\"type\": \"hinge\"}" SOLID "]}",
     "t:3: links[1].joint: its degree of freedom 0 moves no inertia independently of the degrees "
     "of freedom before it"},
    {"{\"links\": [\n" HINGE("") "},\n{\"parent\": 0, \"joint\": {\"type\": \"hinge\",\n"
                                 "\"axis\": [0, 1, 0]}" SOLID "]}",
     NULL},
    /* a point off its joint, at which it would turn about the line to it */
    {"{\"links\": [\n{\"joint\": {\"type\": \"ball\"}, \"mass\": 1, \"com\": [1, 2, 3]}]}",
     "t:2: links[0].joint: its degree of freedom 2 moves no inertia independently of the degrees "
     "of freedom before it"},
    {"{\"links\": [\n{\"joint\": {\"type\": \"slide\"}, \"mass\": 1e300, \"com\": [0, 0, 0],\n"
     "\"position\": [0, 0, 0]},\n{\"parent\": 0, \"joint\": {\"type\": \"hinge\"},\n"
     "\"mass\": 1e200, \"com\": [1e100, 0, 0]}]}",
     "t:4: links[1].joint: the inertia that it moves is not finite"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scene_constants c;
    const abut_status status = make(cases[i].text, &c);
    if (cases[i].start) {
      expect_failure(status, ABUT_ERROR_FORMAT, cases[i].start, "");
      CHECK(!c.q0 && !c.memory.at);
    } else {
      check(status == ABUT_SUCCESS, "scene %zu: %s", i, abut_last_error());
      scene_constants_free(&c);
    }
  }
}

static void meshes(void)
{
  char text[1024], cause[1024];
  scene_constants c;
  const char *path = write_text("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                            "f 1 3 2\nf 1 2 4\nf 1 4 3\n");
  snprintf(text, sizeof text,
           "{\"links\": [{\"density\": 1, \"bodies\": [{\"sphere\": 1},\n"
           "{\"file\": \"%s\"}]}]}",
           path);
  expect_failure(make(text, &c), ABUT_ERROR_FORMAT,
                 "t:2: links[0].bodies[1]: no mass follows from its density: ", "is not closed");
  write_text("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\nf 1 2 3\n");
  expect_failure(make(text, &c), ABUT_ERROR_FORMAT,
                 "t:2: links[0].bodies[1]: no mass follows from its density: ",
                 "the mesh encloses no volume");
  write_text("open.obj", "v 0 0 x\n");
  snprintf(cause, sizeof cause, "t:2: links[0].bodies[1]: its file, %s:1: ", path);
  expect_failure(make(text, &c), ABUT_ERROR_FORMAT, cause, "'x'");
  snprintf(text, sizeof text,
           "{\"links\": [{\"density\": 1, \"bodies\": [{\"sphere\": 1},\n"
           "{\"file\": \"%s\"}]}]}",
           in_folder("none.obj"));
  snprintf(cause, sizeof cause, "t:2: links[0].bodies[1]: its file, %s: No", in_folder("none.obj"));
  expect_failure(make(text, &c), ABUT_ERROR_READ, cause, "No such file");
  /* without a density nobody needs the file here */
  snprintf(text, sizeof text, "{\"links\": [{\"bodies\": [{\"file\": \"none.obj\"}]}]}");
  REQUIRE_OK(make(text, &c));
  scene_constants_free(&c);
}

int main(int count, char **arguments)
{
  require(count == 2); /* tree.scene.json */
  folder_make();
  tree(arguments[1]);
  golden();
  densities();
  still();
  weightless();
  meshes();
  folder_remove();
  return check_finish();
}
