/* Counts the commands of calls on a GPU without shared memory: launches, blocking copies and waits.
 * PoCL is presented as that GPU (shim.h). The counts are printed and must stay below bounds.
 *   test_gpu_commands GOLDEN poses|worlds
 *   test_gpu_commands GOLDEN CALL COUNT PARTS SCRATCH
 * GOLDEN: the folder of a pair of bodies. The second form counts one call without bounds: COUNT
 * poses or worlds on a GPU of 1/PARTS of the memory, with SCRATCH MiB for chunks; 0: as the GPU
 * has. */
#include "shim.h"
#include "support/check.h"

#include "engine/self_test/runner.h"
#include <abut/world.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of an H200. */
#define MEMORY ((uint64_t)139 << 30)
#define ALLOCATION ((uint64_t)35 << 30)

enum { BOXES = 10, NQ = 7 * BOXES, NV = 6 * BOXES };

typedef struct gpu_case {
  const char *call;
  size_t count, parts;
  uint64_t scratch;            /* [MiB] */
  long launches, reads, large; /* bounds; see shim_commands */
  long waits;                  /* bounds markers and flushes each */
} gpu_case;

static const char *golden;
static abut_context on_gpu;

/* Self-tests run kernels, and PoCL compiles a kernel when it runs first. */
abut_status __wrap_test_member(context *c, size_t place, module_id module, program_id numbers,
                               bool adjoint, self_test_part part);
abut_status __wrap_test_member(context *c, size_t place, module_id module, program_id numbers,
                               bool adjoint, self_test_part part)
{
  (void)c;
  (void)place;
  (void)module;
  (void)numbers;
  (void)adjoint;
  (void)part;
  return ABUT_SUCCESS;
}

static float *floats(size_t count, float value)
{
  float *out = malloc(count * sizeof *out);
  REQUIRE(out != NULL);
  for (size_t i = 0; i < count; ++i) {
    out[i] = value;
  }
  return out;
}

static void report(const gpu_case *c)
{
  const shim_commands n = shim_count_commands();
  printf(
    "%s, %zu on 1/%zu of the memory: %ld launches, %ld blocking reads, %ld blocking writes, %ld "
    "of these copies above %zu kB, %ld markers, %ld flushes, %.1f MB down, %.1f MB up\n",
    c->call, c->count, c->parts, n.launches, n.reads, n.writes, n.large_copies, SHIM_LARGE >> 10,
    n.markers, n.flushes, 1e-6 * (double)n.down, 1e-6 * (double)n.up);
  check(n.launches > 0 && n.launches <= c->launches, "%s: more than %ld launches", c->call,
        c->launches);
  check(n.reads <= c->reads, "%s: more than %ld blocking reads", c->call, c->reads);
  check(n.large_copies <= c->large, "%s: more than %ld large blocking copies", c->call, c->large);
  check(n.markers <= c->waits && n.flushes <= c->waits, "%s: more than %ld waits", c->call,
        c->waits);
}

/* ---- poses ---- */

typedef struct poses {
  abut_pair pair;
  size_t slots; /* of all poses */
  abut_batch batch;
  float *pose[2], *values, *gradients;
} poses;

static const char *path_of(const char *file)
{
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", golden, file);
  return path;
}

static poses open_poses(size_t count)
{
  poses p = {.batch = abut_default_batch()};
  abut_body bodies[2];
  abut_smoothing smoothing;
  abut_layout layout;
  abut_poses from;
  REQUIRE_OK(abut_load_body(on_gpu, path_of("a.body.json"), &bodies[0]));
  REQUIRE_OK(abut_load_body(on_gpu, path_of("b.body.json"), &bodies[1]));
  REQUIRE_OK(abut_load_smoothing(path_of("smoothing.json"), &smoothing));
  REQUIRE_OK(abut_create_pair(bodies[0], bodies[1], &smoothing, &p.pair));
  REQUIRE_OK(abut_get_layout(p.pair, &layout));
  REQUIRE_OK(abut_load_poses(path_of("poses.npz"), &from));
  const size_t width = from.kind == ABUT_POSE_TWIST ? 6 : 7, all = from.count * width;
  for (int side = 0; side < 2; ++side) {
    const double *rows = side ? from.pose2 : from.pose1;
    p.pose[side] = floats(count * width, 0);
    for (size_t i = 0; i < count * width; ++i) {
      p.pose[side][i] = (float)rows[i % all];
    }
  }
  p.slots = count * layout.contacts;
  p.gradients = floats(2 * 7 * count, 0);
  p.batch.count = count;
  p.batch.poses = from.kind;
  p.batch.pose1 = p.pose[0];
  p.batch.pose2 = p.pose[1];
  abut_free_poses(&from);
  return p;
}

