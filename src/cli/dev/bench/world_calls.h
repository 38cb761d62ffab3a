/* The calls on a scene's worlds that `bench` times. */
#ifndef ABUT_CLI_BENCH_WORLD_CALLS_H
#define ABUT_CLI_BENCH_WORLD_CALLS_H

#include "dev/bench/bench.h"
#include "world/worlds.h"

#define CALLS_KEPT 1024

typedef enum world_call {
  WORLD_STEP_CALL,
  WORLD_VJP_CALL,        /* of random cotangents of the final state: by q, v and u */
  WORLD_TRANSITION_CALL, /* A, and B if there are controls */
  WORLD_CONTACTS_CALL,   /* only the sum of activities of the pairs' active contacts */
  WORLD_LIST_CALL,       /* these contacts themselves */
  WORLD_CALLS
} world_call;

extern const char *const world_call_names[WORLD_CALLS];

/* The caller's arrays for calls with `count` worlds; contacts are stored pair by pair. */
typedef struct world_calls {
  abut_scene links;
  const abut_scene_info *info;
  abut_worlds worlds;
  const size_t *whats;
  abut_context context;
  size_t count, what_count, bytes_of_a;
  abut_precision precision;
  void *q, *v, *q_next, *v_next;
  uint32_t *status; /* followed by the solver's iterations */
  void *cotangents, *gradients[3], *matrices;
  void *poses[2], *sums; /* (pairs, count, 7), (count) */
  abut_compact *lists;   /* (pairs) */
  double *on_device; /* (CALLS_KEPT) kernel times of calls that list, the first `listings` [s] */
  size_t listings;
} world_calls;

/* Times some of `whats` in turn, like time_rounds, with ratios to steps. A call takes the caller's
 * `batch` worlds, which repeat those of --states, over `steps` steps and writes results to its
 * memory. */
exit_code time_worlds(const session *s, const options *o, abut_scene links,
                      const abut_scene_info *info, size_t batch, size_t steps, const size_t *whats,
                      size_t count, bench_result *out);

#endif
