/* The barriers of a step, which on a GPU cost as much as a world's arithmetic: test_barriers
 * KERNELS FOLDER. A copy of the kernels in FOLDER counts the barriers of worlds' kernels at a fixed
 * address, because PoCL's kernels run in the test's own process. 77 where there is no PoCL. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support/check.h"
#include "support/suite_copy.h"

#include <abut/world.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BEGIN "#include \"kernels/begin.h\"\n"
#define ADDRESS 0x500000000000
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
#define COUNTED \
  "(void)(get_local_id(0) ? 0 : atomic_inc((volatile __global int *)" TEXT(ADDRESS) "ul)); "

static const char counting[] = BEGIN "#ifdef __OPENCL_VERSION__\n"
                                     "#undef BARRIER\n"
                                     "#undef BARRIER_GLOBAL\n"
                                     "#define BARRIER " COUNTED "barrier(CLK_LOCAL_MEM_FENCE)\n"
                                     "#define BARRIER_GLOBAL " COUNTED
                                     "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
                                     "#endif\n";

enum { GROUP = 64, MOST = 10 };

static abut_context open_context(const char *kernels)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  def.kernel_directory = kernels;
  def.lanes = 1;
  def.group = GROUP;
  def.fallback = ABUT_FALLBACK_NONE;
  if (abut_find_device("pocl", &def.device) != ABUT_SUCCESS) {
    printf("not run: %s\n", abut_last_error());
    exit(77);
  }
  require(CHECK_OK(abut_create_context(&def, &context)));
  return context;
}

/* A row of boxes on a floor, each in touch with the next. */
static abut_scene load_row(abut_context context, int boxes)
{
  static char text[4096];
  const char *path = "barriers.scene.json";
  abut_scene scene;
  size_t at =
    (size_t)snprintf(text, sizeof text, "{\"links\": [{\"bodies\": [{\"plane\": [9, 9]}]}");
  for (int i = 0; i < boxes; ++i) {
    at += (size_t)snprintf(text + at, sizeof text - at,
                           ", {\"density\": 400, \"joint\": {\"type\": \"free\"}, \"position\": "
                           "[%g, 0, 0.0999], \"bodies\": [{\"box\": [0.1, 0.1, 0.1]}]}",
                           0.1999 * i);
  }
  at += (size_t)snprintf(text + at, sizeof text - at, "], \"pairs\": [{\"a\": 1, \"b\": 0}");
  for (int i = 2; i <= boxes; ++i) {
    at += (size_t)snprintf(text + at, sizeof text - at,
                           ", {\"a\": %d, \"b\": 0}, {\"a\": %d, \"b\": %d}", i, i, i - 1);
  }
  snprintf(text + at, sizeof text - at, "]}");
  FILE *file = fopen(path, "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  require(CHECK_OK(abut_load_scene(context, path, &scene)));
  return scene;
}

/* Each iteration solves one system: for each box two barriers of the factor, one of the forward and
 * two of the backward substitution. The sums of eight active pairs take two barriers, and are
 * computed once per iteration and once per turn of the line search. */
static void test_row(abut_context context, atomic_int *count, int boxes)
{
  abut_scene scene = load_row(context, boxes);
  double start[7 * MOST];
  float q[7 * MOST], v[6 * MOST] = {0}, q_next[7 * MOST], v_next[6 * MOST];
  uint32_t status = 0, iterations = 0;
  abut_worlds w = abut_default_worlds();
  CHECK_OK(abut_get_scene_start(scene, start));
  for (int i = 0; i < 7 * boxes; ++i) {
    q[i] = (float)start[i];
  }
  v[0] = 1.0f;
  w.count = 1;
  w.q = q;
  w.v = v;
  w.q_next = q_next;
  w.v_next = v_next;
  w.status = &status;
  w.iterations = &iterations;
  CHECK_OK(abut_step_worlds(scene, &w)); /* the first call tests the device, too */
  atomic_store(count, 0);
  CHECK_OK(abut_step_worlds(scene, &w));
  CHECK_EQUAL(status, 0);
  const int found = atomic_load(count), loops = (int)iterations + 1,
            most = 5 * boxes + 30 + loops * (5 * boxes + 60);
  check(found >= 5 * boxes && found <= most, "%d boxes, %d iterations: %d barriers, at most %d",
        boxes, (int)iterations, found, most);
  printf("%d boxes, %d iterations: %d barriers, at most %d\n", boxes, (int)iterations, found, most);
  CHECK_OK(abut_destroy_scene(scene));
}

int main(int argc, char **argv)
{
  REQUIRE(argc == 3);
  mkdir(argv[2], 0777);
  require(copy_suite(argv[1], argv[2], "world/suite.cl", BEGIN, counting));
  void *count = mmap((void *)ADDRESS, sizeof(atomic_int), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(count == (void *)ADDRESS);
  abut_context context = open_context(argv[2]);
  test_row(context, count, 1);
  test_row(context, count, MOST);
  CHECK_OK(abut_destroy_context(context));
  return check_finish();
}