static void close_poses(poses *p)
{
  for (int side = 0; side < 2; ++side) {
    free(p->pose[side]);
  }
  free(p->values);
  free(p->gradients);
}

static abut_status run_poses(poses *p, const char *what)
{
  abut_batch b = p->batch;
  float *v = p->values;
  const abut_gradients to = {p->gradients, p->gradients + 7 * b.count};
  if (strcmp(what, "contacts") == 0) {
    b.p = v;
    b.n = v + 3 * p->slots;
    b.d = v + 6 * p->slots;
    b.activity = v + 7 * p->slots;
    return abut_contacts(p->pair, &b);
  }
  if (strcmp(what, "energy gradient") == 0) {
    return abut_gradient(p->pair, ABUT_SAME_PAIR, &b, ABUT_REDUCE_ENERGY, &to);
  }
  const abut_cotangents bars = {.p = v,
                                .n = v + 3 * p->slots,
                                .d = v + 6 * p->slots,
                                .activity = v + 7 * p->slots};
  return abut_vjp(p->pair, ABUT_SAME_PAIR, &b, &bars, &to);
}

static void count_poses(const gpu_case *c)
{
  poses p = open_poses(c->count);
  p.values = floats(strcmp(c->call, "energy gradient") == 0 ? 0 : 8 * p.slots, 1);
  shim_skip_kernels(true);
  p.batch.count = 1; /* builds, and brings bodies up */
  CHECK_OK(run_poses(&p, c->call));
  p.batch.count = c->count;
  shim_count_commands();
  CHECK_OK(run_poses(&p, c->call));
  report(c);
  shim_skip_kernels(false);
  close_poses(&p);
}

/* ---- worlds ---- */

/* Two columns of boxes of 20 cm side by side on a floor, in touch. All pairs are listed. */
static void write_scene(char *text, size_t room)
{
  size_t at = (size_t)snprintf(
    text, room,
    "{\"timestep\": 0.002, \"links\": [{\"bodies\": [{\"box\": [20, 20, 0.5]}], \"position\": "
    "[0, 0, -0.5]}");
  for (int i = 0; i < BOXES; ++i) {
    at += (size_t)snprintf(text + at, room - at,
                           ", {\"density\": 1000, \"joint\": {\"type\": \"free\"}, \"position\": "
                           "[%g, 0, %g], \"bodies\": [{\"box\": [0.1, 0.1, 0.1]}]}",
                           0.1995 * (i % 2), 0.0995 + 0.199 * (i / 2));
  }
  at += (size_t)snprintf(text + at, room - at, "], \"pairs\": [");
  for (int i = 1; i <= BOXES; ++i) {
    for (int k = 0; k < i; ++k) {
      at += (size_t)snprintf(text + at, room - at, "%s{\"a\": %d, \"b\": %d, \"friction\": 0.8}",
                             i > 1 ? ", " : "", i, k);
    }
  }
  snprintf(text + at, room - at, "]}");
}

