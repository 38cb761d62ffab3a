/* Faults while a batch is computed on the caller's queue, with arrays in the caller's OpenCL
 * memory, whole chunks of which kernels address in place, or not. No other device can do the work:
 * a call fails with the device's error, or it is right to the bit. Either way nothing of it is left
 * but what is the caller's, whose queue works on. Every N-th call, every seventh clSetKernelArg and
 * every N-th allocation fails; under a sanitizer every second allocation, and what is copied in
 * tangents alone, which are copied by rows too. ABUT_TEST_ALL=1 as in test_failures.c and
 * test_failures_create.c. */
#include "failures.h"

#include "core/scene.h"
#include "shim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CODE CL_INVALID_COMMAND_QUEUE /* one that speaks of no memory */
#define FOR_GOOD 1000000000
#define ARGUMENT_STRIDE 7
#define ODD_CHUNK 9 /* poses: those of a later chunk begin where the device cannot address */

/* All are float64. */
enum { POSE1, POSE2, ALONG, P, D, N, ACTIVITY, P_TANGENT, D_TANGENT, GRADIENT, ARRAYS };
static const char *const array_names[ARRAYS] = {"pose1",
                                                "pose2",
                                                "along",
                                                "p",
                                                "d",
                                                "n",
                                                "activity",
                                                "the tangent of p",
                                                "the tangent of d",
                                                "the gradient"};

typedef enum kind { CONTACTS, GRADIENTS, JVP, KINDS } kind;
static const char *const kind_names[KINDS] = {"contacts", "gradient", "jvp"};

typedef struct trial {
  setting setting;
  own_queue own;
  kind call;
  size_t bytes[ARRAYS];
  void *host[ARRAYS]; /* inputs, then what is expected */
  void *got;
  cl_mem memory[ARRAYS];
  uint8_t status[POSES], statuses[POSES]; /* what came, what is expected */
  char name[128];                         /* of the device */
  shim_kind faults;
  long n, last;
  bool parts, copies, rows; /* what has failed: a part of an array, a copy, one of rows */
} trial;

static const char *what(const trial *t)
{
  static const char *const kinds[] = {"call", "argument", "allocation"};
  static char text[256];
  snprintf(text, sizeof text, "%s, chunks of %u: %s %ld%s (%s)", kind_names[t->call],
           t->setting.chunk, kinds[t->faults], t->n,
           t->last > t->n ? " and all after it fail" : " fails", shim_first_failed());
  return text;
}

/* ---- one call ---- */

