/* Each allocation of shapes, lists and files of shapes fails once: an error, no crash, nothing left
 * behind. */
#include "query/half_spaces.h"
#include "query/hull.h"
#include "query/shape.h"
#include "support.h"
#include "support/allocations.h"

#include <string.h>

static abut_context home;

static const double cloud[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0.2, 0.2, 0.2};
static const double planes[] = {1, 0,  0, 1, 0,  0, -1, 0, 0, -1, 0, 0, 0, 1, 0,  0, 1, 0,
                                0, -1, 0, 0, -1, 0, 0,  0, 1, 0,  0, 1, 0, 0, -1, 0, 0, -1};
static const char *path, *body_path;

static abut_status make_one(size_t vertices, abut_shape_kind kind, abut_shape *made)
{
  abut_shape_def def = abut_default_shape_def();
  def.kind = kind;
  def.vertices = cloud;
  def.vertex_count = vertices;
  def.size[0] = def.size[1] = def.size[2] = 1;
  return abut_create_shape(home, &def, made);
}

/* Hulls of 0 to 3 dimensions, and a box. */
static abut_status make_shapes(void)
{
  static const size_t counts[] = {1, 2, 3, 6};
  abut_shape made;
  abut_status status = ABUT_SUCCESS;
  for (size_t i = 0; i < 4 && status == ABUT_SUCCESS; ++i) {
    status = make_one(counts[i], ABUT_SHAPE_HULL, &made);
    if (status == ABUT_SUCCESS) {
      abut_destroy_shape(made);
    }
  }
  if (status == ABUT_SUCCESS) {
    status = make_one(0, ABUT_SHAPE_BOX, &made);
  }
  if (status == ABUT_SUCCESS) {
    abut_destroy_shape(made);
  }
  return status;
}

static abut_status make_list(void)
{
  abut_shape made[2] = {{0, 0}, {0, 0}};
  shape_list *l;
  abut_status status = make_one(6, ABUT_SHAPE_HULL, &made[0]);
  if (status == ABUT_SUCCESS) {
    status = make_one(0, ABUT_SHAPE_SPHERE, &made[1]);
  }
  if (status == ABUT_SUCCESS) {
    status = shape_list_of(context_get(home), made, 2, &l);
  }
  if (status == ABUT_SUCCESS) {
    status = shape_list_on(l, context_first(context_get(home)));
  }
  for (size_t i = 0; i < 2; ++i) {
    if (made[i].generation) {
      CHECK_OK(abut_destroy_shape(made[i]));
    }
  }
  return status;
}

static abut_status load(void)
{
  abut_shape *shapes;
  size_t count;
  const abut_status status = abut_load_shapes(home, path, &count, &shapes);
  CHECK_EQUAL(count, status == ABUT_SUCCESS ? 2 : 0);
  for (size_t i = 0; i < count; ++i) {
    CHECK_OK(abut_destroy_shape(shapes[i]));
  }
  abut_free(shapes);
  return status;
}

static abut_status load_hull(void)
{
  abut_shape made;
  const abut_status status = abut_load_hull(home, body_path, &made);
  if (status == ABUT_SUCCESS) {
    CHECK_OK(abut_destroy_shape(made));
  } else {
    CHECK(!made.index && !made.generation);
  }
  return status;
}

static abut_status cut(void)
{
  corners c;
  const abut_status status = find_corners(&c, planes, 6);
  CHECK_EQUAL(c.count, status == ABUT_SUCCESS ? 8 : 0);
  corners_free(&c);
  return status;
}

static size_t owned_objects(void)
{
  size_t count = 0;
  for (const owned *o = context_get(home)->newest; o; o = o->next) {
    ++count;
  }
  return count;
}

/* Until nothing fails any more. */
static void each_failure(abut_status (*once)(void), const char *what, long least)
{
  long allowed = 0;
  abut_status status;
  do {
    allocations_fail_after(allowed++);
    status = once();
    allocations_end();
    require(check(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY, "%s gives %s: %s", what,
                  abut_status_name(status), abut_last_error()));
    CHECK_EQUAL(owned_objects(), 0);
  } while (status != ABUT_SUCCESS);
  check(allowed > least, "%s allocates %ld times", what, allowed);
}

int main(void)
{
  folder_make();
  path = write_text("s.json", "[{\"kind\": \"hull\", \"numbers\": [[[0, 0, 0], [1, 2, 3]]]},\n"
                              " {\"kind\": \"cone\", \"numbers\": [[1, 2]], \"radius\": 1}]\n");
  write_text("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n");
  body_path =
    write_text("m.body.json", "{\"mesh\": \"m.obj\", \"aopc\": {\"source\": \"faces\"}}\n");
  if (test_context(ABUT_FLOAT64, &home)) {
    each_failure(make_shapes, "making shapes", 20);
    each_failure(make_list, "making a list", 12);
    each_failure(load, "loading shapes", 12);
    each_failure(load_hull, "loading a hull", 12);
    each_failure(cut, "finding corners", 3);
    CHECK_OK(abut_destroy_context(home));
  }
  folder_remove();
  return check_finish();
}
