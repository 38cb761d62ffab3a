/* Automatic pairs: which bodies of a scene may collide without being listed, and with which
 * settings (docs/scene-contacts.md). */
#ifndef ABUT_WORLD_CANDIDATES_H
#define ABUT_WORLD_CANDIDATES_H

#include "scene/definition.h"

/* Appends the automatic pairs to the listed ones, ordered by body numbers i < j, and gives their
 * bodies columns. `first` is the first body of the same shape, by scene_body_number
 * (scene_bodies.first). Body 1 is the body whose shape occurs first, for equal shapes the one with
 * the lower number; all pairs of two shapes are thus alike. The smoothing of the first of equal
 * pairs remains to be fitted as `usual` states. */
abut_status scene_find_candidates(scene_def *s, const size_t *first);

/* Sets *out to the contact settings of two bodies, mixed as MuJoCo does for geoms of equal priority
 * and solmix. */
void body_contact_mix(const body_contact *a, const body_contact *b, body_contact *out);

#endif
