/* A scene as tables for kernels; cl/geometry/world.h defines the layout. */
#ifndef ABUT_WORLD_TABLES_H
#define ABUT_WORLD_TABLES_H

#include "geometry/world.h"
#include "scene/constants.h"
#include "scene/definition.h"
#include <limits.h>

#define TABLES_LANES_MOST 16 /* No device has more lanes. */

/* The most contact slots of a world: kernels count the CONTACT_PLANES numbers of all slots in an
 * int. */
#define TABLES_SLOTS_MOST ((size_t)INT_MAX / CONTACT_PLANES)

/* The contacts of one pair between the same two links; link WORLD is the world. A scene's own
 * groups are its pairs, then those of tiles (world/tiles.h). Given contacts of one pair may form
 * several groups. */
typedef struct contact_group {
  int link[2]; /* of body 1, of body 2; for given contacts the owner and the opposing link */
  int pair;
  size_t contacts; /* the number of contact slots in a world */
  size_t slot;     /* the first slot of its pair among the slots of all pairs */
  bool is_tile;    /* a group of a cut pair, other than its first */
  bool given;      /* by the caller */
} contact_group;

typedef struct scene_tables {
  world_sizes sizes;
  int *ints; /* (int_count) the tables of ints, at sizes.at_links to at_group_dofs */
  double
    *reals; /* (real_count) WORLD_REALS settings, then the tables at_link_reals to at_springs */
  double *parameters; /* (parameter_count) the scene's own parameters, see PARAMETERS */
  size_t int_count, real_count, parameter_count;
  arena memory;
} scene_tables;

/* Returns how many groups, from the first on, fit into TABLES_SLOTS_MOST slots. A group has slots
 * for all its contacts, or for `capacity` if that is smaller and not 0, rounded up to whole lanes.
 * *slots is the total of these groups plus, for error texts, of the first group that does not fit.
 */
size_t tables_countable(const contact_group *groups, size_t count, size_t capacity, size_t lanes,
                        size_t *slots);

/* Whether worlds with more than TABLES_SLOTS_MOST slots are refused. They are not for automatic
 * pairs of the contact model "cone": these have many more slots than contacts, and that law stores
 * data by slot only if the caller wants it. */
bool tables_bounds_slots(const scene_def *s);

/* Makes the tables for devices with `lanes` lanes and a solver with this tolerance. Refuses sizes
 * that kernels cannot count in an int. *out is empty on failure. */
abut_status tables_make(const scene_def *s, const scene_constants *c, const contact_group *groups,
                        size_t group_count, size_t lanes, double tolerance, scene_tables *out);
void tables_free(scene_tables *m);

/* ---- for contact laws ---- */

/* Returns the sum of the inverse weights of two links (docs/dev/cone-formulas.md, section 5); the
 * world's is 0. */
double tables_weight(const scene_constants *c, const int link[2]);

/* Whether any joint has damping, which Euler's step must then include. */
bool tables_is_damped(const scene_def *s);

/* Return the row of group i in the table of reals and in that of ints: GROUP_... of
 * geometry/world.h. */
double *tables_group(scene_tables *m, int i);
int *tables_group_ints(scene_tables *m, int i);

#endif
