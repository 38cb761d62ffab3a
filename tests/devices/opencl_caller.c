#include "opencl_caller.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

abut_precision precision;

caller me;

bool check_cl(cl_int code, const char *what)
{
  return check(code == CL_SUCCESS, "%s gives %d", what, code);
}

static bool same_name(cl_platform_id platform, cl_device_id device)
{
  char name[256] = "", of[256] = "";
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof of, of, NULL);
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
  return !strncmp(of, me.info.platform, sizeof me.info.platform - 1) &&
         !strncmp(name, me.info.name, sizeof me.info.name - 1);
}

bool find_device(void)
{
  const char *wanted = getenv("ABUT_TEST_DEVICE");
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  size_t there = 0;
  if (abut_find_device(wanted ? wanted : "pocl", &me.index) != ABUT_SUCCESS) {
    printf("not run: %s\n", abut_last_error());
    return false;
  }
  abut_device_info infos[64];
  CHECK_OK(abut_list_devices(infos, 64, &there));
  me.info = infos[me.index];
  clGetPlatformIDs(16, platforms, &platform_count);
  for (cl_uint i = 0; i < platform_count && i < 16; ++i) {
    cl_device_id devices[16];
    cl_uint count = 0;
    clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 16, devices, &count);
    for (cl_uint k = 0; k < count && k < 16; ++k) {
      if (same_name(platforms[i], devices[k])) {
        me.platform = platforms[i];
        me.device = devices[k];
        return precision == ABUT_FLOAT32 || me.info.has_float64;
      }
    }
  }
  printf("not run: %s is no OpenCL device\n", me.info.name);
  return false;
}

cl_context new_context(void)
{
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              (cl_context_properties)me.platform, 0};
  cl_int code = CL_SUCCESS;
  const cl_context context = clCreateContext(properties, 1, &me.device, NULL, NULL, &code);
  check_cl(code, "clCreateContext");
  return context;
}

cl_mem new_memory(cl_context context, size_t bytes, const void *from)
{
  cl_int code = CL_SUCCESS;
  void *copy = malloc(bytes); /* OpenCL 1.2 takes no const */
  memset(copy, 0xa5, bytes);
  if (from) {
    memcpy(copy, from, bytes);
  }
  const cl_mem memory =
    clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, copy, &code);
  check_cl(code, "clCreateBuffer");
  free(copy);
  return memory;
}

references count_references(const references *wanted)
{
  references r = {0, 0};
  for (int i = 0; i < 200; ++i) {
    const struct timespec pause = {0, 10000000};
    clGetContextInfo(me.context, CL_CONTEXT_REFERENCE_COUNT, sizeof r.context, &r.context, NULL);
    clGetCommandQueueInfo(me.queue, CL_QUEUE_REFERENCE_COUNT, sizeof r.queue, &r.queue, NULL);
    if (!wanted || (r.context == wanted->context && r.queue == wanted->queue)) {
      break;
    }
    nanosleep(&pause, NULL);
  }
  return r;
}

/* ---- worlds ---- */

abut_context_def def_of(bool mine, uint32_t chunk)
{
  abut_context_def def = abut_default_context_def();
  const char *lanes = getenv("ABUT_TEST_LANES");
  def.device = me.index;
  def.opencl_queue = mine ? me.queue : NULL;
  def.precision = precision;
  def.lanes = lanes ? (uint32_t)atoi(lanes) : 0;
  def.chunk = chunk;
  return def;
}

bool world_open(bool mine, uint32_t chunk, world *w)
{
  const abut_context_def def = def_of(mine, chunk);
  abut_smoothing smoothing;
  abut_body bodies[2];
  uint64_t seed = 20;
  if (!CHECK_OK(abut_create_context(&def, &w->context)) ||
      !random_body(w->context, &seed, &bodies[0]) || !random_body(w->context, &seed, &bodies[1]) ||
      !CHECK_OK(abut_fit_smoothing(bodies[0], bodies[1], &smoothing))) {
    return false;
  }
  smoothing.edges[0] = smoothing.edges[1] = 3;
  smoothing.vertices[1] = 4;
  if (!CHECK_OK(abut_create_pair(bodies[0], bodies[1], &smoothing, &w->pair))) {
    return false;
  }
  w->pairs[0] = w->pair;
  smoothing.vertices[1] = 2;
  smoothing.edges[1] = 4;
  bool well = CHECK_OK(abut_create_pair(bodies[1], bodies[0], &smoothing, &w->pairs[2]));
  smoothing.edge_contacts = ABUT_EDGES_FIELD;
  return well && CHECK_OK(abut_create_pair(bodies[1], bodies[0], &smoothing, &w->pairs[1]));
}

/* ---- arrays ---- */