static abut_status call(const trial *t, const world *w, bool opencl, void *const *at,
                        uint8_t *status)
{
  abut_batch b = abut_default_batch();
  b.count = 2 * t->setting.chunk;
  b.memory = opencl ? ABUT_MEMORY_OPENCL : ABUT_MEMORY_HOST;
  b.poses = ABUT_POSE_QUATERNION;
  b.pose1 = at[POSE1];
  b.pose2 = at[POSE2];
  b.status = status;
  b.d = at[D];
  if (t->call == JVP) {
    const abut_pose_tangents along = {NULL, at[ALONG]};
    const abut_tangents wanted = {.p = at[P_TANGENT], .d = at[D_TANGENT]};
    return abut_jvp(w->pair, ABUT_SAME_PAIR, &b, &along, &wanted);
  }
  if (t->call == GRADIENTS) {
    const abut_gradients gradients = {NULL, at[GRADIENT]};
    return abut_gradient(w->pair, ABUT_SAME_PAIR, &b, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
  }
  b.p = at[P];
  b.n = at[N];
  b.activity = at[ACTIVITY];
  return abut_contacts(w->pair, &b);
}

/* What is expected, before any fault: of host arrays, on the same queue. */
static bool expect(trial *t)
{
  world w;
  abut_layout layout;
  abut_device_info info;
  uint64_t seed = 5;
  if (!CHECK_OK(create_context(&t->setting, &w)) || !CHECK_OK(create_bodies(&w)) ||
      !CHECK_OK(abut_get_layout(w.pair, &layout)) ||
      !CHECK_OK(abut_context_device(w.context, &info))) {
    return false;
  }
  memcpy(t->name, info.name, strcspn(info.name, " "));
  const size_t contacts = layout.contacts;
  const size_t widths[ARRAYS] = {
    7, 7, 7, 3 * contacts, contacts, 3 * contacts, contacts, 3 * contacts, contacts, 7};
  for (int i = 0; i < ARRAYS; ++i) {
    t->bytes[i] = POSES * widths[i] * sizeof(double);
    t->host[i] = malloc(t->bytes[i]);
    memset(t->host[i], 0x5a, t->bytes[i]);
  }
  double *poses[2] = {t->host[POSE1], t->host[POSE2]}, *along = t->host[ALONG];
  for (size_t i = 0; i < POSES; ++i) {
    random_pose(&seed, 0.2, &poses[0][7 * i]);
    random_pose(&seed, 0.4, &poses[1][7 * i]);
  }
  poses[1][7 * 9] = NAN;
  for (size_t i = 0; i < POSES * 7; ++i) {
    along[i] = sin((double)i);
  }
  memset(t->statuses, 0x5a, sizeof t->statuses);
  check_ok(call(t, &w, false, t->host, t->statuses), kind_names[t->call]);
  return CHECK_OK(abut_destroy_context(w.context));
}

/* ---- the caller's arrays ---- */

static void clear_outputs(trial *t)
{
  memset(t->status, 0x5a, sizeof t->status);
  for (int i = P; i < ARRAYS; ++i) {
    memset(t->got, 0x5a, t->bytes[i]);
    clEnqueueWriteBuffer(t->own.queue, t->memory[i], CL_TRUE, 0, t->bytes[i], t->got, 0, NULL,
                         NULL);
  }
}

static bool make_arrays(trial *t)
{
  size_t most = 0;
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < ARRAYS && code == CL_SUCCESS; ++i) {
    most = t->bytes[i] > most ? t->bytes[i] : most;
    t->memory[i] = clCreateBuffer(t->own.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  t->bytes[i], t->host[i], &code);
  }
  t->got = malloc(most);
  shim_forget_live(); /* what is the caller's */
  return check(code == CL_SUCCESS, "no memory: %d", code);
}

static void free_arrays(trial *t)
{
  for (int i = 0; i < ARRAYS; ++i) {
    clReleaseMemObject(t->memory[i]);
    free(t->host[i]);
  }
  free(t->got);
}

static void judge_arrays(trial *t)
{
  for (int i = 0; i < ARRAYS; ++i) {
    clEnqueueReadBuffer(t->own.queue, t->memory[i], CL_TRUE, 0, t->bytes[i], t->got, 0, NULL, NULL);
    check(!memcmp(t->got, t->host[i], t->bytes[i]), "%s: %s differs", what(t), array_names[i]);
  }
  check(!memcmp(t->status, t->statuses, POSES), "%s: statuses differ", what(t));
}

/* ---- one fault ---- */

/* What only asks or lets go, or memory that could be shared, in whose place the device's own does:
 * that it fails may go unnoticed, or make a cl_mem look like none. */
static bool may_go_unnoticed(const char *name)
{
  static const char *const names[] = {"clGetMemObjectInfo", "clGetDeviceInfo", "clGetPlatformInfo",
                                      "clFinish"};
  bool found = !strncmp(name, "clRelease", 9) || shim_has_substitute(name);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    found = found || !strcmp(name, names[i]);
  }
  return found;
}

static void judge_failure(const trial *t, abut_status status)
{
  const char *words = abut_last_error();
  if (t->faults == SHIM_ALLOCATIONS) {
    check(status == ABUT_ERROR_MEMORY && *words, "%s: gives %d: %s", what(t), status, words);
  } else if (status == ABUT_ERROR_ARGUMENT) {
    check(!strcmp(shim_first_failed(), "clGetMemObjectInfo") &&
            strstr(words, "is not a cl_mem of the queue's cl_context"),
          "%s: gives %d: %s", what(t), status, words);
  } else {
    check(status == CODE && strstr(words, t->name), "%s: gives %d: %s", what(t), status, words);
  }
}