static void count_worlds(const gpu_case *c, size_t steps)
{
  char text[16384], path[64];
  abut_scene scene;
  double start[NQ];
  write_scene(text, sizeof text);
  snprintf(path, sizeof path, "boxes-%ld.scene.json", (long)getpid());
  FILE *file = fopen(path, "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  REQUIRE_OK(abut_load_scene(on_gpu, path, &scene));
  remove(path);
  REQUIRE_OK(abut_get_scene_start(scene, start));
  float *q = floats(c->count * NQ, 0), *v = floats(c->count * NV, 0);
  float *to_q = floats(c->count * NQ, 0), *to_v = floats(c->count * NV, 0);
  for (size_t i = 0; i < c->count * NQ; ++i) {
    q[i] = (float)start[i % NQ];
  }
  abut_worlds w = abut_default_worlds();
  w.count = c->count;
  w.q = q;
  w.v = v;
  w.q_next = to_q;
  w.v_next = to_v;
  CHECK_OK(abut_step_worlds(scene, &w));
  w.steps = steps;
  shim_count_commands();
  CHECK_OK(abut_step_worlds(scene, &w));
  report(c);
  free(q);
  free(v);
  free(to_q);
  free(to_v);
}

/* ---- all ---- */

static void run(const gpu_case *c)
{
  abut_context_def def = abut_default_context_def();
  shim_present_gpu(MEMORY / c->parts, ALLOCATION / c->parts);
  if (abut_find_device("gpu", &def.device) != ABUT_SUCCESS) {
    printf("not run: %s\n", abut_last_error());
    exit(77);
  }
  def.precision = ABUT_FLOAT32;
  def.scratch_bytes = c->scratch << 20;
  REQUIRE_OK(abut_create_context(&def, &on_gpu));
  if (strcmp(c->call, "step") == 0) {
    count_worlds(c, 1);
  } else if (strcmp(c->call, "steps") == 0) {
    count_worlds(c, 100);
  } else {
    count_poses(c);
  }
  CHECK_OK(abut_destroy_context(on_gpu));
}

/* Dense arrays: a quarter of 16,384 poses on a quarter of the memory, in as many chunks. */
static const gpu_case poses_cases[] = {
  {"contacts", 4096, 4, 0, 76, 16, 16, 8},
  {"vjp", 4096, 4, 0, 136, 0, 16, 8},
  {"energy gradient", 16384, 1, 0, 39, 0, 2, 1},
  /* what a chunk leaves is read behind its kernels, and waited for once */
  {"contacts", 64, 1, 0, 19, 0, 0, 1},
  {"energy gradient", 1024, 1, 0, 39, 0, 0, 1},
};

/* A 64th of 4,096 worlds with a 64th of an H200's memory for chunks. */
static const gpu_case worlds_cases[] = {
  {"step", 64, 1, 4448 / 64, 48, 1, 0, 2},
  {"steps", 16, 1, 0, 4503, 100, 0, 118},
};

/* Chunks do not change a bit of a gradient. */
static void test_same_bits(void)
{
  enum { POSES = 48 };
  static const uint32_t chunks[] = {0, POSES / 4 + 1};
  float first[2 * 7 * POSES];
  for (int i = 0; i < 2; ++i) {
    abut_context_def def = abut_default_context_def();
    REQUIRE_OK(abut_find_device("gpu", &def.device));
    def.precision = ABUT_FLOAT32;
    def.chunk = chunks[i];
    REQUIRE_OK(abut_create_context(&def, &on_gpu));
    poses p = open_poses(POSES);
    CHECK_OK(run_poses(&p, "energy gradient"));
    if (i == 0) {
      memcpy(first, p.gradients, sizeof first);
      check(first[0] != 0.0F || first[1] != 0.0F, "the gradient is zero");
    }
    check(memcmp(first, p.gradients, sizeof first) == 0, "chunks change the gradient");
    close_poses(&p);
    CHECK_OK(abut_destroy_context(on_gpu));
  }
}

static void run_all(const gpu_case *all, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    run(&all[i]);
  }
}

int main(int count, char **arguments)
{
  const long any = 1000000;
  if (count < 3 || !shim_open()) {
    return 77;
  }
  golden = arguments[1];
  if (count > 5) {
    run(&(gpu_case){arguments[2], strtoul(arguments[3], NULL, 10), strtoul(arguments[4], NULL, 10),
                    strtoull(arguments[5], NULL, 10), any, any, any, any});
  } else if (strcmp(arguments[2], "poses") == 0) {
    run_all(poses_cases, sizeof poses_cases / sizeof *poses_cases);
  } else {
    run_all(worlds_cases, sizeof worlds_cases / sizeof *worlds_cases);
    test_same_bits();
  }
  return check_finish();
}
