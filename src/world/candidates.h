/* Automatic pairs: which bodies of a scene may collide without being listed, and with which
 * settings (docs/scene-contacts.md). */
#ifndef ABUT_WORLD_CANDIDATES_H
#define ABUT_WORLD_CANDIDATES_H

#include "scene/definition.h"

/* Appends the automatic pairs to the listed ones, ordered by body numbers i < j, and gives their
 * bodies columns. first[i] is the first body that has the shape of body i (scene_bodies.first);
 * both are numbers by scene_body_number. Body 1 of a pair is the body whose shape occurs first. For
 * equal shapes, it is the body with the lower number. So all pairs of two shapes have the same
 * order. The caller must still fit the smoothing of the first of equal pairs, as `usual` states. */
abut_status scene_find_candidates(scene_def *s, const size_t *first);

/* Sets *out to the contact settings of two bodies, mixed as MuJoCo does for geoms of equal priority
 * and solmix. */
void body_contact_mix(const body_contact *a, const body_contact *b, body_contact *out);

#endif
