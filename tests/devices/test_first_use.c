/* The first use of OpenCL in a process, by several threads at once: test_first_use [PROCESSES]
 *
 * Each process is a fork of this one, which never uses OpenCL itself; its threads list devices,
 * find theirs, open a context, compute a contact and close the context, with no thread before. */
#include "core/scene.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, PROCESSES = 8, SKIPPED = 77 };

static pthread_barrier_t together;

/* Two cubes of 1 m, the second one 0.9 m above the first. */
static abut_status compute(abut_context context, float *nearest)
{
  const float pose1[6] = {0}, pose2[6] = {0, 0, 0.9f};
  abut_pair pair;
  abut_status status = make_cubes(context, &pair);
  if (status == ABUT_SUCCESS) {
    abut_batch batch = abut_default_batch();
    batch.count = 1;
    batch.pose1 = pose1;
    batch.pose2 = pose2;
    batch.reductions.minimum_distance = nearest;
    status = abut_contacts(pair, &batch);
  }
  return status;
}

static abut_status use(uint32_t *device, float *nearest)
{
  abut_context context;
  abut_context_def def = abut_default_context_def();
  size_t count = 0;
  abut_status status = abut_list_devices(NULL, 0, &count);
  status = status ? status : abut_find_device(getenv("ABUT_TEST_DEVICE"), device);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  def.device = *device;
  def.fallback = ABUT_FALLBACK_NONE;
  status = abut_create_context(&def, &context);
  if (status == ABUT_SUCCESS) {
    status = compute(context, nearest);
    const abut_status closed = abut_destroy_context(context);
    status = status ? status : closed;
  }
  return status;
}

/* What a thread does, and what became of it. */
typedef struct work {
  pthread_t thread;
  abut_status status;
  float nearest;
} work;

static void *run(void *user)
{
  work *w = user;
  uint32_t device = 0;
  pthread_barrier_wait(&together);
  w->status = use(&device, &w->nearest);
  if (w->status != ABUT_SUCCESS) {
    printf("a thread: %s\n", abut_last_error());
  }
  return NULL;
}

/* The process's exit status; without such a device every thread says so. */
static int child(void)
{
  work works[THREADS] = {{0}};
  int status = 0, without = 0;
  pthread_barrier_init(&together, NULL, THREADS);
  for (int i = 0; i < THREADS; ++i) {
    if (pthread_create(&works[i].thread, NULL, run, &works[i]) != 0) {
      return 3;
    }
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(works[i].thread, NULL);
    const bool same = isfinite(works[i].nearest) && works[i].nearest == works[0].nearest;
    without += works[i].status == ABUT_ERROR_DEVICE;
    status = works[i].status != ABUT_SUCCESS ? 1 : !same && !status ? 2 : status;
  }
  pthread_barrier_destroy(&together);
  return without == THREADS ? SKIPPED : status;
}

/* PoCL alone, where it lies as on Debian: what is asked of other drivers first puts the threads
 * one behind the other. */
static void choose_drivers(void)
{
  static const char pocl[] = "/etc/OpenCL/vendors/pocl.icd";
  const char *device = getenv("ABUT_TEST_DEVICE");
  if (device && !strcmp(device, "pocl") && access(pocl, R_OK) == 0) {
    setenv("OCL_ICD_VENDORS", pocl, 0);
  }
}

/* Its way of ending, as waitpid tells it. */
static int run_process(void)
{
  int way = -1;
  fflush(stdout);
  const pid_t process = fork();
  if (process == 0) {
    exit(child());
  }
  return process > 0 && waitpid(process, &way, 0) == process ? way : -1;
}

int main(int argc, char **argv)
{
  const int processes = argc > 1 ? atoi(argv[1]) : PROCESSES;
  choose_drivers();
  for (int i = 0; i < processes; ++i) {
    const int way = run_process();
    if (WIFEXITED(way) && WEXITSTATUS(way) == SKIPPED) {
      puts("not run: there is no such device");
      return SKIPPED;
    }
    check(WIFEXITED(way) || WIFSIGNALED(way), "process %d was not run", i);
    check(WIFEXITED(way) && WEXITSTATUS(way) == 0, "process %d ended by signal %d, status %d", i,
          WIFSIGNALED(way) ? WTERMSIG(way) : 0, WIFEXITED(way) ? WEXITSTATUS(way) : 0);
  }
  return check_finish();
}
