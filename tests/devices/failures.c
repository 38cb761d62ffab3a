#include "failures.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool test_all(void)
{
  const char *all = getenv("ABUT_TEST_ALL");
  return all && *all == '1';
}

bool find_setting(uint32_t count, setting *out)
{
  abut_device_choice parts[ABUT_DEVICES_MOST];
  uint32_t pocl = 0;
  size_t found = 0;
  if (abut_find_device("pocl", &pocl) != ABUT_SUCCESS) {
    printf("not run: %s\n", abut_last_error());
    return false;
  }
  *out = (setting){.devices = {{pocl, 0, 0}}, .count = 1};
  if (count == 1) {
    return true;
  }
  if (abut_find_devices("pocl/1", parts, ABUT_DEVICES_MOST, &found) == ABUT_SUCCESS && found > 1) {
    memcpy(out->devices, parts, sizeof out->devices);
    out->count = count;
  } else {
    printf("PoCL alone: it has one core\n");
  }
  return true;
}

static bool find_opencl_device(uint32_t index, cl_device_id *out)
{
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  clGetPlatformIDs(16, platforms, &platform_count);
  for (cl_uint i = 0; i < platform_count; ++i) {
    cl_device_id devices[16];
    cl_uint count = 0;
    clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 16, devices, &count);
    if (index < count) {
      *out = devices[index];
      return true;
    }
    index -= count;
  }
  return false;
}

bool open_own(setting *s, own_queue *q)
{
  cl_device_id device = NULL;
  cl_int code = CL_SUCCESS;
  if (!check(find_opencl_device(s->devices[0].device, &device), "the device is not found")) {
    return false;
  }
  q->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  q->queue = clCreateCommandQueue(q->context, device, 0, &code);
  s->queue = q->queue;
  return check(code == CL_SUCCESS, "no queue: %d", code);
}

void close_own(own_queue *q)
{
  clReleaseCommandQueue(q->queue);
  clReleaseContext(q->context);
}

/* Keeps some elements of each kind, so that every kernel has work. */
abut_smoothing smoothing_of_pair(void)
{
  abut_smoothing s = abut_default_smoothing();
  s.edges[0] = s.edges[1] = 3;
  s.vertices[0] = s.vertices[1] = 4;
  return s;
}

abut_status create_context(const setting *s, world *out)
{
  abut_context_def def = abut_default_context_def();
  memset(out, 0, sizeof *out);
  def.opencl_queue = s->queue;
  def.devices = s->queue ? NULL : s->devices;
  def.device_count = s->queue ? 0 : s->count;
  def.fallback = s->fallback;
  def.timeout = s->timeout;
  def.precision = ABUT_FLOAT64;
  def.chunk = s->chunk ? s->chunk : CHUNK;
  return abut_create_context(&def, &out->context);
}

abut_status create_bodies(world *w)
{
  static const double halves[2][3] = {{0.5, 0.4, 0.3}, {0.3, 0.3, 0.6}};
  abut_smoothing smoothing = smoothing_of_pair();
  memset(w->bodies, 0, sizeof w->bodies);
  w->pair = w->other = (abut_pair){0, 0};
  for (int i = 0; i < 2; ++i) {
    double vertices[24];
    abut_body_def def;
    cube_def(halves[i], vertices, &def);
    const abut_superquadric solid = {{halves[i][0], halves[i][1], halves[i][2]},
                                     {0.1, 0.1},
                                     {0, 0, 0},
                                     {1, 0, 0, 0},
                                     ABUT_ADD};
    def.superquadrics = &solid;
    def.superquadric_count = 1;
    const abut_status status = abut_create_body(w->context, &def, &w->bodies[i]);
    if (status != ABUT_SUCCESS) {
      return status;
    }
  }
  const abut_status status = abut_create_pair(w->bodies[0], w->bodies[1], &smoothing, &w->pair);
  smoothing.edges[1] = 2;
  smoothing.vertices[0] = smoothing.vertices[1] = 6; /* larger in some buffers, smaller in others */
  smoothing.select = ABUT_SELECT_GATE;
  return status == ABUT_SUCCESS
           ? abut_create_pair(w->bodies[1], w->bodies[0], &smoothing, &w->other)
           : status;
}

void destroy_bodies(world *w)
{
  if (w->pair.generation) {
    CHECK_OK(abut_destroy_pair(w->pair));
  }
  if (w->other.generation) {
    CHECK_OK(abut_destroy_pair(w->other));
  }
  for (int i = 0; i < 2; ++i) {
    if (w->bodies[i].generation) {
      CHECK_OK(abut_destroy_body(w->bodies[i]));
    }
  }
}

/* ---- answers ---- */

void *room(answer *a, size_t count, size_t size, double tolerance)
{
  const size_t i = a->array_count++;
  const size_t offset = (a->used + 15) / 16 * 16;
  if (i >= ARRAYS_MOST || offset + count * size > sizeof a->bytes) {
    check(false, "an answer is too large");
    exit(check_finish());
  }
  a->arrays[i].offset = offset;
  a->arrays[i].count = count;
  a->arrays[i].size = size;
  a->arrays[i].tolerance = tolerance;
  a->used = offset + count * size;
  memset(a->bytes + offset, 0, count * size);
  return a->bytes + offset;
}

void start_answer(answer *a)
{
  a->array_count = a->used = a->failures = a->rejected = 0;
}

bool same_answer(const answer *a, const answer *b, const char *what)
{
  bool same =
    check(a->array_count == b->array_count && a->used == b->used && a->rejected == b->rejected,
          "%s: answers of other sizes", what);
  for (size_t i = 0; same && i < a->array_count; ++i) {
    const size_t at = a->arrays[i].offset;
    same = check(!memcmp(a->bytes + at, b->bytes + at, a->arrays[i].count * a->arrays[i].size),
                 "%s: array %zu differs", what, i);
  }
  return same;
}

static double largest_difference(const answer *a, const answer *b, size_t i)
{
  double worst = 0.0;
  for (size_t k = 0; k < a->arrays[i].count; ++k) {
    double x, y;
    memcpy(&x, a->bytes + a->arrays[i].offset + k * sizeof x, sizeof x);
    memcpy(&y, b->bytes + a->arrays[i].offset + k * sizeof y, sizeof y);
    worst = fabs(x - y) <= worst ? worst : fabs(x - y); /* a NaN stays */
  }
  return worst;
}

bool near_answer(const answer *a, const answer *b, const char *what)
{
  bool near =
    check(a->array_count == b->array_count && a->used == b->used && a->rejected == b->rejected,
          "%s: answers of other sizes", what);
  for (size_t i = 0; near && i < a->array_count; ++i) {
    if (a->arrays[i].tolerance > 0.0) {
      const double worst = largest_difference(a, b, i);
      near = check(worst <= a->arrays[i].tolerance, "%s: array %zu differs by %g", what, i, worst);
    }
  }
  return near;
}

bool find_expected(const task *of, uint32_t devices, setting *s, answer *expected)
{
  world w;
  if (!find_setting(devices, s)) {
    return false;
  }
  if (CHECK_OK(create_context(s, &w)) && CHECK_OK(create_bodies(&w))) {
    check_ok(of->run(&w, expected), of->name);
    CHECK_OK(abut_destroy_context(w.context));
  }
  return true;
}

void warm_up(const task *of, world *w, answer *expected)
{
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(create_bodies(w));
    check_ok(of->run(w, expected), of->name);
    destroy_bodies(w);
  }
}
