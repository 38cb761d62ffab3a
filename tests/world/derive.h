/* States of a scene's worlds, their steps, and how these change by central differences: what the
 * library says of derivatives is compared with nothing but its own steps. In float64. */
#ifndef ABUT_TESTS_DERIVE_H
#define ABUT_TESTS_DERIVE_H

#include "support/check.h"
#include <abut/world.h>

/* A scene of tests/world/scenes with `options` at its root, ASSETS for the folder of bodies, and
 * pairs of `condim`, 3 or 1. */
typedef struct derive_scene {
  const char *file, *options;
  int condim;
} derive_scene;

abut_status derive_load(const char *folder, const char *assets, const derive_scene *of,
                        abut_context context, abut_scene *scene);

/* Inputs, by each of which steps are differentiated: columns in this order. */
enum { BY_Q, BY_V, BY_U, BY_MASS_SCALE, BY_FRICTION, BY_STIFFNESS, BY_GRAVITY, BY_ALL };
extern const char *const derive_names[BY_ALL];

typedef struct derive {
  abut_scene scene;
  abut_scene_info info;
  size_t count, steps;
  double length; /* of differences; 0: what suits soft contacts */
  size_t width[BY_ALL], columns[BY_ALL], first[BY_ALL], all; /* numbers of a world; columns */
  double *at[BY_ALL];                                        /* (count, width) */
} derive;

/* Worlds that began near the scene's start, thrown a little, `keep` states of each, `every` so many
 * steps; those with a status but OVERFLOW and DEEP are left out. `scatter` of positions and
 * velocities. */
void derive_open(derive *d, abut_scene scene, size_t starts, size_t keep, size_t every,
                 const double scatter[3], uint64_t *random);
void derive_close(derive *d);

/* A call with these inputs. */
abut_worlds derive_call(const derive *d);

/* Room for gradients by the inputs; of none that a scene has not. */
abut_worlds_gradients derive_gradients(const abut_scene_info *info, void *const to[BY_ALL]);

/* (count, columns, 2 nv): how the state after all steps changes in its tangent space. A `border`
 * (count, columns) is where differences of several lengths or of both sides disagree: zones change
 * there, or what changes is too steep for them. */
void derive_differences(const derive *d, double *by, bool *border);

#endif
