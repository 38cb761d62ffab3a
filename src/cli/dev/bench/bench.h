/* What `bench` times, and on which poses. */
#ifndef ABUT_CLI_BENCH_BENCH_H
#define ABUT_CLI_BENCH_BENCH_H

#include "core/timing.h"
#include "pair/random_poses.h"

/* Distinct random poses; longer batches repeat them. */
#define BENCH_POSES 1024

/* The pair of `bench` and `tune` without operands. which: 0 or 1. */
exit_code create_figure(abut_context context, int which, abut_body *body);

typedef enum bench_what {
  BENCH_FORWARD,       /* p, d, n and activity */
  BENCH_MEAN_GRADIENT, /* of the mean distance, and nothing else */
  BENCH_VJP,           /* of random cotangents of all four, and nothing else */
  BENCH_JVP,           /* all four along one random tangent a pose */
  BENCH_HESSIAN,       /* the mean distance's gradient, and its Hessian times such a tangent */
  BENCH_LIST,          /* active contacts with p, d, n, activity, and nothing else */
  BENCH_LIST_VJP,      /* of random cotangents of all four of such a list, which is given */
  BENCH_JACOBIAN,      /* such a list with Jacobian blocks, which grows */
  BENCH_FULL_HESSIAN,  /* the mean distance's gradient and whole Hessian, of both bodies */
  BENCH_WHATS
} bench_what;

extern const char *const bench_names[BENCH_WHATS];

#define SOLVED_WAYS 6 /* of abut_lcp_how */

/* What a scene's steps ask of a device: means over worlds and solves, by abut_world_count without
 * the first. */
typedef struct step_counts {
  bool some; /* they were counted: of contacts that a step finds */
  double of[ABUT_WORLD_COUNTS - 1];
  double launches; /* of kernels, a step of the whole batch */
  double bytes;    /* a world */
} step_counts;

typedef struct bench_result {
  double entries;    /* a pose, of what lists active contacts; below 0 of all else */
  timing time;       /* its ratio is to forward, or a step */
  double on_device;  /* [s] of it that kernels took, of what lists a scene's contacts; else 0 */
  double iterations; /* a world's, of the solver in the last step; below 0 of what has none */
  size_t solved[SOLVED_WAYS]; /* of hard contacts in place of these: worlds, by how it was solved */
  double threshold;           /* of these, their least activity */
  step_counts counts;         /* of steps of a scene alone */
} bench_result;

/* The caller's arrays of calls with `poses.count` poses. */
typedef struct bench_memory {
  abut_batch poses; /* without outputs */
  void *pose[2], *tangent[2], *gradient[2], *product[2];
  void *hessian;
  char *contacts, *cotangents; /* p, n, d, activity of all poses, one behind the other */
  uint32_t *places;            /* (N C, 4) pose, slot and features of lists */
  size_t numbers;              /* N C: how many d there are */
  size_t listed;               /* of them active, where their VJP is asked for */
} bench_memory;

/* `count` poses, which repeat those of `poses`. Without `derivatives`, tangents, gradients,
 * products and cotangents are NULL. Close it after a failure, too. */
exit_code bench_memory_open(bench_memory *m, const session *s, const abut_poses *poses,
                            size_t count, bool derivatives);
void bench_memory_close(bench_memory *m);
/* One call; `what` is a bench_what. */
abut_status bench_call(const session *s, const bench_memory *m, size_t what);

/* Times some of `what` by turns. A call goes from the caller's `batch` poses, which repeat those of
 * `poses`, to results in its memory. */
exit_code time_calls(const session *s, const abut_poses *poses, size_t batch, const size_t *whats,
                     size_t count, bench_result *out);

/* `bench` of a scene's worlds: worlds.c. */
bool is_scene_file(const char *path);
exit_code bench_worlds(const options *o);

#endif
