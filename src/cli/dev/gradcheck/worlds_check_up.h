/* `gradcheck` for a scene: gradients and tangents of a step, and of a short rollout, compared with
 * central differences along random directions, for each input separately. */
#ifndef ABUT_CLI_GRADCHECK_WORLDS_CHECK_UP_H
#define ABUT_CLI_GRADCHECK_WORLDS_CHECK_UP_H

#include "dev/gradcheck/quotients.h"
#include "world/world_inputs.h"

enum { OF_STEP, OF_ROLLOUT, SPANS };

typedef struct worlds_check_up {
  worlds worlds;
  double step;             /* for positions [m, rad]; for other inputs in proportion */
  double *x[WORLD_INPUTS]; /* (worlds, ...) initial values, with the controls of each world */
  size_t *chosen;          /* indices of the checked worlds */
  size_t chosen_count;
  uint64_t random; /* state of the random numbers */
  tally gradients[SPANS][WORLD_INPUTS], tangents[SPANS][WORLD_INPUTS];
  size_t bad, checks; /* derivatives: not confirmed, and total */
} worlds_check_up;

/* Numbers per world, and per world in its tangent space. */
size_t input_width(const worlds_check_up *g, int input);
size_t tangent_width(const worlds_check_up *g, int input);

/* Fills the tallies of a span. Springs have no tangents, and their directions are relative. */
exit_code compare_worlds(worlds_check_up *g, int span);

#endif
