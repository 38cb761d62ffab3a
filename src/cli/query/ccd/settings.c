#include "query/ccd/ccd.h"

/* Bounds: lengths [m], and `keep`, which must be below 1. */
#define LENGTH_MOST 1e9
#define KEEP_MOST 0.999

/* In the order of abut_ccd_motion. */
static const char *const motion_words[] = {"linear", "arc"};
#define MOTIONS (sizeof motion_words / sizeof *motion_words)

static exit_code read_center(const ccd *c, option_id id, double center[3])
{
  if (c->o->value[id] && c->batch.motion != ABUT_CCD_ARC) {
    return usage_error(c->o->command, "%s works only with --motion arc", option_name(id));
  }
  return option_reals(c->o, id, 3, center);
}

static exit_code read_motion(ccd *c)
{
  size_t motion = c->batch.motion;
  CLI_TRY(option_word(c->o, OPTION_MOTION, motion_words, MOTIONS, &motion));
  c->batch.motion = (abut_ccd_motion)motion;
  CLI_TRY(read_center(c, OPTION_CENTER1, c->batch.center1));
  return read_center(c, OPTION_CENTER2, c->batch.center2);
}

exit_code ccd_read_settings(ccd *c)
{
  const options *o = c->o;
  size_t iterations = c->batch.iterations_most;
  CLI_TRY(read_motion(c));
  CLI_TRY(option_real(o, OPTION_SEPARATION, 0.0, LENGTH_MOST, &c->batch.separation));
  CLI_TRY(option_real(o, OPTION_KEEP, 0.0, KEEP_MOST, &c->batch.keep));
  CLI_TRY(option_real(o, OPTION_TOLERANCE, 0.0, LENGTH_MOST, &c->batch.tolerance));
  CLI_TRY(option_whole(o, OPTION_ITERATIONS, 1, 1000000, &iterations));
  c->batch.iterations_most = (uint32_t)iterations;
  c->derives = o->value[OPTION_GRADIENT] != NULL;
  return EXIT_GOOD;
}
