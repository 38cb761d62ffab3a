/* What `bench` times of a scene's worlds. */
#ifndef ABUT_CLI_BENCH_WORLD_CALLS_H
#define ABUT_CLI_BENCH_WORLD_CALLS_H

#include "dev/bench/bench.h"
#include "world/worlds.h"

#define CALLS_KEPT 1024

typedef enum world_call {
  WORLD_STEP_CALL,
  WORLD_VJP_CALL,        /* of random cotangents of the state after all steps: by q, v and u */
  WORLD_TRANSITION_CALL, /* A, and B where there are controls */
  WORLD_CONTACTS_CALL,   /* of the pairs' active contacts the sum of activities, and nothing else */
  WORLD_LIST_CALL,       /* these contacts themselves */
  WORLD_CALLS
} world_call;

extern const char *const world_call_names[WORLD_CALLS];

/* The caller's arrays of calls with `count` worlds; of contacts, those of pair after pair. */
typedef struct world_calls {
  abut_scene links;
  const abut_scene_info *info;
  abut_worlds worlds;
  const size_t *whats;
  abut_context context;
  size_t count, what_count, bytes_of_a;
  abut_precision precision;
  void *q, *v, *q_next, *v_next;
  uint32_t *status; /* and behind it the solver's iterations */
  void *cotangents, *gradients[3], *matrices;
  void *poses[2], *sums; /* (pairs, count, 7), (count) */
  abut_compact *lists;   /* (pairs) */
  double *on_device;     /* (CALLS_KEPT) of calls that list, the first `listings` [s] */
  size_t listings;
} world_calls;

/* Times some of `whats` by turns, as time_rounds does, ratios being to steps. A call goes from the
 * caller's `batch` worlds, which repeat those of --states, over `steps` steps to results in its
 * memory. */
exit_code time_worlds(const session *s, const options *o, abut_scene links,
                      const abut_scene_info *info, size_t batch, size_t steps, const size_t *whats,
                      size_t count, bench_result *out);

#endif