static void judge_device(const trial *t, const world *w, abut_status status)
{
  abut_device_report reports[2];
  size_t count = 0;
  CHECK_OK(abut_context_devices(w->context, reports, 2, &count));
  check(count == 1, "%s: %zu devices", what(t), count);
  check(reports[0].status == (status == CODE ? status : ABUT_SUCCESS), "%s: the device has %d",
        what(t), reports[0].status);
}

static void judge_left(const trial *t)
{
  long live = 0;
  const char *left = shim_live(&live);
  check(!left, "%s: %ld %s are left", what(t), live, left ? left : "");
  shim_forget_live();
}

static void note(trial *t, const char *name)
{
  t->parts = t->parts || !strcmp(name, "clCreateSubBuffer");
  t->copies = t->copies || !strcmp(name, "clEnqueueCopyBuffer");
  t->rows = t->rows || !strcmp(name, "clEnqueueCopyBufferRect");
}

/* Whether an array's part was made, or copied, as the chunks ask for. */
static void judge_ways(const trial *t)
{
  const bool odd = t->setting.chunk == ODD_CHUNK;
  check(odd || t->parts, "%s: no part of an array was made", what(t));
  check(!odd || t->copies, "%s: nothing was copied", what(t));
  check(t->call != JVP || t->rows, "%s: no rows were copied", what(t));
}

static bool try_fault(trial *t)
{
  world w;
  if (!CHECK_OK(create_context(&t->setting, &w))) {
    return false;
  }
  void *at[ARRAYS];
  memcpy(at, t->memory, sizeof at);
  shim_fail(t->faults, t->n, t->last, CODE);
  abut_status status = create_bodies(&w);
  status = status == ABUT_SUCCESS ? call(t, &w, true, at, t->status) : status;
  const bool came = shim_failed() > 0;
  shim_stop();
  judge_device(t, &w, status);
  if (status == ABUT_SUCCESS) {
    check(!came || t->faults == SHIM_ALLOCATIONS || may_go_unnoticed(shim_first_failed()),
          "%s: succeeds", what(t));
    judge_arrays(t);
  } else {
    judge_failure(t, status);
  }
  note(t, shim_first_failed());
  clear_outputs(t);
  CHECK_OK(abut_destroy_context(w.context));
  judge_left(t);
  return came;
}

static void sweep(trial *t, shim_kind faults, bool for_good)
{
  const long step = faults == SHIM_ALLOCATIONS                ? SANITIZED(2)
                    : faults == SHIM_ARGUMENTS && !test_all() ? ARGUMENT_STRIDE
                                                              : 1; /* see judge_ways */
  t->faults = faults;
  t->n = 1;
  t->last = for_good ? FOR_GOOD : 1;
  while (try_fault(t)) {
    t->n += step;
    t->last = for_good ? FOR_GOOD : t->n;
  }
  printf("%s\n", what(t));
}

static bool sweep_call(kind call_, uint32_t chunk)
{
  static trial t;
  memset(&t, 0, sizeof t);
  if (!find_setting(1, &t.setting)) {
    return false;
  }
  t.setting.chunk = chunk;
  t.call = call_;
  if (open_own(&t.setting, &t.own) && expect(&t) && make_arrays(&t)) {
    clear_outputs(&t);
    sweep(&t, SHIM_CALLS, false);
    if (call_ == CONTACTS) {
      sweep(&t, SHIM_CALLS, true);
    }
    sweep(&t, SHIM_ARGUMENTS, false);
    sweep(&t, SHIM_ALLOCATIONS, false);
    judge_ways(&t);
    free_arrays(&t);
    close_own(&t.own);
    shim_forget_live();
  }
  return true;
}

int main(void)
{
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  if (!test_all()) {
    shim_keep_builds();
  }
  for (int i = 0; i < KINDS; ++i) {
    const bool copied = i == JVP || SANITIZED(2) == 1;
    if (!sweep_call((kind)i, CHUNK) || (copied && !sweep_call((kind)i, ODD_CHUNK))) {
      return 77;
    }
  }
  return check_finish();
}
