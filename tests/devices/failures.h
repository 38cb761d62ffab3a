/* What the tests of failing devices compute: a small pair of boxes over a few poses, by every kind
 * of call, and how answers are compared. */
#ifndef ABUT_TESTS_FAILURES_H
#define ABUT_TESTS_FAILURES_H

#include "support/check.h"
#include <CL/cl.h>
#include <abut/world.h>

#define POSES 48
#define CHUNK 16      /* poses */
#define BLOCK_POSES 2 /* of Jacobians */

/* A context, and what is made in it. */
typedef struct world {
  abut_context context;
  abut_body bodies[2];
  abut_pair pair, other; /* of the bodies, and of them the other way round */
} world;

/* Which devices: PoCL alone, or two parts of it where it has two cores. */
typedef struct setting {
  abut_device_choice devices[2];
  uint32_t count;
  abut_fallback fallback;
  double timeout; /* [s]; 0: the default */
  void *queue;    /* instead of devices, or NULL */
  uint32_t chunk; /* 0: CHUNK */
} setting;

/* ABUT_TEST_ALL=1: sweeps leave nothing out, and programs are built in every trial. */
bool test_all(void);

/* Of the calls that a sweep takes, every so many under a sanitizer, which is slower and sees the
 * same calls; 1 without one. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED(step) (test_all() ? 1 : (step))
#else
#define SANITIZED(step) 1
#endif

/* False, after a line that says so, where there is no PoCL. */
bool find_setting(uint32_t count, setting *out);

/* A queue that a caller brings, on the setting's first device; the setting's from then on. */
typedef struct own_queue {
  cl_context context;
  cl_command_queue queue;
} own_queue;

bool open_own(setting *s, own_queue *q);
void close_own(own_queue *q);

abut_status create_context(const setting *s, world *out);

/* Of its pair. */
abut_smoothing smoothing_of_pair(void);

/* The rest of a world; on failure destroy_bodies is still due. */
abut_status create_bodies(world *w);
void destroy_bodies(world *w);

/* Arrays that a call has given, side by side. */
#define ARRAYS_MOST 16
typedef struct answer {
  struct {
    size_t offset, count, size; /* elements of `size` bytes */
    double tolerance;           /* between devices of different kinds; < 0: not compared */
  } arrays[ARRAYS_MOST];
  size_t array_count, used;
  size_t failures, rejected;
  char bytes[1 << 20];
} answer;

/* An answer without arrays; zeros for one more of them, of which a program ends where it is too
 * large. */
void start_answer(answer *a);
void *room(answer *a, size_t count, size_t size, double tolerance);

/* A call; `elements` of them are shared among devices, or 0 where one device does it all. */
typedef struct task {
  const char *name;
  abut_status (*run)(const world *w, answer *out);
  size_t elements;
  long stride;    /* every so many faults are swept */
  long sanitized; /* of these, under a sanitizer */
  long launches;  /* as many there are at least */
} task;

extern const task tasks[];
enum { TASKS = 38 };
const task *task_named(const char *name);

/* A scene of two boxes on a floor, in touch. */
abut_status load_boxes(const world *w, abut_scene *out);

/* The tasks "worlds" and "worlds-vjp", and the same of hard contacts. */
abut_status run_worlds(const world *w, answer *out);
abut_status run_worlds_vjp(const world *w, answer *out);
abut_status run_hard_worlds(const world *w, answer *out);
abut_status run_hard_worlds_vjp(const world *w, answer *out);

/* The task "worlds-contacts": which automatic pairs may touch, and their contacts. */
abut_status run_world_contacts(const world *w, answer *out);

/* The task "worlds-distances": poses of links and distances of pairs, with their gradients. */
abut_status run_world_distances(const world *w, answer *out);

/* The tasks "spring", "worlds-springs" and "worlds-springs-vjp". */
abut_status run_spring(const world *w, answer *out);
abut_status run_spring_worlds(const world *w, answer *out);
abut_status run_spring_worlds_vjp(const world *w, answer *out);

/* The tasks "closest", "closest-vjp" and "closest-zeroth". */
abut_status run_closest(const world *w, answer *out);
abut_status run_closest_vjp(const world *w, answer *out);
abut_status run_closest_zeroth(const world *w, answer *out);

/* The tasks "ccd-queries", "ccd-queries-gradient", "ccd" and "ccd-gradient". */
abut_status run_ccd_queries(const world *w, answer *out);
abut_status run_ccd_queries_gradient(const world *w, answer *out);
abut_status run_ccd(const world *w, answer *out);
abut_status run_ccd_gradient(const world *w, answer *out);

/* Reads a scene for a task, and checks that nothing of it is left. */
abut_status run_scene(const world *w, answer *out, const char *path,
                      abut_status (*run)(abut_scene scene, answer *out));

/* What a task gives where nothing fails. False, after a line that says so, without PoCL. */
bool find_expected(const task *of, uint32_t devices, setting *s, answer *expected);

/* The same in a context that stays, on fresh bodies, until all is built on each device. */
void warm_up(const task *of, world *w, answer *expected);

bool same_answer(const answer *a, const answer *b, const char *what);

/* Within the tolerances of docs/dev/spec.md, section 9. */
bool near_answer(const answer *a, const answer *b, const char *what);

#endif
