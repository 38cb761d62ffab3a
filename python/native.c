/* Additions to the C API for abut's Python module: calls that would be slow in pieces, and the
 * functions that let Python cancel a call. Compiled into the module that cffi writes. */
#include "calls.h"
#include "geometry/outputs.h"
#include "geometry/reductions.h"

/* The table of outputs: names and reals per contact. The first line is for compact lists. */
#define OUTPUT_LINE(member, id, reals) " " #member " " #reals
static const char *abutpy_outputs(void)
{
  return LISTED_OUTPUTS(OUTPUT_LINE, AND_NOTHING) "\n" WHOLE_OUTPUTS(OUTPUT_LINE, AND_NOTHING);
}

/* Names of the reductions with a gradient, by abut_reduction, followed by the others. */
#define REDUCTION_NAME(member, id, word, file, over, bars, reads) #member " "
static const char *abutpy_reductions(void)
{
  return ALL_REDUCTIONS(REDUCTION_NAME);
}

static _Thread_local int inside;

/* Returns whether this thread is in abutpy_go_on. Collected objects must not be destroyed then. */
static bool abutpy_is_inside(void)
{
  return inside > 0;
}

static bool abutpy_say(void *user, const char *what, double share);
static void abutpy_say_building(void *user, const char *what, bool done);
static bool abutpy_check_signals(void); /* a Python function: signal handlers run when it starts */

static bool go_on(void)
{
  ++inside;
  const bool is_well = abutpy_check_signals();
  --inside;
  return is_well;
}

/* Called between chunks. Returns false if a signal handler has raised an exception, such as
 * KeyboardInterrupt, which _native.check raises again. */
static bool abutpy_go_on(size_t done, size_t total, void *user)
{
  (void)user;
  return done >= total || go_on();
}

/* The same between the steps of making a field or a decomposition. */
static bool abutpy_field_goes_on(void *user, const char *what, double share)
{
  (void)user;
  (void)what;
  (void)share;
  return go_on();
}

/* The same while a scene is loaded, with an optional report of progress. */
static bool abutpy_scene_goes_on(void *user, const char *what, double share)
{
  ++inside;
  const bool is_well = abutpy_say(user, what, share);
  --inside;
  return is_well;
}

/* The same for building a context's kernels, in a thread of the library. */
static void abutpy_builds(void *user, const char *what, bool done)
{
  ++inside;
  abutpy_say_building(user, what, done);
  --inside;
}

static void abutpy_set_batch(abut_batch *batch, size_t count, abut_pose_kind kind,
                             const void *pose1, const void *pose2, void *p, void *d, void *n,
                             void *activity, uint8_t *status)
{
  *batch = abut_default_batch();
  batch->count = count;
  batch->poses = kind;
  batch->pose1 = pose1;
  batch->pose2 = pose2;
  batch->p = p;
  batch->d = d;
  batch->n = n;
  batch->activity = activity;
  batch->status = status;
  batch->progress = abutpy_go_on;
}

/* abut_contacts with arrays in host memory. A positive return value is the number of failed devices
 * whose work other devices did. */
static abut_status abutpy_contacts(abut_pair pair, size_t count, abut_pose_kind kind,
                                   const void *pose1, const void *pose2, void *p, void *d, void *n,
                                   void *activity, void *status)
{
  abut_batch batch;
  abutpy_set_batch(&batch, count, kind, pose1, pose2, p, d, n, activity, status);
  const abut_status code = abut_contacts(pair, &batch);
  return code ? code : (abut_status)batch.failures;
}
