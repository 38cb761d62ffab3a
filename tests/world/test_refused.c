/* What is refused that no scene's file shows alone: bodies and pairs that cannot be made; counts
 * beyond what kernels count, of scenes, of given contacts and of steps; calls with more arrays than
 * the engine takes. */
#include "engine/batch/batch.h"
#include "support.h"
#include "world/tables.h"
#include "scene/file.h"
#include <abut/world.h>

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static abut_context there;

/* ---- slots of contacts ---- */

static void check_countable(const contact_group *groups, size_t count, size_t lanes, size_t good,
                            size_t slots)
{
  size_t got = 0;
  CHECK_EQUAL(tables_countable(groups, count, 0, lanes, &got), good);
  CHECK_EQUAL(got, slots);
}

static void countable(void)
{
  const size_t most = TABLES_SLOTS_MOST, many = 100000000;
  const contact_group two[] = {{.contacts = many}, {.contacts = many}};
  const contact_group filled[] = {{.contacts = most - 1}, {.contacts = 1}, {.contacts = 0}};
  const contact_group endless[] = {{.contacts = 2}, {.contacts = SIZE_MAX - 1}};
  const contact_group padded[] = {{.contacts = most - most % 16}, {.contacts = 1}};
  CHECK(CONTACT_PLANES * most <= INT_MAX && CONTACT_PLANES * (most + 1) > INT_MAX);
  check_countable(two, 0, 1, 0, 0);
  check_countable(two, 1, 16, 1, many);
  check_countable(two, 2, 1, 1, 2 * many);
  check_countable(filled, 3, 1, 3, most);
  check_countable(filled, 1, 16, 0, most - 1);
  check_countable(endless, 2, 1, 1, SIZE_MAX);
  check_countable(padded, 2, 16, 1, padded[0].contacts + 1);
  check_countable(padded, 2, 1, 2, padded[0].contacts + 1);
  size_t slots = 0; /* a capacity is all that there is room for */
  CHECK_EQUAL(tables_countable(endless, 2, 20, 16, &slots), 2);
  CHECK_EQUAL(slots, 16 + 32);
}

/* Tables of two links whose pairs have as many contacts as are said. */
static void tables(void)
{
  static const char *const text =
    "{\"links\": [{}, {\"mass\": 1, \"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],\n"
    "\"joint\": {\"type\": \"free\"}}], \"pairs\": [{}, {}]}";
  const contact_group groups[] = {{.link = {1, WORLD}, .pair = 0, .contacts = 60000000},
                                  {.link = {1, 0}, .pair = 1, .contacts = 60000000}};
  scene_def s;
  scene_constants c;
  scene_tables m;
  REQUIRE_OK(scene_file_parse("t", text, strlen(text), &s));
  REQUIRE_OK(scene_constants_make(&s, NULL, &c));
  CHECK_OK(tables_make(&s, &c, groups, 1, 16, 1e-5, &m));
  CHECK_EQUAL(m.sizes.slots, 60000000);
  tables_free(&m);
  expect_failure(tables_make(&s, &c, groups, 2, 16, 1e-5, &m), ABUT_ERROR_ARGUMENT,
                 "a world has 120000000 contact slots; the kernels take at most 119304647", "");
  CHECK(!m.ints && !m.sizes.slots);
  expect_failure(tables_make(&s, &c, groups, (size_t)INT_MAX + 1, 16, 1e-5, &m),
                 ABUT_ERROR_ARGUMENT, "a world has 2147483648 groups of contacts", "too many");
  scene_constants_free(&c);
  scene_def_free(&s);
}

static abut_status load(const char *name, const char *text)
{
  abut_scene scene;
  const abut_status status = abut_load_scene(there, write_text(name, text), &scene);
  if (status == ABUT_SUCCESS) {
    CHECK_OK(abut_destroy_scene(scene));
  }
  return status;
}

/* All edges; `length` [m] must be long beside the bodies. */
static void write_smoothing(const char *length)
{
  char text[1024];
  static const char smoothing[] =
    "{\"length\": %s, \"union\": 0.01, \"plane\": 0.01, \"normal\": 1e-12, \"penetration\": 0.02,"
    " \"neighbour\": 0.01, \"clash\": 0.1, \"sign\": 0.1, \"sort\": 0.01, \"clip\": 0.1,"
    " \"minimum\": 0.1, \"compare\": 0.1, \"ridge\": 0.01, \"distance\": 1e-10, \"trace\": 2,"
    " \"inside\": false, \"select\": \"gate\", \"edge_edge\": true, \"two_sided\": true,"
    " \"edges\": [0, 0], \"vertices\": [0, 0]}";
  snprintf(text, sizeof text, smoothing, length);
  write_text("all.json", text);
}

/* Each pair of balls with all of their edges has 7.4 million slots: the seventeenth is too many. */
static void too_many_slots(void)
{
  write_smoothing("1");
  char text[4096] = "{\"links\": [", *at = text + strlen(text), start[256];
  for (int i = 0; i < 7; ++i) {
    at += sprintf(at,
                  "%s{\"density\": 500, \"joint\": {\"type\": \"free\"},"
                  " \"bodies\": [{\"sphere\": 0.1}]}",
                  i ? ",\n" : "");
  }
  at += sprintf(at, "], \"pairs\": [");
  for (int a = 0; a < 7; ++a) {
    for (int b = a + 1; b < 7; ++b) {
      at += sprintf(at, "%s{\"a\": %d, \"b\": %d, \"smoothing\": \"all.json\"}", b > 1 ? ",\n" : "",
                    a, b);
    }
  }
  sprintf(at, "]}");
  snprintf(start, sizeof start, "%s:23: pairs[16]: with it a world has ", in_folder("balls.json"));
  expect_failure(load("balls.json", text), ABUT_ERROR_FORMAT, start,
                 "contact slots; the kernels take at most 119304647");
}

