/* A scene as tables for kernels: cl/geometry/world.h. */
#ifndef ABUT_WORLD_MODEL_H
#define ABUT_WORLD_MODEL_H

#include "geometry/world.h"
#include "world/constants.h"
#include "world/scene_def.h"
#include <limits.h>

#define MODEL_LANES_MOST 16 /* of any device */

/* Slots of a world's contacts: kernels count the numbers of all of them in int. */
#define MODEL_SLOTS_MOST ((size_t)INT_MAX / CONTACT_PLANES)

/* Contacts between two links: link -1 is the world. */
typedef struct contact_group {
  int link[2];
  int pair;
  size_t contacts; /* most of them in a world */
} contact_group;

typedef struct model {
  world_sizes sizes;
  int *ints;
  double *reals;
  double *parameters; /* a world's, as the scene has them */
  size_t int_count, real_count, parameter_count;
  arena memory;
} model;

/* How many groups, from the first on, have no more contacts than kernels count, each of a group's own,
 * or `capacity` where that is less and not 0, rounded up to whole lanes. *slots: their slots, and
 * where a group is too many, with those of that group. */
size_t model_countable(const contact_group *groups, size_t count, size_t capacity, size_t lanes,
                       size_t *slots);

/* Tables for devices of so many lanes; tolerance: of the solver. Refuses what kernels cannot count.
 * *out is empty on failure. */
abut_status model_make(const scene_def *s, const scene_constants *c, const contact_group *groups,
                       size_t group_count, size_t lanes, double tolerance, model *out);
void model_free(model *m);

/* ---- for contact laws ---- */

/* The sum of the inverse weights of two links. */
double model_weight(const scene_constants *c, const int link[2]);

/* Whether any joint has a damper. */
bool model_is_damped(const scene_def *s);

/* Group i's numbers, by GROUP_... of geometry/world.h. */
double *model_group(model *m, int i);
int *model_group_ints(model *m, int i);

#endif
