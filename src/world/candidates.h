/* Automatic pairs: which bodies of a scene may collide without being listed, and how
 * (docs/scene-contacts.md). */
#ifndef ABUT_WORLD_CANDIDATES_H
#define ABUT_WORLD_CANDIDATES_H

#include "scene/definition.h"

/* Puts the automatic pairs of a scene behind its listed ones, by their bodies' numbers i < j, and
 * gives their bodies columns. `first`, by scene_body_number, is the first body of the same shape
 * (scene_bodies.first). Body 1 is the one whose shape came first, of equal shapes that of the lower
 * number, so that pairs of two shapes are all alike. The smoothing of a pair that is not alike to
 * another one is left to be fitted as `usual` says. */
abut_status scene_find_candidates(scene_def *s, const size_t *first);

/* Sets *out to how a pair of two bodies touches: as MuJoCo mixes geoms of equal priority and
 * solmix. */
void body_contact_mix(const body_contact *a, const body_contact *b, body_contact *out);

#endif