/* ---- bodies and pairs ---- */

static void check_body(const char *file, abut_status wanted, const char *cause)
{
  char text[512], start[1024];
  snprintf(text, sizeof text,
           "{\"links\": [{},\n{\"bodies\": [{\"sphere\": 1},\n"
           "{\"file\": \"%s\"}]}]}",
           file);
  snprintf(start, sizeof start, "%s:3: links[1].bodies[1]: its file, %s%s", in_folder("file.json"),
           in_folder(file), cause);
  expect_failure(load("file.json", text), wanted, start, "");
}

static void bodies(void)
{
  write_text("bad.obj", "v 0 0 0\nv 0 0 x\n");
  write_text("bad.body.json", "{\n\"what\": 1}");
  check_body("none.obj", ABUT_ERROR_READ, ": No such file");
  check_body("none.body.json", ABUT_ERROR_READ, ": No such file");
  check_body("bad.obj", ABUT_ERROR_FORMAT, ":2: ");
  check_body("bad.body.json", ABUT_ERROR_FORMAT, ":2: what: ");
}

static void pairs(void)
{
  char start[256];
  write_smoothing("1e-6");
  snprintf(start, sizeof start,
           "%s:4: pairs[1]: smoothing: length is 1e-06, which is too short for body 1",
           in_folder("pair.json"));
  expect_failure(load("pair.json",
                      "{\"links\": [{\"bodies\": [{\"sphere\": 0.1}, {\"sphere\": 1000}]},\n"
                      "{\"density\": 5, \"joint\": {\"type\": \"free\"},"
                      " \"bodies\": [{\"sphere\": 0.1}]}], \"pairs\": [\n"
                      "{\"a\": 0, \"b\": 1},\n"
                      "{\"a\": [0, 1], \"b\": 1, \"smoothing\": \"all.json\"}]}"),
                 ABUT_ERROR_ARGUMENT, start, "");
}

/* ---- calls ---- */

static void refuse_call(abut_scene scene, abut_worlds *w, const char *start)
{
  expect_failure(abut_step_worlds(scene, w), ABUT_ERROR_ARGUMENT, start,
                 "too many for the kernels");
}

static void calls(void)
{
  static const float q[1] = {0}, v[1] = {0};
  abut_given_contacts contacts = {.count = TABLES_SLOTS_MOST + 1};
  abut_worlds_gradients g = abut_default_worlds_gradients();
  abut_worlds w = abut_default_worlds();
  abut_scene scene;
  REQUIRE_OK(abut_load_scene(
    there,
    write_text(
      "slide.json",
      "{\"links\": [{\"name\": \"a\", \"mass\": 1, \"joint\": {\"type\": \"slide\"}}],\n"
      "\"actuators\": [{\"kind\": \"motor\", \"joint\": 0}, {\"kind\": \"motor\", \"joint\": 0}],\n"
      "\"pairs\": [{}]}"),
    &scene));
  w.count = 1;
  w.q = q;
  w.v = v;
  w.contacts = &contacts;
  expect_failure(abut_step_worlds(scene, &w), ABUT_ERROR_ARGUMENT,
                 "there are 119304648 given contacts; the kernels take at most 119304647", "");
  w.contacts = NULL;
  for (size_t i = 0; i < 3; ++i) {
    w.steps = (const size_t[]){(size_t)INT_MAX + 1, SIZE_MAX - 1, SIZE_MAX}[i];
    expect_failure(abut_step_worlds(scene, &w), ABUT_ERROR_ARGUMENT,
                   "the number of steps must be at least 1 and at most ", "at most 2147483647");
    expect_failure(abut_vjp_worlds(scene, &w, &g), ABUT_ERROR_ARGUMENT,
                   "the number of steps must be at least 1 and at most ", "at most 2147483647");
  }
  w.steps = (size_t)INT_MAX / 2 + 1;
  w.controls = true;
  refuse_call(scene, &w, "u: 1073741824 times 2 numbers of a world are ");
  w.controls = false;
  w.record = 1;
  refuse_call(scene, &w, "states kept: 1073741824 times 2 numbers of a world are ");
  CHECK_OK(abut_destroy_scene(scene));
}

static void too_many_arrays(void)
{
  static batch_call c;
  for (size_t i = 0; i < BATCH_ARRAYS + 2; ++i) {
    batch_add(&c, (batch_array){.name = "array"});
  }
  expect_failure(batch_run(&c), ABUT_ERROR_ARGUMENT,
                 "a call has 50 arrays; at most 48 are possible", "");
  for (size_t i = 0; i < BATCH_ARRAYS; ++i) {
    CHECK_TEXT(c.arrays[i].name, "array");
  }
}

int main(void)
{
  const abut_context_def def = abut_default_context_def();
  folder_make();
  REQUIRE_OK(abut_create_context(&def, &there));
  countable();
  tables();
  too_many_slots();
  bodies();
  pairs();
  calls();
  too_many_arrays();
  CHECK_OK(abut_destroy_context(there));
  folder_remove();
  return check_finish();
}