static size_t width_of(int array, size_t contacts)
{
  const bool wide = array >= BARS && (array < GRADIENT || array >= OUT);
  return wide ? array % 2 ? contacts : 3 * contacts : 6;
}

void host_arrays(arrays *a, size_t count, size_t contacts)
{
  uint64_t seed = 9;
  memset(a, 0, sizeof *a);
  a->count = count;
  a->contacts = contacts;
  for (int i = 0; i < ARRAYS; ++i) {
    const size_t numbers = count * width_of(i, contacts);
    a->bytes[i] = numbers * real_size(precision);
    a->at[i] = malloc(a->bytes[i]);
    for (size_t k = 0; k < numbers; ++k) {
      const bool none = i == POSE && k / 6 % 32 == 3;
      real_put(a->at[i], precision, k, none ? (double)INFINITY : random_uniform(&seed) - 0.5);
    }
  }
}

void device_arrays(arrays *a, const arrays *host)
{
  *a = *host;
  a->memory = ABUT_MEMORY_OPENCL;
  for (int i = 0; i < ARRAYS; ++i) {
    a->at[i] = new_memory(me.context, host->bytes[i], i < TANGENTS ? host->at[i] : NULL);
  }
}

bool is_held_once(cl_mem memory)
{
  cl_uint times = 0;
  for (int i = 0; i < 200 && times != 1; ++i) {
    const struct timespec pause = {0, i ? 10000000 : 0};
    nanosleep(&pause, NULL);
    clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof times, &times, NULL);
  }
  return times == 1;
}

void free_arrays(arrays *a)
{
  for (int i = 0; i < ARRAYS; ++i) {
    if (a->memory == ABUT_MEMORY_OPENCL) {
      check(is_held_once(a->at[i]), "array %d is held by others", i);
      check_cl(clReleaseMemObject(a->at[i]), "clReleaseMemObject");
    } else {
      free(a->at[i]);
    }
  }
}

/* ---- calls ---- */

abut_batch batch_of(arrays *a)
{
  abut_batch b = abut_default_batch();
  b.count = a->count;
  b.memory = a->memory;
  b.pose1 = a->at[POSE];
  b.pose2 = a->at[POSE + 1];
  b.status = a->status;
  b.pairs = a->pairs;
  b.pair_count = a->pairs ? 3 : 0;
  b.pair = a->pairs ? a->pair : NULL;
  return b;
}

abut_status contacts(abut_pair pair, arrays *a, bool reduced)
{
  abut_batch b = batch_of(a);
  b.p = a->at[OUT];
  b.d = a->at[OUT + 1];
  b.n = a->at[OUT + 2];
  b.activity = a->at[OUT + 3];
  b.reductions.energy = reduced ? a->reduced : NULL;
  return abut_contacts(pair, &b);
}

abut_status call(abut_pair pair, arrays *a, int which)
{
  abut_batch b = batch_of(a);
  void **at = a->at;
  const abut_pose_tangents along = {at[ALONG], at[ALONG + 1]};
  const abut_gradients gradients = {at[GRADIENT], at[GRADIENT + 1]};
  const abut_gradients products = {at[PRODUCT], at[PRODUCT + 1]};
  const abut_cotangents bars = {.p = at[BARS],
                                .d = at[BARS + 1],
                                .n = at[BARS + 2],
                                .activity = at[BARS + 3]};
  const abut_tangents tangents = {.p = at[TANGENTS],
                                  .d = at[TANGENTS + 1],
                                  .n = at[TANGENTS + 2],
                                  .activity = at[TANGENTS + 3]};
  if (which == 0) {
    return contacts(pair, a, true);
  }
  b.d = which % 2 ? at[OUT + 1] : NULL; /* values beside derivatives */
  if (which == 1) {
    return abut_vjp(pair, ABUT_SAME_PAIR, &b, &bars, &gradients);
  }
  if (which == JVP) {
    return abut_jvp(pair, ABUT_SAME_PAIR, &b, &along, &tangents);
  }
  if (which < 7) {
    return abut_gradient(pair, ABUT_SAME_PAIR, &b, (abut_reduction)(which - 3), &gradients);
  }
  if (which < 11) {
    return abut_hessian_product(pair, &b, (abut_reduction)(which - 7), &along, &gradients,
                                &products);
  }
  if (which == 12) { /* either part of a cotangent may be missing */
    const abut_cotangents values = {.p = at[BARS], .n = at[BARS + 2], .activity = at[BARS + 3]};
    const abut_cotangents of_bars = {.p = at[BARS], .d = at[BARS + 1], .activity = at[BARS + 3]};
    return abut_vjp_tangent(pair, &b, &values, &of_bars, &along, &gradients, &products);
  }
  return abut_hessian(pair, &b, ABUT_REDUCE_SOFT_MINIMUM, ABUT_BODY_2, &gradients, at[OUT]);
}
