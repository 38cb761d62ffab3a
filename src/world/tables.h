/* A scene as the tables that kernels read, whose layout is cl/geometry/world.h. */
#ifndef ABUT_WORLD_TABLES_H
#define ABUT_WORLD_TABLES_H

#include "geometry/world.h"
#include "scene/constants.h"
#include "scene/definition.h"
#include <limits.h>

#define TABLES_LANES_MOST 16 /* No device has more lanes. */

/* The most slots of contacts that a world may have: kernels count the CONTACT_PLANES numbers of all
 * of them in int. */
#define TABLES_SLOTS_MOST ((size_t)INT_MAX / CONTACT_PLANES)

/* The contacts of one pair between the same two links; link WORLD is the world. A scene's own
 * groups are its pairs, and then those of tiles (world/tiles.h); given contacts of one pair may be
 * of several groups. */
typedef struct contact_group {
  int link[2]; /* that of body 1, that of body 2; of given contacts owner and opposing */
  int pair;
  size_t contacts; /* how many slots of contacts a world has for it */
  size_t slot;     /* the first slot of its pair, among those of all pairs of the scene */
  bool is_tile;    /* of a pair that is cut into several groups: it is not the first of these */
  bool given;      /* by the caller */
} contact_group;

typedef struct scene_tables {
  world_sizes sizes;
  int *ints;          /* (int_count) the tables of ints, at sizes.at_links to at_group_dofs */
  double *reals;      /* (real_count) WORLD_REALS settings, then tables at at_link_reals to
                         at_springs */
  double *parameters; /* (parameter_count) those of a world that is given none: see PARAMETERS */
  size_t int_count, real_count, parameter_count;
  arena memory;
} scene_tables;

/* Returns how many groups, from the first on, have together no more slots than TABLES_SLOTS_MOST. A
 * group has room for all its contacts, or for `capacity` where that is less and not 0, rounded up
 * to whole lanes. *slots becomes the slots of these groups and, for error texts, of the group that
 * does not fit, if any. */
size_t tables_countable(const contact_group *groups, size_t count, size_t capacity, size_t lanes,
                        size_t *slots);

/* Whether a scene's worlds are refused where their slots are more than TABLES_SLOTS_MOST. Automatic
 * pairs have many more slots than contacts, and the contact model "cone" keeps nothing by slots
 * that its callers do not ask for. */
bool tables_bounds_slots(const scene_def *s);

/* Makes the tables for devices of so many lanes and a solver of this tolerance. Refuses what
 * kernels cannot count in int. *out is empty on failure. */
abut_status tables_make(const scene_def *s, const scene_constants *c, const contact_group *groups,
                        size_t group_count, size_t lanes, double tolerance, scene_tables *out);
void tables_free(scene_tables *m);

/* ---- for contact laws ---- */

/* Returns the sum of the inverse weights of two links (docs/dev/cone-formulas.md, section 5); the
 * world has none. */
double tables_weight(const scene_constants *c, const int link[2]);

/* Whether any joint has a damper, which Euler's step must then take in. */
bool tables_is_damped(const scene_def *s);

/* Group i's row in the table of reals, and in that of ints: see GROUP_... of geometry/world.h. */
double *tables_group(scene_tables *m, int i);
int *tables_group_ints(scene_tables *m, int i);

#endif
