/* The calls that `bench` times, and their poses. */
#ifndef ABUT_CLI_BENCH_BENCH_H
#define ABUT_CLI_BENCH_BENCH_H

#include "core/timing.h"
#include "pair/random_poses.h"

/* Distinct random poses; longer batches repeat them. */
#define BENCH_POSES 1024

/* Creates a body of the pair that `bench` and `tune` use without operands. which: 0 or 1. */
exit_code create_figure(abut_context context, int which, abut_body *body);

typedef enum bench_what {
  BENCH_FORWARD,       /* p, d, n and activity */
  BENCH_MEAN_GRADIENT, /* of the mean distance only */
  BENCH_VJP,           /* of random cotangents of all four, only */
  BENCH_JVP,           /* all four along one random tangent per pose */
  BENCH_HESSIAN,       /* the mean distance's gradient, and its Hessian times such a tangent */
  BENCH_LIST,          /* only active contacts with p, d, n, activity */
  BENCH_LIST_VJP,      /* of random cotangents of all four, for a given list */
  BENCH_JACOBIAN,      /* such a list with Jacobian blocks, which grows */
  BENCH_FULL_HESSIAN,  /* the mean distance's gradient and full Hessian, of both bodies */
  BENCH_WHATS
} bench_what;

extern const char *const bench_names[BENCH_WHATS];

#define SOLVED_WAYS 6 /* values of abut_lcp_how */

/* Work of a scene's steps on a device: means over worlds and solves, by abut_world_count without
 * the first. */
typedef struct step_counts {
  bool some; /* counts are available: for contacts that a step finds itself */
  double of[ABUT_WORLD_COUNTS - 1];
  double launches; /* kernel launches per step of the whole batch */
  double bytes;    /* per world */
} step_counts;

typedef struct bench_result {
  double entries;   /* entries per pose for lists of active contacts; below 0 for everything else */
  timing time;      /* its ratio refers to forward, or to a step */
  double on_device; /* [s] of it spent in kernels, for lists of a scene's contacts; else 0 */
  double iterations; /* per world, of the solver in the last step; below 0 if there is none */
  size_t solved[SOLVED_WAYS]; /* for hard contacts instead: worlds by solution method */
  double threshold;           /* for lists, the lowest activity */
  step_counts counts;         /* only for steps of a scene */
} bench_result;

/* The caller's arrays for calls with `poses.count` poses. */
typedef struct bench_memory {
  abut_batch poses; /* without outputs */
  void *pose[2], *tangent[2], *gradient[2], *product[2];
  void *hessian;
  char *contacts, *cotangents; /* p, n, d, activity of all poses, one after the other */
  uint32_t *places;            /* (N C, 4) pose, slot and features of lists */
  size_t numbers;              /* N C: total number of d */
  size_t listed;               /* number of active ones, if their VJP is timed */
} bench_memory;

/* Prepares `count` poses, which repeat those of `poses`. Without `derivatives`, tangents,
 * gradients, products and cotangents are NULL. Close it after a failure, too. */
exit_code bench_memory_open(bench_memory *m, const session *s, const abut_poses *poses,
                            size_t count, bool derivatives);
void bench_memory_close(bench_memory *m);
/* Makes one call; `what` is a bench_what. */
abut_status bench_call(const session *s, const bench_memory *m, size_t what);

/* Times some of `what` in turn. A call takes the caller's `batch` poses, which repeat those of
 * `poses`, and writes results to its memory. */
exit_code time_calls(const session *s, const abut_poses *poses, size_t batch, const size_t *whats,
                     size_t count, bench_result *out);

/* `bench` for a scene's worlds: worlds.c. */
bool is_scene_file(const char *path);
exit_code bench_worlds(const options *o);

#endif
