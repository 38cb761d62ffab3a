/* Forks of a process that has opened a context: test_fork
 *
 * A child's calls with what its parent has opened are refused at once; where OpenCL was asked in
 * the parent, so is a default context of its own, for drivers would hang; the host path works. A
 * child of a process that has not asked anything is as any process. */
#include "core/scene.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 60 }; /* a child that hangs is ended */

typedef struct opened {
  abut_context context;
  abut_pair pair;
  float nearest;
} opened;

static abut_status open_default(opened *o, bool host)
{
  abut_context_def def = abut_default_context_def();
  abut_status status = host ? abut_find_device("host", &def.device) : ABUT_SUCCESS;
  status = status ? status : abut_create_context(&def, &o->context);
  return status ? status : make_cubes(o->context, &o->pair);
}

static abut_status compute(abut_pair pair, float *nearest)
{
  const float pose1[6] = {0}, pose2[6] = {0, 0, 0.9f};
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.reductions.minimum_distance = nearest;
  return abut_contacts(pair, &batch);
}

static bool is_stale(abut_status status)
{
  return check(status == ABUT_ERROR_HANDLE && strstr(abut_last_error(), "before fork()"), "%d, %s",
               status, abut_last_error());
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void use_of_parent(const opened *o, bool has_opencl)
{
  opened own;
  abut_layout layout;
  abut_device_info infos[2];
  size_t count = 0;
  float nearest = 0.0f;
  const double start = now();
  for (int i = 0; i < 100; ++i) {
    is_stale(compute(o->pair, &nearest));
    is_stale(abut_get_layout(o->pair, &layout));
    is_stale(abut_destroy_pair(o->pair));
    is_stale(abut_destroy_context(o->context));
  }
  check(now() - start < 5.0, "400 calls are refused in %g s", now() - start);
  const abut_status status = open_default(&own, false);
  if (has_opencl) {
    check(status == ABUT_ERROR_DEVICE && strstr(abut_last_error(), "before fork()"), "%d, %s",
          status, abut_last_error());
    CHECK_OK(abut_list_devices(infos, 2, &count));
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(infos[0].type, ABUT_DEVICE_HOST);
  } else if (CHECK_OK(status)) {
    CHECK_OK(abut_destroy_context(own.context));
  }
  REQUIRE_OK(open_default(&own, true));
  CHECK_OK(compute(own.pair, &nearest));
  check(fabsf(nearest - o->nearest) < 1e-4f, "%g, not %g", (double)nearest, (double)o->nearest);
  CHECK_OK(abut_destroy_context(own.context));
}

/* What a child of this process finds, counted by it. */
static void in_child(void (*what)(const opened *, bool), const opened *o, bool has_opencl)
{
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (!child) {
    alarm(SECONDS);
    what(o, has_opencl);
    const int result = check_finish();
    fflush(NULL);
    _exit(result);
  }
  REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child ends with %d", status);
}

static void use_of_its_own(const opened *o, bool has_opencl)
{
  (void)o;
  (void)has_opencl;
  opened own;
  float nearest = 0.0f;
  REQUIRE_OK(open_default(&own, false));
  CHECK_OK(compute(own.pair, &nearest));
  CHECK_OK(abut_destroy_context(own.context));
}

int main(void)
{
  opened o = {0};
  size_t devices = 0;
  in_child(use_of_its_own, NULL, false);
  REQUIRE_OK(open_default(&o, false));
  CHECK_OK(compute(o.pair, &o.nearest));
  REQUIRE_OK(abut_list_devices(NULL, 0, &devices));
  in_child(use_of_parent, &o, devices > 1);
  CHECK_OK(compute(o.pair, &o.nearest)); /* the parent goes on */
  return finish_context(o.context);
}
