/* `gradcheck` of a scene: gradients and tangents of a step, and of a short rollout, against central
 * differences along random directions, by each input of its own. */
#ifndef ABUT_CLI_GRADCHECK_WORLDS_CHECK_UP_H
#define ABUT_CLI_GRADCHECK_WORLDS_CHECK_UP_H

#include "dev/gradcheck/quotients.h"
#include "world/world_inputs.h"

enum { OF_STEP, OF_ROLLOUT, SPANS };

typedef struct worlds_check_up {
  worlds worlds;
  double step;             /* of positions [m, rad]; of others in proportion */
  double *x[WORLD_INPUTS]; /* (worlds, ...) where they begin, with the controls of each world */
  size_t *chosen;          /* of them, which are checked */
  size_t chosen_count;
  uint64_t random; /* state */
  tally gradients[SPANS][WORLD_INPUTS], tangents[SPANS][WORLD_INPUTS];
  size_t bad, checks; /* of derivatives: not confirmed, and all */
} worlds_check_up;

/* Numbers of a world, and of its tangent space. */
size_t input_width(const worlds_check_up *g, int input);
size_t tangent_width(const worlds_check_up *g, int input);

/* Fills the tallies of a span. Springs have no tangents, and directions by them are relative. */
exit_code compare_worlds(worlds_check_up *g, int span);

#endif
